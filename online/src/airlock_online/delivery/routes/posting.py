"""Posting once: what each kind of reply means for the one request that is ever sent. The same for every service.

A 4xx was not taken, and may be sent again. No connection means that nothing was sent. Everything else that is not the
answer expected leaves it unknown, and it is never sent again. Source: the specification, rule 4 of "Events".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from airlock_online.clients.http import HttpCall, NotSent, OpenReply, Reply, json_of, read_reason, unexpected
from airlock_online.clients.http_messages import code_of
from airlock_online.clients.reply_values import id_told, value_at
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.routes.tracker import Tracker, given_id
from airlock_online.journal.order_states import MAX_TRACKING_ID, Anomaly, OrderEvent, OrderState
from airlock_shared.errors import DocumentError, ServiceError
from airlock_shared.wire.codec import parse_json

_Read = TypeVar("_Read")


class Parcel(NamedTuple):
    """The one request: its method, its address, and the exact bytes of its body."""

    method: str
    url: str
    body: bytes


class UnusableId(ServiceError):
    """A service gave an id that cannot be asked for; ``given`` names its member and has it as it came, for the journal."""

    def __init__(self, what: str, name: str, value: object) -> None:
        super().__init__(what, do="ask the service's operator, with the id that the journal keeps")
        self.given = given_id(name, value)


class Taken(NamedTuple):
    """What an answer to the POST says: its event, the ids with it, the states that it leads through, and what is odd."""

    event: OrderEvent
    tracking_id: str = ""
    entity_id: str = ""
    path: tuple[OrderState, ...] = (OrderState.ACCEPTED,)
    odd: Anomaly | None = None

    def write(self, tracker: Tracker) -> None:
        """Make it durable, then show it."""
        tracker.write(self.event, tracking_id=self.tracking_id, entity_id=self.entity_id, path=self.path)
        if self.odd is not None:
            tracker.odd(self.odd)


def parcel_of(method: str, url: str, body: bytes, context: DeliveryContext) -> Parcel:
    """Return a request that can be built. Raises ``UsageError``: after the claim that would be too late to find out."""
    context.http.require(HttpCall(method, url, body=body))
    return Parcel(method, url, body)


def post_once(
    parcel: Parcel, read: Callable[[Reply], _Read], tracker: Tracker, context: DeliveryContext, *, busy: str = ""
) -> _Read | None:
    """Send a request that is answered by one JSON document, and return what ``read`` makes of it.

    None when there was no such answer: the journal has the state that this leaves. ``read`` raises ``ServiceError``.
    ``busy`` is the service's word, in its 503, for that it has taken nothing.
    """

    def post() -> _Read | None:
        with context.http.open(HttpCall(parcel.method, parcel.url, body=parcel.body)) as opened:
            if refused(opened, tracker, busy=busy):
                return None
            reply = opened.with_body(b"".join(opened.chunks))
        return read(reply)

    return settled(post, tracker)


def settled(post: Callable[[], _Read | None], tracker: Tracker) -> _Read | None:
    """Return what ``post``, which sends once, makes of its answer; None without one: the journal has the state of that."""
    try:
        return post()
    except NotSent as error:
        tracker.settle(OrderState.PREPARED, error.what)
    except UnusableId as error:
        tracker.keep_unusable(error.given)
        tracker.settle(OrderState.UNKNOWN, f"{error.what}; it gave {error.given}")
    except ServiceError as error:
        tracker.settle(OrderState.UNKNOWN, error.what)
    return None


OF_PROXIES = frozenset({408, 425, 499})
"""Refusals that a proxy sends for itself, with the request perhaps on its way (RFC 9110, RFC 8470, nginx)."""

_MAY_BE_TAKEN = OF_PROXIES | {409}


def _may_be_taken(status: int) -> str:
    return "that does not say that it was not taken" if status in _MAY_BE_TAKEN else ""


def refused(
    opened: OpenReply, tracker: Tracker, undecided: Callable[[int], str] = _may_be_taken, *, busy: str = ""
) -> bool:
    """Tell whether a reply is a 4xx, and write down why: a refusal before anything was taken, unless it is undecided.

    ``undecided`` gets the status, and returns the reason for which it leaves the outcome open, empty for none. So does a 503
    of a service whose word for it, ``busy``, the services file has, and that is undecided without that word.
    """
    if not 400 <= opened.status < 500 and not (busy and opened.status == 503):
        return False
    reason = read_reason(opened)
    if opened.status == 503 and not _says(reason, busy):
        undecided = _by_another
    code, decoded = code_of(reason.encode("utf-8", "surrogatepass")), _decoded(reason)
    shown = f" (decodedError: {decoded})" if decoded else ""
    wait = f"; it asks to wait {opened.retry_after_s} s" if opened.retry_after_s else ""
    told = f"HTTP {opened.status}: {reason}{shown}{wait}"
    if why := undecided(opened.status):
        tracker.settle(OrderState.UNKNOWN, f"{told}; {why}")
    else:
        tracker.reject(opened.status, told, code)
    return True


def _by_another(_: int) -> str:
    return "it is not in the service's own words, so a proxy may have sent it"


def _says(reason: str, word: str) -> bool:
    """Tell whether a JSON object has a text that is this word, at its top or one table below."""
    try:
        document = parse_json(reason.encode("utf-8", "surrogatepass"))
    except DocumentError:
        return False
    tables = [document, *document.values()] if type(document) is dict else []
    return any(word == value for table in tables if type(table) is dict for value in table.values())


def _decoded(reason: str) -> str:
    """Return the contract error of a failed simulation that a refusal's body carries; empty when none."""
    try:
        decoded = value_at(parse_json(reason.encode("utf-8", "surrogatepass")), "error.details.decodedError")
    except DocumentError:
        return ""
    return decoded if type(decoded) is str else json.dumps(decoded) if decoded is not None else ""


def told_by(
    who: str, url: str, reply: Reply, statuses: tuple[int, ...] = (200, 201, 202)
) -> tuple[dict[str, Any], str]:
    """Return what a reply of ``who`` holds, within the builder's envelope or without one, and what its places begin with.

    Raises ``ServiceError`` for another reply, and for one that says no.
    """
    document = document_of(who, url, reply, statuses)
    if document.get("ok") is False or document.get("error") is not None:
        raise unexpected(reply, f"{who} answered that it failed")
    held = document.get("data") if document.get("ok") is True else None
    return (held, "data.") if type(held) is dict else (document, "")


def usable_id(who: str, data: Mapping[str, Any], place: str) -> str:
    """Return an id that can be asked for, told as a text or a whole number. Raises ``ServiceError``, or ``UnusableId``."""
    given = value_at(data, place)
    told = id_told(given)
    if type(told) is str and 0 < len(told) <= MAX_TRACKING_ID and told.isprintable():
        return told
    if given is None:
        raise ServiceError(f"{who} gave no usable id")
    raise UnusableId(f"{who} gave no usable id", place, given)


def document_of(who: str, url: str, reply: Reply, statuses: tuple[int, ...]) -> dict[str, Any]:
    """Return the JSON object of a reply with one of these statuses. Raises ``ServiceError`` for every other reply."""
    if reply.status not in statuses:
        raise unexpected(reply, f"{who} answered {reply.status}")
    document = json_of(reply, url)
    if type(document) is not dict:
        raise unexpected(reply, f"{who} answered in an unknown shape")
    return document
