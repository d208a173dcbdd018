"""The batched market: one POST whose reply streams the order's life, and the status endpoint for all that a stream is not.

Source: the specification, "POST {batched_market_url}/market/execute-batched", "Events" and "Batched-market errors".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from threading import Semaphore
from typing import Any, NamedTuple

from airlock_online.addresses import join_address, segment
from airlock_online.clients import sse
from airlock_online.clients.connection import EVENT_STREAM, HttpCall, NotSent, OpenReply, json_of, unexpected
from airlock_online.clients.reply_values import id_text
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, Parcel, Tracker
from airlock_online.delivery.routes.posting import POLL_S, PollResult, refused, until_final
from airlock_online.delivery.routes.struct import parcel_of, request_of
from airlock_online.journal.order_states import (
    KNOWN_TYPES,
    MAX_EVENTS,
    TERMINAL_TYPES,
    Anomaly,
    OrderEvent,
    OrderState,
    is_end_of_view,
    is_of,
    needs_history,
    terminal_state,
)
from airlock_online.speech.sections import MARKET, STATUS
from airlock_shared.errors import DocumentError, ServiceError
from airlock_shared.report.facts import PROVING_EVENTS
from airlock_shared.text.safe import safe
from airlock_shared.wire.strict_json import parse_json

# ---- order status ---------------------------------------------------------------------------------------------------
# The batched market's status endpoint: the persisted history of an order, which has the last word on how it ended.
# An end counts when all that is told of the order agrees with what was signed: it was asked for by the order's id.
# The whole history is asked for whenever a seq is missing below the last one, and now and then, so that no end stays
# hidden behind a wrong seq. Source: the specification, "GET {batched_market_url}/tracking-id/{trackingId}/status".


WHOLE_EVERY = 5  # polls
CHECKS_AT_MOST = 3  # of an end that the stream has told, before its word is taken because nobody contradicts it


class OrderStatus:
    """One order's persisted history, read until it ends."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker, self._context = tracker, tracker.context
        self._asked = 0
        self.question = f"the market: the status of {safe(tracker.tracking_id)}"

    def follow(self) -> str:
        """Poll until the order has ended. Return why that stopped, empty when it has."""
        return until_final(self.question, self._poll, self._context)

    def check(self, ending: Sequence[OrderEvent]) -> str:
        """Compare the end that the stream told with the persisted history, and poll where that has no end yet.

        ``ending`` is that event and what came behind it. Where the history cannot be asked, the stream's word is taken; one
        that does not know the order, or tells of another, contradicts it.
        """
        denied = False
        for turn in range(CHECKS_AT_MOST):
            if turn:
                self._context.sleep(POLL_S)
            try:
                answer = self._ask(whole=True)
            except ServiceError as error:
                self._context.on_asked(self.question, error.what)
                denied = denied or error.status == 404 or isinstance(error, _AnotherOrder)
                continue
            self._context.on_asked(self.question, answer)
            return self._compared(ending)
        if denied:
            return self._compared(ending, denied=True)
        for event in ending:
            self._tracker.take(event)
        return ""

    def _compared(self, ending: Sequence[OrderEvent], *, denied: bool = False) -> str:
        reason = ""
        if self._tracker.order.terminal is None:
            told = f"the stream told {safe(ending[0].type, limit=100)}, and the history has no end that counts"
            self._context.on_notice(told)
            reason = f"{told}; {self.follow()}"
        ended = self._tracker.order.terminal
        if terminal_state(ended) is not terminal_state(ending[0]) if ended else denied:
            self._tracker.odd(Anomaly("history-contradicts", ending[0]))
        if ended is None:
            return reason
        for event in ending[1:]:
            self._tracker.take(event)
        return ""

    def _poll(self) -> PollResult:
        self._asked += 1
        whole = not self._tracker.order.whole or self._asked % WHOLE_EVERY == 0
        return PollResult(self._ask(whole=whole), self._tracker.order.terminal is not None)

    def _ask(self, *, whole: bool) -> str:
        """Ask once, take what is new, and return it for a person. Raises ``ServiceError``."""
        last_seq = self._tracker.order.last_seq
        query = {} if whole or last_seq is None else {"afterSeq": last_seq}
        reply = read_history(self._tracker.record.url, self._tracker.tracking_id, query, self._context)
        for why in reply.unreadable:
            self._tracker.odd(Anomaly("unreadable-entry", OrderEvent(None, "entry", {"why": why})))
        if reply.left_out:
            self._tracker.odd(Anomaly("too-many-events", OrderEvent(None, "more", {"left_out": reply.left_out})))
        self._tracker.take_all(reply.events)
        if whole and self._tracker.order.events and not self._tracker.order.whole:
            last = OrderEvent(None, "gap", {"below": self._tracker.order.last_seq})
            self._tracker.odd(Anomaly("seq-gap", last))
        return _in_words(reply)


