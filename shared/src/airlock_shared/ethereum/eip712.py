"""EIP-712 typed data: from JSON to domain separator, struct hash and digest, strictly.

This is the gate's own opinion. Common libraries hash what must be refused (extra fields, ``"false"`` for a bool, wrong
checksums, ``"5_000"``); here the document, its types and its domain have one form, and
:mod:`airlock_shared.ethereum.eip712_types` reads the values. Source of the rules: EIP-712.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.eip712_types import Definitions, Member, Value, brief
from airlock_shared.ethereum.keccak import keccak256

DOMAIN_TYPE = "EIP712Domain"
DOMAIN_MEMBERS = {  # EIP-712, "Definition of domainSeparator": these fields, in this order
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
    domain: dict[str, Value]
    message: dict[str, Value]


class Hashes(NamedTuple):
    """The three 32-byte hashes that a person compares: ``digest = keccak256(1901 || domain || struct)``."""

    domain_separator: bytes
    struct_hash: bytes
    digest: bytes


def read_types(types: Value) -> Definitions:
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


def _read_members(struct: str, members: Value) -> tuple[Member, ...]:
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


def read_typed_data(document: Value) -> tuple[TypedData, Hashes]:
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


def _definitions_with_primary(types: Value, primary_type: Value) -> Definitions:
    if type(primary_type) is not str or type(types) is not dict or primary_type not in types:
        raise Refusal("TYPES-PRIMARY", "primaryType is not among the types", got=brief(primary_type))
    if primary_type == DOMAIN_TYPE:
        raise Refusal("TYPES-PRIMARY", "the domain itself is not a message", got=primary_type)
    return read_types(types)


def read_domain(definitions: Definitions, domain: Value) -> tuple[dict[str, Value], bytes]:
    """Return the domain's canonical values and its separator.

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
        members = tuple(Member(n, t) for n, t in DOMAIN_MEMBERS.items() if n in domain)
    _check_domain_members(members, domain)
    domain_definitions = read_types({DOMAIN_TYPE: [m._asdict() for m in members]})
    try:
        values = domain_definitions.read(DOMAIN_TYPE, domain)
    except Refusal as refusal:
        raise refusal.at("domain") from None
    return values, domain_definitions.hash_struct(DOMAIN_TYPE, values)


def _check_domain_members(members: tuple[Member, ...], domain: dict[str, Value]) -> None:
    canonical = [Member(n, t) for n, t in DOMAIN_MEMBERS.items()]
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
