"""Putting the rehearsal's contracts on a new chain: four creations in one block, at addresses that never change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eth_account import Account
from eth_utils.crypto import keccak

from airlock_rehearsal.chain.embedded import EmbeddedEvm
from airlock_rehearsal.chain.evm import CHAIN_ID, CONTRACTS, PRIORITY_FEE, EvmCall, EvmReceipt
from airlock_rehearsal.chain.interface import creation_code, reverted

# ---- sending --------------------------------------------------------------------------------------------------------
# Sending transactions with keys of one's own: the rehearsal's operator signs here, with eth-account.


class Sender(NamedTuple):
    """An account whose key is known to everyone, so it never holds value on a real chain."""

    address: str
    key: bytes


def derived(name: str) -> Sender:
    """Return the rehearsal's account of a name: its key is keccak-256 of ``airlock rehearsal <name>``."""
    key = bytes(keccak(f"airlock rehearsal {name}".encode()))
    return Sender(str(Account.from_key(key).address), key)


def transact(evm: EmbeddedEvm, sender: Sender, to: str, data: bytes) -> EvmReceipt:
    """Send a transaction, once a simulation has gone through; return its receipt. Raises ``Reverted`` and ``NotTaken``."""
    call = EvmCall(to, data, evm.estimate_gas(sender.address, to, data))
    return transact_together(evm, sender, [call])[0]


def transact_together(evm: EmbeddedEvm, sender: Sender, calls: Sequence[EvmCall]) -> list[EvmReceipt]:
    """Send transactions in one block, so that the chain's clock moves once; return their receipts. Raises ``NotTaken``."""
    first = evm.transaction_count(sender.address)
    raws = [signed(evm, sender, call, first + place) for place, call in enumerate(calls)]
    return [receipt for sent in evm.send_together(raws) if (receipt := evm.receipt(sent))]


def required(receipts: Sequence[EvmReceipt]) -> None:
    """Raise ``Reverted`` for the first transaction that reverted."""
    for receipt in receipts:
        if not receipt.ok:
            raise reverted(receipt.revert)


def signed(evm: EmbeddedEvm, sender: Sender, call: EvmCall, nonce: int | None = None) -> bytes:
    """Return a signed EIP-1559 transaction; its nonce is the account's next one unless it is given."""
    unsigned = {
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
    return bytes(Account.sign_transaction(unsigned, sender.key).raw_transaction)


# ---- deploy ---------------------------------------------------------------------------------------------------------


OPERATOR_WEI = 100 * 10**18
_CREATION_GAS = 5_000_000


def deploy(evm: EmbeddedEvm, operator: Sender, *, trading_name: str, referral_name: str) -> None:
    """Deploy the contracts on a new chain, with the names of their two signing domains; the operator gets funds for gas.

    Raises ``Reverted`` when a constructor does.
    """
    evm.fund(operator.address, OPERATOR_WEI)
    usdc, storage, referral, router = CONTRACTS
    codes = (
        creation_code("Usdc", operator.address),
        creation_code("TradingStorage", operator.address, router, usdc),
        creation_code("Referral", referral_name, operator.address, router),
        creation_code("TradingRouter", trading_name, operator.address, storage, referral),
    )
    required(transact_together(evm, operator, [EvmCall("", code, _CREATION_GAS) for code in codes]))
