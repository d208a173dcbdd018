"""The relayer, for the intents that have no service of their own (delegates, referrals).

The specification names it and documents no endpoint: path and body are the services file's, with a default. It answers with
an id that is polled until the transaction is confirmed or reverted.
"""

from __future__ import annotations

import re
from typing import Any

from airlock_online.clients.http import Reply
from airlock_online.clients.reply_values import StatusWord, block_number, hashes_named, status_word, value_at
from airlock_online.clients.rpc import RpcClient
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.chain_evidence import confirmed_block, require_chain
from airlock_online.delivery.chain_search import settle_by_transaction
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.polling import PollAnswer, until_final
from airlock_online.delivery.routes.posting import Parcel, post_once, told_by, usable_id
from airlock_online.delivery.routes.said import as_said, by_word_alone, signs_of_failure, unproven
from airlock_online.delivery.routes.struct import request_of
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.journal.schema import Submission
from airlock_online.speech.sections import STATUS
from airlock_shared.catalogue.services import RELAYER
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

ACCEPTED, CONFIRMED, REVERTED = "RelayAccepted", "RelayConfirmed", "RelayReverted"
WHO = "the relayer"
_ENDS = ("confirmed", "reverted")
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request that the services file's body makes of a delivery."""
    return request_of(RELAYER, delivery, context)


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
    """POST once, then poll. Return why it stopped, empty when the submission is final."""

    def read(reply: Reply) -> str:
        return usable_id(WHO, told_by(WHO, parcel.url, reply)[0], context.speech.replies[RELAYER]["id"])

    relay_id = post_once(parcel, read, tracker, context, busy=context.speech.replies[RELAYER]["busy"])
    if relay_id is None:
        return ""
    tracker.write(OrderEvent(0, ACCEPTED, {"id": relay_id}), tracking_id=relay_id, path=(OrderState.ACCEPTED,))
    return _poll(delivery.base_url, tracker, context)


def follow(known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
    """Poll the relayer, if there is an id to ask for."""
    if not tracker.tracking_id:
        return ""
    context.on_notice(f"asking the relayer for {safe(tracker.tracking_id)}")
    return _poll(known.record.url, tracker, context)


def _poll(base_url: str, tracker: Tracker, context: DeliveryContext) -> str:
    def ask() -> PollAnswer:
        path, places = context.speech.paths[RELAYER + STATUS], context.speech.replies[RELAYER]
        url = join(base_url, path.replace("{id}", segment(tracker.tracking_id)))
        data, within = told_by(WHO, url, context.http.poll(url, {}))
        names = value_at(data, places["id"]) is not None
        if names and (told := usable_id(WHO, data, places["id"])) != tracker.tracking_id:
            raise ServiceError(f"the relayer answered about {safe(told)!r}, which Airlock did not ask about")
        status = status_word(data, context.speech.words, places["status"], within)
        return by_word_alone(status, names=names) or _take(status, data, tracker, context)

    return until_final(f"the relayer: the status of {safe(tracker.tracking_id)}", ask, context)


def _take(status: StatusWord, data: dict[str, Any], tracker: Tracker, context: DeliveryContext) -> PollAnswer:
    """Write a final status down, and return what it says."""
    if status.meaning not in _ENDS:
        return PollAnswer(status.told, False, status.unknown)
    places = context.speech.replies[RELAYER]
    tx_hash = next(iter(hashes_named(data, places["transaction"])), None)
    if type(tx_hash) is not str or not _HASH.fullmatch(tx_hash):
        raise ServiceError(f"the relayer says {status.meaning} but gives no transaction hash")
    block = block_number(value_at(data, places["block"]))
    if block is None and status.word and context.node is not None and not signs_of_failure(data, places["transaction"]):
        return PollAnswer(_by_node(tx_hash.lower(), tracker, context.node, context), True)
    if why := unproven(status, data, block, tx_hash, context, places["transaction"]):
        return PollAnswer(why, False, odd=True)
    payload = {"id": tracker.tracking_id, "transactionHash": tx_hash, **as_said(status)}
    if status.meaning == "confirmed":
        tracker.write(OrderEvent(1, CONFIRMED, payload), path=(OrderState.ACCEPTED, OrderState.CONFIRMED))
    else:
        note = f"transaction {tx_hash} was reverted"
        tracker.write(
            OrderEvent(1, REVERTED, payload), path=(OrderState.ACCEPTED, OrderState.FAILED), code="REVERTED", note=note
        )
    return PollAnswer(status.told, True)


def _by_node(tx_hash: str, tracker: Tracker, node: RpcClient, context: DeliveryContext) -> str:
    """Settle by the operator's node what the relayer says of a transaction without its block, and return what is found.

    Raises ``ServiceError`` unless that transaction, in a confirmed block, has executed this very intent.
    """
    record = context.journal.get(tracker.digest).record
    require_chain(node, record)
    return settle_by_transaction(record, tx_hash, confirmed_block(node, context), context)
