"""What was sent to the chain and is not mined yet: a transaction waits here until ``mine`` gives it a block of its own.

The chain itself mines at once; a node does not. The words of a refusal are those of nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eth_account.typed_transactions.typed_transaction import TypedTransaction
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError
from hexbytes import HexBytes
from rlp.exceptions import RLPException

from airlock_rehearsal.chain.embedded import EmbeddedEvm
from airlock_rehearsal.chain.evm import (
    BLOCK_GAS,
    CHAIN_ID,
    EvmReceipt,
    EvmTransaction,
    NotTaken,
    Reverted,
    intrinsic_gas,
    reverting,
)
from airlock_rehearsal.chain.interface import STORAGE, EmittedEvent, decode_logs
from airlock_rehearsal.services.envelope import Refused
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.venue.eip712_peer import encode, recover
from airlock_rehearsal.services.venue.positions import in_texts
from airlock_rehearsal.services.venue.submission import SignedIntent

if TYPE_CHECKING:
    from airlock_rehearsal.chain.venue import CallOutcome
    from airlock_rehearsal.services.venue.venue_state import VenueState


# ---- raw transaction ------------------------------------------------------------------------------------------------
# A signed transaction as it is sent: read and its sender recovered, by eth-account and eth-keys.
# EIP-1559 transactions alone (type 2). ``airlock_shared.ethereum.transactions`` is not used: the services are the second
# opinion.


_TYPE_2 = 0x02
_TRANSACTION_NUMBERS = ("nonce", "gas", "maxFeePerGas", "maxPriorityFeePerGas", "value", "chainId")
LARGEST = 128 * 1024  # what nodes take


def hash_of(raw: bytes) -> str:
    """Return the hash by which raw bytes are known as a transaction."""
    return "0x" + bytes(keccak(raw)).hex()


def read_transaction(raw: bytes) -> EvmTransaction:
    """Read a raw transaction. Raises ``Refused`` for another type, another encoding, or a signature of nobody."""
    if not raw or len(raw) > LARGEST:
        raise Refused(f"a transaction has 1 to {LARGEST} bytes")
    if raw[0] != _TYPE_2:
        raise Refused("transaction type not supported: type 2 (EIP-1559) is")
    try:
        decoded = TypedTransaction.from_bytes(HexBytes(raw))
        same = decoded.encode() == raw
    except (RLPException, ValidationError, ValueError, TypeError, KeyError) as error:
        raise Refused("the transaction cannot be decoded") from error
    if not same:
        raise Refused("the transaction is not in its canonical encoding")
    fields = decoded.as_dict()
    if len(fields["to"]) != 20:
        raise Refused("a transaction that creates a contract")
    parity, r, s = (int(fields[name]) for name in ("v", "r", "s"))
    if parity not in (0, 1):
        raise Refused("the signature's parity is neither 0 nor 1")
    signature = r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27 + parity])
    nonce, gas, fee, priority, value, chain = (int(fields[name]) for name in _TRANSACTION_NUMBERS)
    sender, to = recover(decoded.hash(), signature), to_checksum_address(fields["to"])
    return EvmTransaction(hash_of(raw), sender, to, nonce, gas, fee, priority, value, bytes(fields["data"]), chain)


# ---- mempool --------------------------------------------------------------------------------------------------------


GAS_MONEY = 100 * 10**18
"""Wei that every account has when it is first seen: a rehearsal is not about paying for gas."""


class Mempool:
    """The transactions on their way, before one chain."""

    def __init__(self, evm: EmbeddedEvm) -> None:
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
        _, sender, _, nonce, gas, fee, priority_fee, value, data, chain_id = transaction
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


# ---- settlement -----------------------------------------------------------------------------------------------------
# What a signed intent does on the chain, and how that is told: events follow receipts.
# Registration and fill are transactions of the operator's. The contract decides; a fill that it declines is
# ``MarketOrderCanceled``, and a call that it reverts raises ``Reverted`` (``code_of`` names it as the specification
# does).


ToldEvent = tuple[str, dict[str, object]]
"""An event's type and payload."""

_NUMBERS = frozenset({"orderId", "pairIndex", "index", "timestamp"})  # told as numbers, all others as decimal strings


def _entry(signed: SignedIntent) -> tuple[str, bytes, bytes]:
    return signed.primary, encode(signed.primary, signed.message), signed.signature


def submitted(state: VenueState, signed: SignedIntent) -> CallOutcome:
    """Submit a signed intent, once a simulation has gone through. Raises ``Reverted``."""
    return _noted(state, state.venue.submit(*_entry(signed)))


def check(state: VenueState, signed: SignedIntent) -> None:
    """Ask the contract whether it would take a signed intent now. Raises ``Reverted``."""
    state.venue.check(*_entry(signed))


def sent(state: VenueState, signed: SignedIntent, *, failing: bool = False) -> EvmReceipt:
    """Send a signed intent without a simulation; ``failing`` makes it revert whatever it says."""
    with reverting(state.venue.evm, state.venue.contract_of(signed.primary), failing):
        receipt = state.venue.send(*_entry(signed))
    state.receipts.append(receipt)
    return receipt


def fulfilled(state: VenueState, order_id: int, pair_index: int, *, declined: bool = False) -> CallOutcome:
    """Execute a stored order at the market price, or decline it whatever the price. Raises ``Reverted``."""
    if declined:
        return _noted(state, state.venue.act(STORAGE, "decline", order_id))
    return _noted(state, state.venue.fulfil(order_id, state.prices[pair_index]))


def _noted(state: VenueState, outcome: CallOutcome) -> CallOutcome:
    state.receipts.append(outcome.receipt)
    return outcome


def order_in(outcome: CallOutcome) -> EmittedEvent:
    """Return the event of an outcome that tells of an order."""
    return next(event for event in outcome.events if "orderId" in event.arguments)


def told(outcome: CallOutcome) -> ToldEvent:
    """Return the event that tells of an order, as the event stream carries it."""
    event = order_in(outcome)
    return event.name, in_texts(event.arguments, _NUMBERS) | {"transactionHash": outcome.receipt.hash}


def code_of(error: Reverted) -> str:
    """Return the specification's code for a revert: the bare name of a custom error, else that of a failed submission."""
    return error.name if error.name.isidentifier() else "SUBMISSION_FAILED"


# ---- keeper ---------------------------------------------------------------------------------------------------------
# The operator's keeper: puts what was sent into a block after a while, and executes stored orders a while later.


async def settle(runtime: Runtime, transaction_hash: str, service: str, faults: Faults) -> None:
    """Mine a transaction that ``service`` took under these faults, then execute the orders that it stored."""
    await runtime.pace()
    if faults.has("tx-stuck", service):
        return
    state = runtime.state
    receipt = runtime.mempool.mine(transaction_hash, failing=faults.has("fail-terminal", service))
    if receipt is None:
        return
    state.receipts.append(receipt)
    stored = [event.arguments for event in decode_logs(receipt.logs) if "orderId" in event.arguments]
    state.pending_orders += [(order["orderId"], order["pairIndex"]) for order in stored]
    while state.pending_orders:
        await runtime.pace()
        if not state.pending_orders:  # another transaction's keeper was here
            return
        order_id, pair_index = state.pending_orders[0]
        fulfilled(state, order_id, pair_index, declined=faults.has("cancel-fill", service))
        state.pending_orders.remove((order_id, pair_index))