def read_history(base_url: str, tracking_id: str, query: Mapping[str, int], context: DeliveryContext) -> StatusReply:
    """Return what the market tells of an order's history, asked for by its id. Raises ``ServiceError``."""
    url = join_address(base_url, context.speech.paths[MARKET + STATUS].replace("{id}", segment(tracking_id)))
    reply = context.http.poll(url, query)
    if reply.status != 200:
        raise unexpected(reply, f"the status answered {reply.status}")
    return from_status(json_of(reply, url), tracking_id)


def _in_words(reply: StatusReply) -> str:
    more = f", {len(reply.unreadable)} that cannot be read" if reply.unreadable else ""
    more += f", {reply.left_out} more that are not kept" if reply.left_out else ""
    if not reply.events:
        return f"no new event{more}"
    return f"{len(reply.events)} events, the last {safe(reply.events[-1].type, limit=100)}{more}"


# ---- batched --------------------------------------------------------------------------------------------------------


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request. ``eip7702`` is there only when it was given, and then it is the very text that was given."""
    made = request_of(MARKET, delivery, context)
    if not delivery.eip7702:
        return made
    return parcel_of(made.method, made.url, made.body[:-1] + f',"eip7702":{delivery.eip7702}}}'.encode(), context)


def send(_: Delivery, parcel: Parcel, tracker: Tracker) -> str:
    """POST once and read the stream; when it ends early, poll. Return why it stopped, empty when the order is final."""
    context = tracker.context
    call = HttpCall(parcel.method, parcel.url, body=parcel.body, accept=EVENT_STREAM)
    told: list[OrderEvent] = []
    try:
        with context.http.open(call, stream=True, max_bytes=sse.STREAM_AT_MOST) as reply:
            if refused(reply, tracker):
                return ""
            told = _read_stream(reply, tracker, context.streams)
            ended = f"the stream told {told[0].type}" if told else "the stream ended"
    except NotSent as error:
        tracker.settle(OrderState.PREPARED, error.what)
        return ""
    except ServiceError as error:
        ended = error.what
    if tracker.order.terminal:
        return ""
    for event in told[:1]:
        tracker.adopt(event)
    if not tracker.tracking_id:
        for event in told[:1]:
            tracker.odd(Anomaly("end-not-named", event))
        tracker.settle(OrderState.UNKNOWN, f"{ended}; no tracking id came")
        return ""
    if not tracker.accepted:
        tracker.settle(OrderState.UNKNOWN, f"{ended}; no event of the order came")
    status = OrderStatus(tracker)
    if told:
        return status.check(told)
    context.on_notice("the events stopped coming; nothing is lost, and nothing is sent again")
    context.on_notice(ended)
    context.on_notice(f"asking for the status of {safe(tracker.tracking_id)}")
    return status.follow()


def follow(tracker: Tracker) -> str:
    """Poll the status endpoint from the last seq on, if there is a tracking id to ask for."""
    if not tracker.tracking_id:
        return ""
    tracker.context.on_notice(f"asking for the status of {safe(tracker.tracking_id)}")
    return OrderStatus(tracker).follow()


def _read_stream(reply: OpenReply, tracker: Tracker, streams: Semaphore) -> list[OrderEvent]:
    """Take the events of a 200 reply until the terminal one, the end of the view, or the end of the stream.

    A terminal event that the persisted history is to confirm is not taken but returned, with what came behind it. Once
    the order can be asked for, its stream is left unless it is one of ``streams``: it is a view, and the order goes on
    without it.
    """
    told: list[OrderEvent] = []
    if reply.status != 200 or reply.content_type != EVENT_STREAM:
        who = f"the market answered {reply.status} with {reply.content_type or 'no type'}"
        raise unexpected(reply.with_body(next(reply.chunks, b"")), who)
    decoder, stays = sse.SseDecoder(), False
    try:
        for chunk in reply.chunks:
            for item in decoder.feed(chunk):
                event = from_stream(item)
                if is_end_of_view(event):
                    return told
                ends = event.seq is not None and needs_history(event, tracker.order.events)
                if told or (ends and is_of(event, tracker.order)):
                    told.append(event)
                else:
                    tracker.take(event)
            if told or tracker.order.terminal:
                break
            stays = stays or bool(tracker.tracking_id and streams.acquire(blocking=False))
            if tracker.tracking_id and not stays:
                raise ServiceError("as many streams are read already as may be at once")
        return told
    finally:
        if stays:
            streams.release()


# ---- order events ---------------------------------------------------------------------------------------------------
# Reading the batched market's events from its two wires: the stream of the POST, and the status endpoint's replay.
# A known type must have the shape that the specification gives; an unknown one may hold anything, because
# informational types are added without a version change.


_SEQ = re.compile(r"0|[1-9][0-9]{0,14}", re.ASCII)
_MAX_SEQ = 10**15
_MAX_TYPE = 100
_MAX_DATA_BYTES = 1 << 20


def from_stream(event: sse.SseEvent) -> OrderEvent:
    """Return the order's event that a server-sent event holds. Raises ``ServiceError`` when it cannot be read."""
    if event.id is not None and not _SEQ.fullmatch(event.id):
        raise _unreadable(f"the id {safe(event.id, limit=40)!r} is not a seq")
    seq = None if event.id is None else int(event.id)
    try:
        payload = parse_json(event.data.encode("utf-8", "surrogatepass"), max_bytes=_MAX_DATA_BYTES)
    except DocumentError as error:
        if event.type in KNOWN_TYPES:
            raise _unreadable(f"the data of {event.type} is not strict JSON ({error.check})") from error
        payload = event.data
    return _event(seq, event.type, payload, None)


