"""What a signed intent does on the chain, and how that is told: events follow receipts.

Registration and fill are transactions of the operator's. The contract decides; a fill that it declines is
``MarketOrderCanceled``, and a call that it reverts raises ``Reverted`` (``code_of`` names it as the specification does).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airlock_rehearsal.chain.evm import STORAGE, Reverted
from airlock_rehearsal.chain.interface import EmittedEvent, decode_logs
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.venue.positions import PAIRS, in_texts

if TYPE_CHECKING:
    from airlock_rehearsal.chain.venue import CallOutcome
    from airlock_rehearsal.services.venue.venue_state import VenueState

_NUMBERS = frozenset({"orderId", "pairIndex", "index", "timestamp"})  # told as numbers, all others as decimal strings


def fulfilled(state: VenueState, order: dict[str, Any], *, declined: bool) -> CallOutcome:
    """Execute a stored order at the market price, or decline it whatever the price. Raises ``Reverted``."""
    if declined:
        return state.act(STORAGE, "decline", order["orderId"])
    return state.act(STORAGE, "fulfil", order["orderId"], PAIRS[order["pairIndex"]].price)


def order_in(outcome: CallOutcome) -> EmittedEvent:
    """Return the event of an outcome that tells of an order."""
    return next(event for event in outcome.events if "orderId" in event.arguments)


def told(outcome: CallOutcome) -> tuple[str, dict[str, object]]:
    """Return type and payload of the event that tells of an order, as the event stream carries it."""
    event = order_in(outcome)
    return event.name, in_texts(event.arguments, _NUMBERS) | {"transactionHash": outcome.receipt.hash}


def code_of(error: Reverted) -> str:
    """Return the specification's code for a revert: the bare name of a custom error, else that of a failed submission."""
    return error.name if error.name.isidentifier() else "SUBMISSION_FAILED"


# ---- keeper ---------------------------------------------------------------------------------------------------------
# The operator's keeper: puts what was sent into a block after a while, and executes stored orders a while later.


async def settle(runtime: Runtime, transaction_hash: str, service: str, faults: Faults) -> None:
    """Mine a transaction that ``service`` took under these faults, then execute the orders that it stored."""
    await runtime.pace()
    receipt = runtime.mempool.mine(transaction_hash, failing=faults.has("fail-terminal", service))
    for event in decode_logs(receipt.logs):
        if "orderId" in event.arguments:
            await runtime.pace()
            fulfilled(runtime.state, event.arguments, declined=faults.has("cancel-fill", service))
