"""What the rehearsal's chain is asked for and tells. Source: the Ethereum JSON-RPC specification.

Accounts and contracts are EIP-55 texts, hashes ``0x`` and 64 lower-case hex digits, amounts wei. The latest state is the
only one there is, and what is read or simulated sees the time at which a block would be made now.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from airlock_rehearsal.chain.embedded import EmbeddedEvm

CHAIN_ID = 31337
"""The chain id of local development chains: a signature for it is worthless on every real one."""

BLOCK_GAS = 30_000_000
PRIORITY_FEE = 10**8
"""Wei a gas: what the rehearsal's operator pays for its transactions."""


USDC, STORAGE, REFERRAL, ROUTER = "Usdc", "TradingStorage", "Referral", "TradingRouter"
"""The contracts, by their names in ``contracts.json``."""

CONTRACTS = {
    USDC: "0x8323aabb1e7cbeF50904F377b4DC2C4350d24eB9",
    STORAGE: "0xcd5B0A5C7f95FF2B20721A3953cD48E862A14514",
    REFERRAL: "0xd8d96a15153D25423F999eCeec39bb17711FC2Ed",
    ROUTER: "0x8D27456e6236EF79D80E9Df35Aae22AEAa0A27d4",
}
"""Where each is: the operator's first four transactions put them there on every new chain (Yellow Paper, section 7)."""


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
    """What became of a transaction: ``revert`` is what it reverted with, empty when it did not."""

    hash: str
    block_number: int
    ok: bool
    logs: tuple[Log, ...]
    revert: bytes


EvmTransaction = Any
"""A signed EIP-1559 transaction as py-evm has it: ``sender`` and ``to`` are bytes, ``to`` none for a contract's creation."""


class EvmBlock(NamedTuple):
    """A block: its header as py-evm has it, and the hashes of its transactions in order."""

    header: Any
    hashes: tuple[str, ...]


class EvmCall(NamedTuple):
    """A transaction to be: ``to`` is empty for code that makes a contract; ``gas`` counts where it is not estimated."""

    to: str
    data: bytes
    gas: int


def intrinsic_gas(data: bytes) -> int:
    """Return the gas of a transaction with this data before anything runs (EIP-2028)."""
    return 21_000 + sum(16 if byte else 4 for byte in data)


_REVERT = bytes.fromhex("5f5ffd")  # PUSH0 PUSH0 REVERT


@contextmanager
def reverting(evm: EmbeddedEvm, contract: str, told: bool) -> Iterator[None]:
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
