"""The good requests documents for transactions, built with libraries that the gate does not use.

``PYTHONPATH=tests python tests/shared/make_transactions.py`` writes calldata and headers of
``tests/vectors/transactions/good/*.json``, and ``signed.json``, anew.
Nothing here imports Airlock: selectors are the published ones, arguments are encoded by eth-abi, transactions are hashed and
signed by eth-account.
"""

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
    kinds = parts_of(signature.partition("(")[2].removesuffix(")"))
    selector = {**SELECTORS, **NOT_SIGNED}[signature]
    return bytes.fromhex(selector) + encode(kinds, [_plain(*pair) for pair in zip(kinds, values, strict=True)])


def parts_of(kinds: str) -> list[str]:
    """Return the types of a list, tuples as one."""
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


# ---- what is called, written out by hand ------------------------------------------------------------------------------


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
ENTRIES: dict[str, dict[str, Any]] = {
    "position-increase": {
        "call": "increasePositionSize",
        "arguments": {"info": _update(0, 1, 620000000000000, 10000000, 35000000000), "slippage": 10000000000}},
    "position-increase-desk": {
        "call": "increasePositionSize", "for": TREASURY,
        "arguments": {"info": _update(1, 0, 32005000000000, 250000001, 100000000000), "slippage": 5000000000}},
    "position-increase-coin": {
        "call": "increasePositionSizeWithCoinExposure",
        "arguments": {"info": _update(1, 2, 32005000000000, 100000000, 100000000000), "coinExposure": 3000000000,
                      "minLeverage": 90000000000, "maxLeverage": 110000000000, "slippage": 0}},
    "position-increase-coin-desk": {
        "call": "increasePositionSizeWithCoinExposure", "for": TREASURY,
        "arguments": {"info": _update(0, 0, 640000000000000, 100000000, 100000000000), "coinExposure": 150000000,
                      "minLeverage": 90000000000, "maxLeverage": 110000000000, "slippage": 3000000000}},
    "limit-update": {
        "call": "updateOpenLimitOrder",
        "arguments": {"pairIndex": 0, "index": 3, "price": 610005000000000, "slippage": 10000000000,
                      "tp": 700000000000000, "sl": 580000000000000}},
    "limit-update-desk": {
        "call": "updateOpenLimitOrder", "for": TREASURY,
        "arguments": {"pairIndex": 0, "index": 0, "price": 605000000000000, "slippage": 10000000000, "tp": 0, "sl": 0}},
    "trade-open": {
        "call": "openTrade",
        "arguments": {"t": _trade(pairIndex=0, positionSizeUSDC=1000000000, openPrice=625000000000000, buy=True,
                                  leverage=100000000000, sl=580000000000000), "orderType": 0, "slippage": 10000000000}},
    "trade-open-desk": {
        "call": "openTrade", "for": TREASURY,
        "arguments": {"t": _trade(pairIndex=1, positionSizeUSDC=50500000, openPrice=33000000000000, buy=False,
                                  leverage=200000000000, tp=30000000000000), "orderType": 2, "slippage": 5000000000}},
    "trade-close": {
        "call": "closeTradeMarket",
        "arguments": {"pairIndex": 7, "index": 2, "amount": 250000001, "wantedPrice": 640000000000000}},
    "trade-close-desk": {
        "call": "closeTradeMarket", "for": TREASURY,
        "arguments": {"pairIndex": 0, "index": 1, "amount": 10000000, "wantedPrice": 640000000000000}},
    "referral-transfer": {
        "call": "setPendingCodeOwnershipTransfer", "arguments": {"code": _code("TREASURY"), "newOwner": OTHER}},
    "referral-accept": {"call": "acceptCodeOwnership", "arguments": {"code": _code("Desk-7!!")}},
    "referral-adopt": {"call": "setTraderReferralCodeByUser", "arguments": {"code": _code("TREASURY")}},
    "referral-adopt-desk": {
        "call": "setTraderReferralCodeByUser", "for": TREASURY, "arguments": {"code": _code("TREASURY")}},
    "cancel-request": {"call": "cancelRequest", "arguments": {}},
    "keeper-rewards": {"call": "claimTokens", "arguments": {}},
    "delegate-set": {"call": "setDelegate", "arguments": {"delegate": DESK, "expiry": EXPIRY}},
    "delegate-remove": {"call": "removeDelegate", "arguments": {"delegate": OTHER}},
    "approve": {"call": "approve", "arguments": {"spender": _STORAGE, "amount": 25000500000}},
    "approve-unlimited": {"call": "approve", "arguments": {"spender": _STORAGE, "amount": 2**256 - 1}},
}  # fmt: skip
"""The call of each step, its arguments, and for whom a delegate makes it."""


def signed_item(item: dict[str, Any]) -> dict[str, str]:
    """Return what eth-account makes of an item: the hash that is signed, the signature, the raw transaction, its hash."""
    fields = {"type": 2, "value": 0, "accessList": [], **item["transaction"]}
    fields |= {name: item["payload"][name] for name in ("to", "data", "chainId")}
    signed = Account.sign_transaction(fields, KEYS[item["signer"]["address"]])
    signature = signed.r.to_bytes(32, "big") + signed.s.to_bytes(32, "big") + bytes([27 + signed.v])
    return {
        "digest": "0x" + bytes(TypedTransaction.from_dict(fields).hash()).hex(),
        "signature": "0x" + signature.hex(),
        "raw": "0x" + bytes(signed.raw_transaction).hex(),
        "hash": "0x" + bytes(signed.hash).hex(),
    }


def main() -> None:
    """Write the calldata and the headers of the good requests documents, and what eth-account makes of them."""
    plan = (FOLDER / "plan.toml").read_text()
    deployment = json.loads((VECTORS / "deployments/good/venue.json").read_text())
    header = header_of("2026-09-transactions", plan, deployment)
    items = []
    for step, entry in ENTRIES.items():
        (item,) = json.loads((FOLDER / f"good/{step}.json").read_text())["requests"]
        item["payload"]["data"] = call(entry["call"], entry["arguments"], entry.get("for"))
        items.append(item)
    for item in items:
        document = {"format": "airlock/requests@1", "header": header, "requests": [item]}
        _write(f"good/{item['step']}.json", document)
    _write("signed.json", {item["step"]: signed_item(item) for item in items})


def _write(name: str, value: Any) -> None:
    (FOLDER / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
