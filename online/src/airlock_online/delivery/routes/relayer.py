"""The relayer, for the intents that have no service of their own (delegates, referrals).

The specification names it and documents no endpoint: path and body are a template with a default. It answers with an id
that is polled until the transaction is confirmed or reverted.
"""

from __future__ import annotations

import json
import re
from typing import Any

from airlock_online.clients.http import Reply
from airlock_online.clients.reply_values import StatusWord, block_number, hashes_named, status_word, value_at
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.polling import PollAnswer, until_final
from airlock_online.delivery.routes.posting import Parcel, UnusableId, data_of, parcel_of, plain_data_of, post_once
from airlock_online.delivery.routes.said import as_said, by_word_alone, unproven
from airlock_online.delivery.routes.struct import body_of
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import MAX_TRACKING_ID, OrderEvent, OrderState
from airlock_online.journal.schema import Submission
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

ACCEPTED, CONFIRMED, REVERTED = "RelayAccepted", "RelayConfirmed", "RelayReverted"
_WHO = "the relayer"
_ENDS = ("confirmed", "reverted")
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request that the template's body makes of a delivery."""
    body = json.dumps(body_of(context.relayer.body, delivery), separators=(",", ":")).encode()
    template = context.relayer
    return parcel_of(template.submit_method, join(delivery.base_url, template.submit_path), body, context)


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
    """POST once, then poll. Return why it stopped, empty when the submission is final."""
    relay_id = post_once(parcel, lambda reply: id_in(told_by(parcel.url, reply, context), context), tracker, context)
    if relay_id is None:
        return ""
    tracker.write(OrderEvent(0, ACCEPTED, {"id": relay_id}), tracking_id=relay_id, path=(OrderState.ACCEPTED,))
    return _poll(delivery.base_url, tracker, context)


def follow(known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
    """Poll the relayer, if there is an id to ask for."""
    if not tracker.tracking_id:
        return ""
    context.on_notice(f"asking the relayer for {safe(tracker.tracking_id)}")
    return _poll(known.record.url, tracker, context)


def _poll(base_url: str, tracker: Tracker, context: DeliveryContext) -> str:
    def ask() -> PollAnswer:
        url = join(base_url, context.relayer.status_path.replace("{id}", segment(tracker.tracking_id)))
        data = told_by(url, context.http.poll(url, {}), context)
        reply = context.replies.relayer
        names = value_at(data, reply.id) is not None
        if names and (told := id_in(data, context)) != tracker.tracking_id:
            raise ServiceError(f"the relayer answered about {safe(told)!r}, which Airlock did not ask about")
        status = status_word(data, context.replies.words, reply.status, "data." if reply.envelope else "")
        return by_word_alone(status, names=names) or _take(status, data, tracker, context)

    return until_final(f"the relayer: the status of {safe(tracker.tracking_id)}", ask, context)


def _take(status: StatusWord, data: dict[str, Any], tracker: Tracker, context: DeliveryContext) -> PollAnswer:
    """Write a final status down, and return what it says."""
    if status.meaning not in _ENDS:
        return PollAnswer(status.told, False, status.unknown)
    reply = context.replies.relayer
    tx_hash = next(iter(hashes_named(data, reply.transaction)), None)
    if type(tx_hash) is not str or not _HASH.fullmatch(tx_hash):
        raise ServiceError(f"the relayer says {status.meaning} but gives no transaction hash")
    if why := unproven(status, data, block_number(value_at(data, reply.block)), tx_hash, context):
        return PollAnswer(why, False, odd=True)
    payload = {"id": tracker.tracking_id, "transactionHash": tx_hash, **as_said(status)}
    if status.meaning == "confirmed":
        tracker.write(OrderEvent(1, CONFIRMED, payload), path=(OrderState.ACCEPTED, OrderState.CONFIRMED))
    else:
        note = f"transaction {tx_hash} was reverted"
        tracker.write(
            OrderEvent(1, REVERTED, payload), path=(OrderState.ACCEPTED, OrderState.FAILED), code="REVERTED", note=note
        )
    return PollAnswer(status.told, True)


def told_by(url: str, reply: Reply, context: DeliveryContext) -> dict[str, Any]:
    """Return what a reply of the relayer holds, within its envelope or without one. Raises ``ServiceError``."""
    read = data_of if context.replies.relayer.envelope else plain_data_of
    return read(_WHO, url, reply)


def id_in(data: dict[str, Any], context: DeliveryContext) -> str:
    """Return the relayer's id of an intent. Raises ``ServiceError``."""
    place = context.replies.relayer.id
    relay_id = value_at(data, place)
    if type(relay_id) is not str or not 0 < len(relay_id) <= MAX_TRACKING_ID or not relay_id.isprintable():
        if relay_id is None:
            raise ServiceError("the relayer gave no usable id")
        raise UnusableId("the relayer gave no usable id", place, relay_id)
    return relay_id