class _AnotherOrder(ServiceError):
    """A status reply is about another order than the one that was asked for."""


class StatusReply(NamedTuple):
    """What a status reply tells.

    ``unreadable`` says of each entry that was left out why; ``left_out`` counts those that are too many.
    """

    events: tuple[OrderEvent, ...]
    unreadable: tuple[str, ...] = ()
    left_out: int = 0


def from_status(document: Any, tracking_id: str) -> StatusReply:
    """Read a status reply, ``{events: [{seq, type, payload, at}]}``; an entry that cannot be read does not hide the others.

    Of more than ``MAX_EVENTS`` entries those that end the order are kept beside the first. Raises ``ServiceError`` when it
    has no events, or is about another order.
    """
    entries = document.get("events") if type(document) is dict else None
    if type(entries) is not list:
        raise _unreadable("the status reply has no list of events")
    whose = id_text(document.get("trackingId"))
    if whose is not None and whose != tracking_id:
        raise _AnotherOrder(f"the status reply is about {safe(str(whose), limit=80)}, which was not asked for")
    kept = entries[:MAX_EVENTS] + [entry for entry in entries[MAX_EVENTS:] if _ends(entry)][:MAX_EVENTS]
    events, unreadable = [], []
    for entry in kept:
        try:
            events.append(_from_replay(entry))
        except ServiceError as error:
            unreadable.append(error.what)
    return StatusReply(tuple(events), tuple(unreadable), len(entries) - len(kept))


def _ends(entry: Any) -> bool:
    return type(entry) is dict and entry.get("type") in TERMINAL_TYPES


def _from_replay(entry: Any) -> OrderEvent:
    if type(entry) is not dict:
        raise _unreadable("an entry of the status reply is not an object")
    seq, name, at = entry.get("seq"), entry.get("type"), entry.get("at")
    if type(seq) is not int or not 0 <= seq < _MAX_SEQ or type(name) is not str:
        raise _unreadable("an entry of the status reply lacks its seq or its type")
    return _event(seq, name, entry.get("payload"), at if type(at) is int and 0 <= at < _MAX_SEQ else None)


def _event(seq: int | None, name: str, payload: Any, at_ms: int | None) -> OrderEvent:
    if not 0 < len(name) <= _MAX_TYPE or not name.isprintable():
        raise _unreadable("the name of an event is empty, too long or not printable")
    if name in PROVING_EVENTS:
        raise _unreadable(f"it has the name {name}, which only this machine gives")
    if type(payload) is not dict:
        if name in KNOWN_TYPES:
            raise _unreadable(f"the payload of {name} is not an object")
        payload = {"value": payload}
    return OrderEvent(seq, name, payload, at_ms)


def _unreadable(what: str) -> ServiceError:
    return ServiceError(f"an event of the order cannot be read: {what}", do="follow the order by its status")
