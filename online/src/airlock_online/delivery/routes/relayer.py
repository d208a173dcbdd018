"""The relayer, for the intents that have no service of their own (delegates, referrals).

The specification names it and documents no endpoint: path and body are the services file's, with a default. It answers with
an id that is polled until the transaction is confirmed or reverted.
"""

from __future__ import annotations

from airlock_online.clients.http import Reply
from airlock_online.clients.http_messages import is_hash, value_at
from airlock_online.clients.reply_values import block_number, hashes_named, status_word
from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.chain_evidence import confirmed_block, require_chain
from airlock_online.delivery.chain_search import settle_by_transaction
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.polling import PollAnswer
from airlock_online.delivery.routes.posting import Posted, StatusTold, told_by, usable_id
from airlock_online.delivery.routes.said import as_said, by_word_alone, signs_of_failure, unproven
from airlock_online.delivery.routes.tracker import PostTaken, Tracker
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.journal.schema import Record
from airlock_shared.catalogue.services import RELAYER
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

ACCEPTED, CONFIRMED, REVERTED = "RelayAccepted", "RelayConfirmed", "RelayReverted"
WHO = "the relayer"
_ENDS = ("confirmed", "reverted")


def _taken(_: Delivery, reply: Reply, url: str, context: DeliveryContext) -> PostTaken:
    relay_id = usable_id(WHO, told_by(WHO, url, reply)[0], context.speech.replies[RELAYER]["id"])
    return PostTaken(OrderEvent(0, ACCEPTED, {"id": relay_id}), relay_id)


def _answer(told: StatusTold, _: Record, tracker: Tracker, context: DeliveryContext) -> PollAnswer:
    """Write a final status down, and return what it says."""
    data, places = told.data, told.places
    names = value_at(data, places["id"]) is not None
    if names and (named := usable_id(WHO, data, places["id"])) != told.asked:
        raise ServiceError(f"the relayer answered about {safe(named)!r}, which Airlock did not ask about")
    status = status_word(data, context.speech.words, places["status"], told.within)
    if by_word := by_word_alone(status, names=names):
        return by_word
    if status.meaning not in _ENDS:
        return PollAnswer(status.told, False, status.unknown)
    tx_hash = next(iter(hashes_named(data, places["transaction"])), None)
    if not is_hash(tx_hash):
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


ROUTE = Posted(
    RELAYER,
    WHO,
    _taken,
    about=lambda _record, tracker, _context: tracker.tracking_id,
    question="the status of {}",
    notice="asking the relayer for {}",
    answer=_answer,
)
