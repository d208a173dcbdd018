"""The core API: a signed ``TpSlReq`` is stored as a price trigger by ``POST``, or takes the place of one by ``PUT``.

A replaced trigger gets a new id, and a lost reply leaves it unknown which ones there are. Source: the specification, "Other
execution services referenced". The shapes are those of comparable venues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airlock_online.clients.http import Reply
from airlock_online.clients.http_messages import id_told, value_at
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.posting import Posted, UnusableId, told_by, usable_id
from airlock_online.delivery.routes.tracker import PostTaken
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.speech.sections import REPLACE
from airlock_shared.catalogue.services import CORE_API
from airlock_shared.text.safe import safe

STORED = "TriggerStored"
_WHO = "the core API"


def _taken(delivery: Delivery, reply: Reply, url: str, context: DeliveryContext) -> PostTaken:
    """Return the outcome: the answer is it, and the new id is durable before anybody sees it."""
    stored = context.speech.reply(CORE_API, delivery.primary_type)
    data, _ = told_by(_WHO, url, reply, (200, 201))
    payload = _stored(data, delivery.replaces, stored, context.speech.replies[REPLACE])
    path = (OrderState.ACCEPTED, OrderState.CONFIRMED)
    return PostTaken(OrderEvent(0, STORED, payload), entity_id=payload["entityId"], path=path)


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


ROUTE = Posted(CORE_API, _WHO, _taken)
"""No read of a stored trigger is documented, and the nonce tells when it is spent."""
