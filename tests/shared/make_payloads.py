"""The good requests documents, built with libraries that the gate does not use.

``python tests/shared/make_payloads.py`` seals ``tests/vectors/requests/good/*.json``, one for each step of the plan, and the
signatures over them anew. What is asked in them, and what a good builder answers, is written out by hand.
Nothing here imports Airlock: struct types are the published texts, digests come from eth-account, encodings from eth-abi,
signatures from eth-account, and fingerprints from cbor2 and hashlib directly.
"""

import hashlib
import json
import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cbor2
from eth_abi.abi import encode
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_utils.crypto import keccak

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
NOW_MS = 1_790_000_000_000  # 2026-09-21 14:13:20 UTC
TREASURY = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
DESK = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
KEYS = {  # the published test mnemonic "test test … junk", accounts 0 and 1
    TREASURY: "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    DESK: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
}

_TRADE = (
    "Trade(address trader,uint256 pairIndex,uint256 index,uint256 initialPosToken,uint256 positionSizeUSDC,"
    "uint256 openPrice,bool buy,uint256 leverage,uint256 tp,uint256 sl,uint256 timestamp)"
)
_UPDATE = (
    "UpdatePositionSize(address trader,uint256 pairIndex,uint256 index,uint256 openPrice,"
    "uint256 initialPosToken,uint256 leverage)"
)
ENCODE_TYPES = (  # as the venues publish them
    "OpenTradeReq(Trade _t,uint8 _type,uint256 _slippageP,uint256 _deadline,uint256 _nonce)" + _TRADE,
    "OpenTradeCoinExposureReq(Trade _t,uint8 _type,uint256 _coinExposure,uint256 _minLeverage,uint256 _maxLeverage,"
    "uint256 _slippageP,uint256 _deadline,uint256 _nonce)" + _TRADE,
    (
        "CloseTradeReq(address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,uint256 _amount,"
        "uint256 _wantedPrice,uint256 _deadline,uint256 _nonce)"
    ),
    (
        "CloseTradeCoinExposureReq(address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,"
        "uint256 _coinExposure,uint256 _wantedPrice,uint256 _deadline,uint256 _nonce)"
    ),
    "IncreasePositionSizeReq(UpdatePositionSize _updateInfo,uint256 _slippageP,uint256 _deadline,uint256 _nonce)"
    + _UPDATE,
    "IncreasePositionSizeWithCoinExposureReq(UpdatePositionSize _updateInfo,uint256 _coinExposure,uint256 _minLeverage,"
    "uint256 _maxLeverage,uint256 _slippageP,uint256 _deadline,uint256 _nonce)" + _UPDATE,
    (
        "TpSlReq(address trader,uint256 pairIndex,uint256 index,uint8 triggerType,uint256 coinSize,bool buy,uint256 price,"
        "int256 percentage,uint256 timestamp,uint256 signTimestamp,uint8 orderType,uint256 nonce)"
    ),
    "SetTraderReferralCodeByUserReq(bytes32 _code,address _referee,uint256 _deadline,uint256 _nonce)",
    "RegisterCodeReq(bytes32 _code,address _referrer,uint256 _deadline,uint256 _nonce)",
    "TwapCancelReq(address trader,uint256 twapId,uint256 nonce,uint256 deadline)",
    "DelegateReq(address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce)",
)
ABI_ORDER = {"DelegateReq": ("trader", "delegate", "expiry", "tnc", "deadline", "nonce")}
REFERRAL = ("SetTraderReferralCodeByUserReq", "RegisterCodeReq")
DOMAIN_TYPE = [
    {"name": "name", "type": "string"},
    {"name": "version", "type": "string"},
    {"name": "chainId", "type": "uint256"},
    {"name": "verifyingContract", "type": "address"},
]


def types_in(encode_type: str) -> dict[str, list[dict[str, str]]]:
    """Return the types of EIP-712 that an encodeType text says."""
    return {
        struct: [dict(zip(("type", "name"), member.split(" "), strict=True)) for member in members.split(",")]
        for struct, members in re.findall(r"(\w+)\(([^)]*)\)", encode_type)
    }


TYPES = {text.partition("(")[0]: types_in(text) for text in ENCODE_TYPES}


def digest_of(document: dict[str, Any]) -> bytes:
    """Return the EIP-712 digest of typed data as eth-account computes it."""
    types = document["types"]
    if "EIP712Domain" not in types:
        kinds = {m["name"]: m for m in [*DOMAIN_TYPE, {"name": "salt", "type": "bytes32"}]}
        types = {"EIP712Domain": [kinds[name] for name in kinds if name in document["domain"]], **types}
    signable = encode_typed_data(full_message={**document, "types": types})
    return keccak(b"\x19" + signable.version + signable.header + signable.body)


