"""Request fields of the builder: how each kind is read, from a query parameter or from JSON alike.

Source: the specification, "Common request-field conventions". A reader takes the value as it came and returns it in raw
units, or raises ``ValueError`` with what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from eth_utils.address import is_address, is_checksum_address, to_checksum_address

from airlock_rehearsal.services.envelope import ApiError, Read

Reader = Callable[[object], object]

_DECIMAL = re.compile(r"(-?)([0-9]{1,60})(?:\.([0-9]{1,60}))?", re.ASCII)
_INTEGER = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)
_BYTES32 = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


class RequestField(NamedTuple):
    """A request field: its name, its reader, and whether it must be there."""

    name: str
    read: Reader
    required: bool = False


def read_fields(fields: tuple[RequestField, ...], request: Read, *, strict: bool = False) -> Read:
    """Return the fields read, ``None`` for one left out. Raises ``ApiError`` with every issue found.

    ``strict`` refuses unknown fields, which the specification demands of tpsl-partial alone.
    """
    issues = [
        {"path": name, "message": "unknown field"}
        for name in request
        if strict and name not in {f.name for f in fields}
    ]
    result: Read = {}
    for field in fields:
        value = request.get(field.name)
        result[field.name] = None
        if value is None:
            issues += [{"path": field.name, "message": "required"}] * field.required
            continue
        try:
            result[field.name] = field.read(value)
        except ValueError as error:
            issues.append({"path": field.name, "message": str(error)})
    if issues:
        names = ", ".join(issue["path"] for issue in issues)
        raise ApiError("BAD_REQUEST", f"request validation failed: {names}", details={"issues": issues})
    return result


def address(value: object) -> str:
    """Read an address; mixed case must be the EIP-55 checksum."""
    if not isinstance(value, str) or not value.startswith("0x") or not is_address(value):
        raise ValueError("not an address")
    digits = value[2:]
    if digits not in (digits.lower(), digits.upper()) and not is_checksum_address(value):
        raise ValueError("not the EIP-55 checksum of the address")
    return str(to_checksum_address(value))


def integer(value: object) -> int:
    """Read an integer from zero up to 2**256 - 1, as a JSON integer or in decimal digits."""
    text = str(value) if type(value) is int else value
    if not isinstance(text, str) or not _INTEGER.fullmatch(text) or int(text) >= 1 << 256:
        raise ValueError("not an integer from 0 to 2^256-1")
    return int(text)


def amount(decimals: int, *, signed: bool = False) -> Reader:
    """Return a reader of human decimals with this many places; more are refused, nothing is rounded."""

    def read(value: object) -> int:
        if isinstance(value, Decimal):
            value = format(value, "f") if abs(value.adjusted()) < 60 else "out of range"
        text = str(value) if type(value) is int else value
        match = _DECIMAL.fullmatch(text) if isinstance(text, str) else None
        if not match or (match[1] and not signed):
            raise ValueError("not a plain decimal")
        fraction = match[3] or ""
        if len(fraction) > decimals:
            raise ValueError(f"more than {decimals} decimals")
        raw = int(match[2] + fraction.ljust(decimals, "0"))
        if raw >= 1 << 255:
            raise ValueError("out of range")
        return -raw if match[1] else raw

    return read


def choice(*names: str) -> Reader:
    """Return a reader of one of these words."""

    def read(value: object) -> str:
        if value not in names:
            raise ValueError(f"not one of {', '.join(names)}")
        return str(value)

    return read


def text(value: object) -> str:
    """Read a text of 1 to 64 characters."""
    if not isinstance(value, str) or not 1 <= len(value) <= 64:
        raise ValueError("not a text of 1 to 64 characters")
    return value


def referral_code(value: object) -> str:
    """Read a referral code, 1 to 31 ASCII characters or 32 bytes in hex, into ``bytes32`` hex."""
    if not isinstance(value, str) or not value:
        raise ValueError("not a text")
    if _BYTES32.fullmatch(value):
        return value.lower()
    if value.lower().startswith("0x"):
        raise ValueError("neither a plain code nor 32 bytes in hex")
    if len(value) > 31 or not value.isascii() or not value.isprintable():
        raise ValueError("not 1 to 31 printable ASCII characters")
    return "0x" + value.encode().ljust(32, b"\0").hex()
