"""EIP-712 typed data: from JSON to domain separator, struct hash and digest, strictly.

Airlock signs this digest alone. Common libraries hash what must be refused (extra fields, ``"false"`` for a bool, wrong
checksums, ``"5_000"``); here the document, its types and its domain have one form. Source of the rules: EIP-712.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import keccak256, parse_address
from airlock_shared.ethereum.struct_types import Member, Structs

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
IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,127}", re.ASCII)
NO_IDENTIFIER = "a member's name or type is not an identifier"
_LIKE_A_TYPE = re.compile(r"(?:u?int|bytes?|u?fixed)[0-9]*(?:x[0-9]+)?", re.ASCII)
_TYPE_WORDS = frozenset("address bool string function mapping tuple array struct enum contract payable".split())
_ATOMIC = re.compile(r"(?:(u?int)([1-9][0-9]{0,2})|bytes([1-9][0-9]?)|(bytes|string|bool|address))", re.ASCII)


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
    """Struct types that every reader reads the same: they read a message's values, and hash them."""

    def __init__(self, structs: Structs) -> None:
        """Look at every name. Raises ``Refusal``: ``TYPES-FORM`` for one that is none or misleads, ``TYPES-UNDEFINED``."""
        self.structs = structs
        for name, members in structs.items():
            if name in _TYPE_WORDS or _LIKE_A_TYPE.fullmatch(name):
                raise Refusal(
                    "TYPES-FORM",
                    "a struct has the name of a type of Solidity, or one like it",
                    repr(name[:80]),
                    "a name that no reader takes for a type",
                )
            names = [member.name for member in members]
            if wrong := [member._asdict() for member in members if not IDENTIFIER.fullmatch(member.name)]:
                raise Refusal("TYPES-FORM", NO_IDENTIFIER, brief(wrong[0])).at(name)
            if len(set(names)) != len(names):
                raise Refusal("TYPES-FORM", "two members have the same name", brief(names)).at(name)
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
                        repr(type_name[:80]),
                        "an atomic type or a defined struct",
                    ).at(where)
        self.type_hashes = {name: keccak256(self.encode_type(name).encode()) for name in structs}

    def encode_type(self, primary: str) -> str:
        """Return EIP-712's ``encodeType``: the primary struct, then every referenced struct sorted by name."""
        ordered = [primary, *sorted(reached(self.structs, primary) - {primary})]
        return "".join(f"{n}({','.join(f'{m.type} {m.name}' for m in self.structs[n])})" for n in ordered)

    def read(self, type_name: str, value: MessageValue) -> MessageValue:
        """Read a JSON value into its canonical value: of a struct, into those of its members.

        Raises ``Refusal`` with an id of the ``MSG`` family and the place in the message. How deep a value is nested, its
        document's reader has bounded.
        """
        if type_name in self.structs:
            types = dict(self.structs[type_name])
            if type(value) is not dict:
                raise Refusal("MSG-STRUCT", "not an object", brief(value), f"an object for {type_name}")
            if value.keys() != types.keys():
                extra, missing = sorted(value.keys() - types.keys()), sorted(types.keys() - value.keys())
                said = [f"has {brief(extra)} too many"] if extra else []
                said += [f"lacks {brief(missing)}"] if missing else []
                raise Refusal(
                    "MSG-FIELDS",
                    f"{type_name} {' and '.join(said)}",
                    brief(sorted(value)),
                    brief(sorted(types)),
                    do="a field outside the type is not covered by the signature; ask who built this payload",
                )
            return {name: self._read_at(name, kind, value[name]) for name, kind in types.items()}
        if array := split_array(type_name):
            length = array[1]
            if type(value) is not list:
                raise Refusal("MSG-ARRAY", "not an array", brief(value), "a JSON array")
            if length is not None and len(value) != length:
                raise Refusal("MSG-ARRAY", "wrong number of elements", len(value), length)
            if len(value) > MAX_ARRAY_LENGTH:
                raise Refusal("MSG-ARRAY", "too many elements", len(value), f"<= {MAX_ARRAY_LENGTH}")
            return [self._read_at(f"[{place}]", array[0], item) for place, item in enumerate(value)]
        return _read_atomic(type_name, value)

    def _read_at(self, place: str, type_name: str, value: MessageValue) -> MessageValue:
        try:
            return self.read(type_name, value)
        except Refusal as refusal:
            raise refusal.at(place) from None

    def hash_struct(self, struct: str, value: StructValues) -> bytes:
        """Return EIP-712's ``hashStruct``, 32 bytes, of canonical values as :meth:`read` returns them."""
        words = [self._word(member.type, value[member.name]) for member in self.structs[struct]]
        return keccak256(self.type_hashes[struct] + b"".join(words))

    def _word(self, type_name: str, value: MessageValue) -> bytes:
        """Return the 32 bytes by which a canonical value stands in the hash of what holds it."""
        if type_name in self.structs:
            return self.hash_struct(type_name, value)
        if array := split_array(type_name):
            return keccak256(b"".join([self._word(array[0], item) for item in value]))
        kind, _ = _atomic(type_name)
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
    kind, size = _atomic(type_name)
    if kind in ("uint", "int"):
        number, (lowest, highest) = read_integer(value), integer_range(kind, size)
        if not lowest <= number <= highest:
            raise Refusal("MSG-RANGE", f"outside the range of {type_name}", number, f"{lowest} to {highest}")
        return number
    if kind in ("bytes", "bytesN"):
        expected = f"0x and {2 * size} hex digits" if size else "0x and an even number of hex digits"
        if type(value) is not str or not _HEX.fullmatch(value) or (size and len(value) != 2 + 2 * size):
            raise Refusal("MSG-BYTES", "not bytes of the type's length in hex", brief(value), expected)
        return bytes.fromhex(value[2:])
    if kind == "bool":
        if type(value) is not bool:
            raise Refusal("MSG-BOOL", "not a boolean", brief(value), "true or false, without quotes")
        return value
    if kind == "address":
        if type(value) is not str:
            raise Refusal("MSG-ADDRESS", "not an address", brief(value), "0x and 40 hex digits")
        return parse_address(value)
    if type(value) is not str:
        raise Refusal("MSG-STRING", "not a text", brief(value), "a JSON string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Refusal("MSG-STRING", "the text has no UTF-8 form (a lone surrogate)", ascii(value[:80])) from error
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
        brief(value),
        "a decimal string such as '1500000', or a JSON integer up to 2^53-1",
    )


