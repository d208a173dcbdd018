"""Sending transactions with keys of one's own: the rehearsal's operator signs here, with eth-account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eth_account import Account
from eth_account.signers.local import LocalAccount
from eth_utils.crypto import keccak

from airlock_rehearsal.chain.embedded import EmbeddedEvm
from airlock_rehearsal.chain.evm import CHAIN_ID, PRIORITY_FEE, EvmCall, EvmReceipt
from airlock_rehearsal.chain.interface import reverted

OPERATOR: LocalAccount = Account.from_key(keccak(b"airlock rehearsal operator"))
"""Who runs the venue of a rehearsal; the key is known to everyone, so it never holds value on a real chain."""


def transact(evm: EmbeddedEvm, sender: LocalAccount, call: EvmCall) -> EvmReceipt:
    """Send a transaction, once a simulation has gone through; return its receipt. Raises ``Reverted`` and ``NotTaken``."""
    gas = evm.estimate_gas(sender.address, call.to, call.data)
    return transact_together(evm, sender, [call._replace(gas=gas)])[0]


def transact_together(evm: EmbeddedEvm, sender: LocalAccount, calls: Sequence[EvmCall]) -> list[EvmReceipt]:
    """Send transactions in one block, so that the chain's clock moves once; return their receipts. Raises ``NotTaken``."""
    first = evm.transaction_count(sender.address)
    return evm.send_together([signed(evm, sender, call, first + place) for place, call in enumerate(calls)])


def required(receipts: Sequence[EvmReceipt]) -> None:
    """Raise ``Reverted`` for the first transaction that reverted."""
    for receipt in receipts:
        if not receipt.ok:
            raise reverted(receipt.revert)


def signed(evm: EmbeddedEvm, sender: LocalAccount, call: EvmCall, nonce: int | None = None) -> bytes:
    """Return a signed EIP-1559 transaction; its nonce is the account's next one unless it is given."""
    unsigned: dict[str, Any] = {
        "type": 2,
        "chainId": CHAIN_ID,
        "nonce": evm.transaction_count(sender.address) if nonce is None else nonce,
        "gas": call.gas,
        "maxFeePerGas": 2 * evm.base_fee() + PRIORITY_FEE,
        "maxPriorityFeePerGas": PRIORITY_FEE,
        "to": call.to,
        "value": 0,
        "data": call.data,
    }
    return bytes(sender.sign_transaction(unsigned).raw_transaction)
