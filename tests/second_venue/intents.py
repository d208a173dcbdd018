"""What the second venue signs and reads: structs hashed by eth-account, encoded by eth-abi, signers recovered by both."""

from __future__ import annotations

import re
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
    "IncreasePositionSizeWithCoinExposureReq": "UpdatePositionSize _updateInfo,uint256 _coinExposure,uint256 _minLeverage,"
    "uint256 _maxLeverage,uint256 _slippageP,uint256 _deadline,uint256 _nonce",
    "UpdatePositionSize": "address trader,uint256 pairIndex,uint256 index,uint256 openPrice,uint256 initialPosToken,"
    "uint256 leverage",
    "SetTraderReferralCodeByUserReq": "bytes32 _code,address _referee,uint256 _deadline,uint256 _nonce",
    "TwapCancelReq": "address trader,uint256 twapId,uint256 nonce,uint256 deadline",
    "DelegateReq": "address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce",
}
ENCODED_OTHERWISE = {"DelegateReq": ("trader", "delegate", "expiry", "tnc", "deadline", "nonce")}
TRADER_IN = ("trader", "_trader", "_referee")
_DOMAIN = (("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address"))


class Signed(NamedTuple):
    """A signed intent as the venue reads it from its encoding: who signed it, for whom, its nonce, its message."""

    signer: str
    trader: str
    nonce: int
    message: dict[str, Any]


def _members(struct: str) -> list[tuple[str, str]]:
    found = [member.split(" ") for member in STRUCTS[struct].split(",")]
    return [(name, kind) for kind, name in found]


def types_of(struct: str) -> dict[str, list[dict[str, str]]]:
    """Return a struct's types with ``EIP712Domain`` among them, the structs in it first."""
    inner = [kind for _, kind in _members(struct) if kind in STRUCTS]
    listed = {name: [{"name": member, "type": kind} for member, kind in _members(name)] for name in (*inner, struct)}
    return {"EIP712Domain": [{"name": name, "type": kind} for name, kind in _DOMAIN], **listed}


def _abi(struct: str) -> tuple[list[str], str]:
    kinds = dict(_members(struct))
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
    document = {"types": types_of(struct), "primaryType": struct, "domain": domain, "message": message}
    return encode_typed_data(full_message=document)


def digest(struct: str, message: dict[str, Any], domain: dict[str, Any]) -> bytes:
    """Return the EIP-712 hash of a message under a domain."""
    signable = _signable(struct, message, domain)
    return keccak(b"\x19" + signable.version + signable.header + signable.body)


def decoded(struct: str, data: bytes) -> dict[str, Any]:
    """Return the message that an encoding holds, addresses in EIP-55."""
    names, kind = _abi(struct)
    (values,) = decode([kind], data)
    kinds = dict(_members(struct))
    found = dict(zip(names, values, strict=True))
    return {name: _decoded(kind, found[name]) for name, kind in kinds.items()}


def _decoded(kind: str, value: Any) -> Any:
    if kind in STRUCTS:
        return {name: _decoded(inner, v) for (name, inner), v in zip(_members(kind), value, strict=True)}
    return to_checksum_address(value) if kind == "address" else value


def signed(struct: str, data: str, signature: str, domain: dict[str, Any]) -> Signed:
    """Return a signed intent, read from its encoding alone, its signer recovered."""
    if not re.fullmatch(r"0x[0-9a-f]{130}", signature) or signature[-2:] not in ("1b", "1c"):
        raise ValueError("a signature is 65 bytes, v 27 or 28")
    message = decoded(struct, bytes.fromhex(data[2:]))
    signer = Account.recover_message(_signable(struct, message, domain), signature=bytes.fromhex(signature[2:]))
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
