"""What the two routes of a signed transaction share: its hash computed here, and the events of its life.

A confirmed transaction that stored an order is not called filled: it says so in the note (the specification, "The
transaction stores a pending order").
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from airlock_online.delivery.routes.context import Delivery
from airlock_online.delivery.routes.tracker import PostTaken, Tracker
from airlock_online.journal.order_states import Anomaly, OrderEvent, OrderState
from airlock_shared.catalogue.calls import CALLS
from airlock_shared.catalogue.eip1559 import transaction_hash
from airlock_shared.text.safe import safe

SENT, CONFIRMED, REVERTED = "TransactionSent", "TransactionConfirmed", "TransactionReverted"
_NO_WORD: Mapping[str, str] = MappingProxyType({})
_REVERTED = "REVERTED"
STORES_AN_ORDER = "the transaction is confirmed; it stores an order that is filled later: this is not a fill"


def hash_of(delivery: Delivery) -> str:
    """Return the hash by which the chain knows the transaction, computed here, as lower-case 0x-hex; else empty."""
    if not delivery.raw_transaction:
        return ""
    return "0x" + transaction_hash(bytes.fromhex(delivery.raw_transaction[2:])).hex()


def sent(tx_hash: str, named: str) -> PostTaken:
    """Return that a service has taken it. ``named`` is the hash that the service gave: another one is an anomaly."""
    taken = PostTaken(OrderEvent(0, SENT, {"transactionHash": tx_hash}), tx_hash)
    if named.lower() != tx_hash:
        told = OrderEvent(None, SENT, {"transactionHash": safe(named, limit=80)})
        return taken._replace(odd=Anomaly("other-transaction-hash", told))
    return taken


def confirmed(
    tx_hash: str,
    block: int,
    confirmed_block: int | None,
    call: str,
    tracker: Tracker,
    said: Mapping[str, str] = _NO_WORD,
) -> None:
    """Write down that the chain has it; ``confirmed_block`` is None where a service says so, and no node of ours.

    ``said`` is the service's own word, where the services file explained it.
    """
    payload: dict[str, object] = {"transactionHash": tx_hash, "blockNumber": block, **said}
    payload |= {} if confirmed_block is None else {"confirmedBlock": confirmed_block}
    pending = call in CALLS and CALLS[call].pending
    note = STORES_AN_ORDER if pending else ""
    tracker.write(OrderEvent(1, CONFIRMED, payload), tracking_id=tx_hash, path=_to(OrderState.CONFIRMED), note=note)


def reverted(tx_hash: str, told: str, tracker: Tracker) -> None:
    """Write down that the chain has it and that it changed nothing; ``told`` is the contract's reason, if any."""
    payload = {"transactionHash": tx_hash, "code": _REVERTED} | ({"reason": told} if told else {})
    note = f"transaction {tx_hash} was reverted" + (f": {told}" if told else "")
    event = OrderEvent(1, REVERTED, payload)
    tracker.write(event, tracking_id=tx_hash, path=_to(OrderState.FAILED), code=_REVERTED, note=note)


def _to(state: OrderState) -> tuple[OrderState, OrderState]:
    return OrderState.ACCEPTED, state
