"""What a signed intent does on the chain, and how that is told: events follow receipts.

Registration and fill are transactions of the operator's. The contract decides; a fill that it declines is
``MarketOrderCanceled``, and a call that it reverts raises ``Reverted`` (``code_of`` names it as the specification does).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airlock_rehearsal.chain.evm import EvmReceipt, Reverted, reverting
from airlock_rehearsal.chain.interface import EmittedEvent
from airlock_rehearsal.services.venue.eip712_peer import encode
from airlock_rehearsal.services.venue.positions import in_texts
from airlock_rehearsal.services.venue.submission import SignedIntent

if TYPE_CHECKING:
    from airlock_rehearsal.chain.venue import CallOutcome
    from airlock_rehearsal.services.venue.venue_state import VenueState

ToldEvent = tuple[str, dict[str, object]]
"""An event's type and payload."""

_NUMBERS = frozenset({"orderId", "pairIndex", "index", "timestamp"})  # told as numbers, all others as decimal strings


def _entry(signed: SignedIntent) -> tuple[str, bytes, bytes]:
    return signed.primary, encode(signed.primary, signed.message), signed.signature


def submitted(state: VenueState, signed: SignedIntent) -> CallOutcome:
    """Submit a signed intent, once a simulation has gone through. Raises ``Reverted``."""
    return _noted(state, state.venue.submit(*_entry(signed)))


def check(state: VenueState, signed: SignedIntent) -> None:
    """Ask the contract whether it would take a signed intent now. Raises ``Reverted``."""
    state.venue.check(*_entry(signed))


def sent(state: VenueState, signed: SignedIntent, *, failing: bool = False) -> EvmReceipt:
    """Send a signed intent without a simulation; ``failing`` makes it revert whatever it says."""
    with reverting(state.venue.evm, state.venue.contract_of(signed.primary), failing):
        receipt = state.venue.send(*_entry(signed))
    state.receipts.append(receipt)
    return receipt


def fulfilled(state: VenueState, order_id: int, pair_index: int, *, declined: bool = False) -> CallOutcome:
    """Execute a stored order at the market price, or decline it whatever the price. Raises ``Reverted``."""
    venue, price = state.venue, state.prices[pair_index]
    return _noted(state, venue.decline(order_id) if declined else venue.fulfil(order_id, price))


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
