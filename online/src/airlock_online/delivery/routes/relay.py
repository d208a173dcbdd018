"""The builder's relay of signed transactions: ``POST /v2/relay``, and ``GET /v2/relay/{hash}`` for the outcome.

It takes whitelisted contracts alone, and simulates first, which is never asked to be skipped. The hash is computed here: the
one that it names is compared, and never followed instead. Source: the specification, "Builder service" and "Builder error
envelope"; the shapes are those of comparable venues, where an unknown hash reads as pending.
"""

from __future__ import annotations

import json

from airlock_online.clients.connection import Reply
from airlock_online.clients.reply_values import block_number, hashes_named, require_named, status_word, value_at
from airlock_online.delivery.routes import rpc
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, SubmissionProgress, Tracker
from airlock_online.delivery.routes.posting import (
    PollResult,
    Posted,
    StatusRead,
    UnusableId,
    as_said,
    by_node_alone,
    by_word_alone,
    reply_members,
    signs_of_failure,
    unproven,
)
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.venue.structs import RELAY

_WHO = "the relay"


def _taken(delivery: Delivery, reply: Reply, url: str, context: DeliveryContext) -> SubmissionProgress:
    told = hashes_named(reply_members(_WHO, url, reply)[0], context.speech.replies[RELAY]["transaction"])
    if not told:
        raise ServiceError(f"{_WHO} gave no transaction hash")
    tx_hash = rpc.chain_hash(delivery)
    named = next((other for other in told if type(other) is not str or other.lower() != tx_hash), told[0])
    if type(named) is not str:
        raise UnusableId(f"{_WHO} gave no transaction hash", "hash", named)
    return rpc.sent(tx_hash, named)


def _on_status(read: StatusRead, tracker: Tracker) -> PollResult:
    """Write a final status down, and return what it says."""
    data, places, tx_hash, context = read.data, read.places, read.asked, tracker.context
    hashes = hashes_named(data, places["transaction"])
    for each in hashes:
        require_named("relay's answer", {"hash": each}, hash=tx_hash)
    status = status_word(data, context.speech.words, places["status"], read.within)
    if by_word := by_word_alone(status, names=bool(hashes)):
        return by_word
    block = block_number(value_at(data, places["block"]))
    if status.meaning not in ("confirmed", "reverted"):
        return PollResult(status.text, odd=status.unknown)
    silent = value_at(data, places["block"]) is None and not signs_of_failure(data, places["transaction"])
    if status.meaning == "confirmed" and silent:
        node = context.node
        return by_node_alone(status, tx_hash) if node is None else rpc.by_receipt(tracker, node)
    if why := unproven(status, data, block, tx_hash, context, places["transaction"]):
        return PollResult(why, odd=True)
    if status.meaning == "reverted":
        decoded = value_at(data, places["error"])
        why = safe(decoded if type(decoded) is str else json.dumps(decoded), limit=300) if decoded is not None else ""
        rpc.reverted(tx_hash, {"reason": why} if why else {}, tracker)
        return PollResult(status.text, final=True)
    if block is None:
        raise ServiceError(f"{_WHO} says confirmed, but gives no block")
    rpc.confirmed(tx_hash, block, as_said(status), tracker)
    return PollResult(status.text, final=True)


ROUTE = Posted(
    RELAY,
    _WHO,
    _taken,
    about=lambda tracker: tracker.record.transaction_hash,
    question="the status of {}",
    notice="asking the relay for transaction {}",
    on_status=_on_status,
    refusal="SIMULATION_FAILED",  # of which the specification gives no HTTP status
)
