"""EIP-712 typed data: from JSON to domain separator, struct hash and digest, strictly.

Airlock signs this digest alone. Common libraries hash what must be refused (extra fields, ``"false"`` for a bool, wrong
checksums, ``"5_000"``); here the document, its types and its domain have one form. Source of the rules: EIP-712.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import keccak256, parse_address

# ---- eip712 types ---------------------------------------------------------------------------------------------------
# The struct types of EIP-712 typed data, and their values: read strictly from JSON, hashed as 32-byte words.
# Every value has one accepted spelling, or those of the field's practice: an integer as decimal string or as a JSON
# integer up to 2**53 - 1, an address in one case or with its checksum, bytes in any case. Source of the rules: EIP-712,
# "Definition of typed structured data" and "encodeData"; EIP-55.


MessageValue = Any
"""A canonical value: int, bool, bytes (address, bytesN, bytes), str, list of values, or dict of values (a struct)."""

StructValues = dict[str, MessageValue]
"""The canonical values of a struct, by their members' names."""

MAX_ARRAY_LENGTH = 4096
_MAX_DEPTH = 16
MAX_JSON_INTEGER = 2**53 - 1  # above it, a JSON number has passed through a double somewhere and may be another number

_DECIMAL = re.compile(r"0|-?[1-9][0-9]{0,77}", re.ASCII)
_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})*", re.ASCII)
_ARRAY = re.compile(r"(.+)\[(|[1-9][0-9]{0,3})\]", re.ASCII | re.DOTALL)
_ATOMIC = re.compile(r"(?:(u?int)([1-9][0-9]{0,2})|bytes([1-9][0-9]?)|(bytes|string|bool|address))", re.ASCII)


class Member(NamedTuple):
    """One member of a struct type."""

    name: str
    type: str


Structs = Mapping[str, tuple[Member, ...]]
"""Struct types by their names."""


def atomic_kind(type_name: str) -> tuple[str, int] | None:
    """Return ``(kind, bits or bytes)`` of an atomic type, or None when the name is not one.

    Kinds are ``uint``, ``int``, ``bytesN``, ``bytes``, ``string``, ``bool`` and ``address``.
    """
    match = _ATOMIC.fullmatch(type_name)
    if not match:
        return None
    integer, bits, size, other = match.groups()
    if integer:
        return (integer, int(bits)) if int(bits) % 8 == 0 and int(bits) <= 256 else None
    if size:
        return ("bytesN", int(size)) if int(size) <= 32 else None
    return other, 0


def integer_range(kind: str, bits: int | None) -> tuple[int, int]:
    """Return the lowest and the highest number that an integer type holds, both included; of ``bool`` 0 and 1."""
    bits = bits or 1
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "int" else (0, (1 << bits) - 1)


def split_array(type_name: str) -> tuple[str, int | None] | None:
    """Return ``(element type, fixed length or None)`` of an array type, or None when it is not an array."""
    match = _ARRAY.fullmatch(type_name)
    if not match:
        return None
    return match[1], int(match[2]) if match[2] else None


