"""What the rehearsal asks of a chain, whichever one it is. Source: the Ethereum JSON-RPC specification.

Accounts and contracts are EIP-55 texts, hashes ``0x`` and 64 lower-case hex digits, amounts wei. The latest state is the
only one there is, and what is read or simulated sees the time at which a block would be made now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

CHAIN_ID = 31337
"""The chain id of local development chains: a signature for it is worthless on every real one."""

BLOCK_GAS = 30_000_000
PRIORITY_FEE = 10**8
"""Wei a gas: what the rehearsal's operator pays for its transactions."""


class Reverted(Exception):
    """A call that reverts: ``data`` is what the contract gave, ``name`` its custom error or its text (see ``interface``)."""

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(name)
        self.name = name
        self.data = data


class NotTaken(Exception):
    """A transaction that the chain does not take; the text is the node's own."""


class Log(NamedTuple):
    """What a contract emitted: topics and data."""

    address: str
    topics: tuple[bytes, ...]
    data: bytes


class EvmReceipt(NamedTuple):
    """What became of a transaction. ``to`` is empty when it made ``contract``, ``revert`` when it did not revert."""

    hash: str
    sender: str
    to: str
    contract: str
    block_number: int
    block_hash: str
    ok: bool
    gas_used: int
    gas_price: int
    logs: tuple[Log, ...]
    revert: bytes = b""


class EvmTransaction(NamedTuple):
    """A mined EIP-1559 transaction."""

    hash: str
    sender: str
    to: str
    nonce: int
    gas: int
    max_fee_per_gas: int
    max_priority_fee_per_gas: int
    value: int
    data: bytes


class EvmBlock(NamedTuple):
    """A block: its time in unix seconds, and the hashes of its transactions in order."""

    number: int
    timestamp: int
    hashes: tuple[str, ...]


class FeeHistory(NamedTuple):
    """Base fees from ``oldest`` on, the next block's included, and how full each block was, of 1."""

    oldest: int
    base_fees: tuple[int, ...]
    gas_used_ratios: tuple[float, ...]


class EvmCall(NamedTuple):
    """A transaction to be: ``to`` is empty for code that makes a contract. Its gas is given where it cannot be estimated."""

    to: str
    data: bytes
    gas: int
    value: int = 0


class Evm(Protocol):
    """A chain. A transaction that is taken is mined at once, in a block of its own."""

    def chain_id(self) -> int:
        """Return the chain id."""

    def block_number(self) -> int:
        """Return the number of the latest block."""

    def block(self, number: int) -> EvmBlock:
        """Return a block that is there."""

    def pass_time(self) -> None:
        """Mine a block without transactions, as a chain does on which nothing happens."""

    def timestamp(self) -> int:
        """Return the unix second at which a block would be made now."""

    def balance(self, account: str) -> int:
        """Return an account's wei."""

    def transaction_count(self, account: str) -> int:
        """Return the account's next nonce."""

    def code(self, account: str) -> bytes:
        """Return a contract's code."""

    def base_fee(self) -> int:
        """Return the next block's base fee, in wei a gas."""

    def priority_fee(self) -> int:
        """Return a priority fee that will do, in wei a gas."""

    def fee_history(self, count: int) -> FeeHistory:
        """Return the fees of at most ``count`` latest blocks."""

    def call(self, sender: str, to: str, data: bytes, value: int = 0, *, block: int | None = None) -> bytes:
        """Return what a call would return now, or after a block, changing nothing. Raises ``Reverted``."""

    def estimate_gas(self, sender: str, to: str, data: bytes, value: int = 0) -> int:
        """Return a gas limit that will do now. Raises ``Reverted``."""

    def send_raw_transaction(self, raw: bytes) -> str:
        """Mine a signed transaction, reverting or not; return its hash. Raises ``NotTaken``."""

    def send_together(self, raws: Sequence[bytes]) -> list[str]:
        """Mine signed transactions in one block; return their hashes. Raises ``NotTaken``."""

    def receipt(self, transaction_hash: str) -> EvmReceipt | None:
        """Return what became of a transaction; ``None`` when it is unknown."""

    def transaction(self, transaction_hash: str) -> EvmTransaction | None:
        """Return a mined transaction; ``None`` when it is unknown."""

    def fund(self, account: str, wei: int) -> None:
        """Give an account wei, for gas."""

    def set_code(self, account: str, code: bytes) -> None:
        """Put other code at an address, its storage left as it is: from the next block on, without a transaction."""

    def snapshot(self) -> object:
        """Return a mark to go back to."""

    def go_back(self, mark: object) -> None:
        """Forget everything since the mark was made. A mark serves once."""


_REVERT = bytes.fromhex("5f5ffd")  # PUSH0 PUSH0 REVERT


@contextmanager
def reverting(evm: Evm, contract: str, told: bool) -> Iterator[None]:
    """Within the block, when the rehearsal was told to fail, every call of this contract reverts."""
    if not told:
        yield
        return
    code = evm.code(contract)
    evm.set_code(contract, _REVERT)
    try:
        yield
    finally:
        evm.set_code(contract, code)
