"""What the second venue signs and reads: structs hashed by eth-account, encoded by eth-abi, signers recovered by both."""

import re
from typing import Any, NamedTuple

from eth_abi.abi import decode, encode
from eth_account import Account
from eth_account.messages import SignableMessage, encode_typed_data
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from second_venue.other_types import ENCODED_OTHERWISE, STRUCTS

TRADER_IN = ("trader", "owner", "referee")
_DOMAIN = (("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address"))


class Signed(NamedTuple):
    """A signed intent as the venue reads it from its encoding: who signed it, for whom, its nonce, its message."""

    signer: str
    trader: str
    nonce: int
    message: dict[str, Any]


def members(struct: str) -> list[tuple[str, str]]:
    """Return the members of a struct as ``(name, type)``."""
    found = [member.split(" ") for member in STRUCTS[struct].split(",")]
    return [(name, kind) for kind, name in found]


def listed(struct: str) -> dict[str, list[dict[str, str]]]:
    """Return a struct's types with ``EIP712Domain`` among them, the structs in it first."""
    inner = [kind for _, kind in members(struct) if kind in STRUCTS]
    types = {n: [{"name": member, "type": kind} for member, kind in members(n)] for n in (*inner, struct)}
    return {"EIP712Domain": [{"name": name, "type": kind} for name, kind in _DOMAIN], **types}


def _abi(struct: str) -> tuple[list[str], str]:
    kinds = dict(members(struct))
    names = list(ENCODED_OTHERWISE.get(struct, kinds))
    inner = [_abi(kinds[name])[1] if kinds[name] in STRUCTS else kinds[name] for name in names]
    return names, f"({','.join(inner)})"


def _value(value: Any) -> Any:
    return tuple(_value(inner) for inner in value.values()) if isinstance(value, dict) else value


def encoded(struct: str, message: dict[str, Any]) -> bytes:
    """Return ``abi.encode`` of a struct."""
    names, kind = _abi(struct)
    return encode([kind], [tuple(_value(message[name]) for name in names)])


def _signable(struct: str, message: dict[str, Any], domain: dict[str, Any]) -> SignableMessage:
    document = {"types": listed(struct), "primaryType": struct, "domain": domain, "message": message}
    return encode_typed_data(full_message=document)


def digest(struct: str, message: dict[str, Any], domain: dict[str, Any]) -> bytes:
    """Return the EIP-712 hash of a message under a domain."""
    signable = _signable(struct, message, domain)
    return keccak(b"\x19" + signable.version + signable.header + signable.body)


def decoded(struct: str, data: bytes) -> dict[str, Any]:
    """Return the message that an encoding holds, addresses in EIP-55."""
    names, kind = _abi(struct)
    (values,) = decode([kind], data)
    found = dict(zip(names, values, strict=True))
    return {name: _decoded(kind, found[name]) for name, kind in members(struct)}


def _decoded(kind: str, value: Any) -> Any:
    if kind in STRUCTS:
        return {name: _decoded(inner, v) for (name, inner), v in zip(members(kind), value, strict=True)}
    return to_checksum_address(value) if kind == "address" else value


def signed(struct: str, data: str, signature: str, domain: dict[str, Any]) -> Signed:
    """Return a signed intent, read from its encoding alone, its signer recovered."""
    if not re.fullmatch(r"0x[0-9a-f]{130}", signature) or signature[-2:] not in ("1b", "1c"):
        raise ValueError("a signature is 65 bytes, v 27 or 28")
    message = decoded(struct, bytes.fromhex(data[2:]))
    signer = Account.recover_message(_signable(struct, message, domain), signature=bytes.fromhex(signature[2:]))
    flat = message | message.get("at", {})
    trader = next(flat[name] for name in TRADER_IN if name in flat)
    return Signed(signer, trader, int(flat["nonce"] if "nonce" in flat else flat["salt"]), message)


def as_told(value: Any) -> Any:
    """Return a message as JSON has it: whole numbers as decimal texts, bytes in hex."""
    if isinstance(value, dict):
        return {name: as_told(inner) for name, inner in value.items()}
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
