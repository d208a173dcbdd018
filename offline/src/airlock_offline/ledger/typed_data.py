"""Typed data as the APDUs of the Ethereum app's full-fields flow: definitions, then every value, then the signature.

The device builds the hash from these values itself and shows each of them. Order of the definitions: ``EIP712Domain``,
then the reachable structs in the order of ``types``. Source: the app's protocol description (INS 1A, 1C and 0C with
P2 = 01); tests compare every APDU with the recorded exchanges.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from airlock_offline.ledger.apdu import (
    MAX_DATA,
    P1_FIRST,
    P1_PARTIAL,
    P2_ARRAY,
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
from airlock_offline.ledger.status import NoSuchWidth, SignedOtherwise, TooLargeForDevice
from airlock_shared.ethereum.eip712 import (
    DOMAIN_TYPE,
    Member,
    MessageValue,
    Structs,
    TypedData,
    atomic_kind,
    reached,
    split_array,
)

MAX_ARRAY_COUNT = 120  # 255 elements made the real app quit
MAX_LEAVES = 240  # nobody reads more values than that on a device
MAX_VALUE_BYTES = 0xFFFF  # the length before a value has two bytes

SIGNED_BITS = (8, 16, 32, 64, 128, 256)
"""The app answers 6A80 to signed integers of any other width, as if a setting were off; unsigned ones it takes in all."""

_ARRAY_FLAG = 0x80
_SIZE_FLAG = 0x40
_CUSTOM = 0
_TYPE_CODES = {"int": 1, "uint": 2, "address": 3, "bool": 4, "string": 5, "bytesN": 6, "bytes": 7}
_DYNAMIC_LEVEL = b"\x00"
_FIXED_LEVEL = 0x01


class Leaf(NamedTuple):
    """One value that the device hashes and shows: its field's name and atomic type, the canonical value, and its path."""

    name: str
    type: str
    value: MessageValue
    path: str


class ArrayCount(NamedTuple):
    """The number of elements of one array level, which precedes them."""

    elements: int
    path: str


class StructBegun(NamedTuple):
    """Where a struct's members follow, which no command says; the path of an array's element ends in ``[]``."""

    path: str


Met = Leaf | ArrayCount | StructBegun
"""What the app meets of a message, one after the other."""


class FieldsFlow(NamedTuple):
    """The three parts of the flow, in the order in which they are sent."""

    definitions: list[Apdu]
    values: list[Apdu]
    sign: Apdu


def fields_flow(path: str, typed_data: TypedData) -> FieldsFlow:
    """Return every APDU with which the device signs ``typed_data`` field by field.

    Raises ``UsageError`` when ``path`` is not a path, ``TooLargeForDevice`` when a limit is passed, ``NoSuchWidth``.
    """
    structs = streamed_structs(typed_data)
    definitions = definitions_of(structs)
    values = root_of(DOMAIN_TYPE) + values_of(leaves(typed_data, DOMAIN_TYPE))
    values += root_of(typed_data.primary_type) + values_of(leaves(typed_data, typed_data.primary_type))
    sign = ethereum_apdu(Ins.SIGN_EIP712, P1_FIRST, P2_SIGN_FIELDS, encode_path(path))
    return FieldsFlow(definitions, values, sign)


WIDTHS = f"signed integers of {', '.join(map(str, SIGNED_BITS))} bits"
WIDTHS_DO = (
    'no setting of the app changes this: have the signer sign by hashes (show = "hashes", needs Blind signing), or do not '
    "sign this struct with a Ledger"
)


def refused_integers(structs: Structs) -> list[str]:
    """Return the members whose integers have a width that the app refuses, as ``Order.price (int24)``."""
    bases = ((name, member, member.type.partition("[")[0]) for name, members in structs.items() for member in members)
    sized = ((f"{name}.{member.name} ({member.type})", atomic_kind(base)) for name, member, base in bases)
    return [said for said, kind in sized if kind and kind[0] == "int" and kind[1] not in SIGNED_BITS]


