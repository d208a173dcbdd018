"""Posting once: what each kind of reply means for the one request that is ever sent. The same for every service.

A 4xx was not taken, and may be sent again. No connection means that nothing was sent. Everything else that is not the
answer expected leaves it unknown, and it is never sent again. Source: the specification, rule 4 of "Events".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from airlock_online.clients.http import HttpCall, NotSent, OpenReply, Reply, json_of, read_reason, unexpected
from airlock_online.clients.http_messages import code_of, id_told, value_at
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, Parcel
from airlock_online.delivery.routes.polling import PollAnswer, until_final
from airlock_online.delivery.routes.struct import request_of
from airlock_online.delivery.routes.tracker import PostTaken, Tracker, given_id
from airlock_online.journal.order_states import MAX_TRACKING_ID, OrderState
from airlock_online.journal.schema import Record, Submission
from airlock_online.speech.sections import STATUS
from airlock_shared.errors import DocumentError, ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.wire.codec import parse_json

_Read = TypeVar("_Read")


class UnusableId(ServiceError):
    """A service gave an id that cannot be asked for; ``given`` names its member and has it as it came, for the journal."""

    def __init__(self, what: str, name: str, value: object) -> None:
        super().__init__(what, do="ask the service's operator, with the id that the journal keeps")
        self.given = given_id(name, value)


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


# ---- the services that are asked by the id that they gave ------------------------------------------------------------


class StatusTold(NamedTuple):
    """A status read: the members of its reply, what their places begin with, where the venue has what, and the id asked."""

    data: dict[str, Any]
    within: str
    places: Mapping[str, Any]
    asked: str


class Posted(NamedTuple):
    """A route to such a service, called ``who``.

    ``taken`` reads the answer to the POST. ``about`` is the id that is asked about, empty for nothing to ask; ``question``
    and ``notice`` have a place for it. ``answer`` reads a status, and writes down what ends it.
    """

    route: str
    who: str
    taken: Callable[[Delivery, Reply, str, DeliveryContext], PostTaken]
    about: Callable[[Record, Tracker, DeliveryContext], str] = lambda *_: ""
    question: str = ""
    notice: str = ""
    answer: Callable[[StatusTold, Record, Tracker, DeliveryContext], PollAnswer] = lambda *_: PollAnswer("", final=True)
    statuses: tuple[int, ...] = (200, 201, 202)

    def parcel(self, delivery: Delivery, context: DeliveryContext) -> Parcel:
        """Return the request that the services file's body makes of a delivery."""
        return request_of(self.route, delivery, context)

    def send(self, delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
        """POST once, then poll. Return why it stopped, empty when the submission is final."""
        busy = context.speech.replies[self.route].get("busy", "")
        taken = post_once(
            parcel, lambda reply: self.taken(delivery, reply, parcel.url, context), tracker, context, busy=busy
        )
        if taken is None:
            return ""
        taken.write(tracker)
        return self._poll(context.journal.get(delivery.digest).record, tracker, context)

    def follow(self, known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
        """Poll the service, if there is an id to ask for, whether or not the POST was answered."""
        if about := self.about(known.record, tracker, context):
            context.on_notice(self.notice.format(safe(about)))
        return self._poll(known.record, tracker, context)

    def _poll(self, record: Record, tracker: Tracker, context: DeliveryContext) -> str:
        if not (about := self.about(record, tracker, context)):
            return ""
        if not context.speech.paths[self.route + STATUS]:
            return f"{self.who} has taken the cancellation, and no read of it is known: its nonce tells the rest"

        def ask() -> PollAnswer:
            return self.answer(self.status(record, about, context), record, tracker, context)

        return until_final(f"{self.who}: {self.question.format(safe(about))}", ask, context)

    def status(self, record: Record, asked: str, context: DeliveryContext) -> StatusTold:
        """Return what the service says of an id. Raises ``ServiceError``."""
        url = join(record.url, context.speech.paths[self.route + STATUS].replace("{id}", segment(asked)))
        data, within = told_by(self.who, url, context.http.poll(url, {}), self.statuses)
        return StatusTold(data, within, context.speech.reply(self.route, record.primary_type), asked)
