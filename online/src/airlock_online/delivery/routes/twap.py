"""The TWAP service: ``POST /twaps/cancel`` with a signed ``TwapCancelReq``; it sends the transaction itself.

Source: the specification, "Other execution services referenced". The shapes are those of comparable venues: the struct's
members and the signature; 201 with ``twapId``, ``transactionHash`` and ``blockNumber``.
"""

from __future__ import annotations

import json
import re

from airlock_online.clients.http import Reply
from airlock_online.clients.reply_values import block_number, hashes_named, value_at
from airlock_online.clients.urls import join
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.polling import Steps, at_once
from airlock_online.delivery.routes.posting import Parcel, UnusableId, document_of, inside, parcel_of, post_once
from airlock_online.delivery.routes.struct import body_of, leaves_by_shipped_path
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.journal.schema import Submission
from airlock_shared.documents.services import ROUTES, TWAP
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

(CANCEL,) = ROUTES[TWAP].endpoints
CANCELLED, QUEUED = "TwapCancelled", "TwapCancelQueued"
_WHO = "the TWAP service"
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request that the template's body makes of a delivery."""
    sent = json.dumps(body_of(context.bodies.twap_cancel, delivery), separators=(",", ":")).encode()
    return parcel_of(CANCEL.method, join(delivery.base_url, CANCEL.path), sent, context)


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> Steps[str]:
    """POST once; the answer is the outcome."""
    twap_id, places = leaves_by_shipped_path(delivery)["twapId"], context.replies.twap

    def read(reply: Reply) -> dict[str, object]:
        told = inside(document_of(_WHO, parcel.url, reply, (200, 201, *([202] if places.queued else []))))
        named = value_at(told, places.twap)
        if places.queued and value_at(told, places.queued) is True and named in (None, twap_id, str(twap_id)):
            return {}
        tx_hash = next(iter(hashes_named(told, places.transaction)), None)
        block = block_number(value_at(told, places.block))
        if str(named) != str(twap_id):
            raise ServiceError(f"{_WHO} answered about the TWAP {safe(str(named), limit=80)}, not {twap_id}")
        if type(tx_hash) is not str or not _HASH.fullmatch(tx_hash) or block is None:
            given = {"transactionHash": tx_hash, "blockNumber": value_at(told, places.block)}
            raise UnusableId(f"{_WHO} gave no transaction hash and block", "transaction", given)
        return {"twapId": twap_id, "transactionHash": tx_hash.lower(), "blockNumber": block}

    payload = post_once(parcel, read, tracker, context)
    if payload == {}:
        tracker.write(OrderEvent(0, QUEUED, {"twapId": twap_id}), path=(OrderState.ACCEPTED,))
        return at_once(f"{_WHO} has taken the cancellation, and says nothing of a transaction yet")
    if payload is not None:
        tracker.write(OrderEvent(0, CANCELLED, payload), path=(OrderState.ACCEPTED, OrderState.CONFIRMED))
    return at_once("")


def follow(known: Submission, tracker: Tracker, context: DeliveryContext) -> Steps[str]:
    """Return at once: the service has no read, and the nonce tells the rest."""
    del known, tracker, context
    return at_once("")