def streamed_structs(typed_data: TypedData) -> Structs:
    """Return the structs to define: ``EIP712Domain``, then what the primary type reaches, in the order of ``types``."""
    streamed = {typed_data.primary_type} | reached(typed_data.structs, typed_data.primary_type)
    in_order = {name: members for name, members in typed_data.structs.items() if name in streamed}
    return {DOMAIN_TYPE: typed_data.structs[DOMAIN_TYPE]} | in_order


def leaves(typed_data: TypedData, root: str) -> Iterator[Leaf | ArrayCount]:
    """Yield the values below ``EIP712Domain`` or below the primary type, in hashing order, with the array counts."""
    value = typed_data.domain if root == DOMAIN_TYPE else typed_data.message
    for item in _walk(typed_data.structs, Member("", root), value, ""):
        if not isinstance(item, StructBegun):
            yield item


def _walk(structs: Structs, member: Member, value: MessageValue, path: str) -> Iterator[Met]:
    """Yield what the app meets of a member's value, in its order."""
    name, kind = member
    if array := split_array(kind):
        yield ArrayCount(len(value), path)
        for each in value:
            yield from _walk(structs, Member(name, array[0]), each, f"{path}[]")
    elif kind in structs:
        yield StructBegun(path)
        for inner in structs[kind]:
            yield from _walk(structs, inner, value[inner.name], f"{path}.{inner.name}".lstrip("."))
    else:
        yield Leaf(name, kind, value, path)


# ---- definitions --------------------------------------------------------------------------------------------------


def definitions_of(structs: Structs) -> list[Apdu]:
    """Return the commands that define structs, in their order. Raises as :func:`fields_flow`."""
    if refused := refused_integers(structs):
        raise NoSuchWidth(f"the Ethereum app takes {WIDTHS} alone, and not {', '.join(refused)}", do=WIDTHS_DO)
    define = partial(ethereum_apdu, Ins.EIP712_DEFINITION, P1_FIRST)
    result: list[Apdu] = []
    for name, members in structs.items():
        result.append(define(P2_NAME, name.encode()))
        result += [define(P2_FIELD, _field_definition(member, structs)) for member in members]
    return result


def _field_definition(member: Member, structs: Structs) -> bytes:
    base, levels = member.type, b""
    count = 0
    while array := split_array(base):
        base, length = array
        if length is not None and length > MAX_ARRAY_COUNT:
            raise _too_large(f"{member.name} is an array of {length} elements", f"{MAX_ARRAY_COUNT}")
        levels = (_DYNAMIC_LEVEL if length is None else bytes((_FIXED_LEVEL, length))) + levels
        count += 1
    code, rest = _type_code(base, structs)
    if count:
        code |= _ARRAY_FLAG
        levels = bytes((count,)) + levels
    data = bytes((code,)) + rest + levels + _with_length(member.name)
    if len(data) > MAX_DATA:
        raise _too_large(f"the definition of {member.name} takes {len(data)} bytes", f"{MAX_DATA}")
    return data


