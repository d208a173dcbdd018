"""The relayer, for the intents that have no service of their own (delegates, referrals).

The specification names it and documents no endpoint: path and body are the services file's, with a default. It answers with
an id that is polled until the transaction is confirmed or reverted.
"""

from __future__ import annotations

import json

from airlock_online.clients.connection import Reply, is_hash
from airlock_online.clients.reply_values import block_number, hash_named, status_word, value_at
from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.chain_evidence import confirmed_block
from airlock_online.delivery.chain_search import settle_by_transaction
from airlock_online.delivery.routes.batched import read_history
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, SubmissionProgress, Tracker
from airlock_online.delivery.routes.posting import (
    PollResult,
    Posted,
    StatusRead,
    as_said,
    by_node_alone,
    by_word_alone,
    reply_members,
    signs_of_failure,
    unproven,
    usable_id,
)
from airlock_online.journal.order_states import (
    ANOMALIES,
    CONTRADICTIONS,
    INITIATIONS,
    MAX_TRACKING_ID,
    KnownOrder,
    OrderEvent,
    OrderState,
    merge,
)
from airlock_online.journal.schema import Record
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.text.safe import safe
from airlock_shared.venue.structs import BATCHED_MARKET, RELAYER

RELAY_ACCEPTED, RELAY_CONFIRMED, _REVERTED = "RelayAccepted", "RelayConfirmed", "RelayReverted"
WHO = "the relayer"
_ENDS = ("confirmed", "reverted")


def _taken(_: Delivery, reply: Reply, url: str, context: DeliveryContext) -> SubmissionProgress:
    relay_id = usable_id(WHO, reply_members(WHO, url, reply)[0], context.speech.replies[RELAYER]["id"])
    return SubmissionProgress(OrderEvent(0, RELAY_ACCEPTED, {"id": relay_id}), relay_id)


def _on_status(read: StatusRead, tracker: Tracker) -> PollResult:
    """Write a final status down, and return what it says."""
    data, places, context = read.data, read.places, tracker.context
    names = value_at(data, places["id"]) is not None
    if names and (named := usable_id(WHO, data, places["id"])) != read.asked:
        raise ServiceError(f"the relayer answered about {safe(named)!r}, which Airlock did not ask about")
    status = status_word(data, context.speech.words, places["status"], read.within)
    if by_word := by_word_alone(status, names=names):
        return by_word
    if status.meaning not in _ENDS:
        return PollResult(status.text, odd=status.unknown)
    tx_hash = hash_named(data, places["transaction"])
    if not is_hash(tx_hash):
        raise ServiceError(f"the relayer says {status.meaning} but gives no transaction hash")
    named_block = value_at(data, places["block"])
    block = block_number(named_block)
    if named_block is None and status.word and not signs_of_failure(data, places["transaction"]):
        if context.node is None:
            return by_node_alone(status, tx_hash.lower())
        return PollResult(_by_node(tx_hash.lower(), tracker, context.node), final=True)
    if why := unproven(status, data, block, tx_hash, context, places["transaction"]):
        return PollResult(why, odd=True)
    payload = {"id": tracker.tracking_id, "transactionHash": tx_hash, **as_said(status)}
    if status.meaning == "confirmed":
        tracker.write(SubmissionProgress(OrderEvent(1, RELAY_CONFIRMED, payload), end=OrderState.CONFIRMED))
    else:
        note = f"transaction {tx_hash} was reverted"
        event = OrderEvent(1, _REVERTED, payload)
        tracker.write(SubmissionProgress(event, end=OrderState.FAILED, code="REVERTED", note=note))
    return PollResult(status.text, final=True)


def _by_node(tx_hash: str, tracker: Tracker, node: RpcClient) -> str:
    """Settle by the operator's node what the relayer says of a transaction without its block, and return what is found.

    Raises ``ServiceError`` unless that transaction, in a confirmed block, has executed this very intent.
    """
    record, context = tracker.record, tracker.context
    return settle_by_transaction(record, tx_hash, confirmed_block(node, record, context), context)


ROUTE = Posted(
    RELAYER,
    WHO,
    _taken,
    about=lambda tracker: tracker.tracking_id,
    question="the status of {}",
    notice="asking the relayer for {}",
    on_status=_on_status,
)

# ---- registration ---------------------------------------------------------------------------------------------------
# Which transaction a service names for an id that it gave: what ties the id to a signed intent. Reads alone.


def transaction_on_chain(record: Record, tracking_id: str, context: DeliveryContext) -> str:
    """Return the transaction, lower-case, that registered the order of a tracking id, or relayed the intent of an id.

    Raises ``UsageError`` on a route without ids, ``ServiceError`` when the service tells none, or of another id.
    """
    if record.route not in (BATCHED_MARKET, RELAYER):
        raise UsageError("this route has no tracking ids", do="give the transaction: --transaction HASH")
    require_tracking_id(tracking_id)
    told = (_of_order if record.route == BATCHED_MARKET else _of_relay)(record, tracking_id, context)
    if not is_hash(told):
        raise ServiceError("the service tells no transaction for this id, by which it could be verified")
    return told.lower()


def require_tracking_id(given: str) -> None:
    """Raise ``UsageError`` for a text that no service can have told as an id."""
    if not 0 < len(given) <= MAX_TRACKING_ID or not given.isprintable():
        raise UsageError("that is no tracking id", do="give it as the service told it")


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
    return hash_named(data, places["transaction"])
