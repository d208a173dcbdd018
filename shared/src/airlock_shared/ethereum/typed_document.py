"""A whole EIP-712 document, as ``digest`` and the trial of ``preflight`` read one: types and domain are its own, not pinned.

What is signed in a ceremony is read by :mod:`airlock_shared.checks.intent`, under pinned types and a pinned domain.
"""

from __future__ import annotations

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.eip712 import (
    IDENTIFIER,
    NO_IDENTIFIER,
    Definitions,
    Hashes,
    MessageValue,
    TypedData,
    brief,
    reached,
)
from airlock_shared.ethereum.signatures import keccak256
from airlock_shared.ethereum.struct_types import DOMAIN_MEMBERS, DOMAIN_TYPE, Member, Structs

_DOMAIN_FIELDS = (*DOMAIN_MEMBERS, Member("salt", "bytes32"))
"""EIP-712, "Definition of domainSeparator": these fields, in this order."""
DOCUMENT_MEMBERS = ("types", "primaryType", "domain", "message")
MAX_STRUCTS = 64
MAX_MEMBERS = 128


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
            brief(sorted(document)) if type(document) is dict else brief(document),
            "exactly types, primaryType, domain and message",
        )
    primary_type = document["primaryType"]
    types = document["types"]
    if type(primary_type) is not str or type(types) is not dict or primary_type not in types:
        raise Refusal("TYPES-PRIMARY", "primaryType is not among the types", brief(primary_type))
    if primary_type == DOMAIN_TYPE:
        raise Refusal("TYPES-PRIMARY", "the domain itself is not a message", primary_type)
    definitions = read_types(types)
    if named := [name for name in definitions.structs if "$" in name]:
        raise Refusal(
            "TYPES-FORM",
            "a struct's name has a $, which other programs read differently",
            repr(named[0][:80]),
            "letters, digits and _",
        )
    if found := [name for name in definitions.structs if ":" in name and not _is_alone(name, definitions.structs)]:
        raise Refusal(
            "TYPES-FORM",
            "a struct's name has a :, and other programs do not find what it holds or what holds it",
            repr(found[0][:80]),
            "a : only in a struct that neither holds nor is held",
        )
    members, domain, domain_separator = _read_domain(definitions, document["domain"])
    try:
        message = definitions.read(primary_type, document["message"])
    except Refusal as refusal:
        raise refusal.at("message") from None
    struct_hash = definitions.hash_struct(primary_type, message)
    digest = keccak256(b"\x19\x01" + domain_separator + struct_hash)
    held = {primary_type} | reached(definitions.structs, primary_type)
    structs = {name: each for name, each in definitions.structs.items() if name in held}
    typed_data = TypedData({DOMAIN_TYPE: members} | structs, primary_type, domain, message)
    return typed_data, Hashes(domain_separator, struct_hash, digest)


def read_types(types: MessageValue) -> Definitions:
    """Read the ``types`` object of a typed-data document.

    Raises ``Refusal`` with an id of the ``TYPES`` family.
    """
    if type(types) is not dict or not 0 < len(types) <= MAX_STRUCTS:
        raise Refusal("TYPES-FORM", "types is not an object of struct definitions", brief(types))
    structs = {}
    for name, members in types.items():
        if not IDENTIFIER.fullmatch(name.replace(":", "_")):
            raise Refusal("TYPES-FORM", "not a name for a struct", repr(name[:80]), "an identifier")
        if type(members) is not list or len(members) > MAX_MEMBERS:
            raise Refusal("TYPES-FORM", f"not a list of at most {MAX_MEMBERS} members", brief(members)).at(name)
        for member in members:
            if type(member) is not dict or set(member) != {"name", "type"}:
                raise Refusal("TYPES-FORM", "a member is not {name, type}", brief(member)).at(name)
            if not all(type(text) is str for text in member.values()):
                raise Refusal("TYPES-FORM", NO_IDENTIFIER, brief(member)).at(name)
        structs[name] = tuple(Member(**member) for member in members)
    return Definitions(structs)


def _is_alone(name: str, structs: Structs) -> bool:
    """Tell whether a struct holds no struct and is held by none: then nobody has to find a struct's name in a type's."""
    held = {struct: {member.type.split("[")[0] for member in members} for struct, members in structs.items()}
    return not held[name] & structs.keys() and not any(name in types for types in held.values())


def _read_domain(
    definitions: Definitions, domain: MessageValue
) -> tuple[tuple[Member, ...], dict[str, MessageValue], bytes]:
    """Return the domain's members, its canonical values and its separator.

    Raises ``Refusal`` with an id of the ``DOMAIN`` family, or of ``MSG`` for a value.
    """
    if type(domain) is not dict or not domain:
        raise Refusal(
            "DOMAIN-EMPTY",
            "the domain is empty, so the signature would be valid for any contract on any chain",
            brief(domain),
            "name, version, chainId and verifyingContract",
        )
    members = definitions.structs.get(DOMAIN_TYPE)
    if members is None:
        members = tuple(member for member in _DOMAIN_FIELDS if member.name in domain)
    _check_domain_members(members, domain)
    domain_definitions = Definitions({DOMAIN_TYPE: members})
    try:
        values = domain_definitions.read(DOMAIN_TYPE, domain)
    except Refusal as refusal:
        raise refusal.at("domain") from None
    return members, values, domain_definitions.hash_struct(DOMAIN_TYPE, values)


def _check_domain_members(members: tuple[Member, ...], domain: dict[str, MessageValue]) -> None:
    if not members:
        raise Refusal(
            "DOMAIN-EMPTY", "EIP712Domain has no fields", expected="name, version, chainId, verifyingContract"
        )
    if unknown := [m for m in members if m not in _DOMAIN_FIELDS]:
        raise Refusal("DOMAIN-FIELDS", "EIP712Domain has a field that EIP-712 does not know", brief(unknown))
    if sorted(members, key=_DOMAIN_FIELDS.index) != list(members):
        raise Refusal(
            "DOMAIN-ORDER",
            "the fields of EIP712Domain are not in EIP-712's order",
            brief([m.name for m in members]),
            brief([m.name for m in _DOMAIN_FIELDS if m in members]),
        )
    if set(domain) != {m.name for m in members}:
        raise Refusal(
            "DOMAIN-FIELDS",
            "the domain's fields are not those of EIP712Domain",
            brief(sorted(domain)),
            brief(sorted(m.name for m in members)),
        )
