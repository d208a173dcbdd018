"""Posting once, and polling for the outcome: what each kind of reply means for the one request that is ever sent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, NamedTuple, TypeVar

from airlock_online.addresses import join_address, segment
from airlock_online.clients.connection import (
    MAX_REASON_BYTES,
    HttpCall,
    NotSent,
    OpenReply,
    Reply,
    code_of,
    json_of,
    json_or_none,
    read_reason,
    unexpected,
)
from airlock_online.clients.reply_values import StatusWord, id_text, value_at
from airlock_online.delivery.chain_evidence import may_be_known
from airlock_online.delivery.routes.context import (
    Delivery,
    DeliveryContext,
    Parcel,
    SubmissionProgress,
    Tracker,
    given_id,
)
from airlock_online.delivery.routes.struct import request_of
from airlock_online.journal.order_states import MAX_TRACKING_ID, OrderState
from airlock_online.journal.schema import Record
from airlock_online.speech.sections import CONFIRMED, FAILED, REVERTED, STATUS, may_mean, plain_letters
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.wire.strict_json import JsonObject

# ---- polling --------------------------------------------------------------------------------------------------------
# Asking again and again, within the operator's patience. Only reads are repeated.


POLL_S = 1.5  # the specification asks for about 1 to 2 s
MISSING_AT_MOST = 8  # a 404 just after acceptance may come before the service has stored the order


class PollResult(NamedTuple):
    """What a service answered, for a person, and whether that is the end.

    ``odd``: it says what is not understood. ``enough``: it will say no more, and what it says ends nothing.
    """

    text: str
    final: bool = False
    odd: bool = False
    enough: bool = False


def until_final(question: str, ask: Callable[[], PollResult], context: DeliveryContext) -> str:
    """Call ``ask`` until its answer is final or the patience is over; return why it stopped, empty when it is final.

    A failure to read decides nothing: it is asked again, except when the service keeps saying that it knows of no such id.
    """
    until_ms = context.clock_ms() + int(context.patience_s * 1000)
    left_s = context.patience_s  # by the waits alone: the clock may be set back meanwhile
    failure, missing, odd, wait_s = "", 0, "", POLL_S
    for turn in count():
        if turn:
            context.sleep(wait_s)
            left_s -= wait_s
            wait_s = POLL_S
        try:
            result = ask()
            context.on_asked(question, result.text)
            if result.final:
                return ""
            if result.enough:
                return result.text
            if result.odd and result.text != odd:
                context.on_notice(f"{question}: {result.text}; it decides nothing")
            odd = result.text if result.odd else ""
            failure, missing = "", 0
        except ServiceError as error:
            context.on_asked(question, error.what)
            failure = error.what
            missing = missing + 1 if error.status == 404 else 0
            wait_s = max(POLL_S, error.retry_after_s or 0)
        if missing > MISSING_AT_MOST:
            return "the service does not know its own id"
        if wait_s - POLL_S >= min(left_s, (until_ms - context.clock_ms()) / 1000):
            break
    waited = f"no final answer within {context.patience_s:g} s"
    last = failure or odd
    return f"{waited}; the last answer: {last}" if last else waited


# ---- posting --------------------------------------------------------------------------------------------------------
# Posting once: what each kind of reply means for the one request that is ever sent. The same for every service.
# A 4xx was not taken, nor was what the relay says to have failed its simulation: both may be sent again. No connection
# means that nothing was sent. Everything else that is not the answer expected leaves it unknown, and it is never sent
# again. Source: the specification, rule 4 of "Events".


_Read = TypeVar("_Read")


class UnusableId(ServiceError):
    """A service gave an id that cannot be asked for; ``given`` names its member and has it as it came, for the journal."""

    def __init__(self, what: str, name: str, value: object) -> None:
        super().__init__(what, do="ask the service's operator, with the id that the journal keeps")
        self.given = given_id(name, value)


def settle_post(post: Callable[[], _Read | None], tracker: Tracker) -> _Read | None:
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


MAY_BE_TAKEN = frozenset({408, 409, 425, 499})
"""Refusals that a proxy sends for itself, with the request perhaps on its way (RFC 9110, RFC 8470, nginx); and a conflict,
perhaps with what was taken before. An unused nonce proves nothing beside them: what is taken is not on the chain at once."""
UNDECIDED = "that does not say that it was not taken"

SEEN = re.compile(
    r"already[ _-]?(?:known|imported|exists|submitted|sent|relayed)|\bknown[ _-]transaction|nonce too low",
    re.IGNORECASE,
)
"""How nodes and services say that they have it already: a gateway may have sent it twice, and ask another one afterwards."""
ALREADY = "that says that it was there before, so it may have been taken"


def refused(opened: OpenReply, tracker: Tracker, *, busy: str = "") -> bool:
    """Tell whether a reply is a 4xx, and write down why: a refusal before anything was taken, unless it is undecided.

    A 503 is a refusal too of a service whose word for having taken nothing, ``busy``, the services file has, and is
    undecided without that word.
    """
    if not 400 <= opened.status < 500 and not (busy and opened.status == 503):
        return False
    reason = read_reason(opened)
    why = UNDECIDED if opened.status in MAY_BE_TAKEN else ""
    if opened.status == 503 and not _says(json_or_none(reason.encode()), busy):
        why = "it is not in the service's own words, so a proxy may have sent it"
    _refuse(opened, reason, why, tracker)
    return True


def _refuse(reply: Reply | OpenReply, reason: str, why: str, tracker: Tracker) -> None:
    decoded = value_at(json_or_none(reason.encode()), "error.details.decodedError")
    shown = "" if decoded is None else f" (decodedError: {decoded if type(decoded) is str else json.dumps(decoded)})"
    wait = f"; it asks to wait {reply.retry_after_s} s" if reply.retry_after_s else ""
    told = f"HTTP {reply.status}: {reason}{shown}{wait}"
    settle_refusal(ServiceRefusal(reply.status, code_of(reason.encode()), reason, told, why), tracker)


class ServiceRefusal(NamedTuple):
    """A refusal: its number and its code, its own text, what is told of it, and why it is undecided, empty for nothing."""

    number: int
    code: str
    text: str
    told: str
    why: str


def settle_refusal(refusal: ServiceRefusal, tracker: Tracker) -> None:
    """Write down a refusal before anything was taken; one that is undecided, or of what may be known, as UNKNOWN."""
    number, code, text, told, why = refusal
    if not why:
        why = ALREADY if SEEN.search(text) else may_be_known(tracker.record, tracker.context)
    if why:
        tracker.settle(OrderState.UNKNOWN, f"{told}; {why}")
    else:
        tracker.reject(number, told, code)


def _says(document: Any, word: str) -> bool:
    """Tell whether a JSON object has a text that is this word, at its top or one table below."""
    tables = [document, *document.values()] if type(document) is dict else []
    return any(word == value for table in tables if type(table) is dict for value in table.values())


def reply_members(
    who: str, url: str, reply: Reply, statuses: tuple[int, ...] = (200, 201, 202)
) -> tuple[JsonObject, str]:
    """Return what a reply of ``who`` holds, within the builder's envelope or without one, and what its places begin with.

    Raises ``ServiceError`` for another reply, and for one that says no.
    """
    if reply.status not in statuses:
        raise unexpected(reply, f"{who} answered {reply.status}")
    document = json_of(reply, url)
    if type(document) is not dict:
        raise unexpected(reply, f"{who} answered in an unknown shape")
    if document.get("ok") is False or document.get("error") is not None:
        raise unexpected(reply, f"{who} answered that it failed")
    held = document.get("data") if document.get("ok") is True else None
    return (held, "data.") if type(held) is dict else (document, "")


def usable_id(who: str, data: Mapping[str, Any], place: str) -> str:
    """Return an id that can be asked for, told as a text or a whole number. Raises ``ServiceError``, or ``UnusableId``."""
    given = value_at(data, place)
    told = id_text(given)
    if type(told) is str and 0 < len(told) <= MAX_TRACKING_ID and told.isprintable():
        return told
    if given is None:
        raise ServiceError(f"{who} gave no usable id")
    raise UnusableId(f"{who} gave no usable id", place, given)


# ---- the services that are asked by the id that they gave ------------------------------------------------------------


class StatusRead(NamedTuple):
    """A status read: the members of its reply, what their places begin with, where the venue has what, and the id asked."""

    data: JsonObject
    within: str
    places: Mapping[str, Any]
    asked: str


class Posted(NamedTuple):
    """A route to such a service, called ``who``.

    ``refusal`` is the error code by which it has taken nothing, whatever the HTTP status; empty for none.
    ``taken`` reads the answer to the POST. ``about`` is the id that is asked about, empty for nothing to ask; ``question``
    and ``notice`` have a place for it. ``on_status`` reads a status, and writes down what ends it.
    """

    route: str
    who: str
    taken: Callable[[Delivery, Reply, str, DeliveryContext], SubmissionProgress]
    about: Callable[[Tracker], str] = lambda _: ""
    question: str = ""
    notice: str = ""
    on_status: Callable[[StatusRead, Tracker], PollResult] = lambda *_: PollResult("", final=True)
    statuses: tuple[int, ...] = (200, 201, 202)
    refusal: str = ""

    def parcel(self, delivery: Delivery, context: DeliveryContext) -> Parcel:
        """Return the request that the services file's body makes of a delivery."""
        return request_of(self.route, delivery, context)

    def send(self, delivery: Delivery, parcel: Parcel, tracker: Tracker) -> str:
        """POST once, then poll. Return why it stopped, empty when the submission is final."""
        context = tracker.context
        busy = context.speech.replies[self.route].get("busy", "")

        def post() -> SubmissionProgress | None:
            with context.http.open(HttpCall(parcel.method, parcel.url, body=parcel.body)) as opened:
                if refused(opened, tracker, busy=busy):
                    return None
                reply = opened.with_body(b"".join(opened.chunks))
            document = json_or_none(reply.body)
            if self.refusal and value_at(document, "error.code") == self.refusal and value_at(document, "ok") is False:
                _refuse(reply, reply.body[:MAX_REASON_BYTES].decode("utf-8", "replace"), "", tracker)
                return None
            taken = self.taken(delivery, reply, parcel.url, context)
            for name in ("tracking_id", "entity_id"):
                given = getattr(taken, name)
                if not given or (parcel.method == "PUT" and parcel.url.endswith(f"/{segment(given)}")):
                    continue  # what the request itself named comes each time
                if other := context.journal.namesake(delivery.digest, name, given):
                    raise UnusableId(f"{self.who} gave the id of {other}", name, given)
            return taken

        taken = settle_post(post, tracker)
        if taken is None:
            return ""
        tracker.write(taken)
        return self._poll(tracker)

    def follow(self, tracker: Tracker) -> str:
        """Poll the service, if there is an id to ask for, whether or not the POST was answered."""
        if about := self.about(tracker):
            tracker.context.on_notice(self.notice.format(safe(about)))
        return self._poll(tracker)

    def _poll(self, tracker: Tracker) -> str:
        if not (about := self.about(tracker)):
            return ""
        context = tracker.context
        if not context.speech.paths[self.route + STATUS]:
            return f"{self.who} has taken the cancellation, and no read of it is known: its nonce tells the rest"

        def ask() -> PollResult:
            return self.on_status(self.status(tracker.record, about, context), tracker)

        return until_final(f"{self.who}: {self.question.format(safe(about))}", ask, context)

    def status(self, record: Record, asked: str, context: DeliveryContext) -> StatusRead:
        """Return what the service says of an id. Raises ``ServiceError``."""
        url = join_address(record.url, context.speech.paths[self.route + STATUS].replace("{id}", segment(asked)))
        data, within = reply_members(self.who, url, context.http.poll(url, {}), self.statuses)
        return StatusRead(data, within, context.speech.reply(self.route, record.primary_type), asked)