def seal(payload: dict[str, Any]) -> None:
    """Give a payload the digest and the encoding that belong to its own domain, types and message."""
    types, primary = payload["types"], payload["primaryType"]

    def numbers(struct: str, value: dict[str, Any]) -> dict[str, Any]:
        return {m["name"]: _plain(types, m["type"], value[m["name"]], numbers) for m in types[struct]}

    message = numbers(primary, payload["message"])
    domain = {**payload["domain"], "chainId": int(payload["domain"]["chainId"])}
    document = {"types": types, "primaryType": primary, "domain": domain, "message": message}
    payload["digest"] = "0x" + digest_of(document).hex()
    payload["encodedIntent"] = "0x" + encoding_of(types, primary, message, ABI_ORDER.get(primary, ())).hex()


def _plain(types: dict[str, Any], kind: str, value: Any, numbers: Any) -> Any:
    if kind in types:
        return numbers(kind, value)
    return int(value) if "int" in kind else value


def encoding_of(types: dict[str, Any], struct: str, message: dict[str, Any], order: tuple[str, ...]) -> bytes:
    """Return ``abi.encode(struct)`` of a message with plain numbers, as eth-abi computes it."""
    kind, values = _abi(types, struct, message, order)
    return encode([kind], [values])


def _abi(types: dict[str, Any], kind: str, value: Any, order: tuple[str, ...] = ()) -> tuple[str, Any]:
    """Return a member's type and value as eth-abi takes them; a struct is a tuple."""
    if kind in types:
        kinds = {member["name"]: member["type"] for member in types[kind]}
        parts = [_abi(types, kinds[name], value[name]) for name in order or kinds]
        return f"({','.join(part for part, _ in parts)})", tuple(each for _, each in parts)
    return kind, bytes.fromhex(value[2:]) if kind.startswith("bytes") else value


def fingerprint(value: Any) -> str:
    """Return SHA-256 over the deterministic CBOR form."""
    return hashlib.sha256(cbor2.dumps(value, canonical=True)).hexdigest()


def plan_fingerprint(text: str) -> str:
    """Return the fingerprint of a plan in TOML: times with a zone count as their ISO text in UTC."""
    return fingerprint(_json_like(tomllib.loads(text)))


def _json_like(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _json_like(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_json_like(member) for member in value]
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


# ---- the good documents ---------------------------------------------------------------------------------------------


def renewed(item: dict[str, Any], deployment: dict[str, Any]) -> dict[str, Any]:
    """Return an item of a good document under the deployment's domain and the published types, sealed anew."""
    payload = item["payload"]
    struct = payload["primaryType"]
    listed = {"EIP712Domain": DOMAIN_TYPE} if "EIP712Domain" in payload["types"] else {}
    payload["domain"] = dict(deployment["domains"]["referral" if struct in REFERRAL else "trading"])
    payload["types"] = listed | TYPES[struct]
    seal(payload)
    return item


def signed_item(item: dict[str, Any]) -> dict[str, str]:
    """Return one item of a signatures document, signed with a published test key."""
    signer = item["signer"]["address"]
    signature = Account.unsafe_sign_hash(bytes.fromhex(item["payload"]["digest"][2:]), KEYS[signer]).signature
    return {
        "step": item["step"], "result": "signed", "digest": item["payload"]["digest"],
        "signature": "0x" + bytes(signature).hex(), "signer": signer, "shown": "fields", "app": "1.22.0",
    }  # fmt: skip


def header_of(ceremony: str, plan: str, deployment: dict[str, Any]) -> dict[str, Any]:
    """Return the header of a requests document with one item."""
    return {
        "count": 1, "ceremony": ceremony, "plan": plan_fingerprint(plan),
        "deployment": fingerprint(deployment), "deployment_name": "venue", "rehearsal": False,
        "transcript_head": "0" * 64, "created_ms": NOW_MS - 60_000,
    }  # fmt: skip


def main() -> None:
    """Write the good requests documents and the signatures over all of them."""
    plan = (VECTORS / "plans/good/every-struct.toml").read_text()
    deployment = json.loads((VECTORS / "deployments/good/venue.json").read_text())
    header = header_of("2026-09-everything", plan, deployment)
    paths = [VECTORS / f"requests/good/{step['id']}.json" for step in tomllib.loads(plan)["steps"]]
    items = [renewed(json.loads(path.read_text())["requests"][0], deployment) for path in paths]
    for item in items:
        document = {"format": "airlock/requests@1", "header": header, "requests": [item]}
        _write(f"requests/good/{item['step']}.json", document)
    whole = {"format": "airlock/requests@1", "header": {**header, "count": len(items)}, "requests": items}
    signed_header = {
        "count": len(items), "ceremony": header["ceremony"], "requests": fingerprint(whole), "rehearsal": False,
        "transcript_head": "0" * 64, "created_ms": NOW_MS,
    }  # fmt: skip
    signatures = [signed_item(item) for item in items]
    _write(
        "signatures/good/every-struct.json",
        {"format": "airlock/signatures@1", "header": signed_header, "signatures": signatures},
    )


def _write(name: str, value: Any) -> None:
    (VECTORS / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
