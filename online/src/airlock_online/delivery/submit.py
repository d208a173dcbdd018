"""Submitting what was signed once, and finding out what became of it: the one way to every route.

The order of things is the guarantee: checked, written down, claimed, sent; and from then on only read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from threading import Event, Semaphore, Thread
from typing import Protocol, TypeVar

from airlock_online.clients.connection import NotSent
from airlock_online.delivery.admission import check_admission, check_alone, check_same, check_time, shares_nonce
from airlock_online.delivery.chain_evidence import nonce_now, require_recorded_chain, used_at_the_node
from airlock_online.delivery.outcome import OrderOutcome
from airlock_online.delivery.resolution import (
    ONLY_WHEN_ENDED,
    is_by_word,
    is_waiting,
    resolve_submission,
)
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, Parcel
from airlock_online.delivery.routes.registry import ROUTE_MODULES, RouteModule
from airlock_online.delivery.routes.relayer import require_tracking_id
from airlock_online.delivery.routes.rpc import chain_hash
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.engine import JournalError
from airlock_online.journal.order_states import OPEN, Anomaly, OrderEvent, OrderState
from airlock_online.journal.schema import (
    RESTORED,
    WITH_EIP7702,
    Record,
    Submission,
    before,
    is_forgotten,
    let_go,
    shown_holder,
)
from airlock_online.secrets import keep_secret
from airlock_online.speech.sections import OF_TRANSACTIONS
from airlock_shared.errors import AirlockError, OutcomeUnknown, Refusal, ServiceError, UsageError
from airlock_shared.plan.model import EITHER
from airlock_shared.report.facts import PROVED_STATES
from airlock_shared.text.safe import safe, safe_again
from airlock_shared.units import utc_text
from airlock_shared.venue.structs import BATCHED_MARKET
from airlock_shared.wire.strict_json import JsonObject

# ---- before sending -------------------------------------------------------------------------------------------------
# What is looked at before a first sending, beside the journal: a journal can be deleted, emptied, copied or restored.
# The transcript has a mark of every sending that was begun, and the chain knows used nonces. Whoever contradicts the
# journal makes the submission UNKNOWN: it is then read about, and not sent.


_USED = "its nonce is used already, so another sender may have been first; nothing was sent"


class SendingMarks(Protocol):
    """The marks of sendings in the transcript."""

    def begun(self) -> Mapping[str, int]:
        """Return the number of each digest's last sending or export in the transcript, but for what surely was not sent."""

    def begin(self, record: Record, claims: int) -> None:
        """Write down, durably, that the sending with this number begins."""


def _recalled(delivery: Delivery, context: DeliveryContext) -> tuple[Submission | None, bool]:
    """Return what the journal has of a delivery, and whether the transcript knows of a sending that it has forgotten."""
    begun = context.transcript_marks.begun() if context.transcript_marks is not None else {}
    known = context.journal.find(delivery.digest)
    if known:
        check_same(known, delivery)
    return known, is_forgotten(known, begun.get(delivery.digest, 0))


def _hold_back(known: Submission, forgotten: bool, context: DeliveryContext) -> str:
    """Make UNKNOWN what the journal calls unsent and may have been sent; return why, empty when nothing says so.

    Then say which others with its nonce may execute in its place. What another process has begun to send since it was
    looked at stays as it is.
    """
    if known.state not in before(OrderState.SENDING):
        return ""
    record = known.record
    why = RESTORED if forgotten else _USED if _nonce_is_used(record, context) else ""
    if why:
        context.journal.move(record.digest, OrderState.UNKNOWN, note=why, claims=known.claims)
        return why
    for other in context.journal.rivals(record):
        if shares_nonce(record, other.record) and other.state not in PROVED_STATES:
            context.on_notice(
                f"{record.digest} has the nonce of {other.record.digest}, step {other.record.step} of ceremony "
                f"{other.record.ceremony}, {other.state.value}: {EITHER}"
            )
    return ""


