"""What was promised of positions and waiting orders, read back from the positions read.

A read tells how a position is now, not how it was. An amount is therefore judged by the resulting trade ``t`` of the event
that ended the order (the specification, "Events"), where the event has one for this very position.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_online.readback.expectations import Expectation, ReadBack, Scene, unreadable, untold
from airlock_online.readback.trade_tuple import (
    Trade,
    amount_text,
    is_about,
    read_trade,
    trade_text,
    trades_in,
    waiting_order,
    whole,
)
from airlock_shared.catalogue.kinds import PAIR
from airlock_shared.errors import Refusal, ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.units import PRICE, USDC, to_raw

EXECUTED, INCREASED, STORED = "MarketOrderExecuted", "PositionSizeIncreased", "TriggerStored"
PENDING = "pending: the transaction stored an order that is filled later"


class _Slot(NamedTuple):
    """A position's place, and the moment that the intent is bound to; None where nothing binds it."""

    trader: str
    pair: int | None
    slot: int | None
    opened_s: int | None = None

    @property
    def name(self) -> str:
        return f"the position on pair {self.pair}, slot {self.slot}"

    def among(self, trades: list[Trade]) -> Trade | None:
        """Return the position, or None; one that was opened at another moment is another position."""
        for trade in trades:
            if (trade.pair, trade.slot) == (self.pair, self.slot):
                return trade if None in (self.opened_s, trade.opened_s) or self.opened_s == trade.opened_s else None
        return None


def opened(scene: Scene) -> list[Expectation]:
    """Return the expectation of an open: a position of its side, in the slot that the event tells."""
    pair, buy, trader = whole(scene.signed(PAIR)), scene.signed("long"), scene.signed("trader")
    what, promised = f"a position on pair {pair}", f"a {'long' if buy else 'short'} position"
    trades, read = _positions(scene, trader)
    if trades is None:
        return [unreadable(what, promised, read)]
    told = _told(scene, EXECUTED)
    if told is None or told.pair != pair:
        some = any(trade.pair == pair and trade.buy in (buy, None) for trade in trades)
        found = "such a position, but no event gives its slot" if some else "no such position"
        return [Expectation(what, promised, found, None if some else False)]
    place = _Slot(trader, pair, told.slot, told.opened_s)
    mine = place.among(trades)
    kept = False if mine is None else None if mine.buy is None else mine.buy == buy
    return [Expectation(place.name, promised, trade_text(mine), kept)]


def closed(scene: Scene) -> list[Expectation]:
    """Return the expectation of a close: the position gone, or as much of it left as the event tells."""
    asked, place = scene.request.fields, _signed_place(scene)
    told = _result(scene, EXECUTED, place)
    in_usdc = asked.get("collateralToCloseUsdc")
    amount = f"{in_usdc} USDC" if in_usdc else f"{asked['coinExposure']} coins"
    left = f", {amount_text(told.collateral, USDC)} of collateral left" if told else ""
    promised = f"{safe(amount)} closed{left}"
    trades, read = _positions(scene, place.trader)
    if trades is None:
        return [unreadable(place.name, promised, read)]
    mine = place.among(trades)
    expected = told.collateral if told else None
    if mine is None:
        return [Expectation(place.name, promised, trade_text(None), not expected)]
    if expected is None or (mine.collateral is None and expected):
        return [Expectation(place.name, promised, f"{trade_text(mine)}; what it was before is not known", None)]
    return [Expectation(place.name, promised, trade_text(mine), mine.collateral == expected)]


def increased(scene: Scene) -> list[Expectation]:
    """Return the expectation of an increase: the position holds at least what was added, and what the event tells."""
    place = _signed_place(scene)
    added, told = whole(scene.signed("collateral-added")), _result(scene, INCREASED, place)
    expected = told.collateral if told else None
    promised = f"{amount_text(added, USDC)} of collateral added"
    promised += f", {amount_text(expected, USDC)} in all" if expected is not None else ""
    trades, read = _positions(scene, place.trader)
    if trades is None:
        return [unreadable(place.name, promised, read)]
    mine = place.among(trades)
    if mine is None or (mine.collateral is not None and added is not None and mine.collateral < added):
        return [Expectation(place.name, promised, trade_text(mine), False)]
    if expected is None or mine.collateral is None:
        return [Expectation(place.name, promised, f"{trade_text(mine)}; what it was before is not known", None)]
    return [Expectation(place.name, promised, trade_text(mine), mine.collateral == expected)]