# ---- said -----------------------------------------------------------------------------------------------------------
# What a status does whose word a services file explains: less than one that Airlock knows by itself.
# The file says what the venue means; it proves nothing. ``confirmed`` counts with a transaction and a block in the
# same reply; and, of a word that Airlock knows as well, without a sign of failure beside it, and never against the
# operator's own node. ``reverted`` and ``failed`` end nothing: only the chain shows that the signature cannot be executed
# any more, and until then nobody is told to sign another.


_SAY_WHY = ("error", "errors", "errorMessage", "decodedError", "revertReason", "revertData", "failureReason")
_SAY_NO = (("success", False), ("ok", False), ("reverted", True), ("failed", True))


def by_word_alone(status: StatusWord, *, names: bool) -> PollResult | None:
    """Return the answer of a word that ends nothing: of a reply that ``names`` nothing, or that explains a failure.

    What was asked for stood in the address, and the reply came from there: that is the service's word, and no proof. None
    for every other.
    """
    if not names:
        return PollResult(f"by the service's word, which names nothing: {status.text}", odd=True)
    if not status.word or status.meaning not in (REVERTED, FAILED):
        return None
    return PollResult(f"{status.text}. That is the service's word; the chain or the deadline ends it", enough=True)


def by_node_alone(status: StatusWord, tx_hash: str) -> PollResult:
    """Return the answer of a service that says confirmed and tells no block, where no node can be asked."""
    return PollResult(
        f"by the service's word: {status.text}, by transaction {tx_hash}; without a block beside it, that is no proof. "
        "A node of your own ([rpc] url) would prove it",
        enough=True,
    )


