"""The TWAP service: ``POST /twaps/cancel`` with a signed ``TwapCancelReq``; it sends the transaction itself.

Source: the specification, "Other execution services referenced". The shapes are those of comparable venues: the struct's
members and the signature; 201 with ``twapId``, ``transactionHash`` and ``blockNumber``. Where a service only takes the
cancellation, a services file may name its read of a TWAP.
"""

from __future__ import annotations

from airlock_online.clients.connection import Reply, is_hash
from airlock_online.clients.reply_values import StatusWord, block_number, hash_named, value_at
from airlock_online.delivery.chain_evidence import nonce_now
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, SubmissionProgress, Tracker
from airlock_online.delivery.routes.posting import (
    PollResult,
    Posted,
    StatusRead,
    UnusableId,
    by_word_alone,
    reply_members,
    unproven,
    usable_id,
)
from airlock_online.delivery.routes.struct import leaves_by_shipped_path
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.speech.sections import CONFIRMED
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.venue.structs import CATALOGUE, TWAP

CANCELLED, QUEUED, _EXECUTED = "TwapCancelled", "TwapCancelQueued", "TwapExecuted"
_WHO = "the TWAP service"


def _taken(delivery: Delivery, reply: Reply, url: str, context: DeliveryContext) -> SubmissionProgress:
    signed, places = leaves_by_shipped_path(delivery).get("twapId"), context.speech.reply(TWAP, delivery.primary_type)
    told = reply_members(_WHO, url, reply, (200, 201, *([202] if places["taken"] else [])))[0]
    named = value_at(told, places["id"])
    twap_id = usable_id(_WHO, told, places["id"]) if signed is None else signed
    if places["taken"] and value_at(told, places["taken"]) is True and named in (None, twap_id, str(twap_id)):
        return SubmissionProgress(OrderEvent(0, QUEUED, {"twapId": twap_id}))
    tx_hash = hash_named(told, places["transaction"])
    block = block_number(value_at(told, places["block"]))
    if str(named) != str(twap_id):
        raise ServiceError(f"{_WHO} answered about the TWAP {safe(str(named), limit=80)}, not {twap_id}")
    if not is_hash(tx_hash) or block is None:
        given = {"transactionHash": tx_hash, "blockNumber": value_at(told, places["block"])}
        raise UnusableId(f"{_WHO} gave no transaction hash and block", "transaction", given)
    if why := unproven(_said(tx_hash, block), told, block, tx_hash, context, places["transaction"]):
        raise ServiceError(f"{_WHO} answered {why}")
    return _done(0, twap_id, tx_hash, block, own=signed is None)


def _done(seq: int, twap_id: object, tx_hash: str, block: int, *, own: bool) -> SubmissionProgress:
    payload = {"twapId": twap_id, "transactionHash": tx_hash.lower(), "blockNumber": block}
    event = OrderEvent(seq, _EXECUTED if own else CANCELLED, payload)
    return SubmissionProgress(event, end=OrderState.CONFIRMED)


def _said(tx_hash: str, block: int) -> StatusWord:
    return StatusWord(CONFIRMED, f"transaction {tx_hash.lower()} in block {block}", False, CANCELLED)


def _queued(tracker: Tracker) -> str:
    """Return the TWAP's id where the service has taken the cancellation and said no more; empty otherwise."""
    taken = [event for event in tracker.context.journal.events(tracker.digest) if event.type == QUEUED]
    return str(taken[-1].payload["twapId"]) if taken else ""


def _on_status(read: StatusRead, tracker: Tracker) -> PollResult:
    """Write down that it was executed, when its transaction, its block and its nonce say so, and return what is said."""
    data, places, twap_id, context = read.data, read.places, read.asked, tracker.context
    named = value_at(data, places["id"])
    if named is not None and str(named) != twap_id:
        raise ServiceError(f"{_WHO} answered about the TWAP {safe(str(named), limit=80)}, not {twap_id}")
    tx_hash = hash_named(data, places["transaction"])
    block = block_number(value_at(data, places["block"]))
    if not is_hash(tx_hash) or block is None:
        return PollResult("no transaction and block of a cancellation yet")
    if places["taken"] and value_at(data, places["taken"]) is True:
        return PollResult("a transaction, and that it is only queued: these contradict each other", odd=True)
    said = _said(tx_hash, block)
    if by_word := by_word_alone(said, names=named is not None):
        return by_word
    if why := unproven(said, data, block, tx_hash, context, places["transaction"]):
        return PollResult(why, odd=True)
    if nonce_now(tracker.record, context) is not True:
        return PollResult(f"{said.text}; nobody says that its nonce is used: it may be another one's", odd=True)
    own = tracker.record.primary_type not in CATALOGUE
    tracker.write(_done(1, twap_id if own else int(twap_id), tx_hash, block, own=own))
    return PollResult(said.text, final=True)


ROUTE = Posted(
    TWAP,
    _WHO,
    _taken,
    about=_queued,
    question="the TWAP {}",
    notice="asking the TWAP service what became of the cancellation that it has taken",
    on_status=_on_status,
    statuses=(200,),
)
