"""The routes by name: the one place that knows which module delivers what; and the core API, the plainest of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from airlock_online.clients.connection import Reply
from airlock_online.clients.reply_values import id_text, value_at
from airlock_online.delivery.routes import batched, relay, relayer, rpc, twap
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, Parcel, SubmissionProgress, Tracker
from airlock_online.delivery.routes.posting import Posted, UnusableId, reply_members, signs_of_failure, usable_id
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.speech.sections import REPLACE
from airlock_shared.text.safe import safe
from airlock_shared.venue.structs import BATCHED_MARKET, CORE_API, RELAY, RELAYER, RPC, TWAP
from airlock_shared.wire.strict_json import JsonObject

# ---- core api -------------------------------------------------------------------------------------------------------
# The core API: a signed ``TpSlReq`` is stored as a price trigger by ``POST``, or takes the place of one by ``PUT``.
# A replaced trigger gets a new id, and a lost reply leaves it unknown which ones there are. Source: the
# specification, "Other execution services referenced". The shapes are those of comparable venues.


_STORED = "TriggerStored"
_WHO = "the core API"


def _taken(delivery: Delivery, reply: Reply, url: str, context: DeliveryContext) -> SubmissionProgress:
    """Return the outcome: the answer is it, and the new id is durable before anybody sees it."""
    stored = context.speech.reply(CORE_API, delivery.primary_type)
    data, _ = reply_members(_WHO, url, reply, (200, 201))
    payload = _stored(data, delivery.replaces, stored, context.speech.replies[REPLACE])
    return SubmissionProgress(OrderEvent(0, _STORED, payload), entity_id=payload["entityId"], end=OrderState.CONFIRMED)


def _stored(data: JsonObject, replaces: str, stored: Mapping[str, str], replacing: Mapping[str, str]) -> dict[str, str]:
    """Return the ids of a reply: ``entityId``, and of a replacement ``oldEntityId``. Raises ``ServiceError``."""
    place = replacing["id"] if replaces and value_at(data, replacing["id"]) is not None else stored["id"]
    new = usable_id(_WHO, data, place)
    if against := signs_of_failure(data, place):
        raise UnusableId(f"{_WHO} gave an id, but its member {against[0]} speaks of a failure", place, new)
    if not replaces:
        return {"entityId": new}
    told = id_text(value_at(data, replacing["replaced"]))
    old = replaces if told is None else told
    if old != replaces or new == replaces:
        what = f"{_WHO} names {safe(str(old), limit=80)} replaced by {safe(new, limit=80)}, not {replaces}"
        raise UnusableId(what, place, new)
    return {"entityId": new, "oldEntityId": replaces}


CORE_API_ROUTE = Posted(CORE_API, _WHO, _taken)
"""No read of a stored trigger is documented, and the nonce tells when it is spent."""

# ---- registry -------------------------------------------------------------------------------------------------------
# The routes by name: the one place that knows which module delivers what.


class RouteModule(Protocol):
    """What a route's module does; the rest of a route is data (:mod:`airlock_shared.venue.structs`)."""

    def parcel(self, delivery: Delivery, context: DeliveryContext) -> Parcel:
        """Return the one request. Raises ``UsageError`` or ``Refusal`` for what cannot go this way."""

    def send(self, delivery: Delivery, parcel: Parcel, tracker: Tracker, /) -> str:
        """Send the request once and follow it. Return why that stopped, empty when it is final.

        The caller holds the claim. Whatever happens, the journal says what is known.
        """

    def follow(self, tracker: Tracker) -> str:
        """Ask what became of it, by reading alone. Return why that stopped, empty when it is final."""


ROUTE_MODULES: Mapping[str, RouteModule] = {
    BATCHED_MARKET: batched,
    RELAYER: relayer.ROUTE,
    CORE_API: CORE_API_ROUTE,
    TWAP: twap.ROUTE,
    RELAY: relay.ROUTE,
    RPC: rpc,
}
