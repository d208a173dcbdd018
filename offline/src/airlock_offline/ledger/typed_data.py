"""Typed data as the APDUs of the Ethereum app's full-fields flow: definitions, then every value, then the signature.

The device builds the hash from these values itself and shows each of them. Order of the definitions: ``EIP712Domain``,
then the reachable structs in the order of ``types``. No struct that can be pinned has an array, and none is sent
(:func:`type_faults`). Source: the app's protocol description (INS 1A, 1C and 0C with P2 = 01); tests compare every APDU
with the recorded exchanges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from airlock_offline.ledger.device_errors import NoSuchWidth, SignedOtherwise, TooLargeForDevice
from airlock_offline.ledger.transport import (
    P1_FIRST,
    P1_PARTIAL,
    P2_FIELD,
    P2_NAME,
    P2_SIGN_FIELDS,
    Apdu,
    Ins,
    chunks,
    encode_integer,
    encode_path,
    ethereum_apdu,
)
from airlock_shared.ethereum.eip712 import MessageValue, TypedData, atomic_kind, reached
from airlock_shared.ethereum.struct_types import DOMAIN_TYPE, Structs, leaves_of
from airlock_shared.venue.structs import leaf

MAX_VALUE_BYTES = 0xFFFF  # the length before a value has two bytes

SIGNED_BITS = (8, 16, 32, 64, 128, 256)
"""The app answers 6A80 to signed integers of any other width, as if a setting were off; unsigned ones it takes in all."""

_SIZE_FLAG = 0x40
_CUSTOM = 0
_TYPE_CODES = {"int": 1, "uint": 2, "address": 3, "bool": 4, "string": 5, "bytesN": 6, "bytes": 7}


class Leaf(NamedTuple):
    """One value that the device hashes and shows: its field's name and atomic type, the canonical value, and its path."""

    name: str
    type: str
    value: MessageValue
    path: str


class FieldsFlow(NamedTuple):
    """The three parts of the flow, in the order in which they are sent."""

    definitions: list[Apdu]
    values: list[Apdu]
    sign: Apdu


def fields_flow(path: str, typed_data: TypedData) -> FieldsFlow:
    """Return every APDU with which the device signs ``typed_data`` field by field.

    Raises ``UsageError`` when ``path`` is not a path, ``TooLargeForDevice`` when a limit is passed, ``NoSuchWidth``.
    """
    definitions = definitions_of(typed_data.structs)
    values = root_of(DOMAIN_TYPE) + values_of(leaves(typed_data, DOMAIN_TYPE))
    values += root_of(typed_data.primary_type) + values_of(leaves(typed_data, typed_data.primary_type))
    sign = ethereum_apdu(Ins.SIGN_EIP712, P1_FIRST, P2_SIGN_FIELDS, encode_path(path))
    return FieldsFlow(definitions, values, sign)


WIDTHS = f"signed integers of {', '.join(map(str, SIGNED_BITS))} bits"
BY_HASHES_DO = (
    'no setting of the app changes this: have the signer sign by hashes (show = "hashes", needs Blind signing), or do not '
    "sign this with a Ledger"
)


def refused_integers(structs: Structs) -> list[str]:
    """Return the members whose integers have a width that the app refuses, as ``Order.price (int24)``."""
    every = (
        (f"{name}.{each.name} ({each.type})", atomic_kind(each.type)) for name in structs for each in structs[name]
    )
    return [said for said, kind in every if kind and kind[0] == "int" and kind[1] not in SIGNED_BITS]


def leaves(typed_data: TypedData, root: str) -> Iterator[Leaf]:
    """Yield the values below ``EIP712Domain`` or below the primary type, in hashing order."""
    values = typed_data.domain if root == DOMAIN_TYPE else typed_data.message
    for path, kind in leaves_of(typed_data.structs, root):
        yield Leaf(path.rpartition(".")[2], kind, leaf(values, path), path)


# ---- definitions --------------------------------------------------------------------------------------------------


