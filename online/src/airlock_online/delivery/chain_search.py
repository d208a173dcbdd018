"""Finding the transaction that executed a signed intent, by the operator's own node, in full blocks.

A transaction executed an intent when it carries the intent's encoding anywhere in its input (calls may be nested),
succeeded, has a log of the venue's contracts or is the executing call itself, and stands in the block in which the contract
marked the nonce, where no other signature with this nonce stands. What is not found proves nothing: a sender may pack its
input.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from airlock_online.clients.connection import is_hash
from airlock_online.clients.rpc import ChainBlock, ChainReceipt, ChainTransaction, RpcClient, RpcError
from airlock_online.delivery.admission import shares_nonce
from airlock_online.delivery.chain_evidence import first_block, nonce_used_in
from airlock_online.delivery.event_lines import FOUND
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.routes.tracker import SubmissionProgress, Tracker
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.journal.schema import Record
from airlock_shared.errors import Refusal, ServiceError
from airlock_shared.ethereum.signatures import keccak256
from airlock_shared.venue.calls import arguments_in
from airlock_shared.venue.structs import BATCHED_MARKET
from airlock_shared.wire.strict_json import JsonObject

_TOLD_EVERY = 100  # blocks
_LOGS_OF = 500  # blocks, of which a node that limits one question tells the logs
_BLOCKS_A_SECOND = 100  # at most, of any chain
_ENDS_WITHIN = 50_000  # blocks: what is not filled then is asked of the venue, and a node that lies has no end
_TRADE = "(address,uint256,uint256,uint256,uint256,uint256,bool,uint256,uint256,uint256,uint256)"
REGISTERED = {
    "MarketOrderInitiated(uint256,address,uint256,bool,bool,bool)",
    "IncreasePositionRequested(uint256,address,uint256,uint256,bool,bool,uint256,uint256,bool)",
}
ORDER_ENDS = {
    f"MarketOrderExecuted(uint256,bool,uint256,uint256,int256,uint256,bool,uint256,bool,{_TRADE})": OrderState.FILLED,
    f"PositionSizeIncreased(uint256,bool,uint256,bool,{_TRADE})": OrderState.FILLED,
    "MarketOrderCanceled(uint256,address,uint256)": OrderState.MARKET_DECLINED,
}
"""The contracts' events of an order, the id first among their topics: those of the specification's "Events", whose types are
those of comparable venues. A venue with other ones has its orders found and their ends not."""


def settle_spent(record: Record, confirmed: ChainBlock, context: DeliveryContext) -> str:
    """Look for what executed an intent whose nonce is used, in the block in which that was marked; settle what it settles.

    Return what was found for a person, empty for nothing. Raises ``ServiceError``.
    """
    node = context.node
    encoded = context.encoded(record)
    if node is None or not encoded:
        return ""
    block = first_block(confirmed.number, partial(nonce_used_in, node, record))
    if block is None:
        return ""
    context.on_asked(f"{node.name}: the block that marked nonce {record.nonce}", str(block))
    for found in _carriers(node.block(block, whole=True), encoded):
        try:
            return settle_by_transaction(record, found, confirmed, context)
        except ServiceError as error:  # an attempt that was reverted may stand before the one that was not
            context.on_notice(error.what)
    return f"block {block} marked it, and no transaction there is known to have executed this intent"


def settle_by_transaction(record: Record, tx_hash: str, confirmed: ChainBlock, context: DeliveryContext) -> str:
    """Settle an intent by the transaction that is said to have executed it, once that is verified; return what it is.

    Raises ``ServiceError`` when it is not verified: then nothing was settled.
    """
    node, encoded = context.node, context.encoded(record)
    if node is None or not encoded:
        lacking = "no node is configured" if node is None else "the intent's request is not on this machine"
        raise ServiceError(f"transaction {tx_hash} cannot be verified: {lacking}", do="verify it where both are there")
    receipt = _verified(node, record, tx_hash, encoded, confirmed, context)
    number = receipt.block_number
    found = f"transaction {tx_hash} executed it in block {number} (block {confirmed.number} is confirmed)"
    payload = {"transactionHash": tx_hash, "blockNumber": number, "confirmedBlock": confirmed.number}
    order = record.route == BATCHED_MARKET
    before = [
        event.payload["transactionHash"] for event in context.journal.events(record.digest) if event.type == FOUND
    ]
    if tx_hash not in before:
        end = None if order else OrderState.CONFIRMED
        tracker = Tracker(context.journal.get(record.digest), context)
        tracker.write(SubmissionProgress(OrderEvent(None, FOUND, payload), end=end, note=found))
    return _settle_order(record, receipt, confirmed, found, context) if order else found


def _verified(
    node: RpcClient, record: Record, tx_hash: str, encoded: str, confirmed: ChainBlock, context: DeliveryContext
) -> ChainReceipt:
    """Return the receipt of a transaction that executed the intent. Raises ``ServiceError`` with what is missing."""

    def refuse(why: str) -> ServiceError:
        return ServiceError(f"transaction {tx_hash} does not prove it: {why}", do="nothing was changed; look again")

    receipt = node.receipt(tx_hash)
    if receipt is None or receipt.block_number > confirmed.number:
        raise refuse(f"no block up to {confirmed.number}, which is confirmed, is told to have it")
    if not receipt.ok:
        raise refuse("it was reverted")
    block = node.block(receipt.block_number, whole=True)
    found = _carriers(block, encoded).get(tx_hash)
    if found is None:
        raise refuse("its input does not carry this intent")
    logged = any(_is_of(log, context.contracts_of(record)) for log in receipt.logs)
    if not logged and not _is_executing(found, record.contract, encoded):
        raise refuse("it is not the executing call itself, and no contract of the venue has a log in it")
    for rival in (known.record for known in context.journal.rivals(record) if shares_nonce(record, known.record)):
        if (other := context.encoded(rival)) and _carriers(block, other):
            raise refuse(f"its block carries {rival.digest} too, which has the same nonce: one of the two was executed")
    if nonce_used_in(node, record, confirmed.number) is not True:
        raise refuse(f"the contract does not have the nonce as used in block {confirmed.number}")
    before, after = (nonce_used_in(node, record, receipt.block_number - back) for back in (1, 0))
    if before is True or after is False:
        raise refuse("the nonce was marked in another block than its own")
    return receipt


def _carriers(block: ChainBlock | None, encoded: str) -> dict[str, ChainTransaction]:
    """Return a block's transactions that carry an encoding (hex without 0x) in their input, by hash."""
    return {found.transaction_hash: found for found in block.transactions if encoded in found.data} if block else {}


