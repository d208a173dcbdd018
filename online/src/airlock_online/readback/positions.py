"""What was promised of positions and waiting orders, read back from the positions read.

A read tells how a position is now, not how it was. An amount is therefore judged by the resulting trade ``t`` of the event
that ended the order (the specification, "Events"), where the event has one for this very position. A market that
executed nothing can tell the position as it stands: another service must then tell that the nonce is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from airlock_online.clients.reply_values import whole
from airlock_online.delivery.event_lines import FOUND
from airlock_online.journal.order_states import OrderEvent
from airlock_online.readback.expectations import (
    Expectation,
    JudgedRead,
    ReadBack,
    ReadReply,
    Scene,
    Trade,
    amount_text,
    is_about,
    moment_ms,
    not_known,
    read_of,
    read_trade,
    same_moment,
    trade_text,
    trades_in,
    waiting_order,
)
from airlock_shared.errors import Refusal
from airlock_shared.text.safe import safe
from airlock_shared.units import PRICE, USDC, Unit, to_raw
from airlock_shared.venue.structs import OPENED, PAIR

_EXECUTED, INCREASED, _STORED = "MarketOrderExecuted", "PositionSizeIncreased", "TriggerStored"
TWO_CLOCKS_MS = 60_000
_PENDING = "pending: the transaction stored an order that is filled later"


class _Slot(NamedTuple):
    """A position's place, and the moment that the intent is bound to; None where nothing binds it."""

    trader: str
    pair: int | None
    slot: int | None
    opened: int | None = None

    @property
    def name(self) -> str:
        return f"the position on pair {self.pair}, slot {self.slot}"

    def among(self, trades: list[Trade]) -> Trade | None:
        """Return the position, or None; one that was opened at another moment is another position."""
        for trade in trades:
            if (trade.pair, trade.slot) == (self.pair, self.slot):
                if self.opened is not None and trade.opened is not None and not same_moment(self.opened, trade.opened):
                    return None
                return trade
        return None


def _opened(scene: Scene) -> list[Expectation]:
    """Return the expectation of an open: a position of its side in the slot that the event tells, with its triggers."""
    pair, buy, trader = whole(scene.signed(PAIR)), scene.signed("side"), scene.signed("trader")
    triggers = {name: raw for name, kind in _TRIGGERS.items() if (raw := whole(scene.signed(kind)))}
    promised = f"a {'long' if buy else 'short'} position{_triggers_text(triggers)}"
    told = _trade_of_event(scene, _EXECUTED)
    if told is None or told.pair != pair:
        read = _positions(scene, trader)
        found: JudgedRead | None = "no such position", False
        if (trades := trades_in(read.data)) is None:
            found = None
        elif any(trade.pair == pair and trade.buy in (buy, None) for trade in trades):
            found = "such a position, but no event gives its slot", None
        return [read.expect(f"a position on pair {pair}", promised, found)]

    def judge(mine: Trade | None) -> JudgedRead:
        if mine and mine.buy == buy and mine.opened and moment_ms(mine.opened) < scene.prepared_ms - TWO_CLOCKS_MS:
            return "; it is older than the order, so it may be another one", None
        if mine is None:
            return "", False
        found = {name: getattr(mine, name) for name in triggers}
        pairs = [(mine.buy, buy), *((found[name], raw) for name, raw in triggers.items())]
        same = {None if now is None else now == signed for now, signed in pairs}
        return _triggers_text(found), False if False in same else None if None in same else True

    return _judged(scene, _Slot(trader, pair, told.slot, told.opened), promised, judge, partial(_executed, scene))


_TRIGGERS = {"take_profit": "takeProfit", "stop_loss": "stopLoss"}
"""What an open may have beside its position, by the name in a ``Trade``."""


def _triggers_text(triggers: Mapping[str, int | None]) -> str:
    return "".join(f", {name.replace('_', ' ')} {amount_text(raw, PRICE)}" for name, raw in triggers.items())


