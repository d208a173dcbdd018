"""EIP-712 typed data: from JSON to domain separator, struct hash and digest, strictly.

Airlock signs this digest alone. Common libraries hash what must be refused (extra fields, ``"false"`` for a bool, wrong
checksums, ``"5_000"``); here the document, its types, its domain and each value have one form. Source of the rules: EIP-712.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import keccak256, parse_address

# ---- eip712 types ---------------------------------------------------------------------------------------------------
# The struct types of EIP-712 typed data, and their values: read strictly from JSON, hashed as 32-byte words.
# Every value has one accepted spelling, or two where the field's practice has two (an integer as decimal string or as
# a JSON integer up to 2**53 - 1). Source of the rules: EIP-712, "Definition of typed structured data" and
# "encodeData"; EIP-55.


MessageValue = Any
"""A canonical value: int, bool, bytes (address, bytesN, bytes), str, list of values, or dict of values (a struct)."""

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


class _Codec(NamedTuple):
    """How a type is read from JSON into its canonical value, and how that value becomes its 32-byte word."""

    read: Callable[[MessageValue], MessageValue]
    word: Callable[[MessageValue], bytes]


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


class Definitions:
    """The struct types of one typed-data document, read strictly, with a compiled codec per struct."""

    def __init__(self, structs: Mapping[str, tuple[Member, ...]]) -> None:
        self.structs = structs
        self._codecs: dict[str, _Codec] = {}
        for name, members in structs.items():
            for member in members:
                self._require_defined(member.type, f"{name}.{member.name}")
        for name in structs:
            self._codecs[name] = self._struct_codec(name)

    def _require_defined(self, type_name: str, where: str) -> None:
        depth = 0
        while array := split_array(type_name):
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

    def encode_type(self, primary: str) -> str:
        """Return EIP-712's ``encodeType``: the primary struct, then every referenced struct sorted by name."""
        seen: set[str] = set()
        pending = [primary]
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            pending += [base for m in self.structs[name] if (base := m.type.split("[")[0]) in self.structs]
        ordered = [primary, *sorted(seen - {primary})]
        return "".join(f"{n}({','.join(f'{m.type} {m.name}' for m in self.structs[n])})" for n in ordered)

    def type_hash(self, primary: str) -> bytes:
        """Return the 32-byte keccak-256 of ``encodeType``."""
        return keccak256(self.encode_type(primary).encode())

    def read(self, struct: str, value: MessageValue) -> dict[str, MessageValue]:
        """Read a struct's JSON value into canonical values.

        Raises ``Refusal`` with an id of the ``MSG`` family and the place in the message.
        """
        result: dict[str, MessageValue] = self._codecs[struct].read(value)
        return result

    def hash_struct(self, struct: str, value: dict[str, MessageValue]) -> bytes:
        """Return EIP-712's ``hashStruct``, 32 bytes, of canonical values as :meth:`read` returns them."""
        return self._codecs[struct].word(value)

    def _codec(self, type_name: str) -> _Codec:
        if type_name in self.structs:  # looked up late, so that a struct may hold an array of itself
            codecs = self._codecs
            return _Codec(lambda v: codecs[type_name].read(v), lambda v: codecs[type_name].word(v))
        if array := split_array(type_name):
            return _array_codec(self._codec(array[0]), array[1])
        return _atomic_codec(type_name)

    def _struct_codec(self, name: str) -> _Codec:
        members = [(m.name, *self._codec(m.type)) for m in self.structs[name]]
        names = [m.name for m in self.structs[name]]
        type_hash = self.type_hash(name)
        depth = 0

        def read(value: MessageValue) -> dict[str, MessageValue]:
            nonlocal depth
            if type(value) is not dict:
                raise Refusal("MSG-STRUCT", "not an object", got=brief(value), expected=f"an object for {name}")
            if list(value) != names and set(value) != set(names):
                raise _wrong_members(name, set(value), set(names))
            if depth >= _MAX_DEPTH:
                raise Refusal("MSG-STRUCT", f"structs nested more than {_MAX_DEPTH} deep")
            depth += 1
            member_name = ""
            try:
                result = {}
                for member_name, member_read, _ in members:
                    result[member_name] = member_read(value[member_name])
                return result
            except Refusal as refusal:
                raise refusal.at(member_name) from None
            finally:
                depth -= 1

        def word(value: MessageValue) -> bytes:
            return keccak256(type_hash + b"".join([member_word(value[n]) for n, _, member_word in members]))

        return _Codec(read, word)