def trigger(scene: Scene) -> list[Expectation]:
    """Return what is expected of a trigger: its id told, the one that it replaces named, its position there."""
    place = _signed_place(scene)
    event = scene.last(STORED)
    new, old = (event.payload.get(name) if event else None for name in ("entityId", "oldEntityId"))
    expectations = [Expectation("the trigger", "stored, with its entity id", _entity(new), _is_entity(new))]
    if replaced := scene.request.replaces:
        kept = _is_entity(old) and str(old) == replaced and str(new) != replaced
        expectations += [
            Expectation("the trigger replaced", _entity(replaced), _entity(old), kept if _is_entity(old) else None)
        ]
    trades, read = _positions(scene, place.trader)
    promised = "open, so that the trigger can close it"
    if trades is None:
        return [*expectations, unreadable(place.name, promised, read)]
    mine = place.among(trades)
    return [*expectations, Expectation(place.name, promised, trade_text(mine), mine is not None)]


def _is_entity(value: object) -> bool:
    return type(value) in (str, int) and value != ""


def _entity(value: object) -> str:
    return f"entity id {safe(str(value), limit=100)}" if _is_entity(value) else "no entity id"


def pending(scene: Scene) -> list[Expectation]:
    """Return the expectation of a transaction that stores an order: whatever the positions say now, it is not told yet."""
    asked = scene.request.fields
    place = _Slot(asked["trader"], whole(asked.get("pairIndex")), whole(asked.get("tradeIndex")))
    what = place.name if place.slot is not None else f"a position on pair {place.pair}"
    trades, _ = _positions(scene, place.trader)
    now = f"; now: {trade_text(place.among(trades))}" if trades is not None and place.slot is not None else ""
    return [Expectation(what, f"{scene.request.action}, when the order is filled", f"{PENDING}{now}", None)]


def limit_updated(scene: Scene) -> list[Expectation]:
    """Return what is expected of a changed limit order: its price, and take profit and stop loss where asked for."""
    asked = scene.request.fields
    pair, slot = whole(asked.get("pairIndex")), whole(asked.get("orderIndex"))
    _, read = _positions(scene, asked["trader"])
    order = waiting_order(read, pair, slot)
    expectations = []
    for name, member in (("price", "price"), ("takeProfit", "tp"), ("stopLoss", "sl")):
        if name not in asked:
            continue
        what, promised = f"{name} of the limit order on pair {pair}, slot {slot}", f"{asked[name]} USD"
        found = whole(order.get(member)) if order else None
        if order == {}:
            expectations.append(untold(what, promised, "no such order is pending; it may have been executed"))
        elif found is None:
            expectations.append(unreadable(what, promised, read))
        else:
            expectations.append(
                Expectation(what, promised, amount_text(found, PRICE), _raw_price(asked[name]) == found)
            )
    return expectations


def _raw_price(text: str) -> int | None:
    try:
        return to_raw(text, PRICE)
    except Refusal:
        return None


def _positions(scene: Scene, trader: str) -> tuple[list[Trade] | None, object]:
    """Return the trader's positions, None when they cannot be read, and what the read gave."""
    read = scene.builder.read_or_error("positions", {"trader": trader})
    if type(read) is dict and not is_about(read, trader):
        read = ServiceError("the reply does not name the trader that was asked for")
    return trades_in(read), read


def _signed_place(scene: Scene) -> _Slot:
    """Return the position that was signed, and the moment that binds the intent to it, if any."""
    return _Slot(
        scene.signed("trader"), whole(scene.signed(PAIR)), whole(scene.signed("position-slot")), scene.opened_s()
    )


def _told(scene: Scene, kind: str) -> Trade | None:
    event = scene.last(kind)
    return read_trade(event.payload.get("t")) if event else None


def _result(scene: Scene, kind: str, place: _Slot) -> Trade | None:
    """Return the resulting trade that the event tells, when it is of this position and tells its collateral."""
    told = _told(scene, kind)
    return told if told and told.collateral is not None and place.among([told]) else None


READ_BACK: ReadBack = {
    "open": opened, "open-coin": opened, "close": closed, "close-coin": closed,
    "increase": increased, "increase-coin": increased, "tpsl-partial": trigger, "limit-update": limit_updated,
    "position-increase": pending, "position-increase-coin": pending, "trade-open": pending, "trade-close": pending,
}  # fmt: skip
"""By action."""
