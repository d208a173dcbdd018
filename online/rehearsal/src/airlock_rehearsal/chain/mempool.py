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
        self._seen: set[bytes] = set()

    def welcome(self, account: bytes) -> None:
        """Give an account money for gas when it is seen for the first time."""
        if account not in self._seen:
            self._seen.add(account)
            self._evm.fund(account, GAS_MONEY)

    def transaction_count(self, account: bytes, *, pending: bool = True) -> int:
        """Return the account's next nonce, with what waits or without it."""
        waiting = [transaction.sender for transaction in self._waiting.values()].count(account)
        return self._evm.transaction_count(account) + waiting * pending

    def waiting(self, transaction_hash: str) -> EvmTransaction | None:
        """Return a transaction that waits."""
        return self._waiting.get(transaction_hash)

    def send_raw(self, raw: bytes) -> str:
        """Take a signed transaction; return its hash. Raises ``NotTaken``."""
        sent, transaction_hash = self._evm.read(raw), hash_of(raw)
        sender, nonce, gas, fee = sent.sender, sent.nonce, sent.gas, sent.max_fee_per_gas
        self.welcome(sender)
        known = transaction_hash in self._waiting or self._evm.receipt(transaction_hash) is not None
        expected, base = self.transaction_count(sender), self._evm.base_fee()
        low = "low" if nonce < expected else "high"
        for refused, why in (
            (known, "already known"),
            (sent.chain_id != CHAIN_ID, f"invalid chain id for signer: have {sent.chain_id} want {CHAIN_ID}"),
            (nonce != expected, f"nonce too {low}: next nonce {expected}, tx nonce {nonce}"),
            (sent.max_priority_fee_per_gas > fee, "max priority fee per gas higher than max fee per gas"),
            (fee < base, f"max fee per gas less than block base fee: baseFee: {base}"),
            (gas > BLOCK_GAS, "exceeds block gas limit"),
            (gas < intrinsic_gas(sent.data), "intrinsic gas too low"),
            (gas * fee + sent.value > self._evm.balance(sender), "insufficient funds for gas * price + value"),
        ):
            if refused:
                raise NotTaken(why)
        self._waiting[transaction_hash] = sent
        return transaction_hash

    def mine(self, transaction_hash: str, *, failing: bool) -> EvmReceipt:
        """Put a waiting transaction into a block; ``failing`` makes it revert whatever it does."""
        transaction = self._waiting[transaction_hash]
        with reverting(self._evm, transaction.to, failing):
            (receipt,) = self._evm.send_together([transaction.encode()])
        del self._waiting[transaction_hash]
        return receipt
