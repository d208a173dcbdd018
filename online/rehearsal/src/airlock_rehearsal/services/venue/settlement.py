"""What a signed intent does on the chain, and how that is told: events follow receipts.

Registration and fill are transactions of the operator's. The contract decides; a fill that it declines is
``MarketOrderCanceled``, and a call that it reverts raises ``Reverted`` (``code_of`` names it as the specification does).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airlock_rehearsal.chain.evm import CONTRACTS, STORAGE, EvmReceipt, Reverted, reverting
from airlock_rehearsal.chain.interface import EmittedEvent, decode_logs
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import SPACES, Runtime
from airlock_rehearsal.services.venue.positions import in_texts
from airlock_rehearsal.services.venue.submission import SignedIntent

if TYPE_CHECKING:
    from airlock_rehearsal.chain.venue import CallOutcome
    from airlock_rehearsal.services.venue.venue_state import VenueState

ToldEvent = tuple[str, dict[str, object]]
"""An event's type and payload."""

_NUMBERS = frozenset({"orderId", "pairIndex", "index", "timestamp"})  # told as numbers, all others as decimal strings


def submitted(state: VenueState, signed: SignedIntent) -> CallOutcome:
    """Submit a signed intent, once a simulation has gone through. Raises ``Reverted``."""
    return _noted(state, state.venue.submit(*signed.entry))


def sent(state: VenueState, signed: SignedIntent, *, failing: bool = False) -> EvmReceipt:
    """Send a signed intent without a simulation; ``failing`` makes it revert whatever it says."""
    with reverting(state.venue.evm, CONTRACTS[SPACES[signed.spends[0]]], failing):
        receipt = state.venue.send(*signed.entry)
    state.receipts.append(receipt)
    return receipt


def fulfilled(state: VenueState, order_id: int, pair_index: int, *, declined: bool) -> CallOutcome:
    """Execute a stored order at the market price, or decline it whatever the price. Raises ``Reverted``."""
    if declined:
        return _noted(state, state.venue.act(STORAGE, "decline", order_id))
    return _noted(state, state.venue.act(STORAGE, "fulfil", order_id, state.prices[pair_index]))


def _noted(state: VenueState, outcome: CallOutcome) -> CallOutcome:
    state.receipts.append(outcome.receipt)
    return outcome


def order_in(outcome: CallOutcome) -> EmittedEvent:
    """Return the event of an outcome that tells of an order."""
    return next(event for event in outcome.events if "orderId" in event.arguments)


def told(outcome: CallOutcome) -> ToldEvent:
    """Return the event that tells of an order, as the event stream carries it."""
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
