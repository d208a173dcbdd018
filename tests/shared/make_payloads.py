"""The good requests documents, built with libraries that the gate does not use.

``python tests/shared/make_payloads.py`` writes ``tests/vectors/requests/good/*.json`` and the signatures over them anew.
Nothing here imports Airlock: struct types are the published texts, digests come from eth-account, encodings from eth-abi,
signatures from eth-account, and fingerprints from cbor2 and hashlib directly.
"""

from __future__ import annotations

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
TERMS = "Terms, clause 7: keine Gewähr — 無保証.\n"

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


def _types(encode_type: str) -> dict[str, list[dict[str, str]]]:
    return {
        struct: [dict(zip(("type", "name"), member.split(" "), strict=True)) for member in members.split(",")]
        for struct, members in re.findall(r"(\w+)\(([^)]*)\)", encode_type)
    }


TYPES = {text.partition("(")[0]: _types(text) for text in ENCODE_TYPES}


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
    return encode([_abi_type(types, struct, order)], [_abi_values(types, struct, message, order)])


def _abi_type(types: dict[str, Any], struct: str, order: tuple[str, ...]) -> str:
    kinds = {m["name"]: m["type"] for m in types[struct]}
    parts = [_abi_type(types, kinds[n], ()) if kinds[n] in types else kinds[n] for n in order or kinds]
    return f"({','.join(parts)})"


def _abi_values(types: dict[str, Any], struct: str, message: dict[str, Any], order: tuple[str, ...]) -> tuple[Any, ...]:
    kinds = {m["name"]: m["type"] for m in types[struct]}
    values: list[Any] = []
    for name in order or kinds:
        value = message[name]
        if kinds[name] in types:
            value = _abi_values(types, kinds[name], value, ())
        elif kinds[name].startswith("bytes"):
            value = bytes.fromhex(value[2:])
        values.append(value)
    return tuple(values)


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


# ---- what is asked and what a good builder answers, written out by hand ---------------------------------------------

_DEADLINE = str(NOW_MS + 15 * 60_000)
_TRADE_ZERO = {"index": "0", "initialPosToken": "0", "tp": "0", "sl": "0", "timestamp": "0"}


def _trade(**members: Any) -> dict[str, Any]:
    values = {"trader": TREASURY, **_TRADE_ZERO, **members}
    return {m["name"]: values[m["name"]] for m in TYPES["OpenTradeReq"]["Trade"]}


def _update(**members: Any) -> dict[str, Any]:
    values = {"trader": TREASURY, **members}
    return {m["name"]: values[m["name"]] for m in TYPES["IncreasePositionSizeReq"]["UpdatePositionSize"]}


def _timed(nonce: int) -> dict[str, str]:
    return {"_deadline": _DEADLINE, "_nonce": str(nonce)}


