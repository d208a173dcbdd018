"""Exact amounts: what a person writes, and the raw integer that is signed.

No float is ever involved, and nothing is rounded: more decimals than a scale holds are refused. Source of the
scales: the builder's specification, "Limits", row "scaling".
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from airlock_shared.errors import Refusal

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
        raise Refusal("PLAN-AMOUNT", "not a plain decimal", got=repr(text[:80]), expected="a text such as '64000.5'")
    sign, whole, fraction = match[1], match[2], match[3] or ""
    if len(fraction) > unit.decimals:
        raise Refusal(
            "PLAN-AMOUNT",
            f"more decimals than {unit.name} holds; nothing is rounded",
            got=text,
            expected=f"at most {unit.decimals} decimals",
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
