"""What an unsigned transaction lacks: the account's nonce, the gas limit, and EIP-1559 fees.

They come from the operator's own node, or by hand, value by value; the checks bound whatever comes. The node's chain id is
compared with the pinned one before anything is asked of anybody else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, cast

from airlock_online.clients.http import Http
from airlock_online.clients.rpc import RpcCall, RpcClient, RpcError
from airlock_online.error_codes import ERROR_CODES
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import Refusal, ServiceError, UsageError
from airlock_shared.ethereum.eip712 import decode_abi
from airlock_shared.ethereum.signatures import Transaction, keccak256, value_wei
from airlock_shared.text.safe import safe
from airlock_shared.wire.strict_json import JsonObject

# ---- revert reasons -------------------------------------------------------------------------------------------------
# Why a contract reverted: revert data read into words.
# Three forms are known: ``Error(string)`` and ``Panic(uint256)``, which the Solidity language defines ("Control
# structures", error handling), and the contracts' own errors, which carry a bare name: those of the error catalogue,
# and those of the rehearsal's contracts about referral codes and delegates (a real one may say the same in a sentence
# of its own, as ``Error(string)``).


_ERROR, _PANIC = bytes.fromhex("08c379a0"), bytes.fromhex("4e487b71")  # Error(string), Panic(uint256)
_PANICS = {  # Solidity's list of panic codes
    0x01: "an assertion failed",
    0x11: "an arithmetic overflow",
    0x12: "a division by zero",
    0x21: "a number that is not a member of its enum",
    0x22: "a malformed byte array in storage",
    0x31: "a pop from an empty array",
    0x32: "an index beyond an array",
    0x41: "too much memory requested",
    0x51: "a call of a function that is not set",
}


_REHEARSED = {
    "EmptyCode": "the code is empty",
    "CodeTaken": "the code is registered already",
    "CodeIsPrivate": "the code is private, and its owner has not let this account in",
    "NotCodeOwner": "the caller does not own the code",
    "NotPendingOwner": "the caller is not nominated as the code's next owner",
    "NoRequest": "nobody asked for access to the private code",
    "NotDelegate": "this key is not, or is no longer, a delegate of the account",
    "NotAllowedForDelegate": "a delegate may not make this call",
    "InvalidDelegate": "an account cannot be its own delegate, and the zero address has no owner",
    "InvalidExpiry": "the delegate's expiry is past",
}
"""The errors of the rehearsal's contracts about codes and delegates, in no specification, and what each means."""


_KNOWN = {
    keccak256(f"{name}()".encode())[:4]: name
    for name in (*(entry.code for entry in ERROR_CODES.values() if entry.where == "contract"), *_REHEARSED)
}
"""The contracts' errors by the selector of their form without arguments."""


def error_name(data: str) -> str:
    """Return the name of a contract's own error that is known, or an empty text."""
    return _KNOWN.get(_bytes(data)[:4], "")


def reason(data: str) -> str:
    """Return what revert data (0x-hex, or empty) say, safe to show, in one sentence."""
    raw = _bytes(data)
    if not raw:
        return "it gave no reason"
    selector, told = raw[:4], raw[4:]
    try:
        if selector == _ERROR:
            return f"it says: {safe(str(decode_abi(['string'], told)[0]), limit=300)}"
        if selector == _PANIC:
            (code,) = decode_abi(["uint256"], told)
            return f"panic {code:#x}: {_PANICS.get(code, 'a code that Solidity does not list')}"
    except Refusal:
        return f"a reason that cannot be read: {data[:202]}"
    name = error_name(data)
    if name in _REHEARSED:
        return f"{name} (0x{selector.hex()}): {_REHEARSED[name]}"
    if name:
        return f"{name}: {ERROR_CODES[name].meaning}"
    return f"an error that Airlock does not know, selector 0x{selector.hex()}, data {data[:202]}"


def _bytes(data: str) -> bytes:
    try:
        return bytes.fromhex(data.removeprefix("0x"))
    except ValueError:
        return b""


# ---- gas and fees ---------------------------------------------------------------------------------------------------


GAS_MARGIN_PERCENT = 20
"""Over the node's estimate: prices and storage may move between the estimate and the block."""

Examine = Callable[[Transaction], bool]
"""Whether the checks pass a payload with this filling: a node is never asked about a payload that they refuse."""


