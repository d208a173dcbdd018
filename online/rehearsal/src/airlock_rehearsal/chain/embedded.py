"""The embedded chain: py-evm in this process, in memory, with a clock that is given to it.

A block's time is the clock's second, and at least one second after its parent's: several blocks within one second run
ahead of the clock until it has caught up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any, cast

from eth.chains.base import MiningChain
from eth.consensus.applier import ConsensusApplier
from eth.consensus.noproof import NoProofConsensus
from eth.constants import POST_MERGE_DIFFICULTY, POST_MERGE_MIX_HASH, POST_MERGE_NONCE
from eth.db import get_db_backend
from eth.exceptions import PyEVMError
from eth.vm.forks.cancun import CancunVM
from eth_utils.address import to_canonical_address, to_checksum_address
from eth_utils.exceptions import ValidationError
from rlp.exceptions import RLPException

from airlock_rehearsal.chain.evm import (
    BLOCK_GAS,
    CHAIN_ID,
    EvmBlock,
    EvmReceipt,
    EvmTransaction,
    Log,
    NotTaken,
    intrinsic_gas,
)
from airlock_rehearsal.chain.interface import reverted

_NO_HASH = b"\0" * 32


class _Chain(MiningChain):
    """A chain of one fork and one block gas limit."""

    chain_id = CHAIN_ID
    vm_configuration = ConsensusApplier(NoProofConsensus).amend_vm_configuration(((0, CancunVM),))

    def create_header_from_parent(self, parent_header: Any, **header_params: Any) -> Any:
        header_params["gas_limit"] = parent_header.gas_limit
        return super().create_header_from_parent(parent_header, **header_params)


class EmbeddedEvm:
    """A chain in memory; what it takes is mined at once. ``now_s`` is the clock, unix seconds, and may be set anew."""

    def __init__(self, now_s: Callable[[], int]) -> None:
        self.now_s = now_s
        genesis: dict[str, Any] = {
            "difficulty": POST_MERGE_DIFFICULTY,
            "mix_hash": POST_MERGE_MIX_HASH,
            "nonce": POST_MERGE_NONCE,
            "gas_limit": BLOCK_GAS,
            "timestamp": now_s() - 1,
        }
        self._chain = cast("Any", _Chain.from_genesis(get_db_backend(), genesis))
        first = self._chain.get_canonical_block_header_by_number(0)
        self._blocks = [EvmBlock(first, ())]
        self._mined: dict[str, tuple[EvmTransaction, EvmReceipt]] = {}
        self._lock = RLock()  # the services' thread and whoever started them

    def block_number(self) -> int:
        """Return the number of the latest block."""
        return len(self._blocks) - 1

    def block(self, number: int) -> EvmBlock:
        """Return a block that is there."""
        return self._blocks[number]

    def timestamp(self) -> int:
        """Return the unix second at which a block would be made now."""
        return max(self.now_s(), int(self._blocks[-1].header.timestamp) + 1)

    def _vm(self, block: int | None = None) -> Any:
        if block is not None:
            return self._chain.get_vm(self._blocks[block].header)
        now_s = self.timestamp()
        with self._lock:
            self._chain.set_header_timestamp(now_s)
            return self._chain.get_vm()

    def balance(self, account: str) -> int:
        """Return an account's wei."""
        return int(self._vm().state.get_balance(to_canonical_address(account)))

    def transaction_count(self, account: str | bytes, block: int | None = None) -> int:
        """Return the account's next nonce, now or after a block."""
        return int(self._vm(block).state.get_nonce(to_canonical_address(account)))

    def code(self, account: str) -> bytes:
        """Return a contract's code."""
        return bytes(self._vm().state.get_code(to_canonical_address(account)))

    def base_fee(self) -> int:
        """Return the next block's base fee, in wei a gas."""
        return int(self._chain.header.base_fee_per_gas)

    def call(self, sender: str, to: str, data: bytes, value: int = 0, *, block: int | None = None) -> bytes:
        """Return what a call would return now, or after a block, changing nothing. Raises ``Reverted``."""
        return bytes(self._simulated(sender, to, data, value, block).output)

    def estimate_gas(self, sender: str, to: str, data: bytes, value: int = 0) -> int:
        """Return the gas that a call takes now and a quarter more. Raises ``Reverted``."""
        used = int(self._simulated(sender, to, data, value).get_gas_used()) + intrinsic_gas(data)
        return min(BLOCK_GAS, used + used // 4)

    def _simulated(self, sender: str, to: str, data: bytes, value: int, block: int | None = None) -> Any:
        vm = self._vm(block)
        account, target = to_canonical_address(sender), to_canonical_address(to)
        code = vm.state.get_code(target)
        computation = vm.execute_bytecode(account, 0, BLOCK_GAS, target, account, value, data, code)
        if computation.is_error:
            raise reverted(bytes(computation.output))
        return computation

    def send_together(self, raws: Sequence[bytes]) -> list[EvmReceipt]:
        """Mine signed transactions in one block, reverting or not; return their receipts.

        Raises ``NotTaken``, and then none is mined.
        """
        with self._lock:
            self._chain.set_header_timestamp(self.timestamp())
            before = self._chain.header
            try:
                applied = [self._applied(raw) for raw in raws]
            except NotTaken:
                self._chain.header = before
                raise
            block = self._chain.mine_block(mix_hash=_NO_HASH, blob_gas_used=0)
            receipts = [_receipt(block.number, *each) for each in applied]
            self._mined |= {made.hash: (each[0], made) for each, made in zip(applied, receipts, strict=True)}
            self._blocks.append(EvmBlock(block.header, tuple(made.hash for made in receipts)))
            return receipts

    @staticmethod
    def read(raw: bytes) -> EvmTransaction:
        """Read a signed EIP-1559 transaction in its one encoding, by somebody's key. Raises ``NotTaken``."""
        if raw[:1] != b"\x02":
            raise NotTaken("transaction type not supported: type 2 (EIP-1559) is")
        with _taken():
            transaction = CancunVM.get_transaction_builder().decode(raw)
            transaction.check_signature_validity()
            return transaction

    def _applied(self, raw: bytes) -> tuple[Any, Any, Any]:
        transaction = self.read(raw)
        with _taken():
            _, receipt, computation = self._chain.apply_transaction(transaction)
        return transaction, receipt, computation

    def receipt(self, transaction_hash: str) -> EvmReceipt | None:
        """Return what became of a transaction; ``None`` when it is unknown."""
        return self._mined.get(transaction_hash.lower(), (None, None))[1]

    def transaction(self, transaction_hash: str) -> EvmTransaction | None:
        """Return a mined transaction; ``None`` when it is unknown."""
        return self._mined.get(transaction_hash.lower(), (None, None))[0]

    def fund(self, account: str | bytes, wei: int) -> None:
        """Give an account wei, for gas: from the next block on, without a transaction."""
        with self._changing() as state:
            state.delta_balance(to_canonical_address(account), wei)

    def set_code(self, account: str, code: bytes) -> None:
        """Put other code at an address, its storage left as it is: from the next block on, without a transaction."""
        with self._changing() as state:
            state.set_code(to_canonical_address(account), code)

    @contextmanager
    def _changing(self) -> Iterator[Any]:
        with self._lock:
            state = self._vm().state
            yield state
            state.persist()
            self._chain.header = self._chain.header.copy(state_root=state.state_root)


@contextmanager
def _taken() -> Iterator[None]:
    """Turn what py-evm raises for a transaction into ``NotTaken``."""
    try:
        yield
    except (ValidationError, PyEVMError, RLPException, ValueError, TypeError, IndexError) as error:
        raise NotTaken(str(error)) from error


def _hex(value: bytes) -> str:
    return "0x" + value.hex()


def _receipt(block_number: int, transaction: Any, receipt: Any, computation: Any) -> EvmReceipt:
    logs = tuple(
        Log(
            str(to_checksum_address(log.address)),
            tuple(topic.to_bytes(32, "big") for topic in log.topics),
            bytes(log.data),
        )
        for log in receipt.logs
    )
    failed = computation.is_error
    revert = bytes(computation.output) if failed else b""
    return EvmReceipt(_hex(transaction.hash), block_number, not failed, logs, revert)
