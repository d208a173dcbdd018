"""Putting the rehearsal's contracts on a chain: four creations in one block, at addresses that are known beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from airlock_rehearsal.chain.evm import EvmCall
from airlock_rehearsal.chain.interface import creation_code
from airlock_rehearsal.chain.sending import Sender, required, transact_together

if TYPE_CHECKING:
    from airlock_rehearsal.chain.backends import Evm

OPERATOR_WEI = 100 * 10**18
_CREATION_GAS = 5_000_000


class Contracts(NamedTuple):
    """Where each contract is."""

    usdc: str
    trading_storage: str
    referral: str
    trading_router: str


def created_at(sender: str, nonce: int) -> str:
    """Return the address of the contract that a sender's transaction of this nonce makes (Yellow Paper, section 7)."""
    from eth_utils.address import to_canonical_address, to_checksum_address
    from eth_utils.crypto import keccak
    from rlp import encode

    return str(to_checksum_address(keccak(encode([to_canonical_address(sender), nonce]))[12:]))


def deploy(evm: Evm, operator: Sender, *, trading_name: str, referral_name: str) -> Contracts:
    """Deploy the contracts, with the names of their two signing domains; the operator gets funds for gas.

    On a new chain the addresses are always the same ones. Raises ``Reverted`` when a constructor does.
    """
    evm.fund(operator.address, OPERATOR_WEI)
    first = evm.transaction_count(operator.address)
    contracts = Contracts(*(created_at(operator.address, first + place) for place in range(4)))
    codes = (
        creation_code("Usdc", operator.address),
        creation_code("TradingStorage", operator.address, contracts.trading_router, contracts.usdc),
        creation_code("Referral", referral_name, operator.address, contracts.trading_router),
        creation_code("TradingRouter", trading_name, operator.address, contracts.trading_storage, contracts.referral),
    )
    required(transact_together(evm, operator, [EvmCall("", code, _CREATION_GAS) for code in codes]))
    return contracts