def _nonce_is_used(record: Record, context: DeliveryContext) -> bool:
    """Tell whether a read of the chain that it was signed for says that the nonce is used; no answer says nothing."""
    if record.route not in OF_TRANSACTIONS:
        return nonce_now(record, context) is True
    if context.node is None:
        return False
    try:
        require_recorded_chain(context.node, record)
        return context.node.transaction_count(record.signer, block="latest") > int(record.nonce)
    except ServiceError as error:
        what = "no connection" if isinstance(error, NotSent) else error.what
        context.on_notice(f"whether the nonce is used already cannot be read before the sending: {what}")
        return False


# ---- submit ---------------------------------------------------------------------------------------------------------


def submit_delivery(delivery: Delivery, context: DeliveryContext) -> OrderOutcome:
    """Send what was signed, once, and follow it. What was sent before is not sent again but followed.

    Raises ``Refusal`` (``ROUTE-…``, ``ORDER-…``, ``SIG-FORM``), ``UsageError`` or ``Expired`` before anything is sent,
    ``JournalError`` when it cannot be written down, ``OutcomeUnknown`` when the journal fails after the sending. The
    outcome says the rest: see ``outcome_error``.
    """
    keep_secret(delivery.signature)
    check_admission(delivery)
    known, forgotten = _recalled(delivery, context)
    if known and known.state not in before(OrderState.SENDING):
        return _not_again(delivery.digest, f"was sent before and is {known.state}", context)
    if not forgotten:
        check_time(delivery, context.clock_ms())
    parcel = ROUTE_MODULES[delivery.route].parcel(delivery, context)
    record = _record(delivery, parcel.method, hashlib.sha256(parcel.body).hexdigest(), known)
    check_alone(record, context.journal.rivals(record))
    known = context.journal.prepare(record)
    if why := _hold_back(known, forgotten, context):
        if why == _USED and record.route in OF_TRANSACTIONS:
            resolve_submission(known, context)  # the chain knows what took it; the service was never given this one
        return _not_again(delivery.digest, f"is not sent: {why}", context)
    tracker = Tracker(known._replace(record=record), context)
    tracker.token = context.journal.claim(delivery.digest, check_alone, **_sent(record))
    if not tracker.token:
        return _not_again(delivery.digest, "is being sent by another process", context)
    try:
        _mark(tracker)
        return _send(delivery, parcel, tracker)
    finally:
        let_go(tracker.token)


def _send(delivery: Delivery, parcel: Parcel, tracker: Tracker) -> OrderOutcome:
    try:
        reason = ROUTE_MODULES[delivery.route].send(delivery, parcel, tracker)
        return _outcome(delivery.digest, tracker.context, reason)
    except JournalError as error:
        raise _unwritten(tracker, error) from error


def _mark(tracker: Tracker) -> None:
    """Write into the transcript that the sending begins; when that fails, nothing is sent and the claim is given back."""
    record, context = tracker.record, tracker.context
    if context.transcript_marks is None:
        return
    try:
        context.transcript_marks.begin(record, context.journal.get(record.digest).claims)
    except AirlockError:
        tracker.settle(OrderState.PREPARED, "the transcript could not be written; nothing was sent")
        raise


def follow_submission(digest: str, context: DeliveryContext, given_id: str | None = None) -> OrderOutcome:
    """Find out, by reading alone, what became of a submission. What is final already is told from the journal.

    ``given_id`` is a tracking id that a person gave. Raises ``JournalError`` when the journal does not know the digest or
    cannot be used, ``UsageError`` where no such id is needed, or where nothing that its service tells could be compared.
    """
    known = context.journal.get(digest)
    if given_id and given_id == known.tracking_id:
        given_id = None  # it is known already
    if given_id is not None:
        _require_id_wanted(known, given_id, context)
    if known.state is OrderState.SENDING:
        context.journal.presume(digest)
        known = context.journal.get(digest)
    reason = ""
    if known.state is OrderState.SENDING:  # whose claim lives knows most, and is left alone
        return _held(known, context)
    if known.state in OPEN:
        tracker = Tracker(known, context, given_id or "")
        reason = _route_of(known).follow(tracker)
        if given_id and tracker.order.events:
            tracker.odd(Anomaly("id-from-a-person", OrderEvent(None, "id", {"given": given_id})))
        known = context.journal.get(digest)
    if is_waiting(known, context.journal) or (context.node and is_by_word(known, context.journal)):
        reason = "; ".join(filter(None, (reason, resolve_submission(known, context))))
    return _outcome(digest, context, reason)


