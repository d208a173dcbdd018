"""A request to the builder as it was read, and what is filled in where it leaves something out.

Source: the specification, "Common request-field conventions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airlock_rehearsal.services.envelope import Read, Refused
from airlock_rehearsal.services.settings import INTENT_DEADLINE_MS
from airlock_rehearsal.services.venue.positions import ONE, Position, VenuePair

if TYPE_CHECKING:
    from airlock_rehearsal.services.venue.venue_state import VenueState

SECONDS_AT_MOST = 10**11
"""A unix time below it is in seconds, one above it in milliseconds."""


def bad(name: str, message: str) -> Refused:
    """Return the refusal of one field."""
    return Refused(f"{name}: {message}", issues=[(name, message)])


class BuildFields(dict[str, Any]):
    """The fields of a request in raw units (None: left out), and the state from which the rest comes."""

    def __init__(self, state: VenueState, fields: Read) -> None:
        super().__init__(fields)
        self.state = state

    @property
    def pair(self) -> VenuePair:
        """The pair that ``pair`` or ``pairIndex`` names; both may be there when they agree."""
        index, name = self["pairIndex"], self["pair"]
        named: list[Any] = [] if name is None else [self.state.find_pair(name)]
        named += [] if index is None else [self.state.pairs.get(index)]
        if not named:
            raise bad("pair", "pair or pairIndex is required")
        if None in named:
            raise bad("pair", "no such pair")
        if named[0] != named[-1]:
            raise bad("pair", "pair and pairIndex name different pairs")
        pair: VenuePair = named[0]
        return pair

    @property
    def position(self) -> Position | None:
        """The trader's position in the slot that ``tradeIndex`` names."""
        return self.state.position(self["trader"], self.pair.pair_index, self["tradeIndex"])

    @property
    def opened_at(self) -> int:
        """The position's open timestamp, as asked for or as it is on the chain, in seconds."""
        if (given := self.get("openTimestamp")) is not None:
            return int(given)
        if (position := self.position) is None:
            raise bad("tradeIndex", "no open position in this slot")
        return position.timestamp

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

    @property
    def slippage(self) -> int:
        """The slippage asked for, or one per cent."""
        given = self["slippagePercent"]
        return ONE if given is None else int(given)

    def price(self, name: str) -> int:
        """Return the price asked for, or the live one."""
        given = self[name]
        return self.state.prices[self.pair.pair_index] if given is None else int(given)

    def pair_meta(self, **more: object) -> dict[str, object]:
        """Return a ``meta`` that echoes the pair, and what else is given."""
        return {"pair": self.pair.symbol, "pairIndex": self.pair.pair_index, **more}
