"""Which transaction a service names for an id that it gave: what ties the id to a signed intent. Reads alone."""

from __future__ import annotations

import json
import re

from airlock_online.clients.http import HttpCall, Reply, json_of, unexpected
from airlock_online.clients.reply_values import hashes_named
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.order_events import from_status
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.routes.posting import told_by, usable_id
from airlock_online.delivery.routes.relayer import WHO
from airlock_online.journal.order_states import (
    ANOMALIES,
    CONTRADICTIONS,
    INITIATIONS,
    MAX_TRACKING_ID,
    KnownOrder,
    merge,
)
from airlock_online.journal.schema import Record
from airlock_online.speech.sections import MARKET, STATUS
from airlock_shared.catalogue.services import BATCHED_MARKET, RELAYER
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.text.safe import safe

_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def transaction_of(record: Record, tracking_id: str, context: DeliveryContext) -> str:
    """Return the transaction, lower-case, that registered the order of a tracking id, or relayed the intent of an id.

    Raises ``UsageError`` on a route without ids, ``ServiceError`` when the service tells none, or of another id.
    """
    if record.route not in (BATCHED_MARKET, RELAYER):
        raise UsageError("this route has no tracking ids", do="give the transaction: --transaction HASH")
    if not 0 < len(tracking_id) <= MAX_TRACKING_ID or not tracking_id.isprintable():
        raise UsageError("that is no tracking id", do="give it as the service told it")
    template = context.speech.paths[(MARKET if record.route == BATCHED_MARKET else RELAYER) + STATUS]
    url = join(record.url, template.replace("{id}", segment(tracking_id)))
    reply = context.http.exchange(HttpCall("GET", url))
    if reply.status != 200:
        raise unexpected(reply, f"{url} answered {reply.status}")
    told = (
        _of_order(json_of(reply, url), record, tracking_id)
        if record.route == BATCHED_MARKET
        else _of_relay(reply, url, tracking_id, context)
    )
    if type(told) is not str or not _HASH.fullmatch(told):
        raise ServiceError("the service tells no transaction for this id, by which it could be verified")
    return told.lower()


def _of_order(document: object, record: Record, tracking_id: str) -> object:
    order = KnownOrder(json.loads(record.signed), tracking_id)
    for event in from_status(document, tracking_id).events:
        order, _, anomalies = merge(order, event)
        for anomaly in anomalies:
            if anomaly.kind in CONTRADICTIONS:
                raise ServiceError(f"{ANOMALIES[anomaly.kind]}: {safe(anomaly.why or tracking_id, limit=300)}")
    return next((e.payload.get("transactionHash") for e in order.events if e.type in INITIATIONS), None)


def _of_relay(reply: Reply, url: str, relay_id: str, context: DeliveryContext) -> object:
    data, _ = told_by(WHO, url, reply)
    if usable_id(WHO, data, context.speech.replies[RELAYER]["id"]) != relay_id:
        raise ServiceError("the relayer's answer does not name the id that was asked for")
    return next(iter(hashes_named(data, context.speech.replies[RELAYER]["transaction"])), None)