def closed(scene: Scene) -> list[Expectation]:
    """Return the expectation of a close: the position gone, or as much of it left as the event tells."""
    asked, place = scene.request.fields, _signed_place(scene)
    in_usdc = asked.get("collateralToCloseUsdc")
    promised = f"{safe(in_usdc)} USDC closed" if in_usdc else f"{safe(asked['coinExposure'])} coins closed"
    told = _result(scene, _EXECUTED, place)

    def judge(mine: Trade | None) -> JudgedRead:
        if mine is None and told and (in_usdc is None or told == _raw(in_usdc, USDC)):
            return f"{_event_text(told)}, which may be what it was before", None
        if mine is None or told == 0:
            return _event_text(told), None if told is None else mine is None and told == 0
        return _by_event(mine, told)

    return _judged(scene, place, promised, judge, partial(_executed, scene, place, told))


def increased(scene: Scene) -> list[Expectation]:
    """Return the expectation of an increase: the position holds at least what was added, and what the event tells."""
    place, added = _signed_place(scene), whole(scene.signed("additionalCollateralUsdc"))
    told = _result(scene, INCREASED, place)

    def judge(mine: Trade | None) -> JudgedRead:
        if mine is None or (mine.collateral is not None and added is not None and mine.collateral < added):
            return _event_text(told), False
        return _by_event(mine, told)

    promised = f"{amount_text(added, USDC)} of collateral added"
    return _judged(scene, place, promised, judge, partial(_executed, scene, place, told))


_BY_NONCE = {True: "", False: "; its nonce is unused", None: "; no read tells that its nonce is used"}


def _judged(
    scene: Scene,
    place: _Slot,
    promised: str,
    judge: Callable[[Trade | None], JudgedRead],
    executed: Callable[[], JudgedRead] = lambda: ("", True),
) -> list[Expectation]:
    """Return the expectation of a position, judged by how it is now: not where another order may have changed it since.

    A position as it was promised is another order's doing where ``executed`` says no.
    """
    read = _positions(scene, place.trader)
    trades = trades_in(read.data)
    if trades is None:
        return [read.expect(place.name, promised, None)]
    mine = place.among(trades)
    note, kept = judge(mine)
    if kept is False and _changed_since(scene, place):
        note, kept = f"{note}; another order of the journal may have changed it since", None
    elif kept:
        more, kept = executed()
        note += more
    return [read.expect(place.name, promised, (trade_text(mine) + note, kept))]


def _changed_since(scene: Scene, place: _Slot) -> bool:
    """Tell whether another order's event is about this position, and not surely earlier than the order's own last one."""
    at_ms = scene.events[-1].at_ms if scene.events else None
    return any(at_ms is None or event.at_ms is None or event.at_ms >= at_ms for event, _ in _of_others(scene, place))


def _of_others(scene: Scene, place: _Slot) -> Iterator[tuple[OrderEvent, Trade]]:
    """Yield the events of other orders that are about this position, and the trade that each tells."""
    for event in scene.of_others():
        trade = read_trade(event.payload.get("t"))
        if trade and place.among([trade]):
            yield event, trade


def _executed(scene: Scene, place: _Slot | None = None, told: int | None = None) -> JudgedRead:
    """Judge whether a position that is as promised is the order's doing: not where another one's event told the same."""
    used = scene.nonce_used()
    if used and place and told in [trade.collateral for _, trade in _of_others(scene, place)]:
        return ", as it did of another order: it may be what it was before", None
    return _BY_NONCE[used], used


def _by_event(mine: Trade, collateral: int | None) -> JudgedRead:
    """Judge a position by the collateral that the venue's event told."""
    if collateral is None or mine.collateral is None:
        return "; what it was before is not known", None
    return _event_text(collateral), mine.collateral == collateral


def _event_text(collateral: int | None) -> str:
    return "" if collateral is None else f"; the venue's event told {amount_text(collateral, USDC)} of collateral"