def _is_executing(found: ChainTransaction, contract: str, encoded: str) -> bool:
    """Tell whether a transaction calls the contract with a signature and the encoding, in either order, and nothing else."""
    try:
        given = arguments_in(bytes.fromhex(found.data), "(bytes signature,bytes intent)").values()
    except Refusal:
        return False
    return found.to == contract.lower() and bytes.fromhex(encoded) in given


# ---- the search that an operator asks for -----------------------------------------------------------------------------


def search(record: Record, since_ms: int, confirmed: ChainBlock, context: DeliveryContext) -> str:
    """Look through full blocks from ``since_ms`` to the deadline for the intent's encoding; settle what is found.

    Before ``since_ms`` there was no signature. Return what was found, for a person. Raises ``ServiceError``.
    """
    node, encoded = context.node, context.encoded(record)
    if node is None or not encoded:
        return "a search needs a node of your own, and the request that was signed for"

    def is_since(number: int) -> bool:
        block = node.block(number)
        return block is None or block.time_ms >= since_ms - 60_000  # two clocks

    last = confirmed.number
    first = first_block(last, is_since) or 0
    past_s = (min(confirmed.time_ms, context.clock_ms()) - since_ms) // 1000 + 120  # two clocks
    if last - first > past_s * _BLOCKS_A_SECOND:
        raise ServiceError(
            f"{node.name} tells of blocks {first} to {last} in {past_s} s: it contradicts itself, or lacks that past",
            do="search with another node",
        )
    for number, block in _blocks(node, first, last, context):
        for tx_hash in _carriers(block, encoded):
            try:
                return settle_by_transaction(record, tx_hash, confirmed, context)
            except ServiceError as error:
                context.on_notice(error.what)
        if record.deadline_ms is not None and block is not None and block.time_ms > record.deadline_ms:
            last = number
            break
    return f"blocks {first} to {last} hold no transaction that carries it openly; that proves nothing"


