"""What was sent to the chain and is not mined yet: a transaction waits here until ``mine`` gives it a block of its own.

The chain itself mines at once; a node does not. The words of a refusal are those of nodes.
"""

from __future__ import annotations

from airlock_rehearsal.chain.backends import Evm
from airlock_rehearsal.chain.evm import BLOCK_GAS, EvmReceipt, EvmTransaction, NotTaken, intrinsic_gas, reverting
from airlock_rehearsal.services.envelope import Refused
from airlock_rehearsal.services.venue.raw_transaction import read_transaction

GAS_MONEY = 100 * 10**18
"""Wei that every account has when it is first seen: a rehearsal is not about paying for gas."""


class Mempool:
    """The transactions on their way, before one chain."""

    def __init__(self, evm: Evm) -> None:
        self._evm = evm
        self._waiting: dict[str, tuple[EvmTransaction, bytes]] = {}
        self._seen: set[str] = set()

    def welcome(self, account: str) -> None:
        """Give an account money for gas when it is seen for the first time."""
        if account not in self._seen:
            self._seen.add(account)
            if (held := self._evm.balance(account)) < GAS_MONEY:
                self._evm.fund(account, GAS_MONEY - held)

    def transaction_count(self, account: str, *, pending: bool = True) -> int:
        """Return the account's next nonce, with what waits or without it."""
        waiting = sum(transaction.sender == account for transaction, _ in self._waiting.values())
        return self._evm.transaction_count(account) + waiting * pending

    def waiting(self, transaction_hash: str) -> EvmTransaction | None:
        """Return a transaction that waits."""
        found = self._waiting.get(transaction_hash)
        return found[0] if found else None

    def send_raw(self, raw: bytes) -> str:
        """Take a signed transaction; return its hash. Raises ``NotTaken``."""
        try:
            transaction = read_transaction(raw)
        except Refused as error:
            raise NotTaken(str(error)) from error
        self.welcome(transaction.sender)
        self._check(transaction)
        self._waiting[transaction.hash] = transaction, raw
        return transaction.hash

    def _check(self, transaction: EvmTransaction) -> None:
        if transaction.hash in self._waiting or self._evm.receipt(transaction.hash) is not None:
            raise NotTaken("already known")
        if transaction.chain_id != (chain_id := self._evm.chain_id()):
            raise NotTaken(f"invalid chain id for signer: have {transaction.chain_id} want {chain_id}")
        expected = self.transaction_count(transaction.sender)
        if transaction.nonce != expected:
            low = "low" if transaction.nonce < expected else "high"
            raise NotTaken(f"nonce too {low}: next nonce {expected}, tx nonce {transaction.nonce}")
        if transaction.max_priority_fee_per_gas > transaction.max_fee_per_gas:
            raise NotTaken("max priority fee per gas higher than max fee per gas")
        if transaction.max_fee_per_gas < (base := self._evm.base_fee()):
            raise NotTaken(f"max fee per gas less than block base fee: baseFee: {base}")
        if transaction.gas > BLOCK_GAS:
            raise NotTaken("exceeds block gas limit")
        if transaction.gas < intrinsic_gas(transaction.data):
            raise NotTaken("intrinsic gas too low")
        cost = transaction.gas * transaction.max_fee_per_gas + transaction.value
        if cost > self._evm.balance(transaction.sender):
            raise NotTaken("insufficient funds for gas * price + value")

    def mine(self, transaction_hash: str, *, failing: bool = False) -> EvmReceipt | None:
        """Put a waiting transaction into a block; ``failing`` makes it revert whatever it does.

        ``None``: an earlier one of the same account still waits, and this one stays behind it.
        """
        transaction, raw = self._waiting[transaction_hash]
        if transaction.nonce != self._evm.transaction_count(transaction.sender):
            return None
        with reverting(self._evm, transaction.to, failing):
            self._evm.send_raw_transaction(raw)
        del self._waiting[transaction_hash]
        return self._evm.receipt(transaction_hash)
