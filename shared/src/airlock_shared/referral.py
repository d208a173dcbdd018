"""Referral codes: what people write, and the bytes32 that is signed.

A plain code is 1 to 31 ASCII characters, left-aligned, zero-padded, case-sensitive; or 32 bytes in 0x-hex. Source: the
builder's specification, "POST /v2/intents/referral-set-code"; the padding is the default observed at comparable venues.
"""

from __future__ import annotations

import re

from airlock_shared.errors import Refusal

_PLAIN = re.compile(r"[\x21-\x7e]{1,31}", re.ASCII)
_HEX_32_BYTES = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def code_bytes(code: str) -> bytes:
    """Return the 32 bytes of a code.

    Raises ``Refusal("PLAN-CODE")`` for an empty or long code, other characters, or a short ``0x`` text, which could mean
    either form.
    """
    if _HEX_32_BYTES.fullmatch(code):
        return bytes.fromhex(code[2:])
    if not _PLAIN.fullmatch(code) or code.lower().startswith("0x"):
        raise Refusal(
            "PLAN-CODE",
            "not a referral code",
            got=ascii(code[:80]),
            expected="1 to 31 ASCII characters without spaces, not beginning with 0x, or 0x and 64 hex digits",
        )
    return code.encode().ljust(32, b"\0")


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
