"""The good requests documents for transactions, built with libraries that the gate does not use.

``PYTHONPATH=tests python tests/shared/make_transactions.py`` writes ``tests/vectors/transactions/good/*.json`` and
``signed.json`` anew.
Nothing here imports Airlock: selectors are the published ones, arguments are encoded by eth-abi, transactions are hashed and
signed by eth-account.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from eth_abi.abi import encode
from eth_account import Account
from eth_account.typed_transactions.typed_transaction import TypedTransaction

from shared.make_payloads import DESK, KEYS, OTHER, TREASURY, VECTORS, header_of

FOLDER = VECTORS / "transactions"
EXPIRY = 1806451200  # 2027-03-31 00:00:00 UTC
UPDATE = "(address,uint256,uint256,uint256,uint256,uint256)"
TRADE = "(address,uint256,uint256,uint256,uint256,uint256,bool,uint256,uint256,uint256,uint256)"
SELECTORS = {  # as the venues publish them
    "delegatedAction(address,bytes)": "9a10cc32",
    "approve(address,uint256)": "095ea7b3",
    "setDelegate(address,uint256)": "d6a510d9",
    "removeDelegate(address)": "67e7646f",
    "setTraderReferralCodeByUser(bytes32)": "e1e01bf3",
    "setPendingCodeOwnershipTransfer(bytes32,address)": "fdb41ed3",
    "acceptCodeOwnership(bytes32)": "6b364489",
    "cancelRequest()": "851b16f5",
    "claimTokens()": "48c54b9d",
    "updateOpenLimitOrder(uint256,uint256,uint256,uint256,uint256,uint256)": "c641558e",
    f"openTrade({TRADE},uint8,uint256)": "19cde9a1",
    f"increasePositionSize({UPDATE},uint256)": "7dbd3b48",
    f"increasePositionSizeWithCoinExposure({UPDATE},uint256,uint256,uint256,uint256)": "912263d9",
    "closeTradeMarket(uint256,uint256,uint256,uint256)": "e5a97c92",
}
NOT_SIGNED = {  # calls and reads of the same table that nobody asks this account to send
    "setDelegateWithSig(bytes,bytes)": "f4ec01eb",
    "setTraderReferralCodeByUserWithSig(bytes,bytes)": "3e3c0e4d",
    "registerCodeWithSig(bytes,bytes)": "e66c3515",
    "nonceBitmap(address,uint256)": "4fe02b44",
    "multipleDelegations(address,address)": "21ae831b",
}
SIGNATURES = {signature.partition("(")[0]: signature for signature in (*SELECTORS, *NOT_SIGNED)}


def calldata(signature: str, values: list[Any]) -> bytes:
    """Return a call's selector and arguments as eth-abi encodes them."""
    kinds = _split(signature.partition("(")[2].removesuffix(")"))
    selector = {**SELECTORS, **NOT_SIGNED}[signature]
    return bytes.fromhex(selector) + encode(kinds, [_plain(*pair) for pair in zip(kinds, values, strict=True)])


