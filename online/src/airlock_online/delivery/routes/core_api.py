"""The core API: a signed ``TpSlReq`` is stored as a price trigger by ``POST``, or takes the place of one by ``PUT``.

A replaced trigger gets a new id, and a lost reply leaves it unknown which ones there are. Source: the specification, "Other
execution services referenced". The shapes are those of comparable venues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airlock_online.clients.http import Reply
from airlock_online.clients.reply_values import id_told, value_at
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.posting import Parcel, UnusableId, post_once, told_by, usable_id
from airlock_online.delivery.routes.struct import request_of
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.journal.schema import Submission
from airlock_online.speech.sections import REPLACE
from airlock_shared.catalogue.services import CORE_API
from airlock_shared.text.safe import safe

STORED = "TriggerStored"
_WHO = "the core API"


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request: PUT when it replaces a stored trigger, else POST."""
    return request_of(CORE_API, delivery, context)


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
    """Send once; the answer is the outcome, and the new id is durable before anybody sees it."""

    def read(reply: Reply) -> dict[str, str]:
        stored = context.speech.reply(CORE_API, delivery.primary_type)
        data, _ = told_by(_WHO, parcel.url, reply, (200, 201))
        return _stored(data, delivery.replaces, stored, context.speech.replies[REPLACE])

    payload = post_once(parcel, read, tracker, context)
    if payload is not None:
        event = OrderEvent(0, STORED, payload)
        tracker.write(event, entity_id=payload["entityId"], path=(OrderState.ACCEPTED, OrderState.CONFIRMED))
    return ""


def follow(known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
    """Return at once: no read of a stored trigger is documented, and the nonce tells when it is spent."""
    del known, tracker, context
    return ""


def _stored(
    data: dict[str, Any], replaces: str, stored: Mapping[str, str], replacing: Mapping[str, str]
) -> dict[str, str]:
    """Return the ids of a reply: ``entityId``, and of a replacement ``oldEntityId``. Raises ``ServiceError``."""
    place = replacing["id"] if replaces and value_at(data, replacing["id"]) is not None else stored["id"]
    new = usable_id(_WHO, data, place)
    if not replaces:
        return {"entityId": new}
    told = id_told(value_at(data, replacing["replaced"]))
    old = replaces if told is None else told
    if old != replaces or new == replaces:
        what = f"{_WHO} names {safe(str(old), limit=80)} replaced by {safe(new, limit=80)}, not {replaces}"
        raise UnusableId(what, place, new)
    return {"entityId": new, "oldEntityId": replaces}
