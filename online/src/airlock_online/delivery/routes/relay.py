"""The builder's relay of signed transactions: ``POST /v2/relay``, and ``GET /v2/relay/{hash}`` for the outcome.

It takes whitelisted contracts alone, and simulates first. The hash is computed here: the one that it names is compared, and
never followed instead. Source: the specification, "Builder service" and "Builder error envelope"; the shapes are those of
comparable venues, where an unknown hash reads as pending.
"""

from __future__ import annotations

import json
from typing import Any

from airlock_online.clients.echo import require_named
from airlock_online.clients.reply_values import StatusWord, block_number, hashes_named, status_word, value_at
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.routes import transaction
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.polling import PollAnswer, until_final
from airlock_online.delivery.routes.posting import Parcel, UnusableId, post_once, told_by
from airlock_online.delivery.routes.said import as_said, by_word_alone, unproven
from airlock_online.delivery.routes.struct import request_of
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.schema import Submission
from airlock_online.speech.sections import STATUS
from airlock_shared.catalogue.services import RELAY
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

_WHO = "the relay"


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request. The simulation is never asked to be skipped."""
    return request_of(RELAY, delivery, context)


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
    """POST once, then poll. Return why it stopped, empty when the transaction is final."""

    def read(reply: Any) -> str:
        told = hashes_named(told_by(_WHO, parcel.url, reply)[0], context.speech.replies[RELAY]["transaction"])
        if not told:
            raise ServiceError(f"{_WHO} gave no transaction hash")
        tx_hash = transaction.hash_of(delivery)
        named = next((other for other in told if type(other) is not str or other.lower() != tx_hash), told[0])
        if type(named) is not str:
            raise UnusableId(f"{_WHO} gave no transaction hash", "hash", named)
        return named

    named = post_once(parcel, read, tracker, context)
    if named is None:
        return ""
    tx_hash = transaction.hash_of(delivery)
    transaction.sent(tx_hash, named, tracker)
    return _poll(delivery.base_url, tx_hash, delivery.primary_type, tracker, context)


def follow(known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
    """Poll the relay for the hash that was computed here, whether or not the POST was answered."""
    tx_hash = known.record.transaction_hash
    context.on_notice(f"asking the relay for transaction {tx_hash}")
    return _poll(known.record.url, tx_hash, known.record.primary_type, tracker, context)


def _poll(base_url: str, tx_hash: str, call: str, tracker: Tracker, context: DeliveryContext) -> str:
    def ask() -> PollAnswer:
        url = join(base_url, context.speech.paths[RELAY + STATUS].replace("{id}", segment(tx_hash)))
        data, within = told_by(_WHO, url, context.http.poll(url, {}))
        places = context.speech.replies[RELAY]
        told = hashes_named(data, places["transaction"])
        for each in told:
            require_named("relay's answer", {"hash": each}, hash=tx_hash)
        status = status_word(data, context.speech.words, places["status"], within)
        return by_word_alone(status, names=bool(told)) or _take(status, data, tx_hash, call, tracker, context)

    return until_final(f"the relay: the status of {tx_hash}", ask, context)


def _take(
    status: StatusWord, data: dict[str, Any], tx_hash: str, call: str, tracker: Tracker, context: DeliveryContext
) -> PollAnswer:
    """Write a final status down, and return what it says."""
    places = context.speech.replies[RELAY]
    block = block_number(value_at(data, places["block"]))
    if status.meaning == "reverted":
        decoded = value_at(data, places["error"])
        told = safe(decoded if type(decoded) is str else json.dumps(decoded), limit=300) if decoded is not None else ""
        transaction.reverted(tx_hash, "REVERTED", told, tracker)
        return PollAnswer(status.told, True)
    if status.meaning != "confirmed":
        return PollAnswer(status.told, False, status.unknown)
    if why := unproven(status, data, block, tx_hash, context, places["transaction"]):
        return PollAnswer(why, False, odd=True)
    if block is None:
        raise ServiceError(f"{_WHO} says confirmed, but gives no block")
    transaction.confirmed(tx_hash, block, None, call, tracker, as_said(status))
    return PollAnswer(status.told, True)
