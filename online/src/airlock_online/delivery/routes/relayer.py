"""The relayer, for the intents that have no service of their own (delegates, referrals).

The specification names it and documents no endpoint: path and body are a template with a default. It answers with an id
that is polled until the transaction is confirmed or reverted.
"""

from __future__ import annotations

import json
import re
from typing import Any

from airlock_online.clients.reply_values import hashes_named, status_word
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.polling import PollAnswer, Steps, at_once, until_final
from airlock_online.delivery.routes.posting import Parcel, UnusableId, data_of, parcel_of, post_once
from airlock_online.delivery.routes.struct import body_of
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import MAX_TRACKING_ID, OrderEvent, OrderState
from airlock_online.journal.schema import Submission
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

ACCEPTED, CONFIRMED, REVERTED = "RelayAccepted", "RelayConfirmed", "RelayReverted"
_WHO = "the relayer"
_ENDS = ("confirmed", "reverted")
_WORDS = ("pending", *_ENDS)
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request that the template's body makes of a delivery."""
    body = json.dumps(body_of(context.relayer.body, delivery), separators=(",", ":")).encode()
    return parcel_of("POST", join(delivery.base_url, context.relayer.submit_path), body, context)


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> Steps[str]:
    """POST once, then poll. Return why it stopped, empty when the submission is final."""
    relay_id = post_once(parcel, lambda reply: _id_of(data_of(_WHO, parcel.url, reply)), tracker, context)
    if relay_id is None:
        return at_once("")
    tracker.write(OrderEvent(0, ACCEPTED, {"id": relay_id}), tracking_id=relay_id, path=(OrderState.ACCEPTED,))
    return _poll(delivery.base_url, tracker, context)


def follow(known: Submission, tracker: Tracker, context: DeliveryContext) -> Steps[str]:
    """Poll the relayer, if there is an id to ask for."""
    if not tracker.tracking_id:
        return at_once("")
    context.on_notice(f"asking the relayer for {safe(tracker.tracking_id)}")
    return _poll(known.record.url, tracker, context)


def _poll(base_url: str, tracker: Tracker, context: DeliveryContext) -> Steps[str]:
    def ask() -> PollAnswer:
        url = join(base_url, context.relayer.status_path.replace("{id}", segment(tracker.tracking_id)))
        data = data_of(_WHO, url, context.http.poll(url, {}))
        if _id_of(data) != tracker.tracking_id:
            raise ServiceError(f"the relayer answered about {safe(_id_of(data))!r}, which Airlock did not ask about")
        status = status_word(data, _WORDS)
        return PollAnswer(status.told, _take(status.word, data, tracker), status.unknown)

    return until_final(f"the relayer: the status of {safe(tracker.tracking_id)}", ask, context)


def _take(status: str, data: dict[str, Any], tracker: Tracker) -> bool:
    """Write a final status down, and return whether it is one."""
    tx_hash = next(iter(hashes_named(data)), None)
    if status not in _ENDS:
        return False
    if type(tx_hash) is not str or not _HASH.fullmatch(tx_hash):
        raise ServiceError(f"the relayer says {status} but gives no transaction hash")
    payload = {"id": tracker.tracking_id, "transactionHash": tx_hash}
    if status == "confirmed":
        tracker.write(OrderEvent(1, CONFIRMED, payload), path=(OrderState.ACCEPTED, OrderState.CONFIRMED))
    else:
        note = f"transaction {tx_hash} was reverted"
        tracker.write(
            OrderEvent(1, REVERTED, payload), path=(OrderState.ACCEPTED, OrderState.FAILED), code="REVERTED", note=note
        )
    return True


def _id_of(data: dict[str, Any]) -> str:
    relay_id = data.get("id")
    if type(relay_id) is not str or not 0 < len(relay_id) <= MAX_TRACKING_ID or not relay_id.isprintable():
        if relay_id is None:
            raise ServiceError("the relayer gave no usable id")
        raise UnusableId("the relayer gave no usable id", "id", relay_id)
    return relay_id