def _split(kinds: str) -> list[str]:
    parts, depth = [""], 0
    for character in kinds:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def _plain(kind: str, value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(value.values())
    return bytes.fromhex(value[2:]) if kind.startswith("bytes") else value


def call(name: str, arguments: dict[str, Any], made_for: str | None = None) -> str:
    """Return a call's calldata as a payload holds it; ``made_for``: wrapped for this trader, as a delegate sends it."""
    data = calldata(SIGNATURES[name], list(arguments.values()))
    if made_for is not None:
        data = calldata("delegatedAction(address,bytes)", [made_for, "0x" + data.hex()])
    return "0x" + data.hex()


def called_otherwise(step: str, change: dict[str, Any]) -> str:
    """Return a step's calldata with some of its ``arguments`` changed, ``name`` another call, or ``for`` somebody else."""
    entry = ENTRIES[step]
    arguments = copy.deepcopy(change.get("all_arguments", entry["arguments"]))
    for path, value in change.get("arguments", {}).items():
        *parents, last = path.split(".")
        node = arguments
        for part in parents:
            node = node[part]
        assert node[last] != value, f"{path} is {value!r} anyway"
        node[last] = value
    return call(change.get("name", entry["call"]), arguments, change.get("for", entry.get("for")))


# ---- what is asked and what a good builder answers, written out by hand ---------------------------------------------


def _code(text: str) -> str:
    return "0x" + text.encode().ljust(32, b"\0").hex()


def _update(pair: int, index: int, price: int, added: int, leverage: int) -> dict[str, Any]:
    return {"trader": TREASURY, "pairIndex": pair, "index": index, "openPrice": price, "initialPosToken": added,
            "leverage": leverage}  # fmt: skip


def _trade(**members: Any) -> dict[str, Any]:
    names = ("trader", "pairIndex", "index", "initialPosToken", "positionSizeUSDC", "openPrice", "buy", "leverage", "tp",
             "sl", "timestamp")  # fmt: skip
    values = {"trader": TREASURY, "index": 0, "initialPosToken": 0, "tp": 0, "sl": 0, "timestamp": 0, **members}
    return {name: values[name] for name in names}


_STORAGE = "0x0A42a7B2C6E10A56d9d643589fc3Ab7B827bDf07"
_BY_DESK = {"for": TREASURY, "signer": DESK}
_ALL: tuple[dict[str, Any], ...] = (
    {
        "step": "position-increase", "action": "position-increase", "endpoint": "/v2/position/increase",
        "fields": {"trader": TREASURY, "pairIndex": "0", "tradeIndex": "1", "additionalCollateralUsdc": "10",
                   "leverage": "3.5"},
        "call": "increasePositionSize", "to": "tradingRouter",
        "arguments": {"info": _update(0, 1, 620000000000000, 10000000, 35000000000), "slippage": 10000000000},
        "meta": {"pair": "BTC/USD", "pairIndex": 0, "tradeIndex": "1", "openPrice": 62000.0, "delegated": False},
    },
    {
        "step": "position-increase-desk", "action": "position-increase", "endpoint": "/v2/position/increase",
        "fields": {"trader": TREASURY, "pairIndex": "1", "tradeIndex": "0", "additionalCollateralUsdc": "250.000001",
                   "leverage": "10", "openPrice": "3200.5", "slippagePercent": "0.5", "delegate": DESK},
        "call": "increasePositionSize", "to": "tradingRouter", **_BY_DESK,
        "arguments": {"info": _update(1, 0, 32005000000000, 250000001, 100000000000), "slippage": 5000000000},
        "meta": {"pair": "ETH/USD", "pairIndex": 1, "openPrice": 3200.5, "delegated": True},
    },
    {
        "step": "position-increase-coin", "action": "position-increase-coin", "endpoint": "/v2/position/increase-coin",
        "fields": {"trader": TREASURY, "pairIndex": "1", "tradeIndex": "2", "additionalCollateralUsdc": "100",
                   "leverage": "10", "coinExposure": "0.3", "minLeverage": "9", "maxLeverage": "11"},
        "call": "increasePositionSizeWithCoinExposure", "to": "tradingRouter",
        "arguments": {"info": _update(1, 2, 32005000000000, 100000000, 100000000000), "coinExposure": 3000000000,
                      "minLeverage": 90000000000, "maxLeverage": 110000000000, "slippage": 0},
    },
    {
        "step": "position-increase-coin-desk", "action": "position-increase-coin",
        "endpoint": "/v2/position/increase-coin",
        "fields": {"trader": TREASURY, "pairIndex": "0", "tradeIndex": "0", "additionalCollateralUsdc": "100",
                   "leverage": "10", "coinExposure": "0.015", "minLeverage": "9", "maxLeverage": "11",
                   "openPrice": "64000", "delegate": DESK},
        "call": "increasePositionSizeWithCoinExposure", "to": "tradingRouter", **_BY_DESK,
        "arguments": {"info": _update(0, 0, 640000000000000, 100000000, 100000000000), "coinExposure": 150000000,
                      "minLeverage": 90000000000, "maxLeverage": 110000000000, "slippage": 3000000000},
    },
    {
        "step": "limit-update", "action": "limit-update", "endpoint": "/v2/limit/update",
        "fields": {"trader": TREASURY, "pairIndex": "0", "orderIndex": "3", "price": "61000.5", "takeProfit": "70000",
                   "stopLoss": "58000"},
        "call": "updateOpenLimitOrder", "to": "tradingRouter",
        "arguments": {"pairIndex": 0, "index": 3, "price": 610005000000000, "slippage": 10000000000,
                      "tp": 700000000000000, "sl": 580000000000000},
    },
    {
        "step": "limit-update-desk", "action": "limit-update", "endpoint": "/v2/limit/update",
        "fields": {"trader": TREASURY, "pairIndex": "0", "orderIndex": "0", "price": "60500", "slippagePercent": "1",
                   "takeProfit": "0", "stopLoss": "0", "delegate": DESK},
        "call": "updateOpenLimitOrder", "to": "tradingRouter", **_BY_DESK,
        "arguments": {"pairIndex": 0, "index": 0, "price": 605000000000000, "slippage": 10000000000, "tp": 0, "sl": 0},
    },
    {
        "step": "trade-open", "action": "trade-open", "endpoint": "/v2/trade/open",
        "fields": {"trader": TREASURY, "pairIndex": "0", "side": "long", "collateralUsdc": "1000", "leverage": "10",
                   "orderType": "market", "stopLoss": "58000"},
        "call": "openTrade", "to": "tradingRouter",
        "arguments": {"t": _trade(pairIndex=0, positionSizeUSDC=1000000000, openPrice=625000000000000, buy=True,
                                  leverage=100000000000, sl=580000000000000), "orderType": 0, "slippage": 10000000000},
    },
    {
        "step": "trade-open-desk", "action": "trade-open", "endpoint": "/v2/trade/open",
        "fields": {"trader": TREASURY, "pairIndex": "1", "side": "short", "collateralUsdc": "50.5", "leverage": "20",
                   "orderType": "limit", "openPrice": "3300", "takeProfit": "3000", "delegate": DESK},
        "call": "openTrade", "to": "tradingRouter", **_BY_DESK,
        "arguments": {"t": _trade(pairIndex=1, positionSizeUSDC=50500000, openPrice=33000000000000, buy=False,
                                  leverage=200000000000, tp=30000000000000), "orderType": 2, "slippage": 5000000000},
    },
    {
        "step": "trade-close", "action": "trade-close", "endpoint": "/v2/trade/close",
        "fields": {"trader": TREASURY, "pairIndex": "7", "tradeIndex": "2", "collateralToCloseUsdc": "250.000001"},
        "call": "closeTradeMarket", "to": "tradingRouter",
        "arguments": {"pairIndex": 7, "index": 2, "amount": 250000001, "wantedPrice": 640000000000000},
    },
    {
        "step": "trade-close-desk", "action": "trade-close", "endpoint": "/v2/trade/close",
        "fields": {"trader": TREASURY, "pairIndex": "0", "tradeIndex": "1", "collateralToCloseUsdc": "10",
                   "expectedPrice": "64000", "delegate": DESK},
        "call": "closeTradeMarket", "to": "tradingRouter", **_BY_DESK,
        "arguments": {"pairIndex": 0, "index": 1, "amount": 10000000, "wantedPrice": 640000000000000},
    },
    {
        "step": "referral-transfer", "action": "referral-transfer", "endpoint": "/v2/referral/transfer-ownership",
        "fields": {"caller": TREASURY, "code": "TREASURY", "newOwner": OTHER},
        "call": "setPendingCodeOwnershipTransfer", "to": "referral",
        "arguments": {"code": _code("TREASURY"), "newOwner": OTHER}, "meta": {},
    },
    {
        "step": "referral-accept", "action": "referral-accept", "endpoint": "/v2/referral/accept-ownership",
        "fields": {"caller": TREASURY, "code": _code("Desk-7!!")},
        "call": "acceptCodeOwnership", "to": "referral", "arguments": {"code": _code("Desk-7!!")},
    },
    {
        "step": "referral-adopt", "action": "referral-set-code-tx", "endpoint": "/v2/referral/set-code",
        "fields": {"caller": TREASURY, "code": "TREASURY"},
        "call": "setTraderReferralCodeByUser", "to": "referral", "arguments": {"code": _code("TREASURY")},
    },
    {
        "step": "referral-adopt-desk", "action": "referral-set-code-tx", "endpoint": "/v2/referral/set-code",
        "fields": {"caller": TREASURY, "code": "TREASURY", "delegate": DESK},
        "call": "setTraderReferralCodeByUser", "to": "tradingRouter", **_BY_DESK,
        "arguments": {"code": _code("TREASURY")},
    },
    {
        "step": "cancel-request", "action": "referral-cancel-request", "endpoint": "/v2/referral/cancel-request",
        "fields": {"caller": TREASURY}, "call": "cancelRequest", "to": "referral", "arguments": {}, "meta": {},
    },
    {
        "step": "keeper-rewards", "action": "claim-keeper-rewards", "endpoint": "/v2/misc/claim-keeper-rewards",
        "fields": {"caller": DESK}, "call": "claimTokens", "to": "tradingRouter", "arguments": {}, "signer": DESK,
        "meta": {},
    },
    {
        "step": "delegate-set", "action": "delegate-set", "endpoint": "/v2/delegate/set",
        "fields": {"trader": TREASURY, "delegate": DESK, "expirySeconds": str(EXPIRY)},
        "call": "setDelegate", "to": "tradingRouter", "arguments": {"delegate": DESK, "expiry": EXPIRY},
    },
    {
        "step": "delegate-remove", "action": "delegate-remove", "endpoint": "/v2/delegate/remove",
        "fields": {"trader": TREASURY, "delegate": OTHER},
        "call": "removeDelegate", "to": "tradingRouter", "arguments": {"delegate": OTHER},
    },
    {
        "step": "approve", "action": "token-approve", "endpoint": "/v2/token/approve",
        "fields": {"trader": TREASURY, "spender": _STORAGE, "amountUsdc": "25000.5"},
        "call": "approve", "to": "usdc", "arguments": {"spender": _STORAGE, "amount": 25000500000},
        "meta": {"unlimited": False},
    },
    {
        "step": "approve-unlimited", "action": "token-approve", "endpoint": "/v2/token/approve",
        "fields": {"trader": TREASURY, "spender": _STORAGE},
        "call": "approve", "to": "usdc", "arguments": {"spender": _STORAGE, "amount": 2**256 - 1},
        "meta": {"unlimited": True},
    },
)  # fmt: skip
ENTRIES = {entry["step"]: entry for entry in _ALL}

_PATHS = {TREASURY: "m/44'/60'/0'/0/0", DESK: "m/44'/60'/1'/0/0"}


def item_of(entry: dict[str, Any], number: int, deployment: dict[str, Any]) -> dict[str, Any]:
    """Return one item of a requests document."""
    signer = entry.get("signer", TREASURY)
    payload = {
        "to": deployment["contracts"][entry["to"]],
        "from": signer,
        "data": call(entry["call"], entry["arguments"], entry.get("for")),
        "value": "0x0",
        "chainId": deployment["chain_id"],
        "description": f"{entry['call']} on the exchange",
    }
    if "meta" in entry:
        payload["meta"] = entry["meta"]
    filled = {
        "nonce": number, "gas": 250_000 + number, "maxFeePerGas": 2_000_000_000, "maxPriorityFeePerGas": 100_000_000,
    }  # fmt: skip
    item = {name: entry[name] for name in ("step", "action", "endpoint", "fields")}
    item |= {"payload": payload, "transaction": filled, "route": {"to": "relay"}}
    item["signer"] = {"address": signer, "path": _PATHS[signer]}
    if "for" in entry:
        item["delegation"] = {"isEnabled": True, "expiry": EXPIRY}
    return item


def filled_transaction(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item's transaction as eth-account takes it."""
    payload = item["payload"]
    fields = {"type": 2, "value": 0, "accessList": [], **item["transaction"]}
    return fields | {name: payload[name] for name in ("to", "data", "chainId")}


def signed_item(item: dict[str, Any]) -> dict[str, str]:
    """Return what eth-account makes of an item: the hash that is signed, the signature, the raw transaction, its hash."""
    fields = filled_transaction(item)
    signed = Account.sign_transaction(fields, KEYS[item["signer"]["address"]])
    signature = signed.r.to_bytes(32, "big") + signed.s.to_bytes(32, "big") + bytes([27 + signed.v])
    return {
        "digest": "0x" + bytes(TypedTransaction.from_dict(fields).hash()).hex(),
        "signature": "0x" + signature.hex(),
        "raw": "0x" + bytes(signed.raw_transaction).hex(),
        "hash": "0x" + bytes(signed.hash).hex(),
    }


def main() -> None:
    """Write the good requests documents, and what eth-account makes of them."""
    plan = (FOLDER / "plan.toml").read_text()
    deployment = json.loads((VECTORS / "deployments/good/venue.json").read_text())
    header = header_of("2026-09-transactions", plan, deployment)
    items = [item_of(entry, number, deployment) for number, entry in enumerate(ENTRIES.values())]
    for item in items:
        document = {"format": "airlock/requests@1", "header": header, "requests": [item]}
        _write(f"good/{item['step']}.json", document)
    _write("signed.json", {item["step"]: signed_item(item) for item in items})


def _write(name: str, value: Any) -> None:
    (FOLDER / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