def _type_code(base: str, structs: Structs) -> tuple[int, bytes]:
    if base in structs:
        return _CUSTOM, _with_length(base)
    kind, size = atomic_kind(base) or ("", 0)
    if kind in ("int", "uint"):
        return _TYPE_CODES[kind] | _SIZE_FLAG, bytes((size // 8,))
    if kind == "bytesN":
        return _TYPE_CODES[kind] | _SIZE_FLAG, bytes((size,))
    return _TYPE_CODES[kind], b""


def _with_length(name: str) -> bytes:
    return bytes((len(name),)) + name.encode()


# ---- values -------------------------------------------------------------------------------------------------------


def root_of(name: str) -> list[Apdu]:
    """Return the command that begins the values of a root struct."""
    return [ethereum_apdu(Ins.EIP712_VALUE, P1_FIRST, P2_NAME, name.encode())]


def values_of(items: Iterator[Leaf | ArrayCount]) -> list[Apdu]:
    """Return the commands for values and counts."""
    result: list[Apdu] = []
    leaf_count = 0
    for item in items:
        if isinstance(item, ArrayCount):
            if item.elements > MAX_ARRAY_COUNT:
                raise _too_large(f"an array has {item.elements} elements", f"{MAX_ARRAY_COUNT}")
            result.append(ethereum_apdu(Ins.EIP712_VALUE, P1_FIRST, P2_ARRAY, bytes((item.elements,))))
            continue
        leaf_count += 1
        if leaf_count > MAX_LEAVES:
            raise _too_large(f"more than {MAX_LEAVES} values", f"{MAX_LEAVES}")
        result += _value(item)
    return result


def _value(leaf: Leaf) -> list[Apdu]:
    raw = encode_value(leaf.type, leaf.value)
    if len(raw) > MAX_VALUE_BYTES:
        raise _too_large(f"{leaf.name} has {len(raw)} bytes", f"{MAX_VALUE_BYTES}")
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


def _too_large(what: str, limit: str) -> TooLargeForDevice:
    return TooLargeForDevice(
        f"the Ledger cannot be asked to show this typed data: {what}, at most {limit}", do="split the request"
    )


# ---- app faults -----------------------------------------------------------------------------------------------------
# Typed data of which the Ethereum app signs another digest than EIP-712's: told before anything is shown or sent.
# Measured on the released app 1.22.0 in the emulator, on Flex and Nano S Plus; public as pull request 1060 of
# LedgerHQ's app-ethereum. Such a signature recovers to nobody's address, so that it would be refused afterwards all
# the same. No newer release was measured: each is taken to do as 1.22.0 does until one was.


FAULTS_DO = (
    'no setting of the app changes this: have the signer sign by hashes (show = "hashes", needs Blind signing), or do not '
    "sign this with a Ledger"
)
EXPECTED = "data that the Ethereum app hashes as EIP-712 says"
_MEASURED = "1.22.0"
_MEMBERS = 16  # of a nested struct


EMPTY_ARRAY = (
    f"an empty array before a struct, or at an element's beginning, is signed over another hash (app {_MEASURED})"
)
"""What the values show, and not the types."""


def type_faults(structs: Structs, primary: str) -> list[str]:
    """Return a sentence for each fault that the types alone bring."""
    within = sorted(reached(structs, primary))
    every = sorted({primary, *within})
    found = {
        f"a struct of {_MEMBERS} members within another is signed over another hash": [
            name for name in within if len(structs[name]) == _MEMBERS
        ],
        "an array of arrays of structs is signed over another hash": [
            f"{name}.{member.name} ({member.type})"
            for name in every
            for member in structs[name]
            if member.type.partition("[")[0] in structs and member.type.count("[") > 1
        ],
        "a struct within itself is signed over another hash": [
            name for name in every if name in reached(structs, name)
        ],
        "a struct without members is refused": [name for name in every if not structs[name]],
    }
    return [f"{what} (app {_MEASURED}): {', '.join(places)}" for what, places in found.items() if places]


def faults_of(typed_data: TypedData) -> list[str]:
    """Return a sentence for each fault that typed data brings."""
    told = type_faults(typed_data.structs, typed_data.primary_type)
    items = _walk(typed_data.structs, Member("", typed_data.primary_type), typed_data.message, "")
    places = [before.path for before, after in pairwise(items) if _is_hit(before, after)]
    return told + ([f"{EMPTY_ARRAY}: {', '.join(places)}"] if places else [])


def _is_hit(before: Met, after: Met) -> bool:
    """Tell whether an empty array stands before a struct, or at the beginning of an element that is one."""
    if isinstance(before, ArrayCount):
        return not before.elements and isinstance(after, StructBegun)
    at_an_element = isinstance(before, StructBegun) and before.path.endswith("[]")
    return at_an_element and isinstance(after, ArrayCount) and not after.elements


def require_no_fault(typed_data: TypedData) -> None:
    """Raise ``SignedOtherwise`` for typed data of which the app signs another digest, or that it refuses."""
    if faults := faults_of(typed_data):
        raise SignedOtherwise(f"the Ethereum app does not sign this as it is: {'; '.join(faults)}", do=FAULTS_DO)
