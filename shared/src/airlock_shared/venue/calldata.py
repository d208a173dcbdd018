"""Calldata read strictly, canonical encoding only, and written: the bytes of a known call. And EIP-7702 authorizations."""

from __future__ import annotations

from typing import Any, NamedTuple

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.abi import decode_abi, encode_abi
from airlock_shared.ethereum.signatures import parse_address
from airlock_shared.ethereum.transactions import authorization_hash
from airlock_shared.units import ADDRESS, COUNT
from airlock_shared.venue.calls import (
    DELEGATED_SIGNATURE,
    Call,
    Calls,
    arguments_of,
    selector_of,
)
from airlock_shared.venue.kinds import Field, Rule

_DELEGATED_TYPES = ("address", "bytes")


class Decoded(NamedTuple):
    """Calldata read back: the call, its arguments by name, and, of a delegated call, the trader it is made for."""

    call: Call
    message: dict[str, Any]
    delegated_for: bytes | None


def decode_call(data: bytes, calls: Calls) -> Decoded:
    """Read calldata, canonical encoding only; a delegated call is opened once, and never twice.

    ``calls`` are the venue's. Raises ``Refusal`` with ``TX-SELECTOR`` for an unknown function,
    ``TX-NESTED`` for a delegated call within another, ``TX-DELEGABLE`` for one that a delegate may not make,
    ``ENC-CANONICAL`` for another encoding.
    """
    if not _is_delegated(data):
        call = _call_of(data, calls)
        return Decoded(call, _arguments(call, data), None)
    trader, inner = decode_abi(_DELEGATED_TYPES, data[4:])
    if _is_delegated(inner):
        raise Refusal("TX-NESTED", "a delegated call within a delegated call", expected="one delegation")
    call = _call_of(inner, calls)
    if not call.delegable:
        raise Refusal("TX-DELEGABLE", "a call that a delegate may not make for a trader", got=call.name)
    return Decoded(call, _arguments(call, inner), trader)


def _is_delegated(data: bytes) -> bool:
    return data[:4] == selector_of(DELEGATED_SIGNATURE)


def _call_of(data: bytes, calls: Calls) -> Call:
    call = calls.by_selector.get(data[:4])
    if call is None:
        raise Refusal("TX-SELECTOR", "a function that Airlock does not know", got="0x" + data[:4].hex(),
                      expected="one of the known calls")  # fmt: skip
    return call


def _arguments(call: Call, data: bytes) -> dict[str, Any]:
    arguments = arguments_of(call.signature)
    values = decode_abi([argument.type for argument in arguments], data[4:])
    message = {
        name: dict(zip([member for member, _ in inner], value, strict=True)) if inner else value
        for (name, _, inner), value in zip(arguments, values, strict=True)
    }
    if encode_call(call, message) != data:
        raise Refusal("ENC-CANONICAL", "what is shown does not make these bytes", got="0x" + data.hex()[:80],
                      expected="an argument for each of its bytes")  # fmt: skip
    return message


def encode_call(call: Call, message: dict[str, Any]) -> bytes:
    """Return the calldata of a call: its 4-byte selector, then ``abi.encode`` of the arguments in ``message``, by name."""
    arguments = arguments_of(call.signature)
    values = [list(message[name].values()) if inner else message[name] for name, _, inner in arguments]
    return selector_of(call.signature) + encode_abi([argument.type for argument in arguments], values)


# ---- authorizations -------------------------------------------------------------------------------------------------
# EIP-7702 authorizations that a Ledger signs: for which contracts, and what is decided of each.
# An authorization gives a whole account to a contract, until another one takes that back. The Ethereum app signs one
# for the contracts of its own list and refuses every other, whatever a person says. Source: app-ethereum 1.22.0,
# ``src/features/sign_authorization_eip7702/whitelist_7702.c`` (chain 0 there: on every chain).


LEDGER_CONTRACTS = {bytes.fromhex("4cd241e8d1510e30b2076397afc7508ae59c66c9"): "Simple7702Account"}
"""The contracts by their 20 bytes, each with the name that the device shows in the address's place."""

AUTHORIZATION_CALL = Call("EIP-7702", "Give this account to a contract (EIP-7702)", "", (
    Field("contract", ADDRESS, "can then do all that the account can", Rule("plan", "contract"), ""),
    Field("nonce", COUNT, "the account's own nonce on the chain", Rule("plan", "nonce"), ""),
))  # fmt: skip
"""An authorization as the calls are: a name, a title, and leaves of which the plan decides each."""


def read_authorization(payload: dict[str, Any]) -> Decoded:
    """Return what an item's payload gives away. Raises ``Refusal("MSG-ADDRESS")``."""
    return Decoded(AUTHORIZATION_CALL, {"contract": parse_address(payload["address"]), "nonce": payload["nonce"]}, None)


def payload_hash(payload: dict[str, Any]) -> bytes:
    """Return the 32-byte hash that is signed of an authorization's payload, which the checks have read."""
    return authorization_hash(payload["chainId"], parse_address(payload["address"]), payload["nonce"])
