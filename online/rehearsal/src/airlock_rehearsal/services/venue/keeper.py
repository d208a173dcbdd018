"""The operator's keeper: puts what was sent into a block after a while, and executes stored orders a while later."""

from __future__ import annotations

from airlock_rehearsal.chain.interface import decode_logs
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.venue.settlement import fulfilled


async def settle(runtime: Runtime, transaction_hash: str, service: str, faults: Faults) -> None:
    """Mine a transaction that ``service`` took under these faults, then execute the orders that it stored."""
    await runtime.pace()
    if faults.has("tx-stuck", service):
        return
    state = runtime.state
    receipt = runtime.mempool.mine(transaction_hash, failing=faults.has("fail-terminal", service))
    if receipt is None:
        return
    state.receipts.append(receipt)
    stored = [event.arguments for event in decode_logs(receipt.logs) if "orderId" in event.arguments]
    state.pending_orders += [(order["orderId"], order["pairIndex"]) for order in stored]
    while state.pending_orders:
        await runtime.pace()
        if not state.pending_orders:  # another transaction's keeper was here
            return
        order_id, pair_index = state.pending_orders[0]
        fulfilled(state, order_id, pair_index, declined=faults.has("cancel-fill", service))
        state.pending_orders.remove((order_id, pair_index))
