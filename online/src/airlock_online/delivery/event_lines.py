"""An event of a submission as the lines that a person reads, and as the JSON object of one line.

Pure. What a service sent is escaped, kept within 80 columns and cut where it is endless; a hash stays whole on one line, to
be compared and copied. Units: the specification, "Events", "raw on-chain units".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from airlock_online.error_codes import ERROR_CODES
from airlock_online.journal.order_states import (
    ENDS_OF_ROUTES,
    OrderEvent,
    is_end_of_view,
    needs_history,
    terminal_state,
)
from airlock_shared.text.safe import WIDTH, columns, labelled_rows, safe, safe_again
from airlock_shared.units import (
    COIN,
    LEVERAGE,
    PERCENT,
    PRICE,
    UNIX_S,
    USDC,
    Unit,
    looks_like_seconds,
    span_text,
    to_human,
    utc_text,
)
from airlock_shared.venue.structs import BATCHED_MARKET

MEMBERS_SHOWN = 60
_LETTERS_SHOWN = 500
_DIGITS_AT_MOST = 80
_LABEL, _NAME = "      ", 22
_LATE_MS = 60_000

_UNITS: dict[str, Unit] = {
    "price": PRICE, "openPrice": PRICE, "tp": PRICE, "sl": PRICE, "leverage": LEVERAGE, "percentProfit": PERCENT,
    "positionSizeUSDC": USDC, "initialPosToken": USDC, "addedCollateral": USDC, "usdcSentToTrader": USDC,
    "coinExposure": COIN, "coinExposureAdded": COIN, "timestamp": UNIX_S,
}  # fmt: skip
"""The members that are raw amounts, with their unit; every other one is shown as it is."""

FOUND = "FoundOnChain"
"""The event of what the operator's node has found."""

_SAID = {  # each fits beside its type in one line
    "MarketOrderAccepted": "not on chain yet",
    "AttemptFailed": "the service continues",
    "MarketOrderInitiated": "on chain; unfilled",
    "IncreasePositionRequested": "on chain; unfilled",
    "MarketOrderExecuted": "filled",
    "PositionSizeIncreased": "filled",
    "MarketOrderCanceled": "declined",
    "Error": "failed",
    "RelayAccepted": "not on chain yet",
    "RelayConfirmed": "confirmed",
    "RelayReverted": "reverted",
    "TwapCancelQueued": "not on chain yet",
    "TwapCancelled": "cancelled",
    "TwapExecuted": "executed",
    "TriggerStored": "stored",
    "TransactionSent": "sent; not confirmed yet",
    "TransactionConfirmed": "confirmed",
    "TransactionReverted": "reverted",
    FOUND: "executed, found on chain",
}


def is_end(event: OrderEvent, route: str) -> bool:
    """Tell whether a submission is over with this event on its route."""
    if route != BATCHED_MARKET:
        return event.type in ENDS_OF_ROUTES or event.type == FOUND
    return terminal_state(event) is not None and (event.seq is not None or not needs_history(event))


def event_lines(event: OrderEvent, *, now_ms: int, route: str) -> list[str]:
    """Return an event for a person: time, seq, type and what that says, then a line a member. ``now_ms`` is our clock."""
    at_ms = now_ms if event.at_ms is None else event.at_ms
    seq = "  -" if event.seq is None else f"{event.seq:>3}"
    head = f"    {utc_text(at_ms)}  {seq}  "
    return [
        *_rows(head, f"{safe(event.type, limit=100)}: {_said(event, route)}{_lag(at_ms, now_ms)}"),
        *_members(event),
    ]


def event_json(event: OrderEvent, *, now_ms: int, route: str) -> dict[str, object]:
    """Return an event as the object of one JSON line. ``told_ms`` is our clock; ``meaning`` is there for a known code."""
    told: dict[str, object] = {"event": event.type, "seq": event.seq, "at_ms": event.at_ms, "told_ms": now_ms}
    told |= {"terminal": is_end(event, route), "payload": dict(event.payload)}
    known = ERROR_CODES.get(event.code)
    return told | ({"meaning": known.meaning, "do": known.do} if known else {})


def _said(event: OrderEvent, route: str) -> str:
    if is_end_of_view(event):
        return "this stream ended, the order did not"
    if event.type == "AttemptFailed" and event.payload.get("willRetry") is False:
        return "this was the last attempt"
    said = _SAID.get(event.type, "a type that this version does not know; it ends nothing")
    return f"{said}; this ends it" if is_end(event, route) else said


def _lag(at_ms: int, now_ms: int) -> str:
    """Return how far a service's time is from ours where that is worth a word."""
    if abs(now_ms - at_ms) < _LATE_MS:
        return ""
    span = span_text(abs(now_ms - at_ms) // 1000)
    return f" ({span} ago)" if at_ms < now_ms else f" (its clock is {span} ahead of ours)"


def _members(event: OrderEvent) -> Iterator[str]:
    members = list(_flat(event.payload))
    for name, value in members[:MEMBERS_SHOWN]:
        label, text = safe(name, limit=40), _value_text(name.rpartition(".")[2], value)
        label_column = f"{_LABEL}{label}{' ' * (_NAME - columns(label))} "
        if columns(label) <= _NAME and (_fits(label_column, text) or " " in text):
            yield from _rows(label_column, text)
        else:  # a hash, or a name or text that leaves no room
            yield from _rows(_LABEL, label)
            yield from _rows(f"{_LABEL}  ", text)
    if len(members) > MEMBERS_SHOWN:
        yield f"{_LABEL}and {len(members) - MEMBERS_SHOWN} more members, not shown; --json has them"


def _flat(payload: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the members, those of the stored Trade tuple ``t`` beside the others."""
    for name, value in payload.items():
        if name == "t" and type(value) is dict:
            yield from ((f"t.{inner}", member) for inner, member in value.items())
        else:
            yield name, value


def _value_text(name: str, value: Any) -> str:
    raw = _raw(value)
    unit = _UNITS.get(name)
    if raw is not None and unit is UNIX_S:
        return f"{utc_text(raw * 1000 if looks_like_seconds(raw) else raw)}, raw {raw}"
    if raw is not None and unit is not None:
        return f"{to_human(raw, unit)} {unit.name}, raw {raw}"
    if type(value) is bool:
        side = {True: " (long)", False: " (short)"}[value] if name in ("buy", "isBuy") else ""
        return f"{str(value).lower()}{side}"
    text = value if type(value) is str else json.dumps(value)
    known = ERROR_CODES.get(text) if name == "code" else None
    return f"{text}: {known.meaning}" if known else safe(text, limit=_LETTERS_SHOWN)


def _raw(value: Any) -> int | None:
    """Return the integer of a raw value, which comes as a decimal string or as a number; None for anything else."""
    if type(value) is int:
        return value if abs(value) < 10**_DIGITS_AT_MOST else None
    if type(value) is not str or len(value) > _DIGITS_AT_MOST or not value.isascii():
        return None
    return int(value) if value.removeprefix("-").isdecimal() else None


def _fits(label: str, text: str) -> bool:
    return columns(label) + len(text) <= WIDTH and text.isascii()


def _rows(label: str, text: str) -> Iterator[str]:
    """Yield safe text beside its label in rows of 80 columns that stay in their column."""
    if _fits(label, text) and text.isprintable():
        yield label + text
        return
    yield from labelled_rows(label, safe_again(text, limit=4 * _LETTERS_SHOWN))
