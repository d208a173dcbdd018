"""The life of what was signed: its states, and the merging of the batched market's events into one outcome.

Pure: events go in, from the stream or from the status endpoint, in any order and as often as they come. Source: the
specification, "States and transitions" and "Events".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

MAX_EVENTS = 2_000  # of one order; the real ones have a handful
MAX_TRACKING_ID = 200
_DIGITS_AT_MOST = 78  # of a uint256
ACCEPTED_EVENT = "MarketOrderAccepted"
STREAM_TIMEOUT, ENQUEUE_FAILED = "STREAM_TIMEOUT", "ENQUEUE_FAILED"


class OrderState(StrEnum):
    """What is known of a submission. ``schema.TRANSITIONS`` says what may follow what."""

    PREPARED = "PREPARED"
    SENDING = "SENDING"
    REJECTED = "REJECTED"
    EXPORTED = "EXPORTED"
    ACCEPTED = "ACCEPTED"
    UNKNOWN = "UNKNOWN"
    PRESUMED_UNKNOWN = "PRESUMED_UNKNOWN"
    FILLED = "FILLED"
    CONFIRMED = "CONFIRMED"
    MARKET_DECLINED = "MARKET_DECLINED"
    FAILED = "FAILED"
    EXPIRED_UNUSED = "EXPIRED_UNUSED"
    VOIDED = "VOIDED"


STATE_MEANINGS = {
    OrderState.PREPARED: "in the journal; not a byte has been sent",
    OrderState.SENDING: "the one request is on its way",
    OrderState.REJECTED: "refused before it was accepted: it may be sent again",
    OrderState.EXPORTED: "given to another sender: never sent from here, resolved only by reading",
    OrderState.ACCEPTED: "the service has accepted it",
    OrderState.UNKNOWN: "perhaps accepted, perhaps not: never sent again, resolved only by reading",
    OrderState.PRESUMED_UNKNOWN: "its sender is gone, or the sender's claim ran out: as UNKNOWN, and its sender may still "
    "write what it learned",
    OrderState.FILLED: "the order was filled",
    OrderState.CONFIRMED: "done: it is on the chain, as was told; of an order: its trigger is stored, not filled yet",
    OrderState.MARKET_DECLINED: "the transaction succeeded, but the market declined the fill",
    OrderState.FAILED: "it was accepted, but its execution failed",
    OrderState.EXPIRED_UNUSED: "the deadline is past, and the nonce was never used",
    OrderState.VOIDED: "it can no longer be executed, and it was not: something else has its nonce",
}

FINAL = frozenset(
    {
        OrderState.FILLED,
        OrderState.CONFIRMED,
        OrderState.MARKET_DECLINED,
        OrderState.FAILED,
        OrderState.EXPIRED_UNUSED,
        OrderState.VOIDED,
    }
)
DONE = frozenset({OrderState.FILLED, OrderState.CONFIRMED})
"""The ends in which it was carried out, as was told."""
OPEN = frozenset(OrderState) - FINAL - {OrderState.PREPARED, OrderState.REJECTED}
"""The states in which there is something left to find out, by reading alone."""

_TERMINAL = {
    "MarketOrderExecuted": OrderState.FILLED,
    "PositionSizeIncreased": OrderState.FILLED,
    "MarketOrderCanceled": OrderState.MARKET_DECLINED,
    "Error": OrderState.FAILED,
}
TERMINAL_TYPES = frozenset(_TERMINAL)
ENDS_OF_ROUTES = frozenset(
    {
        "RelayConfirmed",
        "RelayReverted",
        "TransactionConfirmed",
        "TransactionReverted",
        "TriggerStored",
        "TwapCancelled",
        "TwapExecuted",
    }
)
"""The events that end what goes another way than the batched market: each route writes its own."""
INITIATIONS = ("MarketOrderInitiated", "IncreasePositionRequested")
_QUEUED = ("AttemptFailed", *INITIATIONS)
_TELLING = frozenset(INITIATIONS) | _TERMINAL.keys()
"""The events that have members of the order beside its tracking id."""
KNOWN_TYPES = _TELLING | {ACCEPTED_EVENT, "AttemptFailed"}


def askable_id(told: object) -> str:
    """Return an id that came as a text or a whole number; empty when it is none that can be asked for."""
    text = str(told) if type(told) is int and told >= 0 else told
    return text if type(text) is str and len(text) <= MAX_TRACKING_ID and text.isprintable() else ""


class OrderEvent(NamedTuple):
    """One event. ``seq`` is None when it came without one; ``at_ms`` is the service's time, unix ms, if it gave one."""

    seq: int | None
    type: str
    payload: Mapping[str, Any]
    at_ms: int | None = None

    @property
    def code(self) -> str:
        """The payload's ``code``, on which alone anything is decided; empty when there is none."""
        code = self.payload.get("code")
        return code if type(code) is str else ""

    @property
    def tracking_id(self) -> str:
        """The payload's ``trackingId``; empty when there is none that can be asked for."""
        return askable_id(self.payload.get("trackingId"))


