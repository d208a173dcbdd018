"""TYPES, DOMAIN, MSG, DIGEST, ENC: a known struct, under a pinned domain, consistent with itself."""

from __future__ import annotations

import re
from functools import cache

from airlock_shared.checks.model import (
    NAMED,
    READ,
    RECEIVED,
    SPELLING,
    STOP,
    Finding,
    Info,
    IntentCase,
    Named,
    ReadIntent,
    Received,
    check,
    checks_of_reading,
    same,
)
from airlock_shared.documents.deployment import Domain
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.eip712 import (
    Definitions,
    Hashes,
    StructValues,
    TypedData,
    as_argument,
    encode_abi,
    read_integer,
)
from airlock_shared.ethereum.signatures import checksum_address, is_address, keccak256
from airlock_shared.ethereum.struct_types import DOMAIN_DEFINITION, DOMAIN_MEMBERS, DOMAIN_TYPE, types_of
from airlock_shared.plan.model import Step
from airlock_shared.venue.structs import Intent
from airlock_shared.wire.strict_json import JsonObject

DOMAIN_TYPES = Definitions({DOMAIN_TYPE: DOMAIN_MEMBERS})
_DOMAIN_NAMES = [member.name for member in DOMAIN_MEMBERS]


@cache  # each item asks: without it, `verify` of 500 intents takes a fifth more
def definitions(intent: Intent) -> Definitions:
    """Return the compiled, pinned definitions of a struct."""
    return Definitions(intent.structs)


def domain_separator(domain: Domain) -> bytes:
    """Return the separator of a pinned domain, 32 bytes: EIP-712's ``hashStruct`` of its four fields."""
    return DOMAIN_TYPES.hash_struct(DOMAIN_TYPE, domain.values)


def _pinned(case: Named | ReadIntent | IntentCase) -> Domain:
    return case.situation.deployment.domains[case.intent.domain]


@check(
    "TYPES-KNOWN",
    RECEIVED,
    "a struct that Airlock does not know",
    "A message whose meaning Airlock cannot show.",
    STOP,
)
def struct_is_known(case: Received) -> Finding:
    """The struct is one that the pinned deployment describes."""
    name = case.request.payload["primaryType"]
    known = name in case.situation.deployment.structs
    return Finding(known, name, "a struct that the pinned deployment describes")


@check(
    "TYPES-INTENT",
    RECEIVED,
    "the payload's name is not that of its type",
    "A label that hides the type.",
    STOP,
)
def intent_is_primary_type(case: Received) -> Finding:
    """The payload's ``intent`` is its ``primaryType`` (specification, "Signable intent payload")."""
    return same(case.request.payload["intent"], case.request.payload["primaryType"])


@check(
    "TYPES-PINNED",
    NAMED,
    "the type definition is not the pinned one",
    "A field renamed, retyped, moved or added.",
    STOP,
)
def types_are_pinned(case: Named) -> Finding:
    """``types`` is the pinned definition exactly; ``EIP712Domain`` may be listed with its four canonical fields."""
    types: JsonObject = case.request.payload["types"]
    text = case.intent.encode_type
    listed = {DOMAIN_TYPE: DOMAIN_DEFINITION} if DOMAIN_TYPE in types else {}
    pinned = types == listed | types_of(text)
    return Finding(pinned, "as pinned" if pinned else types, text, spelling=_differs_in_spelling(types, text))


def _differs_in_spelling(types: JsonObject, encode_type: str) -> bool:
    """Tell whether it is the pinned definition, with the domain's own fields listed in another order."""
    listed, in_order = types.get(DOMAIN_TYPE), {DOMAIN_TYPE: DOMAIN_DEFINITION}
    if type(listed) is not list or types | in_order != in_order | types_of(encode_type):
        return False
    return len(listed) == len(DOMAIN_DEFINITION) and all(member in listed for member in DOMAIN_DEFINITION)


@check(
    "DOMAIN-FIELDS",
    RECEIVED,
    "the domain has other fields than the four",
    "A domain that binds the signature to less, or to something else.",
    STOP,
)
def domain_fields(case: Received) -> Finding:
    """The domain has exactly the four fields."""
    domain = case.request.payload["domain"]
    return Finding(domain.keys() == set(_DOMAIN_NAMES), list(domain), _DOMAIN_NAMES)


@check("DOMAIN-NAME", NAMED, "the domain's name is not the pinned one", "An intent for another application.", STOP)
def domain_name(case: Named) -> Finding:
    """The domain's name is the pinned one."""
    return same(case.request.payload["domain"].get("name"), _pinned(case).name)


@check(
    "DOMAIN-VERSION",
    NAMED,
    "the domain's version is not the pinned one",
    "An intent for another contract version.",
    STOP,
)
def domain_version(case: Named) -> Finding:
    """The domain's version is the pinned one."""
    got, expected = case.request.payload["domain"].get("version"), _pinned(case).version
    return same(got, expected)._replace(spelling=type(got) is int and str(got) == expected)