ITEMS: tuple[dict[str, Any], ...] = (
    {
        "step": "open", "action": "open", "endpoint": "/v2/intents/open", "struct": "OpenTradeReq", "order_type": 0,
        "fields": {"trader": TREASURY, "pairIndex": "0", "side": "long", "collateralUsdc": "1000", "leverage": "10",
                   "orderType": "market", "stopLoss": "58000", "deadlineMs": _DEADLINE},
        "message": {
            "_t": _trade(pairIndex="0", positionSizeUSDC="1000000000", openPrice="625000000000000", buy=True,
                         leverage="100000000000", sl="580000000000000"),
            "_type": 0, "_slippageP": "10000000000", **_timed(2**255 + 1)},
        "meta": {"pair": "BTC/USD", "pairIndex": 0, "openPrice": 62500.0},
    },
    {
        "step": "open-pnl", "action": "open", "endpoint": "/v2/intents/open", "struct": "OpenTradeReq", "order_type": 6,
        "fields": {"trader": TREASURY, "pairIndex": "7", "side": "short", "collateralUsdc": "50.5", "leverage": "75",
                   "orderType": "market_pnl", "slippagePercent": "0.5"},
        "message": {
            "_t": _trade(pairIndex="7", positionSizeUSDC="50500000", openPrice="600000000000000", buy=False,
                         leverage="750000000000"),
            "_type": "3", "_slippageP": "5000000000", **_timed(2)},
    },
    {
        "step": "open-coin", "action": "open-coin", "endpoint": "/v2/intents/open-coin", "order_type": 12,
        "struct": "OpenTradeCoinExposureReq",
        "fields": {"trader": TREASURY, "pairIndex": "1", "side": "short", "collateralUsdc": "800", "leverage": "10",
                   "orderType": "market", "openPrice": "3200.5", "coinExposure": "2.5", "minLeverage": "5",
                   "maxLeverage": "15"},
        "message": {
            "_t": _trade(pairIndex="1", positionSizeUSDC="800000000", openPrice="32005000000000", buy=False,
                         leverage="100000000000"),
            "_type": "0", "_coinExposure": "25000000000", "_minLeverage": "50000000000",
            "_maxLeverage": "150000000000", "_slippageP": "3000000000", **_timed(3)},
    },
    {
        "step": "close", "action": "close", "endpoint": "/v2/intents/close", "struct": "CloseTradeReq", "order_type": 1,
        "fields": {"trader": TREASURY, "pairIndex": "0", "tradeIndex": "2", "collateralToCloseUsdc": "250.000001"},
        "message": {"_trader": TREASURY.lower(), "_pairIndex": "0", "_index": "2", "_openTimestamp": "1789000000",
                    "_amount": "250000001", "_wantedPrice": "640000000000000", **_timed(4)},
    },
    {
        "step": "close-coin", "action": "close-coin", "endpoint": "/v2/intents/close-coin", "order_type": 16,
        "struct": "CloseTradeCoinExposureReq",
        "fields": {"trader": TREASURY, "pairIndex": "7", "tradeIndex": "0", "coinExposure": "0.0000000001",
                   "expectedPrice": "63000", "openTimestamp": "1788220800"},
        "message": {"_trader": TREASURY, "_pairIndex": "7", "_index": "0", "_openTimestamp": "1788220800",
                    "_coinExposure": "1", "_wantedPrice": "630000000000000", **_timed(5)},
    },
    {
        "step": "increase", "action": "increase", "endpoint": "/v2/intents/increase", "struct": "IncreasePositionSizeReq",
        "order_type": 9, "signer": {"address": DESK, "path": "m/44'/60'/1'/0/0"},
        "delegation": {"isEnabled": True, "expiry": 1806451200, "canSignIntents": True},
        "fields": {"trader": TREASURY, "pairIndex": "0", "tradeIndex": "1", "additionalCollateralUsdc": "10",
                   "leverage": "3.5"},
        "message": {
            "_updateInfo": _update(pairIndex="0", index="1", openPrice="620000000000000", initialPosToken="10000000",
                                   leverage="35000000000"),
            "_slippageP": "10000000000", **_timed(6)},
    },
    {
        "step": "increase-coin", "action": "increase-coin", "endpoint": "/v2/intents/increase-coin", "order_type": 14,
        "struct": "IncreasePositionSizeWithCoinExposureReq",
        "fields": {"trader": TREASURY, "pairIndex": "1", "tradeIndex": "0", "additionalCollateralUsdc": "100",
                   "leverage": "10", "coinExposure": "0.3", "minLeverage": "9", "maxLeverage": "11"},
        "message": {
            "_updateInfo": _update(pairIndex="1", index="0", openPrice="32005000000000", initialPosToken="100000000",
                                   leverage="100000000000"),
            "_coinExposure": "3000000000", "_minLeverage": "90000000000", "_maxLeverage": "110000000000",
            "_slippageP": "10000000000", **_timed(7)},
        "meta": {"pair": "ETH/USD", "pairIndex": 1, "openPrice": 3200.5},
    },
    {
        "step": "take-profit", "action": "tpsl-partial", "endpoint": "/v2/intents/tpsl-partial", "struct": "TpSlReq",
        "fields": {"trader": TREASURY, "pairIndex": "0", "tradeIndex": "1", "kind": "take_profit",
                   "coinExposure": "0.01", "side": "long", "triggerType": "fixed", "price": "70000"},
        "message": {"trader": TREASURY, "pairIndex": "0", "index": "1", "triggerType": "0", "coinSize": "100000000",
                    "buy": True, "price": "700000000000000", "percentage": "0", "timestamp": "1789000000",
                    "signTimestamp": str(NOW_MS - 30_000), "orderType": "4", "nonce": "8"},
        "meta": {"pair": "BTC/USD", "pairIndex": 0},
    },
    {
        "step": "stop-loss", "action": "tpsl-partial", "endpoint": "/v2/intents/tpsl-partial", "struct": "TpSlReq",
        "fields": {"trader": TREASURY, "pairIndex": "1", "tradeIndex": "0", "kind": "stop_loss", "coinExposure": "1",
                   "side": "short", "triggerType": "percentage", "percentage": "-10"},
        "message": {"trader": TREASURY, "pairIndex": 1, "index": 0, "triggerType": 1, "coinSize": "10000000000",
                    "buy": False, "price": "0", "percentage": "-100000000000", "timestamp": "1789000000",
                    "signTimestamp": str(NOW_MS), "orderType": 5, "nonce": "9"},
    },
    {
        "step": "referral", "action": "referral-set-code", "endpoint": "/v2/intents/referral-set-code",
        "struct": "SetTraderReferralCodeByUserReq", "fields": {"referee": TREASURY, "code": "TREASURY"},
        "message": {"_code": "0x" + b"TREASURY".ljust(32, b"\0").hex(), "_referee": TREASURY, **_timed(10)},
    },
    {
        "step": "own-code", "action": "referral-register", "endpoint": "/v2/intents/referral-register",
        "struct": "RegisterCodeReq",
        "fields": {"referrer": TREASURY, "code": "0x" + b"Desk-7!!".ljust(32, b"\0").hex()},
        "message": {"_code": "0x" + b"Desk-7!!".ljust(32, b"\0").hex(), "_referrer": TREASURY, **_timed(11)},
    },
    {
        "step": "stop-twap", "action": "twap-cancel", "endpoint": "/v2/intents/twap-cancel", "struct": "TwapCancelReq",
        "fields": {"trader": TREASURY, "twapId": "41", "nonce": str(2**256 - 1), "deadlineMs": "1790001600000"},
        "message": {"trader": TREASURY, "twapId": "41", "nonce": str(2**256 - 1), "deadline": "1790001600000"},
        "meta": {"twapId": 41},
    },
    {
        "step": "desk-key", "action": "delegate", "endpoint": "/v2/intents/delegate", "struct": "DelegateReq",
        "fields": {"trader": TREASURY, "delegate": DESK, "expirySeconds": "1806451200"},
        "message": {"trader": TREASURY, "delegate": DESK, "expiry": "1806451200", "deadline": _DEADLINE, "tnc": "",
                    "nonce": "13"},
    },
    {
        "step": "desk-key-terms", "action": "delegate", "endpoint": "/v2/intents/delegate", "struct": "DelegateReq",
        "fields": {"trader": TREASURY, "delegate": OTHER, "expirySeconds": "1806451200"},
        "message": {"trader": TREASURY, "delegate": OTHER, "expiry": "1806451200", "deadline": _DEADLINE, "tnc": TERMS,
                    "nonce": "14"},
    },
)  # fmt: skip