def definitions_of(structs: Structs) -> list[Apdu]:
    """Return the commands that define structs, in their order. Raises as :func:`fields_flow`."""
    if refused := refused_integers(structs):
        raise NoSuchWidth(f"the Ethereum app takes {WIDTHS} alone, and not {', '.join(refused)}", do=BY_HASHES_DO)
    define = partial(ethereum_apdu, Ins.EIP712_DEFINITION, P1_FIRST)
    result: list[Apdu] = []
    for name, members in structs.items():
        result.append(define(P2_NAME, name.encode()))
        result += [define(P2_FIELD, _type_code(kind, structs) + _with_length(member)) for member, kind in members]
    return result


def _type_code(type_name: str, structs: Structs) -> bytes:
    if type_name in structs:
        return bytes((_CUSTOM,)) + _with_length(type_name)
    kind, size = atomic_kind(type_name) or ("", 0)
    code = _TYPE_CODES[kind]
    return bytes((code | _SIZE_FLAG, size if kind == "bytesN" else size // 8)) if size else bytes((code,))


def _with_length(name: str) -> bytes:
    return bytes((len(name),)) + name.encode()


# ---- values -------------------------------------------------------------------------------------------------------


def root_of(name: str) -> list[Apdu]:
    """Return the command that begins the values of a root struct."""
    return [ethereum_apdu(Ins.EIP712_VALUE, P1_FIRST, P2_NAME, name.encode())]


def values_of(items: Iterable[Leaf]) -> list[Apdu]:
    """Return the commands for values. Raises ``TooLargeForDevice``."""
    return [apdu for leaf in items for apdu in _value(leaf)]


def _value(leaf: Leaf) -> list[Apdu]:
    raw = encode_value(leaf.type, leaf.value)
    if len(raw) > MAX_VALUE_BYTES:
        what = f"{leaf.name} has {len(raw)} bytes, at most {MAX_VALUE_BYTES}"
        raise TooLargeForDevice(f"the Ledger cannot be asked to show this typed data: {what}", do="split the request")
    *pieces, last = chunks(len(raw).to_bytes(2, "big") + raw)
    partly = [ethereum_apdu(Ins.EIP712_VALUE, P1_PARTIAL, P2_FIELD, piece) for piece in pieces]
    return [*partly, ethereum_apdu(Ins.EIP712_VALUE, P1_FIRST, P2_FIELD, last)]


def encode_value(type_name: str, value: MessageValue) -> bytes:
    """Return a canonical value in its wire form: integers minimal, a negative one at full width, the rest as it is."""
    kind, bits = atomic_kind(type_name) or ("", 0)
    if kind in ("int", "uint"):
        return value.to_bytes(bits // 8, "big", signed=True) if value < 0 else encode_integer(value)
    if kind == "bool":
        return b"\x01" if value else b"\x00"
    return value.encode() if isinstance(value, str) else bytes(value)


# ---- app faults -----------------------------------------------------------------------------------------------------
# Typed data of which the Ethereum app signs another digest than EIP-712's: told before anything is shown or sent.
# Measured on the released app 1.22.0 in the emulator, on Flex and Nano S Plus; public as pull request 1060 of
# LedgerHQ's app-ethereum. Such a signature recovers to nobody's address, so that it would be refused afterwards all
# the same. No newer release was measured: each is taken to do as 1.22.0 does until one was.


EXPECTED = "data that the Ethereum app hashes as EIP-712 says"
_MEASURED = "1.22.0"
_MEMBERS = 16  # of a nested struct


def type_faults(structs: Structs, primary: str) -> list[str]:
    """Return a sentence for each fault that the types bring, and for arrays: nothing here sends or shows one."""
    within = reached(structs, primary)
    found = {
        f"a struct of {_MEMBERS} members within another is signed over another hash (app {_MEASURED})": [
            name for name in within if len(structs[name]) == _MEMBERS
        ],
        "no array is sent to a Ledger": [
            f"{name}.{member.name} ({member.type})"
            for name in {primary, *within}
            for member in structs[name]
            if "[" in member.type
        ],
    }
    return [f"{what}: {', '.join(sorted(places))}" for what, places in found.items() if places]


def require_no_fault(typed_data: TypedData) -> None:
    """Raise ``SignedOtherwise`` for typed data of which the app signs another digest, or that has an array."""
    if faults := type_faults(typed_data.structs, typed_data.primary_type):
        raise SignedOtherwise(f"the Ethereum app does not sign this as it is: {'; '.join(faults)}", do=BY_HASHES_DO)
