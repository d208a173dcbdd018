"""What the compiled contracts understand: calls, results, events and errors, read from ``contracts.json`` by eth-abi.

Everything is by name. A struct is a ``dict`` of its members, an address an EIP-55 text, ``bytes`` bytes, a number an int;
what is encoded may also have numbers in decimal and bytes in hex.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from eth_abi import abi
from eth_utils.abi import abi_to_signature, collapse_if_tuple, function_abi_to_4byte_selector
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from airlock_rehearsal.chain.evm import Log, Reverted

ARTIFACTS = resources.files("airlock_rehearsal") / "contracts" / "contracts.json"

_ERROR = bytes.fromhex("08c379a0")  # Error(string): Solidity's own

_Entry = Any
"""One row of a JSON ABI."""


class EmittedEvent(NamedTuple):
    """A decoded log."""

    name: str
    arguments: dict[str, Any]


@cache
def artifacts() -> dict[str, Any]:
    """Return ``contracts.json``: for each contract its ABI, creation code and size."""
    return dict(json.loads(ARTIFACTS.read_text())["contracts"])


@cache
def _entries(contract: str, kind: str) -> dict[str, _Entry]:
    return {entry["name"]: entry for entry in artifacts()[contract]["abi"] if entry["type"] == kind}


@cache
def selector(contract: str, name: str) -> bytes:
    """Return the four bytes of a function."""
    return bytes(function_abi_to_4byte_selector(_entries(contract, "function")[name]))


def encode_call(contract: str, name: str, *arguments: Any) -> bytes:
    """Return the calldata of a function."""
    entry = _entries(contract, "function")[name]
    return selector(contract, name) + encode(entry["inputs"], arguments)


def creation_code(contract: str, *arguments: Any) -> bytes:
    """Return the code that makes a contract, its constructor's arguments included."""
    artifact = artifacts()[contract]
    inputs: list[_Entry] = next((entry["inputs"] for entry in artifact["abi"] if entry["type"] == "constructor"), [])
    return bytes.fromhex(artifact["bytecode"][2:]) + encode(inputs, arguments)


def decode_result(contract: str, name: str, data: bytes) -> Any:
    """Return what a function returned: one value, or a list when it returns several."""
    values = decode(_entries(contract, "function")[name]["outputs"], data)
    return values[0] if len(values) == 1 else values


def decode_logs(logs: Iterable[Log]) -> list[EmittedEvent]:
    """Return the events of a receipt's logs, in order."""
    return [_event_of(log) for log in logs]


def _event_of(log: Log) -> EmittedEvent:
    entry = _by_hash("event", 32)[log.topics[0]]
    topics = iter(log.topics[1:])
    rest = iter(decode([part for part in entry["inputs"] if not part["indexed"]], log.data))
    arguments = {
        part["name"]: decode([part], next(topics))[0] if part["indexed"] else next(rest) for part in entry["inputs"]
    }
    return EmittedEvent(entry["name"], arguments)


def revert_name(data: bytes) -> str:
    """Return what revert data says: a custom error's name, the text of ``Error``, or hex."""
    if known := _by_hash("error", 4).get(data[:4]):
        return str(known["name"])
    if data[:4] == _ERROR:
        return str(abi.decode(["string"], data[4:])[0])
    return f"0x{data.hex()}" if data else "reverted without a reason"


def reverted(data: bytes) -> Reverted:
    """Return the error of a call that reverts with this data."""
    return Reverted(revert_name(data), data)


@cache
def _by_hash(kind: str, length: int) -> dict[bytes, _Entry]:
    """Return all events or errors by so many first bytes of their signature's hash."""
    rows = (entry for name in artifacts() for entry in _entries(name, kind).values())
    return {bytes(keccak(abi_to_signature(entry).encode())[:length]): entry for entry in rows}


def encode(inputs: Iterable[_Entry], arguments: Iterable[Any]) -> bytes:
    """Return ``abi.encode`` of arguments."""
    parts = list(zip(inputs, arguments, strict=True))
    return bytes(abi.encode([collapse_if_tuple(part) for part, _ in parts], [_plain(*part) for part in parts]))


def _plain(entry: _Entry, value: Any) -> Any:
    kind = entry["type"]
    if kind == "tuple":
        return [_plain(part, value[part["name"]]) for part in entry["components"]]
    if isinstance(value, str) and kind.startswith(("uint", "int", "bytes")):
        return bytes.fromhex(value[2:]) if kind.startswith("bytes") else int(value)
    return value


def decode(outputs: Iterable[_Entry], data: bytes) -> list[Any]:
    """Return what was encoded. Raises as eth-abi does."""
    parts = list(outputs)
    values = abi.decode(list(map(collapse_if_tuple, parts)), data)
    return [_named(part, value) for part, value in zip(parts, values, strict=True)]


def _named(entry: _Entry, value: Any) -> Any:
    kind = entry["type"]
    if kind.endswith("[]"):
        return [_named({**entry, "type": kind[:-2]}, item) for item in value]
    if kind == "tuple":
        return {p["name"]: _named(p, item) for p, item in zip(entry["components"], value, strict=True)}
    return str(to_checksum_address(value)) if kind == "address" else value