class Anomaly(NamedTuple):
    """Something that a correct service does not do. ``kind`` is one of the names in :data:`ANOMALIES`.

    ``why`` names what differs, as it came: it is not safe to show.
    """

    kind: str
    event: OrderEvent
    why: str = ""


ANOMALIES = {
    "seq-went-back": "an event came with a lower seq than one before it",
    "different-duplicate": "two events have one seq and differ; the first one counts",
    "event-after-terminal": "an event came after the one that ended the order",
    "second-terminal": "a second event ends the order; the first one counts",
    "other-tracking-id": "an event names another order; it does not count",
    "not-what-was-signed": "a service tells of another order than the signed one; its event decides nothing",
    "not-as-before": "an event contradicts an earlier one; it decides nothing",
    "end-beside-contradiction": "an end is told beside what contradicts the signed order; it does not count",
    "event-without-seq": "an event that should have a seq has none",
    "end-without-seq": "an event without a seq claims to end the order; the persisted history is asked, it alone counts",
    "history-contradicts": "the stream told an end that the persisted history contradicts; the history counts",
    "failed-and-executed": "a failure without an initiation is told while the node has the nonce as used: it does not count",
    "end-not-named": "an end is told without an id to ask for the order by; it does not count",
    "seq-gap": "the persisted history leaves a seq out",
    "too-many-events": "the order has more events than are kept; the one that ends it is",
    "unreadable-entry": "an entry of the persisted history cannot be read; it is left out",
    "id-from-a-person": "its tracking id was given by a person: its outcome is by the service's word",
    "accepted-missing": "the first event is not MarketOrderAccepted",
    "other-transaction-hash": "a service names a transaction that was not signed; the signed one is followed",
}


CONTRADICTIONS = frozenset({"not-what-was-signed", "not-as-before", "other-tracking-id", "end-beside-contradiction"})
"""The anomalies that put in doubt whether a service speaks of the signed order: a person is told of them first."""


class KnownOrder(NamedTuple):
    """All that is known of one order.

    ``signed`` are the members of its events that the signed message decides, as :func:`order_members` gives them: ``type``
    is the initiation event of its kind of order. ``contradicted`` is whether an event told of another order; ``told``
    are the members that its events gave.
    """

    signed: Mapping[str, object] = {}
    tracking_id: str = ""
    events: tuple[OrderEvent, ...] = ()
    last_seq: int | None = None
    terminal: OrderEvent | None = None
    contradicted: bool = False
    told: Mapping[str, object] = {}

    @property
    def whole(self) -> bool:
        """Whether no seq below the last one is missing: then what is new can only be behind it."""
        last = self.last_seq or 0
        return last <= 2 * MAX_EVENTS and {event.seq for event in self.events} >= set(range(last + 1))

    @property
    def state(self) -> OrderState | None:
        """The final state that the first terminal event gives, or None."""
        return terminal_state(self.terminal) if self.terminal else None


class Merged(NamedTuple):
    """The order after an event, whether the event is new and of this order, and what was wrong with it."""

    order: KnownOrder
    fresh: bool = False
    anomalies: tuple[Anomaly, ...] = ()


def is_end_of_view(event: OrderEvent) -> bool:
    """Tell the one Error that is no event of the order: this connection's time is up (rule 2 of "Events")."""
    return event.type == "Error" and event.code == STREAM_TIMEOUT


def terminal_state(event: OrderEvent) -> OrderState | None:
    """Return the state that a terminal event ends in, or None: unknown types are never terminal."""
    return None if is_end_of_view(event) else _TERMINAL.get(event.type)


def needs_history(event: OrderEvent, before: Iterable[OrderEvent] = ()) -> bool:
    """Tell whether an event of the stream claims an end that the persisted history is asked for: only one needs none.

    The request of ``ENQUEUE_FAILED`` never reached the queue, so that there may be no history: unless an event ``before`` it
    tells of an attempt or of the chain.
    """
    never_queued = event.code == ENQUEUE_FAILED and all(each.type not in _QUEUED for each in before)
    return terminal_state(event) is not None and not never_queued


def is_of(event: OrderEvent, order: KnownOrder) -> bool:
    """Tell whether an event names no other order than this one."""
    return not (order.tracking_id and event.tracking_id and event.tracking_id != order.tracking_id)


