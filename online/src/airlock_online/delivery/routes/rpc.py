"""The operator's own node as a sender of signed transactions: one ``eth_sendRawTransaction``, then receipts and blocks.

The node's address may hold an access key, so that the journal has its host alone, and following uses the node that is
configured then. Sources: the Ethereum execution API; EIP-1559 transactions are known by a hash that is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from airlock_online.clients.rpc import ChainReceipt, RpcClient, RpcError
from airlock_online.delivery.chain_evidence import confirmed_block
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, Parcel
from airlock_online.delivery.routes.posting import (
    MAY_BE_TAKEN,
    UNDECIDED,
    PollResult,
    settle_post,
    settle_refusal,
    until_final,
)
from airlock_online.delivery.routes.tracker import SubmissionProgress, Tracker
from airlock_online.journal.order_states import Anomaly, OrderEvent, OrderState
from airlock_shared.errors import UsageError
from airlock_shared.ethereum.signatures import keccak256
from airlock_shared.text.safe import safe
from airlock_shared.venue.calls import CALLS

# ---- transaction ----------------------------------------------------------------------------------------------------
# What the two routes of a signed transaction share: its hash computed here, and the events of its life.
# A confirmed transaction that stored an order is not called filled: it says so in the note (the specification, "The
# transaction stores a pending order").


_SENT = "TransactionSent"
_REVERTED = "REVERTED"
STORES_AN_ORDER = "the transaction is confirmed; it stores an order that is filled later: this is not a fill"


def chain_hash(delivery: Delivery) -> str:
    """Return the hash by which the chain knows the transaction, computed here, as lower-case 0x-hex; else empty."""
    if not delivery.raw_transaction:
        return ""
    return "0x" + transaction_hash(bytes.fromhex(delivery.raw_transaction[2:])).hex()


def sent(tx_hash: str, named: str) -> SubmissionProgress:
    """Return that a service has taken it. ``named`` is the hash that the service gave: another one is an anomaly."""
    taken = SubmissionProgress(OrderEvent(0, _SENT, {"transactionHash": tx_hash}), tx_hash)
    if named.lower() != tx_hash:
        told = OrderEvent(None, _SENT, {"transactionHash": safe(named, limit=80)})
        return taken._replace(odd=Anomaly("other-transaction-hash", told))
    return taken


def confirmed(tx_hash: str, block: int, more: Mapping[str, object], tracker: Tracker, seq: int = 1) -> None:
    """Write down that the chain has it. ``more`` is what the event has by whoever says so.

    Of our node that is the ``confirmedBlock``, of a service its own word, where the services file explained it.
    """
    event = OrderEvent(seq, "TransactionConfirmed", {"transactionHash": tx_hash, "blockNumber": block, **more})
    call = tracker.record.primary_type
    note = STORES_AN_ORDER if call in CALLS and CALLS[call].pending else ""
    tracker.write(SubmissionProgress(event, tx_hash, end=OrderState.CONFIRMED, note=note))


def reverted(tx_hash: str, more: Mapping[str, object], tracker: Tracker, seq: int = 1) -> None:
    """Write down that the chain has it and that it changed nothing.

    ``more`` is, of our node, the ``confirmedBlock``; of a service the contract's ``reason``, if it gives one.
    """
    event = OrderEvent(seq, "TransactionReverted", {"transactionHash": tx_hash, "code": _REVERTED, **more})
    note = f"transaction {tx_hash} was reverted" + (f": {more['reason']}" if "reason" in more else "")
    tracker.write(SubmissionProgress(event, tx_hash, end=OrderState.FAILED, code=_REVERTED, note=note))


def transaction_hash(raw: bytes) -> bytes:
    """Return the 32-byte hash by which a signed transaction is known on the chain."""
    return keccak256(raw)


# ---- rpc ------------------------------------------------------------------------------------------------------------


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return what is sent: the raw transaction in hex, which the client wraps. Raises ``UsageError`` without a node."""
    node = require_node(context.node)
    node.require()
    return Parcel("eth_sendRawTransaction", node.name, delivery.raw_transaction.encode())


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker) -> str:
    """Send once, then wait for the receipt and its confirmations. Return why it stopped, empty when it is final."""
    node = require_node(tracker.context.node)

    def post() -> str | None:
        try:
            return node.send_raw_transaction(parcel.body.decode())
        except RpcError as error:
            _refused(error, tracker)
            return None

    named = settle_post(post, tracker)
    if named is None:
        return ""
    tracker.write(sent(chain_hash(delivery), named))
    return _poll(tracker, node)


def follow(tracker: Tracker) -> str:
    """Ask for the receipt of the hash that was computed here, whether or not the node answered."""
    if (node := tracker.context.node) is None:
        return "no node is configured: give one as [rpc] url in config.toml or in AIRLOCK_RPC"
    tracker.context.on_notice(f"asking {node.name} for transaction {tracker.record.transaction_hash}")
    return _poll(tracker, node)


def require_node(node: RpcClient | None, without: str = "no node is configured") -> RpcClient:
    """Return the operator's own node. Raises ``UsageError``, which says what fails ``without`` one."""
    if node is None:
        raise UsageError(without, do="give one as [rpc] url in config.toml or in AIRLOCK_RPC")
    return node


_BROKEN_OFF = (-32603, -32002)
"""The codes of a node whose work was broken off, perhaps after it took the transaction: JSON-RPC's internal error, and the
time-out of geth."""


def _refused(error: RpcError, tracker: Tracker) -> None:
    """Tell a refusal from a node that has the transaction already, or knows one with its nonce: both have the same code."""
    status = error.status or 0
    undecided = error.number in _BROKEN_OFF or status in MAY_BE_TAKEN or status >= 500
    why = UNDECIDED if undecided else ""
    settle_refusal(tracker, error.number, error.code, text=error.message, told=error.what, why=why)


def _poll(tracker: Tracker, node: RpcClient) -> str:
    question = f"{node.name}: the receipt of {tracker.record.transaction_hash}"
    return until_final(question, partial(by_receipt, tracker, node), tracker.context)


def by_receipt(tracker: Tracker, node: RpcClient) -> PollResult:
    """Write down what the node's receipt says, once it is in a confirmed block. Raises ``ServiceError``."""
    tx_hash = tracker.record.transaction_hash
    if node.receipt(tx_hash) is None:
        return PollResult("in no block")
    block = confirmed_block(node, tracker.record, tracker.context)
    receipt = node.receipt(tx_hash)  # again: what it said before may have been undone since
    if receipt is None:
        return PollResult("in no block any more")
    told = f"in block {receipt.block_number}; block {block.number} is confirmed"
    if receipt.block_number > block.number:
        return PollResult(told)
    take_receipt(receipt, block.number, tracker)
    return PollResult(told, final=True)


def take_receipt(receipt: ChainReceipt, confirmed_block: int, tracker: Tracker, seq: int = 1) -> None:
    """Write down what a receipt says that is in a confirmed block or before it."""
    more = {"confirmedBlock": confirmed_block}
    if receipt.ok:
        confirmed(receipt.transaction_hash, receipt.block_number, more, tracker, seq)
    else:
        reverted(receipt.transaction_hash, more, tracker, seq)