def unproven(
    status: StatusWord, data: Mapping[str, Any], block: int | None, tx_hash: str, context: DeliveryContext, place: str
) -> str:
    """Return why an end that a service tells, confirmed or reverted, does not count; empty when it does.

    An explained word needs its block beside it. ``place`` is where the reply has the transaction: the table in which it
    stands may be its receipt.
    """
    if status.word and block is None:
        return f"{status.text}; without a block beside it, that is no proof"
    against = signs_of_failure(data, place) if status.meaning == CONFIRMED else []
    if against:
        return f"{status.text}; but its member {against[0]} speaks of a failure"
    return _against_the_node(status, tx_hash, context)


def signs_of_failure(data: Mapping[str, Any], place: str) -> list[str]:
    """Return the members of a reply, and of the receipt within it, that speak of a failure."""
    receipt = value_at(data, place.rpartition(".")[0]) if "." in place else None
    tables = [data, receipt] if type(receipt) is dict else [data]
    against = [name for table in tables for name in _SAY_WHY if value_at(table, name)]
    against += [name for table in tables for name, no in _SAY_NO if table.get(name) is no]
    if data.get("status") in (REVERTED, FAILED) or (type(receipt) is dict and _is_no(receipt.get("status"))):
        against.append("status")
    return against


def _is_no(status: object) -> bool:
    """Tell whether a receipt's status says that it was reverted, as a number, a flag or a word."""
    if type(status) is str and plain_letters(status) not in ("0", "0x0", "00"):
        return may_mean(status) <= {REVERTED, FAILED}
    return status in (0, "0", "0x0", "0x00")


def _against_the_node(status: StatusWord, tx_hash: str, context: DeliveryContext) -> str:
    if context.node is None:
        return ""
    try:
        receipt = context.node.receipt(tx_hash)
    except ServiceError as error:
        return f"{status.text}; the operator's node cannot be asked: {error.what}"
    if receipt is None:
        return f"{status.text}; the operator's node has its transaction in no block"
    if receipt.ok is (status.meaning == CONFIRMED):
        return ""
    return f"{status.text}; at the operator's node its transaction {'succeeded' if receipt.ok else 'was reverted'}"


def as_said(status: StatusWord) -> dict[str, str]:
    """Return the venue's own word for an event of the journal; nothing for a word that Airlock knows."""
    return {"said": status.word} if status.word else {}
