"""The rehearsal's chain behind one small interface: whatever holds the state, the endpoints ask this object alone.

Accounts, nonces, fees, transactions and receipts are here; what the contracts do is in ``contracts``. A transaction that
was taken waits until ``mine`` puts it into a block of its own.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from airlock_online.rehearsal.services.contracts import CONTRACTS, prepare
from airlock_online.rehearsal.services.raw_transaction import SignedTransaction, read_transaction
from airlock_online.rehearsal.services.reverts import Reverted
from airlock_online.rehearsal.services.settings import TRADING_ROUTER
from airlock_online.rehearsal.services.typed import Malformed
from airlock_online.rehearsal.services.world import SOMEBODY_ELSE, World

GWEI = 10**9
BASE_FEE, PRIORITY_FEE = GWEI, GWEI // 10  # wei a gas; both stand still
BALANCE = 10_000 * 10**18  # wei, of every account before it pays for gas
BLOCK_GAS = 30_000_000
_PLAIN, _ZERO_BYTE, _BYTE, _CONTRACT = 21_000, 4, 16, 60_000  # gas: the Yellow Paper's, and a flat price for a contract


class NotTaken(Exception):
    """A transaction that the node does not take; the text is what nodes say."""


class Receipt(NamedTuple):
    """What became of a transaction. ``reason`` is what it reverted with, empty when it did not."""

    hash: str
    sender: str
    to: str
    block_number: int
    ok: bool
    gas_used: int
    reason: str = ""


class RehearsalChain:
    """The chain: reads, simulation, and transactions on their way."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._waiting: dict[str, SignedTransaction] = {}
        self._mined: dict[str, tuple[SignedTransaction, Receipt]] = {}
        self._nonces: Counter[str] = Counter()
        self._spent: Counter[str] = Counter()  # account -> wei paid for gas and sent away

    @property
    def chain_id(self) -> int:
        """The chain id."""
        return self._world.settings.chain_id

    def block_number(self) -> int:
        """Return the number of the latest block."""
        return self._world.block_number

    def balance(self, account: str) -> int:
        """Return an account's balance in wei."""
        return max(0, BALANCE - self._spent[account])

    def transaction_count(self, account: str, *, pending: bool = True) -> int:
        """Return the account's next nonce, with what waits or without it."""
        waiting = sum(transaction.sender == account for transaction in self._waiting.values())
        return self._nonces[account] + waiting * pending

    def call(self, sender: str, to: str, data: bytes, value: int = 0) -> bytes:
        """Return what a call would return now, changing nothing. Raises ``Reverted``."""
        return prepare(self._world, sender, to, data, value).returned

    def estimate(self, sender: str, to: str, data: bytes, value: int = 0) -> int:
        """Return the gas that a call needs now. Raises ``Reverted``."""
        self.call(sender, to, data, value)
        return _gas(to, data)

    def send_raw(self, raw: bytes) -> str:
        """Take a signed transaction; return its hash. Raises ``NotTaken``."""
        try:
            transaction = read_transaction(raw)
        except Malformed as error:
            raise NotTaken(str(error)) from error
        self._check(transaction)
        self._waiting[transaction.hash] = transaction
        return transaction.hash

    def _check(self, transaction: SignedTransaction) -> None:
        if transaction.hash in self._waiting or transaction.hash in self._mined:
            raise NotTaken("already known")
        if transaction.chain_id != self.chain_id:
            raise NotTaken(f"invalid chain id for signer: have {transaction.chain_id} want {self.chain_id}")
        expected = self.transaction_count(transaction.sender)
        if transaction.nonce != expected:
            low = "low" if transaction.nonce < expected else "high"
            raise NotTaken(f"nonce too {low}: next nonce {expected}, tx nonce {transaction.nonce}")
        if transaction.max_priority_fee_per_gas > transaction.max_fee_per_gas:
            raise NotTaken("max priority fee per gas higher than max fee per gas")
        if transaction.max_fee_per_gas < BASE_FEE:
            raise NotTaken(f"max fee per gas less than block base fee: baseFee: {BASE_FEE}")
        if transaction.gas > BLOCK_GAS:
            raise NotTaken("exceeds block gas limit")
        if transaction.gas < _PLAIN + _data_gas(transaction.data):
            raise NotTaken("intrinsic gas too low")
        if transaction.gas * transaction.max_fee_per_gas + transaction.value > self.balance(transaction.sender):
            raise NotTaken("insufficient funds for gas * price + value")

    def mine(self, transaction_hash: str, *, failing: bool = False) -> Receipt | None:
        """Put a waiting transaction into a block; ``failing`` makes it revert whatever it does.

        ``None``: an earlier one of the same account still waits, and this one stays behind it.
        """
        transaction = self._waiting[transaction_hash]
        if transaction.nonce != self._nonces[transaction.sender]:
            return None
        del self._waiting[transaction_hash]
        gas, why = _gas(transaction.to, transaction.data), ""
        try:
            effect = prepare(self._world, transaction.sender, transaction.to, transaction.data, transaction.value)
            why = "out of gas" * (gas > transaction.gas) or "the rehearsal was told to fail" * failing
            if not why:
                effect.apply()
        except Reverted as error:
            why = error.decoded
        used = min(gas, transaction.gas)
        price = min(transaction.max_fee_per_gas, BASE_FEE + transaction.max_priority_fee_per_gas)
        self._nonces[transaction.sender] += 1
        self._spent[transaction.sender] += used * price + (0 if why else transaction.value)
        receipt = Receipt(
            transaction.hash, transaction.sender, transaction.to, self._world.next_block(), not why, used, why
        )
        self._mined[transaction.hash] = transaction, receipt
        return receipt

    def receipt(self, transaction_hash: str) -> Receipt | None:
        """Return what became of a transaction, the operator's included; ``None`` while it waits, or when it is unknown."""
        if transaction_hash in self._mined:
            return self._mined[transaction_hash][1]
        block = self._world.operator_blocks.get(transaction_hash)
        return Receipt(transaction_hash, SOMEBODY_ELSE, TRADING_ROUTER, block, True, _CONTRACT) if block else None

    def transaction(self, transaction_hash: str) -> SignedTransaction | None:
        """Return a transaction that waits or was mined."""
        mined = self._mined.get(transaction_hash)
        return mined[0] if mined else self._waiting.get(transaction_hash)


def _data_gas(data: bytes) -> int:
    zeros = data.count(0)
    return _ZERO_BYTE * zeros + _BYTE * (len(data) - zeros)


def _gas(to: str, data: bytes) -> int:
    return _PLAIN + _data_gas(data) + _CONTRACT * (to in CONTRACTS)
