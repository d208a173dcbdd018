"""Digests, encodings and signature recovery, by eth-account, eth-abi and eth-keys.

Nothing here comes from ``airlock_shared``: what the services compute is the second opinion that the gate is tested
against. A message is JSON-like: integers as decimal strings, addresses in EIP-55, ``bytes32`` in hex, nested objects.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eth_abi import abi
from eth_abi.exceptions import DecodingError
from eth_account.messages import encode_typed_data
from eth_keys.datatypes import Signature
from eth_keys.exceptions import BadSignature
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError

from airlock_rehearsal.services.envelope import Refused
from airlock_rehearsal.services.venue.structs import DOMAIN_MEMBERS, NESTED, STRUCTS

Message = dict[str, Any]
Types = dict[str, list[dict[str, str]]]

_HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0  # secp256k1n / 2 (EIP-2)


def types_of(primary: str) -> Types:
    """Return the ``types`` object of a struct, ``EIP712Domain`` with its four fields first."""
    members = STRUCTS[primary].hashed
    nested = {kind: NESTED[kind] for kind, _ in _split(members) if kind in NESTED}
    listed = {"EIP712Domain": DOMAIN_MEMBERS, primary: members, **nested}
    return {name: [{"name": m, "type": kind} for kind, m in _split(texts)] for name, texts in listed.items()}


def _split(members: Iterable[str]) -> list[tuple[str, str]]:
    """Return the type and the name of each member."""
    return [(kind, name) for kind, name in map(str.split, members)]


def digest_of(types: Types, primary: str, domain: dict[str, object], message: Message) -> bytes:
    """Return the EIP-712 digest, computed by eth-account."""
    document = {"types": types, "primaryType": primary, "domain": domain, "message": message}
    signable = encode_typed_data(full_message=document)
    return bytes(keccak(b"\x19" + signable.version + signable.header + signable.body))


def encode(primary: str, message: Message, *, hashed_order: bool = False) -> bytes:
    """Return ``abi.encode`` of the struct, computed by eth-abi; ``hashed_order`` gives the wrong one of DelegateReq."""
    struct = STRUCTS[primary]
    members = struct.hashed if hashed_order else struct.encoded
    return bytes(abi.encode([tuple_type(members)], [values_of(members, message)]))


def decode(primary: str, data: bytes) -> Message:
    """Return the message of an encoded struct. Raises ``Refused`` unless it is the one canonical encoding."""
    members = STRUCTS[primary].encoded
    try:
        (values,) = abi.decode([tuple_type(members)], data)
        message = message_of(members, values)
    except (DecodingError, OverflowError, UnicodeDecodeError) as error:
        raise Refused(f"userIntent is not an encoded {primary}") from error
    if encode(primary, message) != data:
        raise Refused(f"userIntent is not the canonical encoding of a {primary}")
    return {name: message[name] for _, name in _split(STRUCTS[primary].hashed)}


def recover(digest: bytes, signature: bytes) -> str:
    """Return the address that signed. Raises ``Refused`` for another form than r, s, v with low s and v of 27 or 28."""
    if len(signature) != 65:
        raise Refused(f"the signature has {len(signature)} bytes instead of 65")
    r, s, v = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big"), signature[64]
    if v not in (27, 28):
        raise Refused(f"the signature's v is {v} instead of 27 or 28")
    if s > _HALF_ORDER:
        raise Refused("the signature's s is in the upper half of the curve order")
    try:
        key = Signature(vrs=(v - 27, r, s)).recover_public_key_from_msg_hash(digest)
    except (BadSignature, ValidationError) as error:
        raise Refused("no key is recovered from the signature") from error
    return str(key.to_checksum_address())


def tuple_type(members: Iterable[str]) -> str:
    """Return the ABI type of a tuple of members, nested structs spelled out."""
    return "(" + ",".join(tuple_type(NESTED[kind]) if kind in NESTED else kind for kind, _ in _split(members)) + ")"


def values_of(members: Iterable[str], message: Message) -> list[object]:
    """Return a message's values as eth-abi wants them, in the order of the members."""
    result: list[object] = []
    for kind, name in _split(members):
        value = message[name]
        if kind in NESTED:
            result.append(values_of(NESTED[kind], value))
        elif "int" in kind:
            result.append(int(value))
        else:
            result.append(bytes.fromhex(value[2:]) if kind in ("bytes32", "bytes") else value)
    return result


def message_of(members: Iterable[str], values: tuple[Any, ...]) -> Message:
    """Return the message of values that eth-abi read."""
    result: Message = {}
    for (kind, name), value in zip(_split(members), values, strict=True):
        if kind in NESTED:
            result[name] = message_of(NESTED[kind], value)
        elif kind == "address":
            result[name] = to_checksum_address(value)
        elif isinstance(value, bytes):
            result[name] = "0x" + value.hex()
        else:
            result[name] = value if kind in ("bool", "string") else str(value)
    return result
