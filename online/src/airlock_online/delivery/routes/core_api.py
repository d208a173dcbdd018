"""The core API: a signed ``TpSlReq`` is stored as a price trigger by ``POST``, or takes the place of one by ``PUT``.

A replaced trigger gets a new id, and a lost reply leaves it unknown which ones there are. Source: the specification, "Other
execution services referenced". The shapes are those of comparable venues.
"""

from __future__ import annotations

import json
from typing import Any

from airlock_online.clients.http import Reply
from airlock_online.clients.reply_values import value_at
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.posting import Parcel, UnusableId, document_of, inside, parcel_of, post_once
from airlock_online.delivery.routes.struct import body_of, leaves_by_shipped_path
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import MAX_TRACKING_ID, OrderEvent, OrderState
from airlock_online.journal.schema import Submission
from airlock_online.speech.sections import CoreReply
from airlock_shared.catalogue.services import CORE_API, ROUTES
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

STORE, REPLACE = ROUTES[CORE_API].endpoints
STORED = "TriggerStored"
_WHO = "the core API"
_NUMBERS = ("pairIndex", "index", "triggerType", "timestamp", "signTimestamp", "orderType")
_TEXTS = ("coinSize", "price", "percentage", "nonce")


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request: PUT when it replaces a stored trigger, else POST."""
    template = context.bodies.price_trigger
    body = body_of(template, delivery) if template else _usual(delivery)
    endpoint = REPLACE if delivery.replaces else STORE
    path = endpoint.path.replace("{entityId}", segment(delivery.replaces)) if delivery.replaces else endpoint.path
    sent = json.dumps(body, separators=(",", ":")).encode()
    return parcel_of(endpoint.method, join(delivery.base_url, path), sent, context)


def _usual(delivery: Delivery) -> dict[str, object]:
    """Return the body as comparable venues take it, some of its members numbers."""
    signed = leaves_by_shipped_path(delivery)
    return {
        "trader": signed["trader"],
        "buy": signed["buy"],
        **{name: signed[name] for name in _NUMBERS},
        **{name: str(signed[name]) for name in _TEXTS},
        "signedMessage": delivery.signature,
    }


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
    """Send once; the answer is the outcome, and the new id is durable before anybody sees it."""

    def read(reply: Reply) -> dict[str, str]:
        return _stored(document_of(_WHO, parcel.url, reply, (200, 201)), delivery.replaces, context.replies.core)

    payload = post_once(parcel, read, tracker, context)
    if payload is not None:
        event = OrderEvent(0, STORED, payload)
        tracker.write(event, entity_id=payload["entityId"], path=(OrderState.ACCEPTED, OrderState.CONFIRMED))
    return ""


def follow(known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
    """Return at once: no read of a stored trigger is documented, and the nonce tells when it is spent."""
    del known, tracker, context
    return ""


def _stored(told: dict[str, Any], replaces: str, places: CoreReply) -> dict[str, str]:
    """Return the ids of a reply: ``entityId``, and of a replacement ``oldEntityId``. Raises ``ServiceError``."""
    data = inside(told)
    new = _id_at(data, places.entity, places)
    if replaces:
        named = _id_at(data, places.new_entity, places)
        new = new if named is None else named
    if type(new) is not str or not 0 < len(new) <= MAX_TRACKING_ID or not new.isprintable():
        if new is None:
            raise ServiceError(f"{_WHO} gave no id of the stored trigger")
        raise UnusableId(f"{_WHO} gave no usable id of the stored trigger", places.entity, new)
    if not replaces:
        return {"entityId": new}
    old = _id_at(data, places.old_entity, places)
    old = replaces if old is None else old
    if old != replaces or new == replaces:
        what = f"{_WHO} names {safe(str(old), limit=80)} replaced by {safe(new, limit=80)}, not {replaces}"
        raise UnusableId(what, places.new_entity, new)
    return {"entityId": new, "oldEntityId": replaces}


def _id_at(data: dict[str, Any], place: str, places: CoreReply) -> Any:
    """Return an id as a text, where the venue's ids may be whole numbers; else as it came."""
    found = value_at(data, place)
    return str(found) if places.whole_numbers and type(found) is int and found >= 0 else found
