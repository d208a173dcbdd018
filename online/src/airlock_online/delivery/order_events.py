"""Reading the batched market's events from its two wires: the stream of the POST, and the status endpoint's replay.

A known type must have the shape that the specification gives; an unknown one may hold anything, because informational
types are added without a version change.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from airlock_online.clients import sse
from airlock_online.journal.order_states import KNOWN_TYPES, MAX_EVENTS, TERMINAL_TYPES, OrderEvent
from airlock_shared.errors import DocumentError, ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.wire.codec import parse_json

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
    whose = document.get("trackingId")
    if whose is not None and whose != tracking_id:
        raise _unreadable(f"the status reply is about {safe(str(whose), limit=80)}, which was not asked for")
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
    if type(payload) is not dict:
        if name in KNOWN_TYPES:
            raise _unreadable(f"the payload of {name} is not an object")
        payload = {"value": payload}
    return OrderEvent(seq, name, payload, at_ms)


def _unreadable(what: str) -> ServiceError:
    return ServiceError(f"an event of the order cannot be read: {what}", do="follow the order by its status")
