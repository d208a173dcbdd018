"""Digests, encodings and signature recovery, by eth-account, eth-abi and eth-keys.

Nothing here comes from ``airlock_shared``: what the services compute is the second opinion that the checks are tested
against. A message is JSON-like: integers as decimal strings, addresses in EIP-55, ``bytes32`` in hex, nested objects.
"""

from __future__ import annotations

from typing import Any

from eth_abi.exceptions import DecodingError
from eth_account.messages import encode_typed_data
from eth_keys.datatypes import Signature
from eth_keys.exceptions import BadSignature
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError

from airlock_rehearsal.chain import interface
from airlock_rehearsal.services.envelope import Refused
from airlock_rehearsal.services.venue.positions import in_texts
from airlock_rehearsal.services.venue.structs import DOMAIN_MEMBERS, NESTED, STRUCTS, Members

Message = dict[str, Any]
Types = dict[str, Members]

_HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0  # secp256k1n / 2 (EIP-2)


def types_of(primary: str) -> Types:
    """Return the ``types`` object of a struct, ``EIP712Domain`` with its four fields first."""
    members = STRUCTS[primary].hashed
    nested = {member["type"]: NESTED[member["type"]] for member in members if member["type"] in NESTED}
    return {"EIP712Domain": DOMAIN_MEMBERS, primary: members, **nested}


def digest_of(types: Types, primary: str, domain: dict[str, object], message: Message) -> bytes:
    """Return the EIP-712 digest, computed by eth-account."""
    document = {"types": types, "primaryType": primary, "domain": domain, "message": message}
    signable = encode_typed_data(full_message=document)
    return bytes(keccak(b"\x19" + signable.version + signable.header + signable.body))


def _entry(members: Members) -> dict[str, Any]:
    """Return the tuple of these members as a JSON ABI has it."""
    parts = (member | _entry(NESTED[member["type"]]) if member["type"] in NESTED else member for member in members)
    return {"type": "tuple", "components": list(parts)}


def encode(primary: str, message: Message) -> bytes:
    """Return ``abi.encode`` of the struct, computed by eth-abi."""
    return interface.encode([_entry(STRUCTS[primary].encoded)], [message])


def decode(primary: str, data: bytes) -> Message:
    """Return the message of an encoded struct. Raises ``Refused`` unless it is the one canonical encoding."""
    try:
        (values,) = interface.decode([_entry(STRUCTS[primary].encoded)], data)
    except (DecodingError, OverflowError, UnicodeDecodeError) as error:
        raise Refused(f"userIntent is not an encoded {primary}") from error
    if encode(primary, values) != data:
        raise Refused(f"userIntent is not the canonical encoding of a {primary}")
    return in_texts({member["name"]: values[member["name"]] for member in STRUCTS[primary].hashed})


def recover(digest: bytes, signature: bytes) -> str:
    """Return the address that signed. Raises ``Refused`` for another form than r, s, v with low s and v of 27 or 28."""
    if len(signature) != 65:
        raise Refused(f"the signature has {len(signature)} bytes instead of 65")
    v = signature[64]
    if v not in (27, 28):
        raise Refused(f"the signature's v is {v} instead of 27 or 28")
    if int.from_bytes(signature[32:64], "big") > _HALF_ORDER:
        raise Refused("the signature's s is in the upper half of the curve order")
    try:
        key = Signature(signature[:64] + bytes([v - 27])).recover_public_key_from_msg_hash(digest)
    except (BadSignature, ValidationError) as error:
        raise Refused("no key is recovered from the signature") from error
    return str(key.to_checksum_address())