def trigger(scene: Scene) -> list[Expectation]:
    """Return what is expected of a trigger: its id told, the one that it replaces named, its position there.

    No read of a trigger is known. What the service's own answer says can break an expectation, and keeps none.
    """
    place, answer = _signed_place(scene), scene.last(_STORED)
    new, old = answer.get("entityId"), answer.get("oldEntityId")
    told = f"{_entity(new)}, by the service's answer alone"
    expectations = [Expectation("the trigger", "stored, with its entity id", told, None if _is_entity(new) else False)]
    if replaced := scene.request.replaces:
        broken = _is_entity(old) and (str(old) != replaced or str(new) == replaced)
        told = f"{_entity(old)}, by the service's answer alone"
        expectations += [Expectation("the trigger replaced", _entity(replaced), told, False if broken else None)]

    def judge(mine: Trade | None) -> JudgedRead:
        if any(event.type == FOUND for event in scene.events):
            return "; the trigger was executed, found on chain", None
        return "", mine is not None

    return [*expectations, *_judged(scene, place, "open, so that the trigger can close it", judge)]


def _is_entity(value: object) -> bool:
    return type(value) in (str, int) and value != ""


def _entity(value: object) -> str:
    return f"entity id {safe(str(value), limit=100)}" if _is_entity(value) else "no entity id"


def pending(scene: Scene) -> list[Expectation]:
    """Return the expectation of a transaction that stores an order: whatever the positions say now, it is not told yet."""
    asked = scene.request.fields
    place = _Slot(asked["trader"], whole(asked.get("pairIndex")), whole(asked.get("tradeIndex")))
    what = place.name if place.slot is not None else f"a position on pair {place.pair}"
    trades = trades_in(_positions(scene, place.trader).data)
    now = f"; now: {trade_text(place.among(trades))}" if trades is not None and place.slot is not None else ""
    return [Expectation(what, f"{scene.request.action}, when the order is filled", f"{_PENDING}{now}", None)]


def limit_updated(scene: Scene) -> list[Expectation]:
    """Return what is expected of a changed limit order: its price, and take profit and stop loss where asked for."""
    asked = scene.request.fields
    pair, slot = whole(asked.get("pairIndex")), whole(asked.get("orderIndex"))
    read = _positions(scene, asked["trader"])
    order = waiting_order(read.data, pair, slot)
    expectations = []
    for name, member in (("price", "price"), ("takeProfit", "tp"), ("stopLoss", "sl")):
        if name not in asked:
            continue
        what, promised = f"{name} of the limit order on pair {pair}, slot {slot}", f"{asked[name]} USD"
        told = whole(order.get(member)) if order else None
        if order == {}:
            expectations.append(not_known(what, promised, "no such order is pending; it may have been executed"))
            continue
        found = None if told is None else (amount_text(told, PRICE), _raw(asked[name], PRICE) == told)
        expectations.append(read.expect(what, promised, found))
    return expectations


def _raw(text: str, unit: Unit) -> int | None:
    try:
        return to_raw(text, unit)
    except Refusal:
        return None


def _positions(scene: Scene, trader: str) -> ReadReply:
    """Return the read of the trader's positions."""
    data = scene.builder.read_or_error("positions", {"trader": trader})
    return read_of(data, is_about(data, trader), "trader")


def _signed_place(scene: Scene) -> _Slot:
    """Return the position that was signed, and the moment that binds the intent to it, if any."""
    slot = whole(scene.signed("tradeIndex"))
    return _Slot(scene.signed("trader"), whole(scene.signed(PAIR)), slot, whole(scene.signed(OPENED)))


def _trade_of_event(scene: Scene, kind: str) -> Trade | None:
    event = next((each for each in scene.events if each.type == kind), None)  # of two ends the first one counts
    return read_trade(event.payload.get("t")) if event else None


def _result(scene: Scene, kind: str, place: _Slot) -> int | None:
    """Return the resulting collateral that the event tells, when it is of this position."""
    told = _trade_of_event(scene, kind)
    return told.collateral if told and place.among([told]) else None


POSITION_READS: ReadBack = {
    "open": _opened, "open-coin": _opened, "close": closed, "close-coin": closed,
    "increase": increased, "increase-coin": increased, "tpsl-partial": trigger, "limit-update": limit_updated,
    "position-increase": pending, "position-increase-coin": pending, "trade-open": pending, "trade-close": pending,
}  # fmt: skip
"""By action."""
