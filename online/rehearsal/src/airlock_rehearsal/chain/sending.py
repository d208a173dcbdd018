"""Sending transactions with keys of one's own: the rehearsal's operator signs here, with eth-account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from airlock_rehearsal.chain.evm import PRIORITY_FEE, EvmCall, EvmReceipt, NotTaken
from airlock_rehearsal.chain.interface import reverted

if TYPE_CHECKING:
    from airlock_rehearsal.chain.backends import Evm


class Sender(NamedTuple):
    """An account whose key is known to everyone, so it never holds value on a real chain."""

    address: str
    key: bytes


def derived(name: str) -> Sender:
    """Return the rehearsal's account of a name: its key is keccak-256 of ``airlock rehearsal <name>``."""
    from eth_account import Account
    from eth_utils.crypto import keccak

    key = bytes(keccak(f"airlock rehearsal {name}".encode()))
    return Sender(str(Account.from_key(key).address), key)


def transact(evm: Evm, sender: Sender, to: str, data: bytes) -> EvmReceipt:
    """Send a transaction, once a simulation has gone through; return its receipt. Raises ``Reverted`` and ``NotTaken``."""
    call = EvmCall(to, data, evm.estimate_gas(sender.address, to, data))
    return _receipts(evm, [evm.send_raw_transaction(signed(evm, sender, call))])[0]


def transact_together(evm: Evm, sender: Sender, calls: Sequence[EvmCall]) -> list[EvmReceipt]:
    """Send transactions in one block, so that the chain's clock moves once; return their receipts. Raises ``NotTaken``."""
    first = evm.transaction_count(sender.address)
    raws = [signed(evm, sender, call, first + place) for place, call in enumerate(calls)]
    return _receipts(evm, evm.send_together(raws))


def required(receipts: Sequence[EvmReceipt]) -> None:
    """Raise ``Reverted`` for the first transaction that reverted."""
    for receipt in receipts:
        if not receipt.ok:
            raise reverted(receipt.revert)


def signed(evm: Evm, sender: Sender, call: EvmCall, nonce: int | None = None) -> bytes:
    """Return a signed EIP-1559 transaction; its nonce is the account's next one unless it is given."""
    from eth_account import Account

    unsigned = {
        "type": 2,
        "chainId": evm.chain_id(),
        "nonce": evm.transaction_count(sender.address) if nonce is None else nonce,
        "gas": call.gas,
        "maxFeePerGas": 2 * evm.base_fee() + PRIORITY_FEE,
        "maxPriorityFeePerGas": PRIORITY_FEE,
        "value": 0,
        "data": call.data,
    }
    if call.to:
        unsigned["to"] = call.to
    return bytes(Account.sign_transaction(unsigned, sender.key).raw_transaction)


def _receipts(evm: Evm, hashes: Sequence[str]) -> list[EvmReceipt]:
    receipts = []
    for transaction_hash in hashes:
        receipt = evm.receipt(transaction_hash)
        if receipt is None:
            raise NotTaken(f"{transaction_hash} was not mined: the block may be full")
        receipts.append(receipt)
    return receipts