def _require_id_wanted(known: Submission, given_id: str, context: DeliveryContext) -> None:
    if known.record.route != BATCHED_MARKET:
        raise UsageError(
            "only the batched market tells what can be compared with what was signed",
            do="resolve it: airlock-online resolve DIGEST --tracking-id ID, with a node of your own",
        )
    if known.state not in OPEN or known.tracking_id:
        has = f"has the tracking id {safe(known.tracking_id)}" if known.tracking_id else f"is {known.state.value}"
        raise UsageError(f"{known.record.digest} {has} already", do="follow it without an id")
    require_tracking_id(given_id)
    if other := context.journal.namesake(known.record.digest, "tracking_id", given_id):
        raise UsageError(f"that is the tracking id of {other}", do="give the id of this order alone")


def exportable(delivery: Delivery, context: DeliveryContext) -> tuple[Record, bool]:
    """Return the record of what may be handed to another sender, and whether the journal has forgotten a sending of it.

    Nothing is written. Raises ``Refusal`` as :func:`submit_delivery`, ``Expired`` and ``JournalError``.
    """
    check_admission(delivery)
    known, forgotten = _recalled(delivery, context)
    if not forgotten and (known is None or known.state in (*before(OrderState.EXPORTED), OrderState.EXPORTED)):
        check_time(delivery, context.clock_ms())
    record = _record(delivery, "export", "", known)
    check_alone(record, context.journal.rivals(record))
    return record, forgotten


def export_delivery(delivery: Delivery, context: DeliveryContext) -> None:
    """Write down that a signed thing is handed to another sender: from then on it is never sent from here.

    Raises as :func:`exportable`, and ``Refusal("ROUTE-SENT")`` when it was sent, perhaps.
    """
    record, forgotten = exportable(delivery, context)
    why = _hold_back(context.journal.prepare(record), forgotten, context)
    if not context.journal.export(delivery.digest, check_alone, **_sent(record)):
        state = context.journal.get(delivery.digest).state
        raise Refusal(
            "ROUTE-SENT",
            f"it is not given to another sender: {why}"
            if why
            else "it was sent from here, and is not given to another sender",
            got=state.value,
            expected="PREPARED or REJECTED",
            do="follow it: airlock-online follow",
        )


def _not_again(digest: str, why: str, context: DeliveryContext) -> OrderOutcome:
    if context.journal.get(digest).state is OrderState.EXPORTED:
        raise Refusal(
            "ROUTE-EXPORTED",
            "it was given to another sender, and is never sent from here",
            got="EXPORTED",
            do=f"follow it: airlock-online follow. {ONLY_WHEN_ENDED}",
        )
    context.on_answered()
    context.on_notice(f"{digest} {why}; it is not sent again")
    return follow_submission(digest, context)


def _route_of(known: Submission) -> RouteModule:
    route = ROUTE_MODULES.get(known.record.route)
    if route is None:
        raise JournalError(
            f"the journal has {known.record.digest} on the unknown route {safe(known.record.route, limit=40)}",
            do="use the program that wrote it",
        )
    return route


def _record(delivery: Delivery, method: str, body_sha256: str, known: Submission | None = None) -> Record:
    """Return the row; an EIP-7702 transaction that went along with a refused sending was seen, and may still be relayed."""
    refused = known.record.method if known and known.state is OrderState.REJECTED else ""
    along = delivery.eip7702 or refused.endswith(WITH_EIP7702)
    own: JsonObject = {name: getattr(delivery, name) for name in Record._fields if name in Delivery._fields}
    own["trader"] = delivery.trader or delivery.signer
    return Record(
        **own,
        url=delivery.base_url,
        body_sha256=body_sha256,
        method=method + (WITH_EIP7702 if along else ""),
        transaction_hash=chain_hash(delivery),
        old_entity_id=delivery.replaces,
    )