# ---- eip712 ---------------------------------------------------------------------------------------------------------


class TypedData(NamedTuple):
    """Typed data whose every value has been read strictly: canonical values of the domain and of the message.

    ``structs`` are ``EIP712Domain``, with the members that the domain has, then what the primary type is and holds.
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


# ---- ABI ------------------------------------------------------------------------------------------------------------
# Solidity's ABI encoding, strict and in its canonical form only.
#
# Types are structs, as above, and values are canonical: those of a struct by its members' names. A function's arguments are
# the members of a struct. Nothing that is signed or sent has an array, and an array is no type here; nor is an empty struct
# within another.
# Source of the rules: the Solidity contract ABI specification, "Formal Specification of the Encoding".


MAX_ENCODED_BYTES = 1 << 20


def encode_abi(structs: Structs, values: StructValues) -> bytes:
    """Return ``abi.encode`` of the members of the struct ``""``, one after the other, as a function's arguments are encoded.

    A value that the type cannot hold is a programming error and raises ``ValueError``: values come from
    :class:`Definitions` or from :func:`decode_abi`, which have read them strictly.
    """
    return _encode(structs, "", values)


def as_argument(structs: Structs, struct: str) -> Structs:
    """Return the structs with one more, ``""``, of which a struct is the only member, ``""``.

    So it is in ``abi.encode(struct)``: a dynamic struct begins with the offset word 0x20, a static one does not.
    """
    return {**structs, "": (Member("", struct),)}


def decode_abi(structs: Structs, data: bytes) -> StructValues:
    """Return the values of the members of ``""`` that ``data`` encodes one after the other, the canonical encoding only.

    Raises ``Refusal("ENC-CANONICAL")`` when data is short, has offsets, padding or bytes to spare, a value out of its
    type's range, or values that are not returned, because two members have one name.
    """
    if len(data) > MAX_ENCODED_BYTES:
        raise _not_canonical("too long", f"{len(data)} bytes", f"<= {MAX_ENCODED_BYTES} bytes")
    values: StructValues = _decode(structs, "", data, 0)[0]
    again = _encode(structs, "", values)
    if again != data:
        first = next(
            (i for i, (a, b) in enumerate(zip(again, data, strict=False)) if a != b), min(len(again), len(data))
        )
        raise _not_canonical(f"differs from its canonical form at byte {first}", f"{len(data)} bytes", f"{len(again)}")
    return values


def _not_canonical(what: str, got: str, expected: str) -> Refusal:
    return Refusal("ENC-CANONICAL", f"the encoding is not canonical: {what}", got, expected)


def _atomic(type_name: str) -> tuple[str, int]:
    """Return an atomic type as :func:`atomic_kind` does. Raises ``ValueError`` for what is none."""
    if (found := atomic_kind(type_name)) is None:
        raise ValueError(f"not an ABI type: {type_name!r}")
    return found


def _static_size(structs: Structs, type_name: str) -> int:
    """Return the bytes of every value of a static type; 0 for a dynamic one, whose values are not all of one size."""
    if type_name in structs:
        sizes = [_static_size(structs, member.type) for member in structs[type_name]]
        return sum(sizes) if all(sizes) else 0
    return 0 if type_name in ("bytes", "string") else 32


def _head_size(structs: Structs, struct: str) -> int:
    """Return the bytes before a struct's tails: a static member stands there itself, of a dynamic one its offset."""
    return sum(_static_size(structs, member.type) or 32 for member in structs[struct])


