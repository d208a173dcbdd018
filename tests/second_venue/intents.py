"""What the second venue signs and reads: structs hashed by eth-account, encoded by eth-abi, signers recovered by both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from eth_abi.abi import decode, encode
from eth_account import Account
from eth_account.messages import SignableMessage, encode_typed_data
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

_TRADER_AND_SLOT = "address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,"
STRUCTS = {
    "CloseTradeReq": f"{_TRADER_AND_SLOT}uint256 _amount,uint256 _wantedPrice,uint256 _deadline,uint256 _nonce",
    "TpSlReq": "address trader,uint256 pairIndex,uint256 index,uint8 triggerType,uint256 coinSize,bool buy,uint256 price,"
    "int256 percentage,uint256 timestamp,uint256 signTimestamp,uint8 orderType,uint256 nonce",
    "SetTraderReferralCodeByUserReq": "bytes32 _code,address _referee,uint256 _deadline,uint256 _nonce",
    "TwapCancelReq": "address trader,uint256 twapId,uint256 nonce,uint256 deadline",
    "DelegateReq": "address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce",
}
TRADER_IN = ("trader", "_trader", "_referee")
_DOMAIN = (("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address"))


class Signed(NamedTuple):
    """A signed intent as the venue reads it from its encoding: who signed it, for whom, its nonce, its message."""

    signer: str
    trader: str
    nonce: int
    message: dict[str, Any]


class Types(NamedTuple):
    """What a venue signs: members by struct, the order of an encoding where it is another one, names for our own paths.

    ``names`` gives, by struct, the path under which this venue calls something else by that name; what is in
    ``milliseconds`` it signs so. ``calls`` are its functions in place of the usual ones, with the order of the arguments;
    ``fees`` is what it takes with one, in wei.
    """

    structs: dict[str, str]
    encoded_otherwise: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    names: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    milliseconds: tuple[str, ...] = ()
    calls: Mapping[str, tuple[str, tuple[int, ...]]] = MappingProxyType({})
    fees: Mapping[str, int] = MappingProxyType({})

    def members(self, struct: str) -> list[tuple[str, str]]:
        """Return the members of a struct as ``(name, type)``."""
        found = [member.split(" ") for member in self.structs[struct].split(",")]
        return [(name, kind) for kind, name in found]

    def listed(self, struct: str) -> dict[str, list[dict[str, str]]]:
        """Return a struct's types with ``EIP712Domain`` among them, the structs in it first."""
        inner = [kind for _, kind in self.members(struct) if kind in self.structs]
        listed = {n: [{"name": member, "type": kind} for member, kind in self.members(n)] for n in (*inner, struct)}
        return {"EIP712Domain": [{"name": name, "type": kind} for name, kind in _DOMAIN], **listed}

    def leaves(self, struct: str, prefix: str = "") -> Iterator[str]:
        """Yield the path of every leaf."""
        for name, kind in self.members(struct):
            if kind in self.structs:
                yield from self.leaves(kind, f"{prefix}{name}.")
            else:
                yield prefix + name

    def spoken(self, struct: str, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message that is named as the specification names it as this venue signs it."""
        flat = dict(_flat(message))
        made: dict[str, Any] = {}
        for path in self.leaves(struct):
            value = flat[self.names.get(struct, {}).get(path, path)]
            _put(made, path, value * 1000 + 456 if path in self.milliseconds else value)
        return made

    def understood(self, struct: str, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message of this venue named as the specification names it."""
        made: dict[str, Any] = {}
        for path, value in _flat(message):
            ours = self.names.get(struct, {}).get(path, path)
            _put(made, ours, value // 1000 if path in self.milliseconds else value)
        return made


USUAL = Types(STRUCTS, {"DelegateReq": ("trader", "delegate", "expiry", "tnc", "deadline", "nonce")})


def _flat(message: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in message.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _put(message: dict[str, Any], path: str, value: Any) -> None:
    struct, dot, name = path.partition(".")
    if dot:
        _put(message.setdefault(struct, {}), name, value)
    else:
        message[struct] = value


def _abi(types: Types, struct: str) -> tuple[list[str], str]:
    kinds = dict(types.members(struct))
    names = list(types.encoded_otherwise.get(struct, kinds))
    inner = [_abi(types, kinds[name])[1] if kinds[name] in types.structs else kinds[name] for name in names]
    return names, f"({','.join(inner)})"


def _value(value: Any) -> Any:
    return tuple(_value(inner) for inner in value.values()) if isinstance(value, dict) else value


def encoded(types: Types, struct: str, message: dict[str, Any]) -> bytes:
    """Return ``abi.encode`` of a struct."""
    names, kind = _abi(types, struct)
    return encode([kind], [tuple(_value(message[name]) for name in names)])


def _signable(types: Types, struct: str, message: dict[str, Any], domain: dict[str, Any]) -> SignableMessage:
    document = {"types": types.listed(struct), "primaryType": struct, "domain": domain, "message": message}
    return encode_typed_data(full_message=document)


def digest(types: Types, struct: str, message: dict[str, Any], domain: dict[str, Any]) -> bytes:
    """Return the EIP-712 hash of a message under a domain."""
    signable = _signable(types, struct, message, domain)
    return keccak(b"\x19" + signable.version + signable.header + signable.body)


def decoded(types: Types, struct: str, data: bytes) -> dict[str, Any]:
    """Return the message that an encoding holds, addresses in EIP-55."""
    names, kind = _abi(types, struct)
    (values,) = decode([kind], data)
    kinds = dict(types.members(struct))
    found = dict(zip(names, values, strict=True))
    return {name: _decoded(types, kind, found[name]) for name, kind in kinds.items()}


def _decoded(types: Types, kind: str, value: Any) -> Any:
    if kind in types.structs:
        return {name: _decoded(types, inner, v) for (name, inner), v in zip(types.members(kind), value, strict=True)}
    return to_checksum_address(value) if kind == "address" else value


def signed(types: Types, struct: str, data: str, signature: str, domain: dict[str, Any]) -> Signed:
    """Return a signed intent, read from its encoding alone, its signer recovered; its message is named as specified."""
    if not re.fullmatch(r"0x[0-9a-f]{130}", signature) or signature[-2:] not in ("1b", "1c"):
        raise ValueError("a signature is 65 bytes, v 27 or 28")
    told = decoded(types, struct, bytes.fromhex(data[2:]))
    signer = Account.recover_message(_signable(types, struct, told, domain), signature=bytes.fromhex(signature[2:]))
    message = types.understood(struct, told)
    flat = {**message, **next((v for v in message.values() if isinstance(v, dict)), {})}
    trader = next(flat[name] for name in TRADER_IN if name in flat)
    return Signed(signer, trader, int(flat["nonce"] if "nonce" in flat else flat["_nonce"]), message)


def as_told(value: Any) -> Any:
    """Return a message as JSON has it: whole numbers as decimal texts, bytes in hex."""
    if isinstance(value, dict):
        return {name: as_told(inner) for name, inner in value.items()}
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
