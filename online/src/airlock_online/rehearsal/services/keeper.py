"""The operator's keeper: puts what was sent into a block after a while, and executes stored orders a while later."""

from __future__ import annotations

from airlock_online.rehearsal.services.faults import Faults
from airlock_online.rehearsal.services.runtime import Runtime
from airlock_online.rehearsal.services.settlement import filled


async def settle(runtime: Runtime, transaction_hash: str, service: str, faults: Faults) -> None:
    """Mine a transaction that ``service`` took under these faults, then execute the orders that it stored."""
    await runtime.pace()
    if faults.has("tx-stuck", service):
        return
    world = runtime.world
    receipt = runtime.chain.mine(transaction_hash, failing=faults.has("fail-terminal", service))
    if receipt is None or not receipt.ok:
        return
    while world.pending_orders:
        await runtime.pace()
        if not world.pending_orders:  # another transaction's keeper was here
            return
        order = world.pending_orders.pop(0)
        declined = faults.has("cancel-fill", service)
        filled(world, order.trader, order.order_type, order.terms, world.next_order_id(), declined=declined)
