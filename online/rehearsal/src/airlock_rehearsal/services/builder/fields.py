"""Request fields of the builder: how each is read, from a query parameter or from JSON alike.

Source: the specification, "Common request-field conventions". A reader takes the value as it came and returns it in raw
units, or raises ``ValueError`` with what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from eth_utils.address import is_address, is_checksum_address, to_checksum_address

from airlock_rehearsal.services.envelope import Read, Refused

Reader = Callable[[object], Any]

OPEN_ORDER_TYPES = {"market": 0, "stop_limit": 1, "limit": 2, "market_pnl": 3}
TRIGGER_TYPES = {"fixed": 0, "percentage": 1}
TRIGGER_ORDER_TYPES = {"take_profit": 4, "stop_loss": 5}

_DECIMAL = re.compile(r"(-?)([0-9]{1,60})(?:\.([0-9]{1,60}))?", re.ASCII)
_INTEGER = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)
_BYTES32 = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


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


def _amount(decimals: int, *, signed: bool = False) -> Reader:
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


def _choice(*names: str) -> Reader:
    """Return a reader of one of these words."""

    def read(value: object) -> object:
        if value not in names:
            raise ValueError(f"not one of {', '.join(names)}")
        return value

    return read


def _text(value: object) -> str:
    """Read a text of 1 to 64 characters."""
    if not isinstance(value, str) or not 1 <= len(value) <= 64:
        raise ValueError("not a text of 1 to 64 characters")
    return value


def _referral_code(value: object) -> str:
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


def _no_delegate(value: object) -> object:  # noqa: ARG001  (a reader's signature)
    raise ValueError("no delegate may do this for the account")


_BY_READER: tuple[tuple[Reader, str], ...] = (
    (address, "trader caller referee delegate newOwner spender"),
    (integer, "pairIndex tradeIndex orderIndex twapId nonce check deadlineMs openTimestamp expirySeconds"),
    (_amount(6), "collateralUsdc additionalCollateralUsdc collateralToCloseUsdc amountUsdc"),
    (_amount(10), "leverage openPrice expectedPrice price slippagePercent takeProfit stopLoss"),
    (_amount(10), "coinExposure minLeverage maxLeverage"),
    (_amount(10, signed=True), "percentage"),
    (_text, "pair"),
    (_referral_code, "code"),
    (_choice("long", "short"), "side"),
    (_choice("trading", "referral"), "space"),
    (_choice(*OPEN_ORDER_TYPES), "orderType"),
    (_choice(*TRIGGER_ORDER_TYPES), "kind"),
    (_choice(*TRIGGER_TYPES), "triggerType"),
)
_READERS = {name: reader for reader, names in _BY_READER for name in names.split()}


def read_fields(fields: str, request: Read, *, strict: bool = False) -> Read:
    """Return the fields read, ``None`` for one left out. Raises ``Refused`` with every issue found.

    ``fields`` names them; one with ``!`` must be there, and ``-delegate`` must not be. ``strict`` refuses unknown fields,
    which the specification demands of tpsl-partial alone.
    """
    wanted = {each.strip("!-"): each for each in fields.split()}
    issues = [(name, "unknown field") for name in request if strict and name not in wanted]
    result: Read = {}
    for name, each in wanted.items():
        value = request.get(name)
        result[name] = None
        if value is None:
            issues += [(name, "required")] * each.endswith("!")
            continue
        try:
            result[name] = (_no_delegate if each.startswith("-") else _READERS[name])(value)
        except ValueError as error:
            issues.append((name, str(error)))
    if issues:
        names = ", ".join(name for name, _ in issues)
        raise Refused(f"request validation failed: {names}", issues=issues)
    return result
