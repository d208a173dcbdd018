"""What was sent to the chain and is not mined yet: a transaction waits here until ``mine`` gives it a block of its own.

The chain itself mines at once; a node does not. The words of a refusal are those of nodes.
"""

from __future__ import annotations

from eth_utils.crypto import keccak

from airlock_rehearsal.chain.embedded import EmbeddedEvm
from airlock_rehearsal.chain.evm import (
    BLOCK_GAS,
    CHAIN_ID,
    EvmReceipt,
    EvmTransaction,
    NotTaken,
    intrinsic_gas,
    reverting,
)

GAS_MONEY = 100 * 10**18
"""Wei that every account is given when it is first seen: a rehearsal is not about paying for gas."""


def hash_of(raw: bytes) -> str:
    """Return the hash by which raw bytes are known as a transaction."""
    return "0x" + bytes(keccak(raw)).hex()


class Mempool:
    """The transactions on their way, before one chain."""

    def __init__(self, evm: EmbeddedEvm) -> None:
        self._evm = evm
        self._waiting: dict[str, EvmTransaction] = {}
        self._seen: set[str] = set()

    def welcome(self, account: str) -> None:
        """Give an account money for gas when it is seen for the first time."""
        if account not in self._seen:
            self._seen.add(account)
            self._evm.fund(account, GAS_MONEY)

    def transaction_count(self, account: str, *, pending: bool = True) -> int:
        """Return the account's next nonce, with what waits or without it."""
        waiting = sum(transaction.sender == account for transaction in self._waiting.values())
        return self._evm.transaction_count(account) + waiting * pending

    def waiting(self, transaction_hash: str) -> EvmTransaction | None:
        """Return a transaction that waits."""
        return self._waiting.get(transaction_hash)

    def send_raw(self, raw: bytes) -> str:
        """Take a signed transaction; return its hash. Raises ``NotTaken``."""
        transaction = self._evm.read(raw)
        self.welcome(transaction.sender)
        self._check(transaction)
        self._waiting[transaction.hash] = transaction
        return transaction.hash

    def _check(self, transaction: EvmTransaction) -> None:
        _, sender, _, nonce, gas, fee, priority_fee, value, data, chain_id, _ = transaction
        expected, base = self.transaction_count(sender), self._evm.base_fee()
        known = transaction.hash in self._waiting or self._evm.receipt(transaction.hash) is not None
        low = "low" if nonce < expected else "high"
        for refused, why in (
            (known, "already known"),
            (chain_id != CHAIN_ID, f"invalid chain id for signer: have {chain_id} want {CHAIN_ID}"),
            (nonce != expected, f"nonce too {low}: next nonce {expected}, tx nonce {nonce}"),
            (priority_fee > fee, "max priority fee per gas higher than max fee per gas"),
            (fee < base, f"max fee per gas less than block base fee: baseFee: {base}"),
            (gas > BLOCK_GAS, "exceeds block gas limit"),
            (gas < intrinsic_gas(data), "intrinsic gas too low"),
            (gas * fee + value > self._evm.balance(sender), "insufficient funds for gas * price + value"),
        ):
            if refused:
                raise NotTaken(why)

    def mine(self, transaction_hash: str, *, failing: bool) -> EvmReceipt:
        """Put a waiting transaction into a block; ``failing`` makes it revert whatever it does."""
        transaction = self._waiting[transaction_hash]
        with reverting(self._evm, transaction.to, failing):
            (receipt,) = self._evm.send_together([transaction.raw])
        del self._waiting[transaction_hash]
        return receipt
