"""Putting the rehearsal's contracts on a new chain: four creations in one block, at addresses that never change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eth_account import Account
from eth_utils.crypto import keccak

from airlock_rehearsal.chain.embedded import EmbeddedEvm
from airlock_rehearsal.chain.evm import (
    CHAIN_ID,
    CONTRACTS,
    PRIORITY_FEE,
    REFERRAL,
    ROUTER,
    STORAGE,
    USDC,
    EvmCall,
    EvmReceipt,
)
from airlock_rehearsal.chain.interface import creation_code, reverted

# ---- sending --------------------------------------------------------------------------------------------------------
# Sending transactions with keys of one's own: the rehearsal's operator signs here, with eth-account.


class Sender(NamedTuple):
    """An account whose key is known to everyone, so it never holds value on a real chain."""

    address: str
    key: bytes


_KEY = bytes(keccak(b"airlock rehearsal operator"))
OPERATOR = Sender(str(Account.from_key(_KEY).address), _KEY)
"""Who runs the venue of a rehearsal."""


def transact(evm: EmbeddedEvm, sender: Sender, call: EvmCall) -> EvmReceipt:
    """Send a transaction, once a simulation has gone through; return its receipt. Raises ``Reverted`` and ``NotTaken``."""
    gas = evm.estimate_gas(sender.address, call.to, call.data)
    return transact_together(evm, sender, [call._replace(gas=gas)])[0]


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


def deploy(evm: EmbeddedEvm, *, trading_name: str, referral_name: str) -> None:
    """Deploy the contracts on a new chain, with the names of their two signing domains; the operator gets funds for gas.

    Raises ``Reverted`` when a constructor does.
    """
    operator, router = OPERATOR.address, CONTRACTS[ROUTER]
    evm.fund(operator, OPERATOR_WEI)
    codes = (
        creation_code(USDC, operator),
        creation_code(STORAGE, operator, router, CONTRACTS[USDC]),
        creation_code(REFERRAL, referral_name, operator, router),
        creation_code(ROUTER, trading_name, operator, CONTRACTS[STORAGE], CONTRACTS[REFERRAL]),
    )
    required(transact_together(evm, OPERATOR, [EvmCall("", code, _CREATION_GAS) for code in codes]))