class ByHand(NamedTuple):
    """What the operator gave by hand; None is left to the node. ``nonce`` is the first transaction's."""

    nonce: int | None = None
    gas: int | None = None
    max_fee_wei: int | None = None
    priority_fee_wei: int | None = None


class GasAndFees:
    """Fills the transactions of one ceremony: consecutive nonces for each signer, the same fees for all.

    ``node`` is None where everything is given by hand.
    """

    def __init__(self, by_hand: ByHand, node: RpcClient | None) -> None:
        self._by_hand = by_hand
        self._node = cast("RpcClient", node)  # where there is none, everything is by hand
        self._next: dict[str, int] = {}

    def fill(self, payload: JsonObject, signer: str, step: str, passes: Examine) -> Transaction:
        """Return what is filled in for a transaction that ``signer`` sends.

        Gas is estimated once ``passes`` has said yes to everything else; where it says no, the least gas stands in.
        Raises ``ServiceError`` when the node fails, or when the transaction would revert.
        """
        nonce = self._nonce(signer)
        filled = Transaction(nonce, LEAST_GAS, *self._fees)
        if passes(filled):
            filled = filled._replace(gas=self._gas(payload, step))
        self._next[signer] = nonce + 1
        return filled

    def _nonce(self, signer: str) -> int:
        if signer in self._next:
            return self._next[signer]
        if self._by_hand.nonce is None:
            return self._node.transaction_count(signer)
        if self._next:
            raise UsageError(
                "a nonce by hand is for one account, but this plan's transactions have several signers",
                do="leave --nonce out so that the node counts, or prepare a plan for each signer",
            )
        return self._by_hand.nonce

    @cached_property
    def _fees(self) -> tuple[int, int]:
        most, priority = self._by_hand.max_fee_wei, self._by_hand.priority_fee_wei
        if most is not None and priority is not None:
            return most, priority
        return self._node.fees(most, priority)

    def _gas(self, payload: JsonObject, step: str) -> int:
        if self._by_hand.gas is not None:
            return self._by_hand.gas
        try:
            call = RpcCall(payload["from"], payload["to"], payload["data"], value_wei(payload) or 0)
            estimate = self._node.estimate_gas(call)
        except RpcError as error:
            if not error.data and "revert" not in error.message.lower():
                raise  # the node failed, or the account cannot pay: its own words say which
            why = reason(error.data) if error.data else error.what
            raise ServiceError(
                f"step {step}: the transaction would revert; {why}",
                code=error_name(error.data) or error.code,
                do="nothing was written. Remove the cause and prepare again. If a step needs an earlier step of this plan "
                "on the chain first, prepare it after that (another signer's step: with --signer), or in a later ceremony",
            ) from error
        return estimate + -(-estimate * GAS_MARGIN_PERCENT // 100)


LEAST_GAS = 21_000  # of any transaction (Ethereum yellow paper, G_transaction)


def gas_and_fees_of(deployment: Deployment, by_hand: ByHand, url: str, http: Http) -> GasAndFees:
    """Return what fills in a deployment's transactions, its node's chain compared with the pinned one.

    Raises ``UsageError`` when there is no node and not everything was given by hand, ``Refusal("TX-CHAIN")`` for a node of
    another chain, ``ServiceError`` when it does not answer.
    """
    if None not in by_hand:
        return GasAndFees(by_hand, None)
    if not url:
        raise UsageError(
            "a transaction needs a nonce, gas and fees, but no node is configured to read them from",
            do="give --rpc URL, set AIRLOCK_RPC or [rpc] url in config.toml; "
            "or give all of --nonce --gas --max-fee-gwei --priority-fee-gwei",
        )
    node = RpcClient(url, http)
    require_pinned_chain(node, deployment)
    return GasAndFees(by_hand, node)


def require_pinned_chain(node: RpcClient, deployment: Deployment) -> None:
    """Raise ``Refusal("TX-CHAIN")`` when a node serves another chain than the pinned one."""
    got, expected = node.chain_id(), deployment.chain_id
    if got != expected:
        raise Refusal(
            "TX-CHAIN",
            f"the node {node.name} is not on the chain of the deployment {deployment.name}",
            got=f"chain id {got}",
            expected=f"chain id {expected}",
            do="give the address of a node of the pinned chain, or check which deployment was meant",
        )
