"""Which transaction a service names for an id that it gave: what ties the id to a signed intent. Reads alone."""

from __future__ import annotations

import json

from airlock_online.clients.http_messages import is_hash
from airlock_online.clients.reply_values import hashes_named
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.routes.order_status import read_history
from airlock_online.delivery.routes.posting import usable_id
from airlock_online.delivery.routes.relayer import ROUTE, WHO
from airlock_online.journal.order_states import (
    ANOMALIES,
    CONTRADICTIONS,
    INITIATIONS,
    MAX_TRACKING_ID,
    KnownOrder,
    merge,
)
from airlock_online.journal.schema import Record
from airlock_shared.catalogue.services import BATCHED_MARKET, RELAYER
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.text.safe import safe


def transaction_of(record: Record, tracking_id: str, context: DeliveryContext) -> str:
    """Return the transaction, lower-case, that registered the order of a tracking id, or relayed the intent of an id.

    Raises ``UsageError`` on a route without ids, ``ServiceError`` when the service tells none, or of another id.
    """
    if record.route not in (BATCHED_MARKET, RELAYER):
        raise UsageError("this route has no tracking ids", do="give the transaction: --transaction HASH")
    if not 0 < len(tracking_id) <= MAX_TRACKING_ID or not tracking_id.isprintable():
        raise UsageError("that is no tracking id", do="give it as the service told it")
    told = (_of_order if record.route == BATCHED_MARKET else _of_relay)(record, tracking_id, context)
    if not is_hash(told):
        raise ServiceError("the service tells no transaction for this id, by which it could be verified")
    return told.lower()


def _of_order(record: Record, tracking_id: str, context: DeliveryContext) -> object:
    order = KnownOrder(json.loads(record.signed), tracking_id)
    for event in read_history(record.url, tracking_id, {}, context).events:
        order, _, anomalies = merge(order, event)
        for anomaly in anomalies:
            if anomaly.kind in CONTRADICTIONS:
                raise ServiceError(f"{ANOMALIES[anomaly.kind]}: {safe(anomaly.why or tracking_id, limit=300)}")
    return next((e.payload.get("transactionHash") for e in order.events if e.type in INITIATIONS), None)


def _of_relay(record: Record, relay_id: str, context: DeliveryContext) -> object:
    data, _, places, _ = ROUTE.status(record, relay_id, context)
    if usable_id(WHO, data, places["id"]) != relay_id:
        raise ServiceError("the relayer's answer does not name the id that was asked for")
    return next(iter(hashes_named(data, places["transaction"])), None)
