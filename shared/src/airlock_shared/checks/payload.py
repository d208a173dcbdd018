"""TYPES, DOMAIN, MSG, DIGEST, ENC: a known struct, under a pinned domain, consistent with itself."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from airlock_shared.catalogue.intents import DOMAIN_MEMBERS, Intent, abi_type_of, abi_values_of, types_of, types_of_text
from airlock_shared.checks.case import Case, Check, Finding
from airlock_shared.documents.deployment import Domain
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.abi import encode_struct
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.ethereum.eip712 import DOMAIN_TYPE, Hashes, read_types
from airlock_shared.ethereum.eip712_types import Definitions, read_integer
from airlock_shared.ethereum.keccak import keccak256

DOMAIN_DEFINITION = [{"name": name, "type": type_name} for name, type_name in DOMAIN_MEMBERS]
_DOMAIN_NAMES = [name for name, _ in DOMAIN_MEMBERS]
_SORTED_DOMAIN_NAMES = sorted(_DOMAIN_NAMES)


def definitions(intent: Intent) -> Definitions:
    """Return the compiled, pinned definitions of a struct."""
    return _definitions(intent.encode_type)


@lru_cache(maxsize=64)
def _definitions(encode_type: str) -> Definitions:
    return read_types(types_of_text(encode_type))


@lru_cache(maxsize=32)
def domain_separator(domain: Domain) -> bytes:
    """Return the separator of a pinned domain, 32 bytes."""
    values = {
        "name": domain.name,
        "version": domain.version,
        "chainId": domain.chain_id,
        "verifyingContract": domain.contract,
    }
    return read_types({DOMAIN_TYPE: DOMAIN_DEFINITION}).hash_struct(DOMAIN_TYPE, values)


def _pinned(case: Case) -> Domain:
    return case.situation.deployment.domains[case.intent.domain]


def known_struct(case: Case) -> Finding:
    """Establish ``case.intent``: the struct is one of the catalogue, or was pinned on the offline machine."""
    name, structs = case.request.payload["primaryType"], case.situation.structs
    known = name in structs
    if known:
        case.intent = structs[name]
        case.fields = case.intent.fields
    return Finding(known, name, "a struct of the catalogue, or one pinned on this machine")


def intent_is_primary_type(case: Case) -> Finding:
    """The payload's ``intent`` is its ``primaryType`` (specification, "Signable intent payload")."""
    payload = case.request.payload
    return Finding(payload["intent"] == payload["primaryType"], payload["intent"], payload["primaryType"])


def types_are_pinned(case: Case) -> Finding:
    """``types`` is the pinned definition exactly; ``EIP712Domain`` may be listed with its four canonical fields."""
    types: dict[str, Any] = case.request.payload["types"]
    expected = types_of(case.intent)
    if DOMAIN_TYPE in types:
        expected = {DOMAIN_TYPE: DOMAIN_DEFINITION, **expected}
    same = types == expected
    return Finding(same, "as pinned" if same else types, case.intent.encode_type)


def domain_fields(case: Case) -> Finding:
    """The domain has exactly the four fields."""
    got = list(case.request.payload["domain"])
    return Finding(sorted(got) == _SORTED_DOMAIN_NAMES, got, _DOMAIN_NAMES)


def domain_name(case: Case) -> Finding:
    """The domain's name is the pinned one."""
    got, expected = case.request.payload["domain"].get("name"), _pinned(case).name
    return Finding(type(got) is str and got == expected, got, expected)


def domain_version(case: Case) -> Finding:
    """The domain's version is the pinned one."""
    got, expected = case.request.payload["domain"].get("version"), _pinned(case).version
    return Finding(type(got) is str and got == expected, got, expected)


def domain_chain(case: Case) -> Finding:
    """The domain's chain id is the pinned one, as an integer or a decimal string."""
    got, expected = case.request.payload["domain"].get("chainId"), _pinned(case).chain_id
    try:
        return Finding(read_integer(got) == expected, got, expected)
    except Refusal:
        return Finding(False, got, expected)


def domain_contract(case: Case) -> Finding:
    """The verifying contract is the pinned one of this struct's domain; the other domain's is refused like any other."""
    got, expected = case.request.payload["domain"].get("verifyingContract"), _pinned(case).contract
    try:
        same = type(got) is str and parse_address(got) == expected
    except Refusal:
        same = False
    return Finding(same, got, checksum_address(expected))


def read_message(case: Case) -> None:
    """Establish ``case.message``. Raises ``Refusal`` with an id of the ``MSG`` family."""
    payload = case.request.payload
    try:
        case.message = definitions(case.intent).read(payload["primaryType"], payload["message"])
    except Refusal as refusal:
        raise refusal.at("message") from None


def hashes_of(intent: Intent, message: dict[str, Any], domain: Domain) -> Hashes:
    """Return the hashes of a canonical message under a pinned domain."""
    separator = domain_separator(domain)
    struct_hash = definitions(intent).hash_struct(intent.name, message)
    return Hashes(separator, struct_hash, keccak256(b"\x19\x01" + separator + struct_hash))


def encoding_of(intent: Intent, message: dict[str, Any]) -> bytes:
    """Return ``abi.encode(struct)`` of a canonical message, in the contract's order."""
    return encode_struct(abi_type_of(intent), abi_values_of(intent, message))


def digest_matches(case: Case) -> Finding:
    """Establish ``case.hashes``: the digest recomputed under the pinned domain is the payload's."""
    case.hashes = hashes_of(case.intent, case.message, _pinned(case))
    case.digest = case.hashes.digest
    got, expected = case.request.payload["digest"], "0x" + case.hashes.digest.hex()
    return Finding(got == expected or got.lower() == expected, got, expected)


def encoding_matches(case: Case) -> Finding:
    """``encodedIntent`` is byte for byte ``abi.encode`` of the message in the contract's order."""
    got, expected = case.request.payload["encodedIntent"], "0x" + encoding_of(case.intent, case.message).hex()
    return Finding(got == expected or got.lower() == expected, got, expected)


MSG_IDS = (
    "MSG-FIELDS",
    "MSG-STRUCT",
    "MSG-INT",
    "MSG-RANGE",
    "MSG-BOOL",
    "MSG-ADDRESS",
    "MSG-BYTES",
    "MSG-STRING",
    "MSG-ARRAY",
)

BEFORE_MESSAGE = (
    Check("TYPES-KNOWN", known_struct),
    Check("TYPES-INTENT", intent_is_primary_type),
    Check("TYPES-PINNED", types_are_pinned, ("intent",)),
    Check("DOMAIN-FIELDS", domain_fields),
    Check("DOMAIN-NAME", domain_name, ("intent",)),
    Check("DOMAIN-VERSION", domain_version, ("intent",)),
    Check("DOMAIN-CHAIN", domain_chain, ("intent",)),
    Check("DOMAIN-CONTRACT", domain_contract, ("intent",)),
)
AFTER_MESSAGE = (
    Check("DIGEST-MATCH", digest_matches, ("message",)),
    Check("ENC-MATCH", encoding_matches, ("message",)),
)
