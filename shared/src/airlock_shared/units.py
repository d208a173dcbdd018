"""Amounts, times and referral codes: what a person writes, and the raw value that is signed.

No float is ever involved, and nothing is rounded: more decimals than a scale holds are refused. Source of the
scales: the builder's specification, "Limits", row "scaling".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from airlock_shared.errors import Refusal
from airlock_shared.text.safe import code_points, grouped, looks_like

_DECIMAL = re.compile(r"(-?)(0|[1-9][0-9]{0,59})(?:\.([0-9]{1,60}))?", re.ASCII)

UNLIMITED = (1 << 256) - 1
"""An approval of everything, for ever: signed only when the plan says ``unlimited``."""

_SECONDS_AT_MOST = 10**11
"""A count above it is not unix seconds (it would be the year 5138); a unix time in milliseconds is above it since 1973."""


class Unit(NamedTuple):
    """A unit: how it is called beside a number, and how many decimal digits its raw integer carries."""

    name: str
    decimals: int | None = None

    @property
    def is_amount(self) -> bool:
        """Whether values are human decimals that may be bounded in a plan."""
        return self.decimals is not None


USDC = Unit("USDC", 6)
PRICE = Unit("USD", 10)
LEVERAGE = Unit("x", 10)
COIN = Unit("coins", 10)
PERCENT = Unit("%", 10)
GWEI = Unit("gwei", 9)  # of wei a unit of gas: what a transaction pays
NATIVE = Unit("of the native currency", 18)  # of wei
ADDRESS = Unit("address")
COUNT = Unit("number")
FLAG = Unit("flag")
NONCE = Unit("nonce")
CODE = Unit("code")
TEXT = Unit("text")
CHOICE = Unit("choice")
RAW = Unit("raw")  # of a struct that an operator pinned: a value without a known meaning
UNIX_MS = Unit("unix ms")
UNIX_S = Unit("unix s")


def to_raw(text: str, unit: Unit) -> int:
    """Return the raw integer of a human decimal such as ``"64000.5"``.

    Raises ``Refusal("PLAN-AMOUNT")`` for another spelling (signs, exponents, separators, floats' artefacts) or for more
    decimals than the unit holds.
    """
    match = _DECIMAL.fullmatch(text)
    if not match or unit.decimals is None:
        raise Refusal("PLAN-AMOUNT", "not a plain decimal", repr(text[:80]), "a text such as '64000.5'")
    sign, whole, fraction = match[1], match[2], match[3] or ""
    if len(fraction) > unit.decimals:
        raise Refusal(
            "PLAN-AMOUNT",
            f"more decimals than {unit.name} holds; nothing is rounded",
            text,
            f"at most {unit.decimals} decimals",
        )
    raw = int(whole + fraction.ljust(unit.decimals, "0"))
    return -raw if sign else raw


def to_human(raw: int, unit: Unit) -> str:
    """Return the exact decimal text of a raw integer, without trailing zeros."""
    decimals = unit.decimals or 0
    digits = str(abs(raw)).rjust(decimals + 1, "0")
    whole, fraction = (digits[:-decimals], digits[-decimals:].rstrip("0")) if decimals else (digits, "")
    return ("-" if raw < 0 else "") + whole + (f".{fraction}" if fraction else "")


def looks_like_seconds(value: int) -> bool:
    """Tell whether a unix time has the magnitude of seconds rather than milliseconds."""
    return value < _SECONDS_AT_MOST


def utc_text(unix_ms: int) -> str:
    """Return a time as UTC text, to the second; a time outside the calendar as the bare number."""
    try:
        return datetime.fromtimestamp(unix_ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return f"{unix_ms} ms, outside the calendar"


def span_text(seconds: int) -> str:
    """Return a length of time for a person: its two largest units."""
    parts: list[str] = []
    rest = abs(seconds)
    for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if rest >= size or (name == "s" and not parts):
            parts.append(f"{rest // size} {name}")
            rest %= size
    return ("-" if seconds < 0 else "") + " ".join(parts[:2])


def raw_text(raw: object) -> str:
    """Return a raw value as it is signed: integers in decimal, bytes and addresses in lower-case hex, flags as JSON.

    Untrusted text is not yet escaped.
    """
    if type(raw) is bytes:
        return "0x" + raw.hex()
    return str(raw).lower() if type(raw) is bool else str(raw)


# ---- referral codes -------------------------------------------------------------------------------------------------
# What people write, the bytes32 that is signed, and how both are shown to somebody who compares them.
# A plain code is 1 to 31 ASCII characters, left-aligned, zero-padded, case-sensitive; or 32 bytes in 0x-hex. Source: the
# builder's specification, "POST /v2/intents/referral-set-code"; the padding is the default observed at comparable venues.


_MAX_CHARACTERS = 31
_PLAIN = re.compile(r"[\x21-\x7e]{1,31}", re.ASCII)
_HEX_32_BYTES = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_OTHER = re.compile(r"[^\x21-\x7e]", re.ASCII)
_NO_DIGIT = re.compile(r"[^0-9a-fA-F]", re.ASCII)
_NAMES = {" ": "a space", "\n": "a line break", "\r": "a carriage return", "\t": "a tab"}
_ALIKE = {
    "0": "the digit zero", "O": "the capital letter O", "1": "the digit one", "l": "the small letter L",
    "I": "the capital letter i", "|": "a vertical bar",
}  # fmt: skip
"""ASCII characters that people take for one another, in print and on the telephone."""


def code_bytes(code: str) -> bytes:
    """Return the 32 bytes of a code.

    Raises ``Refusal("PLAN-CODE")`` for an empty or long code, other characters, or a short ``0x`` text, which could mean
    either form; it names the first character that is wrong, and its place.
    """
    if _HEX_32_BYTES.fullmatch(code):
        return bytes.fromhex(code[2:])
    if mistake := _mistake(code):
        raise Refusal(
            "PLAN-CODE",
            f"not a referral code: {mistake}",
            ascii(code[:80]),
            "1 to 31 ASCII characters without spaces, not beginning with 0x, or 0x and 64 hex digits",
        )
    return code.encode().ljust(32, b"\0")


def _mistake(code: str) -> str:
    """Return what is wrong with a text as a plain code, empty when it is one; in ASCII."""
    if not code:
        return "it is empty"
    if code.lower().startswith("0x"):
        if found := _NO_DIGIT.search(code, 2):
            return f"{_place(code, found.start())}, not a hex digit; a code that begins with 0x is hex"
        if len(code) != 2 + 64:
            return f"0x and {len(code) - 2} hex digits instead of 64; a shorter code could mean text or bytes"
        return "character 2 of 66 is 'X'; write 0x with a small x"
    if found := _OTHER.search(code):
        return _place(code, found.start())
    if len(code) > _MAX_CHARACTERS:
        return f"it has {len(code)} characters, {len(code) - _MAX_CHARACTERS} too many"
    return ""


def _place(code: str, at: int) -> str:
    character = code[at]
    named = repr(character)
    if _OTHER.match(character):
        name = _NAMES.get(character) or unicodedata.name(character, "an invisible character")
        named = f"{code_points(character)} ({name})"
    if (like := looks_like(character)) != character and like.isascii():
        named += f", which looks like {like!r}"
    return f"character {at + 1} of {len(code)} is {named}"


def is_plain_code(value: bytes) -> bool:
    """Tell whether a bytes32 is a plain code: what :func:`code_bytes` makes of a text that is not hex."""
    text = value.rstrip(b"\0").decode("latin-1")
    return bool(_PLAIN.fullmatch(text)) and not text.lower().startswith("0x")


def code_text(value: bytes) -> str:
    """Return the text of a bytes32 code when it is a plain code, else its hex."""
    return value.rstrip(b"\0").decode("ascii") if is_plain_code(value) else "0x" + value.hex()


def code_letters(value: bytes) -> str:
    """Return a bytes32 code as a program that believes it would show it, not escaped; a byte that is no UTF-8 as U+FFFD."""
    return value.rstrip(b"\0").decode("utf-8", "replace")


def code_rows(value: bytes) -> Iterator[str]:
    """Yield, in ASCII, what people compare beside a code: all 32 bytes, its code points, and of what kinds they are."""
    letters = code_letters(value)
    yield f"hex {grouped(value[:16].hex())}"
    yield f"and {grouped(value[16:].hex())}"
    yield f"code points {code_points(letters) or 'none'}"
    if is_plain_code(value):
        yield f"{_counted(len(letters), 'character')}: {', '.join(_kinds(letters))}"
    for at, character in enumerate(letters, start=1):
        if character in _ALIKE:
            yield f"character {at} is {character}, {_ALIKE[character]}"


def _kinds(letters: str) -> Iterator[str]:
    kinds = (("capital letter", str.isupper), ("small letter", str.islower), ("digit", str.isdigit))
    counted = [(name, sum(map(test, letters))) for name, test in kinds]
    others = len(letters) - sum(count for _, count in counted)
    yield from (_counted(count, name) for name, count in [*counted, ("other sign", others)] if count)


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"
