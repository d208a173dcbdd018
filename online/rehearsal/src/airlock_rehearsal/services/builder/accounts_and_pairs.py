"""What the builder fills in when a request leaves it out: pair, nonce, deadline, price, open timestamp.

Source: the specification, "Common request-field conventions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from airlock_rehearsal.services.envelope import ApiError, Read
from airlock_rehearsal.services.venue.positions import VenuePair

if TYPE_CHECKING:
    from airlock_rehearsal.services.venue.venue_state import VenueState

SECONDS_AT_MOST = 10**11
"""A unix time below it is in seconds, one above it in milliseconds."""


def bad(name: str, message: str) -> ApiError:
    """Return the refusal of one field."""
    details: dict[str, object] = {"issues": [{"path": name, "message": message}]}
    return ApiError("BAD_REQUEST", f"{name}: {message}", details=details)


def whole(value: object) -> int:
    """Return a field that was read as an integer."""
    return cast("int", value)


def resolved_pair(state: VenueState, request: Read) -> VenuePair:
    """Return the pair that ``pair`` or ``pairIndex`` names; both may be there when they agree."""
    index, name = request["pairIndex"], request["pair"]
    if index is None and name is None:
        raise bad("pair", "pair or pairIndex is required")
    by_name = state.find_pair(str(name)) if name is not None else None
    by_index = state.pairs.get(whole(index)) if index is not None else None
    if (name is not None and by_name is None) or (index is not None and by_index is None):
        raise bad("pair", "no such pair")
    if by_name and by_index and by_name != by_index:
        raise bad("pair", "pair and pairIndex name different pairs")
    return cast("VenuePair", by_name or by_index)


def resolved_nonce(state: VenueState, request: Read, trader: object, space: str = "trading") -> str:
    """Return the nonce asked for, or one that is not used."""
    given = request["nonce"]
    return str(state.draw_nonce(space, str(trader)) if given is None else given)


def resolved_deadline(state: VenueState, request: Read) -> str:
    """Return the deadline asked for, or now plus the default, in unix milliseconds."""
    given = request["deadlineMs"]
    if given is None:
        return str(state.now_ms() + state.settings.intent_deadline_ms)
    if whole(given) < SECONDS_AT_MOST:
        raise bad("deadlineMs", "looks like seconds; unix milliseconds are wanted")
    if whole(given) <= state.now_ms():
        raise bad("deadlineMs", "is over")
    return str(given)


def resolved_price(state: VenueState, request: Read, name: str, pair: VenuePair) -> int:
    """Return the price asked for, or the live one, raw."""
    given = request[name]
    return state.prices[pair.pair_index] if given is None else whole(given)


def opened_at(state: VenueState, request: Read, pair: VenuePair) -> str:
    """Return the position's open timestamp, as asked for or as it is on the chain, in seconds."""
    if request["openTimestamp"] is not None:
        return str(request["openTimestamp"])
    position = state.position(str(request["trader"]), pair.pair_index, whole(request["tradeIndex"]))
    if position is None:
        raise bad("tradeIndex", "no open position in this slot")
    return str(position.timestamp)


def pair_meta(pair: VenuePair, **more: object) -> dict[str, object]:
    """Return a ``meta`` that echoes the pair, and what else is given."""
    return {"pair": pair.symbol, "pairIndex": pair.pair_index, **more}