def reached(structs: Structs, name: str, seen: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the structs that a struct holds, itself only when it is within itself."""
    for member in structs[name]:
        if (base := member.type.partition("[")[0]) in structs and base not in seen:
            seen = reached(structs, base, seen | {base})
    return seen


class Definitions:
    """The struct types of one typed-data document, read strictly: they read a message's values, and hash them."""

    def __init__(self, structs: Structs) -> None:
        self.structs = structs
        for name, members in structs.items():
            for member in members:
                type_name = member.type
                where = f"{name}.{member.name}"
                depth = 0
                while depth <= _MAX_DEPTH and (array := split_array(type_name)):
                    type_name, depth = array[0], depth + 1
                if depth > _MAX_DEPTH:
                    raise Refusal("TYPES-FORM", f"arrays nested more than {_MAX_DEPTH} deep").at(where)
                if atomic_kind(type_name) is None and type_name not in self.structs:
                    raise Refusal(
                        "TYPES-UNDEFINED",
                        "the type is neither an atomic type of EIP-712 nor defined in types",
                        got=repr(type_name[:80]),
                        expected="an atomic type or a defined struct",
                    ).at(where)
        self.type_hashes = {name: keccak256(self.encode_type(name).encode()) for name in structs}

    def encode_type(self, primary: str) -> str:
        """Return EIP-712's ``encodeType``: the primary struct, then every referenced struct sorted by name."""
        ordered = [primary, *sorted(reached(self.structs, primary) - {primary})]
        return "".join(f"{n}({','.join(f'{m.type} {m.name}' for m in self.structs[n])})" for n in ordered)

    def read(self, struct: str, value: MessageValue) -> StructValues:
        """Read a struct's JSON value into canonical values.

        Raises ``Refusal`` with an id of the ``MSG`` family and the place in the message.
        """
        result: StructValues = self._read(struct, value, ())
        return result

    def _read(self, type_name: str, value: MessageValue, within: tuple[str, ...]) -> MessageValue:
        """Return the canonical value of a member; ``within`` are the structs around it, the outermost first."""
        if type_name in self.structs:
            types = dict(self.structs[type_name])
            if type(value) is not dict:
                raise Refusal("MSG-STRUCT", "not an object", got=brief(value), expected=f"an object for {type_name}")
            if value.keys() != types.keys():
                extra, missing = sorted(value.keys() - types.keys()), sorted(types.keys() - value.keys())
                said = [f"has {brief(extra)} too many"] if extra else []
                said += [f"lacks {brief(missing)}"] if missing else []
                raise Refusal(
                    "MSG-FIELDS",
                    f"{type_name} {' and '.join(said)}",
                    got=brief(sorted(value)),
                    expected=brief(sorted(types)),
                    do="a field outside the type is not covered by the signature; ask who built this payload",
                )
            if within.count(type_name) >= _MAX_DEPTH:
                raise Refusal("MSG-STRUCT", f"structs nested more than {_MAX_DEPTH} deep")
            inner = (*within, type_name)
            return {name: self._read_at(name, kind, value[name], inner) for name, kind in types.items()}
        if array := split_array(type_name):
            length = array[1]
            if type(value) is not list:
                raise Refusal("MSG-ARRAY", "not an array", got=brief(value), expected="a JSON array")
            if length is not None and len(value) != length:
                raise Refusal("MSG-ARRAY", "wrong number of elements", got=len(value), expected=length)
            if len(value) > MAX_ARRAY_LENGTH:
                raise Refusal("MSG-ARRAY", "too many elements", got=len(value), expected=f"<= {MAX_ARRAY_LENGTH}")
            return [self._read_at(f"[{place}]", array[0], item, within) for place, item in enumerate(value)]
        return _read_atomic(type_name, value)

    def _read_at(self, place: str, type_name: str, value: MessageValue, within: tuple[str, ...]) -> MessageValue:
        try:
            return self._read(type_name, value, within)
        except Refusal as refusal:
            raise refusal.at(place) from None

    def hash_struct(self, struct: str, value: StructValues) -> bytes:
        """Return EIP-712's ``hashStruct``, 32 bytes, of canonical values as :meth:`read` returns them."""
        return self._word(struct, value)

    def _word(self, type_name: str, value: MessageValue) -> bytes:
        """Return the 32 bytes by which a canonical value stands in the hash of what holds it."""
        if type_name in self.structs:
            words = [self._word(member.type, value[member.name]) for member in self.structs[type_name]]
            return keccak256(self.type_hashes[type_name] + b"".join(words))
        if array := split_array(type_name):
            return keccak256(b"".join([self._word(array[0], item) for item in value]))
        kind, _ = atomic_kind(type_name) or ("", 0)
        if kind in ("string", "bytes"):
            return keccak256(value.encode() if kind == "string" else value)
        if kind in ("address", "bytesN"):
            return padded(kind, value)
        return int(value).to_bytes(32, "big", signed=kind == "int")


def padded(kind: str, value: bytes) -> bytes:
    """Return the 32 bytes of an address, which stands at their end, or of a ``bytesN``, which stands at their beginning."""
    return value.rjust(32, b"\0") if kind == "address" else value.ljust(32, b"\0")


def brief(value: MessageValue) -> str:
    """Return a value as a refusal quotes it: its repr, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


def _read_atomic(type_name: str, value: MessageValue) -> MessageValue:
    """Return the canonical value of an atomic type."""
    kind, size = atomic_kind(type_name) or ("", 0)
    if kind in ("uint", "int"):
        number, (lowest, highest) = read_integer(value), integer_range(kind, size)
        if not lowest <= number <= highest:
            raise Refusal(
                "MSG-RANGE", f"outside the range of {type_name}", got=number, expected=f"{lowest} to {highest}"
            )
        return number
    if kind in ("bytes", "bytesN"):
        expected = f"0x and {2 * size} hex digits" if size else "0x and an even number of hex digits"
        if type(value) is not str or not _HEX.fullmatch(value) or (size and len(value) != 2 + 2 * size):
            raise Refusal("MSG-BYTES", "not bytes of the type's length in hex", got=brief(value), expected=expected)
        return bytes.fromhex(value[2:])
    if kind == "bool":
        if type(value) is not bool:
            raise Refusal("MSG-BOOL", "not a boolean", got=brief(value), expected="true or false, without quotes")
        return value
    if kind == "address":
        if type(value) is not str:
            raise Refusal("MSG-ADDRESS", "not an address", got=brief(value), expected="0x and 40 hex digits")
        return parse_address(value)
    if type(value) is not str:
        raise Refusal("MSG-STRING", "not a text", got=brief(value), expected="a JSON string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Refusal("MSG-STRING", "the text has no UTF-8 form (a lone surrogate)", got=ascii(value[:80])) from error
    return value


def read_integer(value: MessageValue) -> int:
    """Read an integer: a decimal string without sign, zeros or separators to spare, or a JSON integer up to 2**53 - 1.

    Raises ``Refusal("MSG-INT")`` for hex, exponents, floats, a leading plus or zero, spaces, underscores.
    """
    if type(value) is str:
        if _DECIMAL.fullmatch(value):
            return int(value)
    elif type(value) is int and -MAX_JSON_INTEGER <= value <= MAX_JSON_INTEGER:
        return value
    raise Refusal(
        "MSG-INT",
        "not an integer in its one accepted spelling",
        got=brief(value),
        expected="a decimal string such as '1500000', or a JSON integer up to 2^53-1",
    )


# ---- eip712 ---------------------------------------------------------------------------------------------------------


DOMAIN_TYPE = "EIP712Domain"
MAX_STRUCTS = 64
MAX_MEMBERS = 128

_LIKE_A_TYPE = re.compile(r"(?:u?int|bytes?|u?fixed)[0-9]*(?:x[0-9]+)?", re.ASCII)
_TYPE_WORDS = frozenset("address bool string function mapping tuple array struct enum contract payable".split())
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,127}", re.ASCII)


class TypedData(NamedTuple):
    """Typed data whose every value has been read strictly: canonical values of the domain and of the message.

    ``structs`` holds ``EIP712Domain`` too, with the members that the domain has.
    """

    structs: Structs
    primary_type: str
    domain: StructValues
    message: StructValues


class Hashes(NamedTuple):
    """The three 32-byte hashes that a person compares: ``digest = keccak256(1901 || domain || struct)``."""

    domain_separator: bytes
    struct_hash: bytes
    digest: bytes


def read_types(types: MessageValue) -> Definitions:
    """Read the ``types`` object of a typed-data document.

    Raises ``Refusal`` with an id of the ``TYPES`` family.
    """
    if type(types) is not dict or not 0 < len(types) <= MAX_STRUCTS:
        raise Refusal("TYPES-FORM", "types is not an object of struct definitions", got=brief(types))
    structs = {}
    for name, members in types.items():
        if not _IDENTIFIER.fullmatch(name.replace(":", "_")):
            raise Refusal("TYPES-FORM", "not a name for a struct", got=repr(name[:80]), expected="an identifier")
        if name in _TYPE_WORDS or _LIKE_A_TYPE.fullmatch(name):
            raise Refusal(
                "TYPES-FORM",
                "a struct has the name of a type of Solidity, or one like it",
                got=repr(name[:80]),
                expected="a name that no reader takes for a type",
            )
        if type(members) is not list or len(members) > MAX_MEMBERS:
            raise Refusal("TYPES-FORM", f"not a list of at most {MAX_MEMBERS} members", got=brief(members)).at(name)
        result = []
        for member in members:
            if type(member) is not dict or set(member) != {"name", "type"}:
                raise Refusal("TYPES-FORM", "a member is not {name, type}", got=brief(member)).at(name)
            own, type_name = member["name"], member["type"]
            if type(own) is not str or not _IDENTIFIER.fullmatch(own) or type(type_name) is not str:
                raise Refusal("TYPES-FORM", "a member's name or type is not an identifier", got=brief(member)).at(name)
            result.append(Member(own, type_name))
        if len({m.name for m in result}) != len(result):
            raise Refusal("TYPES-FORM", "two members have the same name", got=brief([m.name for m in result])).at(name)
        structs[name] = tuple(result)
    return Definitions(structs)


# ---- ABI ------------------------------------------------------------------------------------------------------------
# Solidity's ABI encoding, strict and in its canonical form only.
#
# A type is its canonical text, with tuples in parentheses: ``(address,uint256)``; nothing that is signed or sent has an
# array, and an array is no type here. Values are those of :mod:`airlock_shared.ethereum.eip712`: int, bool, bytes (20 for
# an address), str, and sequences for tuples.
# Source of the rules: the Solidity contract ABI specification, "Formal Specification of the Encoding".


MAX_ENCODED_BYTES = 1 << 20


class AbiType(NamedTuple):
    """A type, read from its text. ``size`` is that of :func:`atomic_kind`, ``parts`` are a tuple's components.

    ``head_size`` is its size in the head of a tuple: 32 for every dynamic type.
    """

    name: str
    kind: str
    size: int
    parts: tuple[AbiType, ...]
    dynamic: bool
    head_size: int


def encode_abi(types: Sequence[str], values: Sequence[Any]) -> bytes:
    """Return ``abi.encode`` of the values, one per type. Source: the Solidity documentation, "Contract ABI Specification".

    A value that the type cannot hold is a programming error and raises ``ValueError``: values come from
    :mod:`airlock_shared.ethereum.eip712` or from :func:`decode_abi`, which have read them strictly.
    """
    return _encode(type_of(f"({','.join(types)})"), values)


def encode_struct(struct: str, values: Sequence[Any]) -> bytes:
    """Return ``abi.encode(struct)``: a dynamic struct begins with the offset word 0x20, a static one does not.

    Raises as :func:`encode_abi`.
    """
    read = type_of(struct)
    return (_number(32) if read.dynamic else b"") + _encode(read, values)


def decode_abi(types: Sequence[str], data: bytes) -> list[Any]:
    """Return the values that ``data`` encodes, accepting the canonical encoding only.

    Raises ``Refusal("ENC-CANONICAL")`` when data is short, has offsets, padding or bytes to spare, or a value out of
    its type's range.
    """
    if len(data) > MAX_ENCODED_BYTES:
        raise _not_canonical("too long", f"{len(data)} bytes", f"<= {MAX_ENCODED_BYTES} bytes")
    read = type_of(f"({','.join(types)})")
    values: list[Any] = _decode(read, data, 0)[0]
    again = _encode(read, values)
    if again != data:
        first = next(
            (i for i, (a, b) in enumerate(zip(again, data, strict=False)) if a != b), min(len(again), len(data))
        )
        raise _not_canonical(f"differs from its canonical form at byte {first}", f"{len(data)} bytes", f"{len(again)}")
    return values


def _not_canonical(what: str, got: str, expected: str) -> Refusal:
    return Refusal("ENC-CANONICAL", f"the encoding is not canonical: {what}", got=got, expected=expected)


def type_of(name: str) -> AbiType:
    """Return the type of a type text. Raises ``ValueError`` for a text that is not a type."""
    if name.startswith("(") and name.endswith(")"):
        parts = tuple(map(type_of, split_tuple(name)))
        dynamic = any(part.dynamic for part in parts)
        return AbiType(name, "tuple", 0, parts, dynamic, 32 if dynamic else sum(part.head_size for part in parts))
    if (found := atomic_kind(name)) is None:
        raise ValueError(f"not an ABI type: {name!r}")
    return AbiType(name, *found, (), found[0] in ("bytes", "string"), 32)


def split_tuple(type_name: str) -> list[str]:
    """Return the component types of a tuple type: of ``(address,(uint256,bool))`` ``address`` and ``(uint256,bool)``."""
    parts, depth, start = [], 0, 1
    for position, character in enumerate(type_name[1:-1], start=1):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(type_name[start:position])
            start = position + 1
    return [*parts, type_name[start:-1]] if len(type_name) > 2 else []


def _word(data: bytes, at: int) -> int:
    if at + 32 > len(data):
        raise _not_canonical(f"it ends before byte {at + 32}", f"{len(data)} bytes", f">= {at + 32} bytes")
    return int.from_bytes(data[at : at + 32], "big")


def _number(value: int) -> bytes:
    return (value % (1 << 256)).to_bytes(32, "big")  # two's complement


def _encode(of: AbiType, value: Any) -> bytes:
    name, kind, size, parts, dynamic, _ = of
    if kind == "tuple":
        head, tail, head_size = b"", b"", sum(part.head_size for part in parts)
        for part, each in zip(parts, value, strict=True):
            encoded = _encode(part, each)
            if part.dynamic:
                head, tail = head + _number(head_size + len(tail)), tail + encoded
            else:
                head += encoded
        return head + tail
    if dynamic:
        _require(type(value) is (str if kind == "string" else bytes), name, value)
        raw: bytes = value.encode() if kind == "string" else value
        return _number(len(raw)) + raw + bytes(-len(raw) % 32)
    if kind in ("address", "bytesN"):
        _require(type(value) is bytes and len(value) == (size or 20), name, value)
        return padded(kind, value)
    low, high = integer_range(kind, size)
    _require(type(value) is (bool if kind == "bool" else int) and low <= value <= high, name, value)
    return _number(value)


def _require(fits: bool, name: str, value: Any) -> None:
    """Raise ``ValueError`` for a value that its type cannot hold."""
    if not fits:
        raise ValueError(f"{name} cannot hold {value!r:.80}")


def _decode(of: AbiType, data: bytes, at: int) -> tuple[Any, int]:
    """Return the value whose encoding begins at a place, and where the encoding ends."""
    name, kind, size, parts, dynamic, _ = of
    if kind == "tuple":
        values, position, end = [], at, at + sum(part.head_size for part in parts)
        for part in parts:
            if part.dynamic:  # each tail begins where the one before it ends, so that no byte is decoded twice
                if (offset := _word(data, position)) != end - at:
                    what = f"the offset at byte {position} is not where the next part begins"
                    raise _not_canonical(what, str(offset), str(end - at))
                value, end = _decode(part, data, end)
            else:
                value, _ = _decode(part, data, position)
            values.append(value)
            position += part.head_size
        return values, end
    number = _word(data, at)
    if dynamic:
        raw = data[at + 32 : at + 32 + number] if number <= len(data) else b""
        if len(raw) != number:
            raise _not_canonical("a length points past the end", str(number), f"<= {len(data)}")
        try:
            return raw.decode() if kind == "string" else raw, at + 32 + number + -number % 32
        except UnicodeDecodeError as error:
            raise _not_canonical("a string is not UTF-8", raw[:32].hex(), "UTF-8") from error
    if kind in ("address", "bytesN"):
        return data[at + 12 : at + 32] if kind == "address" else data[at : at + size], at + 32
    if kind == "bool":
        return bool(number), at + 32
    number -= number >> 255 << 256 if kind == "int" else 0
    low, high = integer_range(kind, size)
    if not low <= number <= high:
        raise _not_canonical(f"{number} is outside {name}", str(number), f"{low} to {high}")
    return number, at + 32