@check(
    "DOMAIN-CHAIN",
    NAMED,
    "the chain id is not the pinned one",
    "An intent that executes on another chain.",
    "Check which network the builder serves, and fetch the deployment again if you meant to change it.",
)
def domain_chain(case: Named) -> Finding:
    """The domain's chain id is the pinned one, as an integer or a decimal string."""
    got, expected = case.request.payload["domain"].get("chainId"), _pinned(case).chain_id
    try:
        return Finding(read_integer(got) == expected, got, expected)
    except Refusal:
        in_hex = type(got) is str and re.fullmatch("0x[0-9a-fA-F]{1,16}", got) is not None and int(got, 16) == expected
        return Finding(False, got, expected, spelling=in_hex)


@check(
    "DOMAIN-CONTRACT",
    NAMED,
    "the verifying contract is not the pinned one for this struct",
    "An intent for another contract, or a trading intent under the referral domain.",
    STOP,
)
def domain_contract(case: Named) -> Finding:
    """The verifying contract is the pinned one of this struct's domain; the other domain's is refused like any other."""
    got, expected = case.request.payload["domain"].get("verifyingContract"), _pinned(case).contract
    return Finding(is_address(got, expected), got, checksum_address(expected))


def name_struct(item: Received) -> Named | None:
    """Return the item with its struct; None when nobody here knows it."""
    intent = item.situation.deployment.structs.get(item.request.payload["primaryType"])
    return Named(item.request, item.situation, intent) if intent is not None else None


def read_intent(case: Named, step: Step | None) -> ReadIntent:
    """Return the intent with its message, hashed under the pinned domain. Raises ``Refusal`` with an id of ``MSG``."""
    request, situation, intent = case
    try:
        message = definitions(intent).read(intent.name, request.payload["message"])
    except Refusal as refusal:
        raise refusal.at("message") from None
    return ReadIntent(request, situation, step, intent, message, hashes_of(intent, message, _pinned(case)))


def hashes_of(intent: Intent, message: StructValues, domain: Domain) -> Hashes:
    """Return separator, struct hash and digest, 32 bytes each, of a canonical message under a pinned domain."""
    separator = domain_separator(domain)
    struct_hash = definitions(intent).hash_struct(intent.name, message)
    return Hashes(separator, struct_hash, keccak256(b"\x19\x01" + separator + struct_hash))


def encoding_of(intent: Intent, message: StructValues) -> bytes:
    """Return ``abi.encode(struct)`` of a canonical message, in the contract's order."""
    return encode_abi(as_argument(intent.abi_structs, intent.name), {"": message})


def typed_data_of(case: IntentCase) -> TypedData:
    """Return what a Ledger is given: the pinned types (never the payload's own), the domain and the message."""
    structs = {**DOMAIN_TYPES.structs, **definitions(case.intent).structs}
    return TypedData(structs, case.intent.name, _pinned(case).values, case.message)


def _in_hex(got: str, value: bytes) -> Finding:
    digits = value.hex()
    alike = got.lower().removeprefix("0x") == digits
    return Finding(alike and got.startswith("0x"), got, "0x" + digits, spelling=alike)


@check(
    "DIGEST-MATCH",
    READ,
    "the payload's digest is not that of its message",
    "A digest of a message that is not the one shown.",
    STOP,
)
def digest_matches(case: ReadIntent) -> Finding:
    """The digest recomputed under the pinned domain is the payload's."""
    return _in_hex(case.request.payload["digest"], case.hashes.digest)


@check(
    "ENC-MATCH",
    READ,
    "encodedIntent is not the encoding of the message",
    "Executing something that was not signed.",
    STOP,
)
def encoding_matches(case: ReadIntent) -> Finding:
    """``encodedIntent`` is byte for byte ``abi.encode`` of the message in the contract's order."""
    return _in_hex(case.request.payload["encodedIntent"], encoding_of(case.intent, case.message))


_ONE_SPELLING = "A value with several spellings, which two programs could read differently."
_MSG = {
    "MSG-FIELDS": Info("fields missing or too many", "A field that is shown but not signed, or signed but not shown.", STOP),
    "MSG-STRUCT": Info("not an object", "A nested struct replaced by something else.", STOP),
    "MSG-INT": Info("an integer that is not in the accepted form", _ONE_SPELLING, SPELLING),
    "MSG-RANGE": Info("an integer outside its type", "A number that wraps around into another.", STOP),
    "MSG-BOOL": Info("not true or false", 'The text "false", which many programs read as true.', SPELLING),
    "MSG-ADDRESS": Info("not an address, or its checksum is wrong", "An address mistyped or altered.", STOP),
    "MSG-BYTES": Info("not bytes of the type's length", _ONE_SPELLING, STOP),
    "MSG-STRING": Info("not a text", "A text without a UTF-8 form.", STOP),
    "MSG-ARRAY": Info("not an array of the type's length", "Elements beyond what the type holds.", STOP),
}  # fmt: skip
MSG_CHECKS = checks_of_reading(READ, _MSG)
"""One reading of the message answers for all of them."""

BEFORE_MESSAGE = (
    struct_is_known,
    intent_is_primary_type,
    types_are_pinned,
    domain_fields,
    domain_name,
    domain_version,
    domain_chain,
    domain_contract,
)
AFTER_MESSAGE = (
    digest_matches,
    encoding_matches,
)
