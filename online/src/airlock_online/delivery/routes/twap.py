"""The TWAP service: ``POST /twaps/cancel`` with a signed ``TwapCancelReq``; it sends the transaction itself.

Source: the specification, "Other execution services referenced". The shapes are those of comparable venues: the struct's
members and the signature; 201 with ``twapId``, ``transactionHash`` and ``blockNumber``. Where a service only takes the
cancellation, a services file may name its read of a TWAP.
"""

from __future__ import annotations

import re

from airlock_online.clients.http import Reply
from airlock_online.clients.reply_values import StatusWord, block_number, hashes_named, value_at
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.chain_evidence import nonce_now
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.polling import PollAnswer, until_final
from airlock_online.delivery.routes.posting import Parcel, UnusableId, post_once, told_by, usable_id
from airlock_online.delivery.routes.said import by_word_alone, unproven
from airlock_online.delivery.routes.struct import leaves_by_shipped_path, request_of
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.journal.schema import Record, Submission
from airlock_online.speech.meanings import CONFIRMED
from airlock_online.speech.sections import STATUS
from airlock_shared.catalogue.intents import CATALOGUE
from airlock_shared.catalogue.services import TWAP
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

CANCELLED, QUEUED, EXECUTED = "TwapCancelled", "TwapCancelQueued", "TwapExecuted"
_WHO = "the TWAP service"
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request that the template's body makes of a delivery. Raises ``UsageError`` for no cancellation."""
    return request_of(TWAP, delivery, context)


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
    """POST once; the answer is the outcome."""
    signed, places = leaves_by_shipped_path(delivery).get("twapId"), context.speech.reply(TWAP, delivery.primary_type)

    def read(reply: Reply) -> dict[str, object]:
        told = told_by(_WHO, parcel.url, reply, (200, 201, *([202] if places["taken"] else [])))[0]
        named = value_at(told, places["id"])
        twap_id = usable_id(_WHO, told, places["id"]) if signed is None else signed
        if places["taken"] and value_at(told, places["taken"]) is True and named in (None, twap_id, str(twap_id)):
            return {"twapId": twap_id}
        tx_hash = next(iter(hashes_named(told, places["transaction"])), None)
        block = block_number(value_at(told, places["block"]))
        if str(named) != str(twap_id):
            raise ServiceError(f"{_WHO} answered about the TWAP {safe(str(named), limit=80)}, not {twap_id}")
        if type(tx_hash) is not str or not _HASH.fullmatch(tx_hash) or block is None:
            given = {"transactionHash": tx_hash, "blockNumber": value_at(told, places["block"])}
            raise UnusableId(f"{_WHO} gave no transaction hash and block", "transaction", given)
        return {"twapId": twap_id, "transactionHash": tx_hash.lower(), "blockNumber": block}

    payload = post_once(parcel, read, tracker, context)
    if payload is not None and len(payload) == 1:
        tracker.write(OrderEvent(0, QUEUED, payload), path=(OrderState.ACCEPTED,))
        return _ask(context.journal.get(delivery.digest).record, tracker, context)
    if payload is not None:
        done = CANCELLED if signed is not None else EXECUTED
        tracker.write(OrderEvent(0, done, payload), path=(OrderState.ACCEPTED, OrderState.CONFIRMED))
    return ""


def follow(known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
    """Ask for a cancellation that was only taken, where the service has a read of it; else the nonce tells the rest."""
    if not _queued(tracker, context):
        return ""
    context.on_notice(f"asking {_WHO} what became of the cancellation that it has taken")
    return _ask(known.record, tracker, context)


def _queued(tracker: Tracker, context: DeliveryContext) -> str:
    """Return the TWAP's id where the service has taken the cancellation and said no more; empty otherwise."""
    taken = [event for event in context.journal.events(tracker.digest) if event.type == QUEUED]
    return str(taken[-1].payload["twapId"]) if taken else ""


def _ask(record: Record, tracker: Tracker, context: DeliveryContext) -> str:
    twap_id, places = _queued(tracker, context), context.speech.reply(TWAP, record.primary_type)
    if not (path := context.speech.paths[TWAP + STATUS]):
        return f"{_WHO} has taken the cancellation, and no read of it is known: its nonce tells the rest"
    url = join(record.url, path.replace("{id}", segment(twap_id)))

    def ask() -> PollAnswer:
        told = told_by(_WHO, url, context.http.poll(url, {}), (200,))[0]
        named = value_at(told, places["id"])
        if named is not None and str(named) != twap_id:
            raise ServiceError(f"{_WHO} answered about the TWAP {safe(str(named), limit=80)}, not {twap_id}")
        tx_hash = next(iter(hashes_named(told, places["transaction"])), None)
        block = block_number(value_at(told, places["block"]))
        if type(tx_hash) is not str or not _HASH.fullmatch(tx_hash) or block is None:
            return PollAnswer("no transaction and block of a cancellation yet", False)
        if places["taken"] and value_at(told, places["taken"]) is True:
            return PollAnswer("a transaction, and that it is only queued: these contradict each other", False, odd=True)
        said = StatusWord(CONFIRMED, f"transaction {tx_hash.lower()} in block {block}", False, CANCELLED)
        if by_word := by_word_alone(said, names=named is not None):
            return by_word
        if why := unproven(said, told, block, tx_hash, context, places["transaction"]):
            return PollAnswer(why, False, odd=True)
        if nonce_now(record, context) is not True:
            return PollAnswer(
                f"{said.told}; nobody says that its nonce is used: it may be another one's", False, odd=True
            )
        own = record.primary_type not in CATALOGUE
        payload = {"twapId": twap_id if own else int(twap_id), "transactionHash": tx_hash.lower(), "blockNumber": block}
        tracker.write(
            OrderEvent(1, EXECUTED if own else CANCELLED, payload), path=(OrderState.ACCEPTED, OrderState.CONFIRMED)
        )
        return PollAnswer(said.told, True)

    return until_final(f"{_WHO}: the TWAP {twap_id}", ask, context)