_SENT = ("route", "url", "method", "body_sha256", "requests", "deployment", "transaction_hash", "old_entity_id",
         "signed")  # fmt: skip


def _sent(record: Record) -> dict[str, str]:
    """Return what may differ from an earlier sending that was refused, and is written with the claim."""
    return {name: getattr(record, name) for name in _SENT}


_FAILED_AND_USED = (
    "your node has its nonce as used now: it may have been executed since; sign nothing in its place before you know"
)


def _outcome(digest: str, context: DeliveryContext, reason: str) -> OrderOutcome:
    known = context.journal.get(digest)
    found = ""
    if known.state in OPEN:
        with context.others:
            found = resolve_submission(known, context)
        known = context.journal.get(digest)
    elif known.state is OrderState.FAILED and used_at_the_node(known.record, context):
        found = _FAILED_AND_USED
    contradiction = context.journal.contradiction(digest)
    note = "" if known.note in found else known.note
    told = "; ".join(dict.fromkeys(safe_again(text) for text in (contradiction, note, reason, found) if text))
    return _told(known, told, context)


def _held(known: Submission, context: DeliveryContext) -> OrderOutcome:
    until = utc_text(known.claim_until_ms)
    holder = safe(shown_holder(known.claim_holder))
    return _told(known, f"{holder} is sending it, and has until {until} to say what came of it", context)


def _told(known: Submission, reason: str, context: DeliveryContext) -> OrderOutcome:
    digest, anomalies = known.record.digest, tuple(context.journal.anomalies(known.record.digest))
    return OrderOutcome(digest, known.state, known.tracking_id, known.code, reason, anomalies)


def _unwritten(tracker: Tracker, error: JournalError) -> OutcomeUnknown:
    named = f"its tracking id is {safe(tracker.tracking_id)}; " if tracker.tracking_id else ""
    return OutcomeUnknown(
        f"{tracker.digest} was sent, but then {error.what}",
        do=f"{named}write this down and repair the journal; then airlock-online follow DIGEST"
        f"{' --tracking-id ID' if tracker.tracking_id else ''}; do not submit it elsewhere",
    )


# ---- parallel -------------------------------------------------------------------------------------------------------
# Many submissions at once: each in a thread of its own, by functions that block.
# The threads are daemons, because one may wait for a silent service when the person interrupts: what it knew is in
# the journal, and the program need not wait for the rest.


THREADS = 1_024
TURN_S = 10.0
"""For how long an answer is waited for before the next one is sent: what waits does not hold the others."""

_Result = TypeVar("_Result")

Job = Callable[[Callable[[], None]], _Result]
"""What is done. It calls what it is given when its POST is answered, so that the next one may begin."""


def run_parallel(jobs: Iterable[Job[_Result]], *, in_turn: bool) -> list[_Result]:
    """Run the jobs, at most ``THREADS`` at once, and return their results in order.

    ``in_turn``: they send, and each starts when the one before it is answered, has ended, or has waited for ``TURN_S``. What
    a job raises is raised here when all have ended; after ``KeyboardInterrupt`` none is begun and none is waited for.
    """
    free = Semaphore(THREADS)
    running: list[Future[_Result]] = []

    def run(job: Job[_Result], result: Future[_Result], answered: Event) -> None:
        try:
            result.set_result(job(answered.set))
        except BaseException as error:  # noqa: BLE001 (not hidden: the thread that waits raises it again)
            result.set_exception(error)
        finally:
            answered.set()
            free.release()

    for job in jobs:
        free.acquire()
        running.append(Future())
        answered = Event()
        Thread(target=run, args=(job, running[-1], answered), daemon=True).start()
        if in_turn:
            answered.wait(TURN_S)
    wait(running)
    return [result.result() for result in running]