def _wrong_members(struct: str, got: set[str], expected: set[str]) -> Refusal:
    extra, missing = sorted(got - expected), sorted(expected - got)
    said = [f"has {brief(extra)} too many"] if extra else []
    said += [f"lacks {brief(missing)}"] if missing else []
    return Refusal(
        "MSG-FIELDS",
        f"{struct} {' and '.join(said)}",
        got=brief(sorted(got)),
        expected=brief(sorted(expected)),
        do="a field outside the type is not covered by the signature; ask who built this payload",
    )


def brief(value: MessageValue) -> str:
    """Return a value as a refusal quotes it: its repr, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


def _array_codec(element: _Codec, length: int | None) -> _Codec:
    def read(value: MessageValue) -> list[MessageValue]:
        if type(value) is not list:
            raise Refusal("MSG-ARRAY", "not an array", got=brief(value), expected="a JSON array")
        if length is not None and len(value) != length:
            raise Refusal("MSG-ARRAY", "wrong number of elements", got=str(len(value)), expected=str(length))
        if len(value) > MAX_ARRAY_LENGTH:
            raise Refusal("MSG-ARRAY", "too many elements", got=str(len(value)), expected=f"<= {MAX_ARRAY_LENGTH}")
        result = []
        for position, item in enumerate(value):
            try:
                result.append(element.read(item))
            except Refusal as refusal:
                raise refusal.at(f"[{position}]") from None
        return result

    return _Codec(read, lambda value: keccak256(b"".join([element.word(item) for item in value])))


def _atomic_codec(type_name: str) -> _Codec:
    kind, size = atomic_kind(type_name) or ("", 0)
    if kind in ("uint", "int"):
        return _integer_codec(type_name, kind, size)
    if kind == "bytesN":
        return _Codec(lambda v: _read_bytes(v, size), lambda v: v.ljust(32, b"\0"))
    return {
        "bool": _Codec(_read_bool, lambda v: v.to_bytes(32, "big")),
        "address": _Codec(_read_address, lambda v: v.rjust(32, b"\0")),
        "string": _Codec(_read_string, lambda v: keccak256(v.encode())),
        "bytes": _Codec(lambda v: _read_bytes(v, None), keccak256),
    }[kind]


def _integer_codec(type_name: str, kind: str, bits: int) -> _Codec:
    lowest, highest = integer_range(kind, bits)

    def read(value: MessageValue) -> int:
        number = read_integer(value)
        if not lowest <= number <= highest:
            raise Refusal(
                "MSG-RANGE", f"outside the range of {type_name}", got=str(number), expected=f"{lowest} to {highest}"
            )
        return number

    return _Codec(read, lambda v: v.to_bytes(32, "big", signed=kind == "int"))


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


def _read_bool(value: MessageValue) -> bool:
    if type(value) is not bool:
        raise Refusal("MSG-BOOL", "not a boolean", got=brief(value), expected="true or false, without quotes")
    return value


def _read_address(value: MessageValue) -> bytes:
    if type(value) is not str:
        raise Refusal("MSG-ADDRESS", "not an address", got=brief(value), expected="0x and 40 hex digits")
    return parse_address(value)


def _read_string(value: MessageValue) -> str:
    if type(value) is not str:
        raise Refusal("MSG-STRING", "not a text", got=brief(value), expected="a JSON string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Refusal("MSG-STRING", "the text has no UTF-8 form (a lone surrogate)", got=ascii(value[:80])) from error
    return value


def _read_bytes(value: MessageValue, size: int | None) -> bytes:
    expected = "0x and an even number of hex digits" if size is None else f"0x and {2 * size} hex digits"
    if type(value) is not str or not _HEX.fullmatch(value) or (size is not None and len(value) != 2 + 2 * size):
        raise Refusal("MSG-BYTES", "not bytes of the type's length in hex", got=brief(value), expected=expected)
    return bytes.fromhex(value[2:])


# ---- eip712 ---------------------------------------------------------------------------------------------------------


DOMAIN_TYPE = "EIP712Domain"
DOMAIN_FIELDS = {  # EIP-712, "Definition of domainSeparator": these fields, in this order
    "name": "string",
    "version": "string",
    "chainId": "uint256",
    "verifyingContract": "address",
    "salt": "bytes32",
}
DOCUMENT_MEMBERS = ("types", "primaryType", "domain", "message")
MAX_STRUCTS = 64
MAX_MEMBERS = 128

_LIKE_A_TYPE = re.compile(r"(?:u?int|bytes?|u?fixed)[0-9]*(?:x[0-9]+)?", re.ASCII)
_TYPE_WORDS = frozenset("address bool string function mapping tuple array struct enum contract payable".split())
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,127}", re.ASCII)


class TypedData(NamedTuple):
    """Typed data whose every value has been read strictly; ``domain`` and ``message`` hold canonical values."""

    structs: Mapping[str, tuple[Member, ...]]
    primary_type: str
    domain: dict[str, MessageValue]
    message: dict[str, MessageValue]


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
            raise Refusal("TYPES-FORM", "a struct has the name of a type of Solidity, or one like it", got=repr(name[:80]),
                          expected="a name that no reader takes for a type")  # fmt: skip
        if "$" in name:
            raise Refusal("TYPES-FORM", "a struct's name has a $, which other programs read differently",
                          got=repr(name[:80]), expected="letters, digits and _")  # fmt: skip
        structs[name] = _read_members(name, members)
    if alone := [name for name in structs if ":" in name and not _is_alone(name, structs)]:
        raise Refusal("TYPES-FORM", "a struct's name has a :, and other programs do not find what it holds or what holds it",
                      got=repr(alone[0][:80]), expected="a : only in a struct that neither holds nor is held")  # fmt: skip
    return Definitions(structs)


def _is_alone(name: str, structs: Mapping[str, tuple[Member, ...]]) -> bool:
    """Tell whether a struct holds no struct and is held by none: then nobody has to find a struct's name in a type's."""
    held = {struct: {member.type.split("[")[0] for member in members} for struct, members in structs.items()}
    return not held[name] & structs.keys() and not any(name in types for types in held.values())


def _read_members(struct: str, members: MessageValue) -> tuple[Member, ...]:
    if type(members) is not list or len(members) > MAX_MEMBERS:
        raise Refusal("TYPES-FORM", f"not a list of at most {MAX_MEMBERS} members", got=brief(members)).at(struct)
    result = []
    for member in members:
        if type(member) is not dict or set(member) != {"name", "type"}:
            raise Refusal("TYPES-FORM", "a member is not {name, type}", got=brief(member)).at(struct)
        name, type_name = member["name"], member["type"]
        if type(name) is not str or not _IDENTIFIER.fullmatch(name) or type(type_name) is not str:
            raise Refusal("TYPES-FORM", "a member's name or type is not an identifier", got=brief(member)).at(struct)
        result.append(Member(name, type_name))
    if len({m.name for m in result}) != len(result):
        raise Refusal("TYPES-FORM", "two members have the same name", got=brief([m.name for m in result])).at(struct)
    return tuple(result)


def read_typed_data(document: MessageValue) -> tuple[TypedData, Hashes]:
    """Read an EIP-712 JSON document and hash it.

    ``document`` is the parsed JSON with exactly ``types``, ``primaryType``, ``domain`` and ``message``. ``EIP712Domain``
    may be left out of ``types``; it is then the canonical fields that ``domain`` has.

    Raises ``Refusal`` with an id of the families ``TYPES``, ``DOMAIN`` and ``MSG``.
    """
    if type(document) is not dict or set(document) != set(DOCUMENT_MEMBERS):
        raise Refusal(
            "TYPES-DOCUMENT",
            "not an EIP-712 document",
            got=brief(sorted(document)) if type(document) is dict else brief(document),
            expected="exactly types, primaryType, domain and message",
        )
    primary_type = document["primaryType"]
    definitions = _definitions_with_primary(document["types"], primary_type)
    domain, domain_separator = read_domain(definitions, document["domain"])
    try:
        message = definitions.read(primary_type, document["message"])
    except Refusal as refusal:
        raise refusal.at("message") from None
    struct_hash = definitions.hash_struct(primary_type, message)
    digest = keccak256(b"\x19\x01" + domain_separator + struct_hash)
    typed_data = TypedData(definitions.structs, primary_type, domain, message)
    return typed_data, Hashes(domain_separator, struct_hash, digest)


def _definitions_with_primary(types: MessageValue, primary_type: MessageValue) -> Definitions:
    if type(primary_type) is not str or type(types) is not dict or primary_type not in types:
        raise Refusal("TYPES-PRIMARY", "primaryType is not among the types", got=brief(primary_type))
    if primary_type == DOMAIN_TYPE:
        raise Refusal("TYPES-PRIMARY", "the domain itself is not a message", got=primary_type)
    return read_types(types)


def read_domain(definitions: Definitions, domain: MessageValue) -> tuple[dict[str, MessageValue], bytes]:
    """Return the domain's canonical values and its separator, 32 bytes.

    Raises ``Refusal`` with an id of the ``DOMAIN`` family, or of ``MSG`` for a value.
    """
    if type(domain) is not dict or not domain:
        raise Refusal(
            "DOMAIN-EMPTY",
            "the domain is empty, so the signature would be valid for any contract on any chain",
            got=brief(domain),
            expected="name, version, chainId and verifyingContract",
        )
    members = definitions.structs.get(DOMAIN_TYPE)
    if members is None:
        members = tuple(Member(n, t) for n, t in DOMAIN_FIELDS.items() if n in domain)
    _check_domain_members(members, domain)
    domain_definitions = read_types({DOMAIN_TYPE: [m._asdict() for m in members]})
    try:
        values = domain_definitions.read(DOMAIN_TYPE, domain)
    except Refusal as refusal:
        raise refusal.at("domain") from None
    return values, domain_definitions.hash_struct(DOMAIN_TYPE, values)


def _check_domain_members(members: tuple[Member, ...], domain: dict[str, MessageValue]) -> None:
    canonical = [Member(n, t) for n, t in DOMAIN_FIELDS.items()]
    if not members:
        raise Refusal(
            "DOMAIN-EMPTY", "EIP712Domain has no fields", expected="name, version, chainId, verifyingContract"
        )
    if unknown := [m for m in members if m not in canonical]:
        raise Refusal("DOMAIN-FIELDS", "EIP712Domain has a field that EIP-712 does not know", got=brief(unknown))
    if sorted(members, key=canonical.index) != list(members):
        raise Refusal(
            "DOMAIN-ORDER",
            "the fields of EIP712Domain are not in EIP-712's order",
            got=brief([m.name for m in members]),
            expected=brief([m.name for m in canonical if m in members]),
        )
    if set(domain) != {m.name for m in members}:
        raise Refusal(
            "DOMAIN-FIELDS",
            "the domain's fields are not those of EIP712Domain",
            got=brief(sorted(domain)),
            expected=brief(sorted(m.name for m in members)),
        )
