"""Request fields of the builder: how each is read, from a query parameter or from JSON alike.

Source: the specification, "Common request-field conventions". A reader takes the value as it came and returns it in raw
units, or raises ``ValueError`` with what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from eth_utils.address import is_address, is_checksum_address, to_checksum_address

from airlock_rehearsal.chain.evm import STORAGE
from airlock_rehearsal.services.envelope import Read, Refused
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import INTENT_DEADLINE_MS
from airlock_rehearsal.services.venue.positions import ONE, PAIRS, VenuePair

if TYPE_CHECKING:
    from airlock_rehearsal.services.venue.venue_state import VenueState


_Reader = Callable[[object], Any]

OPEN_ORDER_TYPES = {"market": 0, "stop_limit": 1, "limit": 2, "market_pnl": 3}
TRIGGER_TYPES = {"fixed": 0, "percentage": 1}
TRIGGER_ORDER_TYPES = {"take_profit": 4, "stop_loss": 5}

_DECIMAL = re.compile(r"(-?)([0-9]{1,60})(?:\.([0-9]{1,60}))?", re.ASCII)
_INTEGER = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)
_BYTES32 = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def _address(value: object) -> str:
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


def _amount(decimals: int, *, signed: bool = False) -> _Reader:
    """Return a reader of human decimals with this many places; more are refused, nothing is rounded."""

    def read(value: object) -> int:
        text = str(value) if type(value) is int else value
        match = _DECIMAL.fullmatch(text) if isinstance(text, str) else None
        if not match or (match[1] and not signed):
            raise ValueError("not a plain decimal")
        fraction = match[3] or ""
        if len(fraction) > decimals:
            raise ValueError(f"more than {decimals} decimals")
        return int(match[1] + match[2] + fraction.ljust(decimals, "0"))

    return read


def _choice(*names: str) -> _Reader:
    """Return a reader of one of these words."""

    def read(value: object) -> object:
        if value not in names:
            raise ValueError(f"not one of {', '.join(names)}")
        return value

    return read


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


_BY_READER: tuple[tuple[_Reader, str], ...] = (
    (_address, "trader caller referee delegate newOwner spender"),
    (integer, "pairIndex tradeIndex orderIndex twapId nonce check deadlineMs openTimestamp expirySeconds"),
    (_amount(6), "collateralUsdc additionalCollateralUsdc collateralToCloseUsdc amountUsdc"),
    (_amount(10), "leverage openPrice expectedPrice price slippagePercent takeProfit stopLoss"),
    (_amount(10), "coinExposure minLeverage maxLeverage"),
    (_amount(10, signed=True), "percentage"),
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

    ``fields`` names them; one with ``!`` must be there. ``strict`` refuses unknown fields, which the specification demands
    of tpsl-partial alone.
    """
    wanted = {each.removesuffix("!"): each for each in fields.split()}
    issues = [(name, "unknown field") for name in request if strict and name not in wanted]
    result: Read = {}
    for name, each in wanted.items():
        value = request.get(name)
        result[name] = None
        if value is None:
            issues += [(name, "required")] * each.endswith("!")
            continue
        try:
            result[name] = _READERS[name](value)
        except ValueError as error:
            issues.append((name, str(error)))
    if issues:
        names = ", ".join(name for name, _ in issues)
        raise Refused(f"request validation failed: {names}", issues=issues)
    return result


# ---- asked ----------------------------------------------------------------------------------------------------------
# A request to the builder as it was read, and what is filled in where it leaves something out.
# Source: the specification, "Common request-field conventions".


SECONDS_AT_MOST = 10**11
"""A unix time below it is in seconds, one above it in milliseconds."""


def bad(name: str, message: str) -> Refused:
    """Return the refusal of one field."""
    return Refused(f"{name}: {message}", issues=[(name, message)])


class BuildFields(dict[str, Any]):
    """The fields of a request in raw units (None: left out), and as they came; the state, and the faults in force."""

    def __init__(self, state: VenueState, faults: Faults, fields: Read, came: Read) -> None:
        super().__init__(fields)
        self.state, self.faults, self.came = state, faults, came

    @property
    def pair(self) -> VenuePair:
        """The pair that ``pairIndex`` names."""
        if self["pairIndex"] is None:
            raise bad("pair", "pairIndex is required")
        if (pair := PAIRS.get(self["pairIndex"])) is None:
            raise bad("pair", "no such pair")
        return pair

    @property
    def opened_at(self) -> int:
        """When the position that ``tradeIndex`` names was opened, as asked for or as it is on the chain, in seconds."""
        if (given := self.get("openTimestamp")) is not None:
            return int(given)
        position = self.state.read(STORAGE, "tradeAt", self["trader"], self.pair.pair_index, self["tradeIndex"])
        if not position["initialPosToken"]:
            raise bad("tradeIndex", "no open position in this slot")
        return int(position["timestamp"])

    def nonce(self, space: str = "trading", trader: str = "trader") -> int:
        """Return the nonce asked for, or one that is not used; 0 for a transaction, which has none."""
        given = self.get("nonce", 0)
        return self.state.draw_nonce(space, self[trader]) if given is None else int(given)

    @property
    def deadline(self) -> int:
        """The deadline asked for, or now plus the default, in unix milliseconds."""
        given, now_ms = self.get("deadlineMs"), self.state.now_ms()
        if given is None:
            return now_ms + INTENT_DEADLINE_MS
        if given < SECONDS_AT_MOST:
            raise bad("deadlineMs", "looks like seconds; unix milliseconds are wanted")
        if given <= now_ms:
            raise bad("deadlineMs", "is over")
        return int(given)

    def timed(self, space: str = "trading", trader: str = "trader") -> dict[str, int]:
        """Return the deadline and the nonce with which most messages end."""
        return {"_deadline": self.deadline, "_nonce": self.nonce(space, trader)}

    @property
    def expiry(self) -> int:
        """The expiry asked for a delegate, who is somebody else, in unix seconds."""
        expiry_s = int(self["expirySeconds"])
        if expiry_s >= SECONDS_AT_MOST:
            raise bad("expirySeconds", "looks like milliseconds; unix seconds are wanted")
        if expiry_s <= self.state.now_s:
            raise bad("expirySeconds", "is over")
        if self["delegate"] == self["trader"]:
            raise bad("delegate", "is the trader")
        return expiry_s

    @property
    def slippage(self) -> int:
        """The slippage asked for, or one per cent."""
        given = self["slippagePercent"]
        return ONE if given is None else int(given)

    def price(self, name: str) -> int:
        """Return the price asked for, or the live one."""
        given = self[name]
        return self.pair.price if given is None else int(given)

    def human(self, *names: str, **default: str) -> dict[str, str]:
        """Return these fields as they came, which is in human units; for one that was left out, its default."""
        return {name: str(self.came.get(name, default.get(name))) for name in (*names, *default)}

    def pair_meta(self, **more: object) -> dict[str, object]:
        """Return a ``meta`` that echoes the pair, and what else is given."""
        return {"pair": self.pair.symbol, "pairIndex": self.pair.pair_index, **more}