def merge(order: KnownOrder, event: OrderEvent) -> Merged:
    """Merge one event: unique by seq, the first terminal wins, what a correct service does not do is named.

    An event that tells of another order than the signed one is not taken, nor is an end beside it.

    Of more than ``MAX_EVENTS`` only the terminal one is kept. A terminal event without a seq is not believed, but for one.
    """
    if is_end_of_view(event):
        return Merged(order)
    if contradiction := _contradiction(order, event):
        return Merged(order._replace(contradicted=True), anomalies=(contradiction,))
    if order.contradicted and terminal_state(event):
        return Merged(order, anomalies=(Anomaly("end-beside-contradiction", event),))
    named = order._replace(tracking_id=order.tracking_id or event.tracking_id)
    if event.seq is None and needs_history(event, order.events):
        return Merged(named, anomalies=(Anomaly("end-without-seq", event),))
    known_seqs = (seq for seq in (order.last_seq, event.seq) if seq is not None)
    seen = named._replace(last_seq=max(known_seqs, default=None))
    if len(order.events) >= MAX_EVENTS and (order.terminal or not terminal_state(event)):
        more = Anomaly("too-many-events", OrderEvent(None, "more", {"than": MAX_EVENTS}))
        return Merged(seen, anomalies=(more,))
    if (twin := _twin(order, event)) is not None:
        differs = (twin.type, twin.payload) != (event.type, event.payload)
        return Merged(seen, anomalies=(Anomaly("different-duplicate", event),) if differs else ())
    merged = seen._replace(
        events=(*order.events, event),
        told={**order.told, **dict(order_members(event))},
        terminal=order.terminal or (event if terminal_state(event) else None),
    )
    return Merged(merged, fresh=True, anomalies=tuple(Anomaly(kind, event) for kind in _oddities(order, event)))


def _twin(order: KnownOrder, event: OrderEvent) -> OrderEvent | None:
    """Return the event that this one repeats: by seq, or by content when one of the two came without a seq."""
    for known in order.events:
        if known.seq == event.seq and event.seq is not None:
            return known
        if None in (known.seq, event.seq) and (known.type, known.payload) == (event.type, event.payload):
            return known
    return None


def _oddities(order: KnownOrder, event: OrderEvent) -> list[str]:
    odd = []
    if event.seq is None and event.type != "Error":  # an Error has been seen without one: ENQUEUE_FAILED
        odd.append("event-without-seq")
    if event.seq is not None and order.last_seq is not None and event.seq < order.last_seq:
        odd.append("seq-went-back")
    if order.terminal:
        odd.append("second-terminal" if terminal_state(event) else "event-after-terminal")
    if not order.events and event.type not in (ACCEPTED_EVENT, "Error"):
        odd.append("accepted-missing")
    return odd


_TELL = ("orderId", "trader", "pairIndex", "index", "open", "isBuy", "isPnl")
_TUPLE_TELLS = ("trader", "pairIndex", "index", "buy")
_INITIATION = {
    "MarketOrderInitiated": "MarketOrderInitiated",
    "MarketOrderExecuted": "MarketOrderInitiated",
    "IncreasePositionRequested": "IncreasePositionRequested",
    "PositionSizeIncreased": "IncreasePositionRequested",
}


def order_members(event: OrderEvent) -> list[tuple[str, object]]:
    """Return what an event tells of the order it is about, member by member, those of the Trade tuple ``t`` among them.

    A number is an int however it came, an address is lower-case, what cannot be read is its text. ``type`` is the
    initiation event of the kind of order. A transaction is that of one type of event. Source: the specification, "Events".
    """
    if event.type not in _TELLING:
        return []
    kind = _INITIATION.get(event.type)
    told: list[tuple[str, object]] = [("type", kind)] if kind else []
    told += [(name, _plain(event.payload[name])) for name in _TELL if name in event.payload]
    trade = event.payload.get("t")
    if type(trade) is dict:
        told += [(name, _plain(trade[name])) for name in _TUPLE_TELLS if name in trade]
    if "transactionHash" in event.payload:
        told.append((f"transactionHash of {event.type}", _plain(event.payload["transactionHash"])))
    return told


def _plain(value: object) -> object:
    """Return a value in one form: a decimal text is its number, another text is lower-case."""
    if type(value) in (bool, int):
        return value
    text = value.lower() if type(value) is str else repr(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS_AT_MOST else text[:MAX_TRACKING_ID]


def _contradiction(order: KnownOrder, event: OrderEvent) -> Anomaly | None:
    """Compare what an event tells with the order's id, the signed message, itself and the events before it."""
    if not is_of(event, order):
        return Anomaly("other-tracking-id", event)
    before = dict(order.told)
    for name, told in order_members(event):
        for kind, expected in (("not-what-was-signed", order.signed), ("not-as-before", before)):
            if name in expected and (type(told), told) != (type(expected[name]), expected[name]):
                return Anomaly(kind, event, f"{name} is {told}, not {expected[name]}")
        before[name] = told
    return None