def _word(data: bytes, at: int) -> int:
    if at + 32 > len(data):
        raise _not_canonical(f"it ends before byte {at + 32}", f"{len(data)} bytes", f">= {at + 32} bytes")
    return int.from_bytes(data[at : at + 32], "big")


def _number(value: int) -> bytes:
    return (value % (1 << 256)).to_bytes(32, "big")  # two's complement


def _encode(structs: Structs, type_name: str, value: Any) -> bytes:
    if type_name in structs:
        head, tail, head_size = b"", b"", _head_size(structs, type_name)
        _require(value.keys() == dict(structs[type_name]).keys(), type_name, value)
        for name, kind in structs[type_name]:
            encoded = _encode(structs, kind, value[name])
            if _static_size(structs, kind):
                head += encoded
            else:
                head, tail = head + _number(head_size + len(tail)), tail + encoded
        return head + tail
    kind, size = _atomic(type_name)
    if kind in ("bytes", "string"):
        _require(type(value) is (str if kind == "string" else bytes), type_name, value)
        raw: bytes = value.encode() if kind == "string" else value
        return _number(len(raw)) + raw + bytes(-len(raw) % 32)
    if kind in ("address", "bytesN"):
        _require(type(value) is bytes and len(value) == (size or 20), type_name, value)
        return padded(kind, value)
    low, high = integer_range(kind, size)
    _require(type(value) is (bool if kind == "bool" else int) and low <= value <= high, type_name, value)
    return _number(value)


def _require(fits: bool, name: str, value: Any) -> None:
    """Raise ``ValueError`` for a value that its type cannot hold."""
    if not fits:
        raise ValueError(f"{name} cannot hold {value!r:.80}")


def _decode(structs: Structs, type_name: str, data: bytes, at: int) -> tuple[Any, int]:
    """Return the value whose encoding begins at a place, and where the encoding ends."""
    if type_name in structs:
        values, position, end = {}, at, at + _head_size(structs, type_name)
        for name, kind in structs[type_name]:
            size = _static_size(structs, kind)
            if size:
                values[name], _ = _decode(structs, kind, data, position)
            else:  # each tail begins where the one before it ends, so that no byte is decoded twice
                if (offset := _word(data, position)) != end - at:
                    what = f"the offset at byte {position} is not where the next part begins"
                    raise _not_canonical(what, str(offset), str(end - at))
                values[name], end = _decode(structs, kind, data, end)
            position += size or 32
        return values, end
    kind, size = _atomic(type_name)
    number = _word(data, at)
    if kind in ("bytes", "string"):
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
        raise _not_canonical(f"{number} is outside {type_name}", str(number), f"{low} to {high}")
    return number, at + 32
