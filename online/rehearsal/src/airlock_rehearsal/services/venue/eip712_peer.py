"""Digests, encodings and signature recovery, by eth-account, eth-abi and eth-keys.

Nothing here comes from ``airlock_shared``: what the services compute is the second opinion that the gate is tested
against. A message is JSON-like: integers as decimal strings, addresses in EIP-55, ``bytes32`` in hex, nested objects.
"""

from __future__ import annotations

from eth_abi import abi
from eth_abi.exceptions import DecodingError
from eth_account.messages import encode_typed_data
from eth_keys.datatypes import Signature
from eth_keys.exceptions import BadSignature
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError

from airlock_rehearsal.services.venue.structs import DOMAIN_MEMBERS, NESTED, STRUCTS

Message = dict[str, object]
Types = dict[str, list[dict[str, str]]]

_HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0  # secp256k1n / 2 (EIP-2)


class Malformed(Exception):
    """An encoding or a signature that cannot be read."""


def types_of(primary: str) -> Types:
    """Return the ``types`` object of a struct, ``EIP712Domain`` with its four fields first."""
    members = STRUCTS[primary].hashed
    nested = {name: NESTED[name] for m in members if (name := m.split(" ")[0]) in NESTED}
    listed = {"EIP712Domain": DOMAIN_MEMBERS, primary: members, **nested}
    return {name: [{"name": m.split(" ")[1], "type": m.split(" ")[0]} for m in texts] for name, texts in listed.items()}


def digest_of(types: Types, primary: str, domain: dict[str, object], message: Message) -> bytes:
    """Return the EIP-712 digest, computed by eth-account."""
    document = {"types": types, "primaryType": primary, "domain": domain, "message": message}
    signable = encode_typed_data(full_message=document)
    return bytes(keccak(b"\x19" + signable.version + signable.header + signable.body))


def encode(primary: str, message: Message, *, hashed_order: bool = False) -> bytes:
    """Return ``abi.encode`` of the struct, computed by eth-abi; ``hashed_order`` gives the wrong one of DelegateReq."""
    members = _order(primary, hashed_order)
    return bytes(abi.encode([tuple_type(members)], [values_of(members, message)]))


def decode(primary: str, data: bytes) -> Message:
    """Return the message of an encoded struct. Raises ``Malformed`` unless it is the one canonical encoding."""
    members = _order(primary, False)
    try:
        (values,) = abi.decode([tuple_type(members)], data)
        message = message_of(members, values)
    except (DecodingError, OverflowError, UnicodeDecodeError) as error:
        raise Malformed(f"userIntent is not an encoded {primary}") from error
    if encode(primary, message) != data:
        raise Malformed(f"userIntent is not the canonical encoding of a {primary}")
    hashed = [m.split(" ")[1] for m in STRUCTS[primary].hashed]
    return {name: message[name] for name in hashed}


def recover(digest: bytes, signature: bytes) -> str:
    """Return the address that signed. Raises ``Malformed`` for another form than r, s, v with low s and v of 27 or 28."""
    if len(signature) != 65:
        raise Malformed(f"the signature has {len(signature)} bytes instead of 65")
    r, s, v = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big"), signature[64]
    if v not in (27, 28):
        raise Malformed(f"the signature's v is {v} instead of 27 or 28")
    if s > _HALF_ORDER:
        raise Malformed("the signature's s is in the upper half of the curve order")
    try:
        key = Signature(vrs=(v - 27, r, s)).recover_public_key_from_msg_hash(digest)
    except (BadSignature, ValidationError) as error:
        raise Malformed("no key is recovered from the signature") from error
    return str(key.to_checksum_address())


def _order(primary: str, hashed_order: bool) -> tuple[str, ...]:
    return STRUCTS[primary].hashed if hashed_order else STRUCTS[primary].encoded


def tuple_type(members: tuple[str, ...]) -> str:
    """Return the ABI type of a tuple of members, nested structs spelled out."""
    kinds = [m.split(" ")[0] for m in members]
    return "(" + ",".join(tuple_type(NESTED[k]) if k in NESTED else k for k in kinds) + ")"


def values_of(members: tuple[str, ...], message: Message) -> list[object]:
    """Return a message's values as eth-abi wants them, in the order of the members."""
    result: list[object] = []
    for member in members:
        kind, name = member.split(" ")
        value = message[name]
        if isinstance(value, dict):
            result.append(values_of(NESTED[kind], value))
        elif "int" in kind:
            result.append(int(str(value)))
        else:
            result.append(bytes.fromhex(str(value)[2:]) if kind in ("bytes32", "bytes") else value)
    return result


def message_of(members: tuple[str, ...], values: tuple[object, ...]) -> Message:
    """Return the message of values that eth-abi read."""
    result: Message = {}
    for member, value in zip(members, values, strict=True):
        kind, name = member.split(" ")
        if isinstance(value, tuple):
            result[name] = message_of(NESTED[kind], value)
        elif kind == "address":
            result[name] = str(to_checksum_address(str(value)))
        elif isinstance(value, bytes):
            result[name] = "0x" + value.hex()
        else:
            result[name] = value if kind in ("bool", "string") else str(value)
    return result