_ROUTES = {
    "TpSlReq": "core-api",
    "TwapCancelReq": "twap",
    "DelegateReq": "relayer",
    **dict.fromkeys(REFERRAL, "relayer"),
}


def item_of(entry: dict[str, Any], deployment: dict[str, Any], *, list_domain_type: bool) -> dict[str, Any]:
    """Return one item of a requests document, sealed."""
    struct = entry["struct"]
    types = json.loads(json.dumps(TYPES[struct]))
    payload = {
        "intent": struct,
        "signerRule": "trader-only" if struct == "DelegateReq" else "trader-or-delegate",
        "domain": dict(deployment["domains"]["referral" if struct in REFERRAL else "trading"]),
        "primaryType": struct,
        "types": {"EIP712Domain": DOMAIN_TYPE, **types} if list_domain_type else types,
        "message": entry["message"],
    }
    seal(payload)
    if "meta" in entry:
        payload["meta"] = entry["meta"]
    route: dict[str, Any] = {"to": _ROUTES.get(struct, "batched-market")}
    if "order_type" in entry:
        route |= {"order_type": entry["order_type"], "reason": "the struct and the pair's PnL flag"}
    signer = entry.get("signer", {"address": TREASURY, "path": "m/44'/60'/0'/0/0"})
    item = {name: entry[name] for name in ("step", "action", "endpoint", "fields")}
    item |= {"payload": payload, "route": route, "signer": signer}
    return item | ({"delegation": entry["delegation"]} if "delegation" in entry else {})


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
    items = [item_of(entry, deployment, list_domain_type=n % 2 == 0) for n, entry in enumerate(ITEMS)]
    for item in items:
        _write(
            f"requests/good/{item['step']}.json", {"format": "airlock/requests@1", "header": header, "requests": [item]}
        )
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