def _blocks(
    node: RpcClient, first: int, last: int, context: DeliveryContext
) -> Iterator[tuple[int, ChainBlock | None]]:
    for number in range(first, last + 1):
        if (number - first) % _TOLD_EVERY == 0:
            context.on_notice(f"searching block {number}, of {first} to at most {last}")
        try:
            yield number, node.block(number, whole=True)
        except ServiceError as error:
            if error.unanswered:  # nor will it answer for the next one
                raise
            context.on_notice(f"block {number} cannot be read: {error.what}")


# ---- a market order's end ---------------------------------------------------------------------------------------------


def _settle_order(
    record: Record, receipt: ChainReceipt, confirmed: ChainBlock, found: str, context: DeliveryContext
) -> str:
    """Find how an order ended that a transaction registered, by the contracts' own events."""
    ours = context.contracts_of(record)
    order_ids = {_topics(log)[1] for log in receipt.logs if _registers(log, record.trader, ours)}
    if len(order_ids) != 1 or context.node is None:
        return f"{found}, which registered it; how it ended is not found: give the venue's `--tracking-id`"
    (order_id,) = order_ids
    number = int(order_id, 16)
    first = receipt.block_number
    last = min(confirmed.number, first + _ENDS_WITHIN)
    try:
        ended = _end_of(order_id, first, last, ours, context.node)
    except RpcError as error:
        return f"{found}, which registered order {number}; its end cannot be read: {error.what}"
    if ended is None:
        return f"{found}, which registered order {number}; it has not ended by block {last}"
    state, tx_hash = ended
    told = f"{found}, as order {number}, which ended in transaction {tx_hash}: {state.value}"
    context.journal.move(record.digest, state, note=told, code="", proved=True)
    return told


def _end_of(
    order_id: str, first: int, last: int, ours: frozenset[str], node: RpcClient
) -> tuple[OrderState, object] | None:
    """Return the first end of an order in these blocks, and its transaction. Raises ``ServiceError``."""
    ends = {_topic(name): state for name, state in ORDER_ENDS.items()}
    for at in range(first, last + 1, _LOGS_OF):
        for log in node.logs(at, min(at + _LOGS_OF - 1, last), [*ends], order_id):
            topics = _topics(log)
            if len(topics) > 1 and topics[0] in ends and topics[1] == order_id and _is_of(log, ours):
                return ends[topics[0]], log.get("transactionHash")
    return None


def _is_of(log: JsonObject, contracts: frozenset[str]) -> bool:
    return str(log.get("address")).lower() in contracts


def _topics(log: JsonObject) -> list[str]:
    topics = log.get("topics")
    return [topic.lower() for topic in topics] if type(topics) is list and all(map(is_hash, topics)) else []


def _topic(signature: str) -> str:
    return "0x" + keccak256(signature.encode()).hex()


def _registers(log: JsonObject, trader: str, ours: frozenset[str]) -> bool:
    """Tell whether a log is one of ours that registers an order of this trader: somebody else's may stand beside it."""
    topics = _topics(log)
    known = len(topics) > 1 and topics[0] in map(_topic, REGISTERED) and _is_of(log, ours)
    words = "".join(word[2:] for word in (*topics[2:], str(log.get("data")).lower()))
    return known and words[24:64] == trader[2:].lower()
