"""Unsigned transactions: every endpoint, its calldata against the contracts' own signatures, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi import abi
from eth_utils.crypto import keccak

from airlock_rehearsal.services import runtime as settings
from airlock_shared.venue.calldata import decode_call, encode_call
from airlock_shared.venue.calls import CALLS, indexed
from online.rehearsal.services_client import DELEGATE, START_MS, STRANGER, TRADER, Json, ServicesClient
from online.rehearsal.wallet import unsigned

T, D, S = TRADER.address, DELEGATE.address, STRANGER.address
ONE, USDC_ONE = 10**10, 10**6
EXPIRY = START_MS // 1000 + 3600
HOUSE = b"HOUSE".ljust(32, b"\0")
SLOT = {"trader": T, "tradeIndex": 0, "pairIndex": 0}
ADDED = SLOT | {"additionalCollateralUsdc": "10.5", "leverage": "2"}
COINS = {"coinExposure": "0.01", "minLeverage": "1", "maxLeverage": "90"}
LIMIT = {"trader": T, "orderIndex": 0, "pairIndex": 2, "price": "121.5"}
OPENED = {"trader": T, "side": "long", "collateralUsdc": "100", "leverage": "10", "pairIndex": 0}
CLOSED = SLOT | {"collateralToCloseUsdc": "1000"}
UPDATE = "(address,uint256,uint256,uint256,uint256,uint256)"
TRADE = "(address,uint256,uint256,uint256,uint256,uint256,bool,uint256,uint256,uint256,uint256)"
INFO = (T.lower(), 0, 0, 64_000 * ONE, 10_500_000, 2 * ONE)
NEW_TRADE = (T.lower(), 0, 0, 0, 100 * USDC_ONE, 64_000 * ONE, True, 10 * ONE, 0, 0, 0)
PAIRED = {"pair": "BTC/USD", "pairIndex": 0}
GOOD: dict[str, tuple[Json, str, str, str, tuple[Any, ...], Json]] = {
    # path: request, contract, selector, argument types, arguments, meta
    "/v2/position/increase": (
        ADDED, settings.TRADING_ROUTER, "7dbd3b48", f"{UPDATE},uint256", (INFO, ONE),
        PAIRED | {"tradeIndex": 0, "additionalCollateralUsdc": "10.5", "leverage": "2", "openPrice": 64000.0,
                  "slippagePercent": "1", "delegated": False},
    ),
    "/v2/position/increase-coin": (
        ADDED | COINS, settings.TRADING_ROUTER, "912263d9", f"{UPDATE},uint256,uint256,uint256,uint256",
        (INFO, ONE // 100, ONE, 90 * ONE, ONE),
        PAIRED | {"tradeIndex": 0, "additionalCollateralUsdc": "10.5", "coinExposure": "0.01", "minLeverage": "1",
                  "maxLeverage": "90", "openPrice": 64000.0, "slippagePercent": "1", "delegated": False},
    ),
    "/v2/limit/update": (
        LIMIT | {"slippagePercent": "0.5", "takeProfit": "150"}, settings.TRADING_ROUTER, "c641558e",
        "uint256,uint256,uint256,uint256,uint256,uint256", (2, 0, 1_215_000_000_000, ONE // 2, 150 * ONE, 0),
        {"pair": "SOL/USD", "pairIndex": 2, "orderIndex": 0, "price": "121.5", "slippagePercent": "0.5",
         "takeProfit": "150", "stopLoss": "0", "delegated": False},
    ),
    "/v2/trade/open": (
        OPENED, settings.TRADING_ROUTER, "19cde9a1", f"{TRADE},uint8,uint256", (NEW_TRADE, 0, ONE),
        PAIRED | {"openPrice": 64000.0, "delegated": False},
    ),
    "/v2/trade/close": (
        CLOSED, settings.TRADING_ROUTER, "e5a97c92", "uint256,uint256,uint256,uint256",
        (0, 0, 1000 * USDC_ONE, 64_000 * ONE), PAIRED | {"tradeIndex": 0, "delegated": False},
    ),
    "/v2/referral/set-code": (
        {"caller": T, "code": "HOUSE"}, settings.REFERRAL, "e1e01bf3", "bytes32", (HOUSE,),
        {"code": "0x" + HOUSE.hex(), "delegated": False},
    ),
    "/v2/referral/transfer-ownership": (
        {"caller": T, "code": "HOUSE", "newOwner": S}, settings.REFERRAL, "fdb41ed3", "bytes32,address",
        (HOUSE, S.lower()), {},
    ),
    "/v2/referral/accept-ownership": (
        {"caller": T, "code": "HOUSE"}, settings.REFERRAL, "6b364489", "bytes32", (HOUSE,), {}
    ),
    "/v2/referral/cancel-request": ({"caller": T}, settings.REFERRAL, "851b16f5", "", (), {}),
    "/v2/misc/claim-keeper-rewards": ({"caller": T}, settings.TRADING_ROUTER, "48c54b9d", "", (), {}),
    "/v2/delegate/set": (
        {"trader": T, "delegate": D, "expirySeconds": EXPIRY}, settings.TRADING_ROUTER, "d6a510d9", "address,uint256",
        (D.lower(), EXPIRY), {"delegate": D, "expirySeconds": EXPIRY},
    ),
    "/v2/delegate/remove": (
        {"trader": T, "delegate": D}, settings.TRADING_ROUTER, "67e7646f", "address", (D.lower(),), {"delegate": D}
    ),
    "/v2/token/approve": (
        {"trader": T, "amountUsdc": "2500.5"}, settings.USDC, "095ea7b3", "address,uint256",
        (settings.TRADING_STORAGE.lower(), 2_500_500_000),
        {"spender": settings.TRADING_STORAGE, "amountUsdc": "2500.5"},
    ),
}  # fmt: skip
DELEGABLE = ("/v2/position/increase", "/v2/position/increase-coin", "/v2/limit/update", "/v2/trade/open",
             "/v2/trade/close", "/v2/referral/set-code")  # fmt: skip
OWN = tuple(path for path in GOOD if path not in DELEGABLE and not path.startswith("/v2/delegate/"))


@pytest.mark.parametrize("path", GOOD)
def test_an_unsigned_transaction_is_what_the_contract_takes(shared_desk: ServicesClient, path: str) -> None:
    fields, contract, selector, types, arguments, meta = GOOD[path]
    payload = unsigned(shared_desk, path, **fields)
    assert list(payload) == ["to", "from", "data", "value", "chainId", "description", "meta"]
    assert (payload["to"], payload["from"], payload["value"], payload["chainId"]) == (contract, T, "0x0", 31337)
    data = bytes.fromhex(payload["data"][2:])
    assert data[:4].hex() == selector
    assert data[4:] == (abi.encode([f"({types})"], [arguments]) if types else b"")
    assert payload["meta"] == meta
    assert payload["description"]


@pytest.mark.parametrize("path", GOOD)
def test_get_and_post_build_the_same_transaction(shared_desk: ServicesClient, path: str) -> None:
    url, fields = shared_desk.services.builder_url + path, GOOD[path][0]
    by_get, by_post = shared_desk.http.get(url, params=fields), shared_desk.http.post(url, json=fields)
    assert by_get.status_code == by_post.status_code == 200
    assert by_get.json() == by_post.json()


@pytest.mark.parametrize("path", GOOD)
def test_the_gate_reads_the_calldata_back(shared_desk: ServicesClient, path: str) -> None:
    data = bytes.fromhex(unsigned(shared_desk, path, **GOOD[path][0])["data"][2:])
    decoded = decode_call(data, indexed(CALLS))
    assert decoded.delegated_for is None
    assert encode_call(decoded.call, decoded.message) == data


@pytest.mark.parametrize("path", DELEGABLE)
def test_a_delegated_call_is_wrapped_and_sent_by_the_delegate(shared_desk: ServicesClient, path: str) -> None:
    plain = unsigned(shared_desk, path, **GOOD[path][0])
    payload = unsigned(shared_desk, path, **GOOD[path][0], delegate=D)
    assert (payload["to"], payload["from"]) == (settings.TRADING_ROUTER, D)
    assert payload["meta"] == plain["meta"] | {"delegated": True}
    data = bytes.fromhex(payload["data"][2:])
    assert data[:4].hex() == "9a10cc32"
    assert abi.decode(["address", "bytes"], data[4:]) == (T.lower(), bytes.fromhex(plain["data"][2:]))
    assert decode_call(data, indexed(CALLS)).delegated_for == bytes.fromhex(T[2:])


def refused(desk: ServicesClient, path: str, fields: Json) -> list[str]:
    reply = desk.http.post(desk.services.builder_url + path, json=fields)
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    assert error["code"] == "BAD_REQUEST"
    return [issue["path"] for issue in error["details"]["issues"]]


@pytest.mark.parametrize("path", OWN)
def test_a_delegate_is_refused_where_none_may_act(shared_desk: ServicesClient, path: str) -> None:
    assert refused(shared_desk, path, GOOD[path][0] | {"delegate": D}) == ["delegate"]


@pytest.mark.parametrize("path", GOOD)
def test_each_required_field_is_missed(shared_desk: ServicesClient, path: str) -> None:
    fields = GOOD[path][0]
    optional = {"spender", "amountUsdc", "slippagePercent", "takeProfit", "pairIndex"}
    for name in set(fields) - optional:
        assert refused(shared_desk, path, {k: v for k, v in fields.items() if k != name}) == [name]
    assert refused(shared_desk, path, {})


BAD: list[tuple[str, Json, str]] = [
    ("/v2/position/increase", {"pairIndex": 3}, "pair"),
    ("/v2/position/increase", {"pairIndex": None}, "pair"),
    ("/v2/position/increase", {"pair": "DOGE/USD", "pairIndex": None}, "pair"),
    ("/v2/position/increase", {"leverage": "101"}, "leverage"),
    ("/v2/position/increase", {"additionalCollateralUsdc": "0.5"}, "additionalCollateralUsdc"),
    ("/v2/position/increase", {"additionalCollateralUsdc": "1.0000001"}, "additionalCollateralUsdc"),
    ("/v2/position/increase", {"additionalCollateralUsdc": "-5"}, "additionalCollateralUsdc"),
    ("/v2/position/increase", {"tradeIndex": -1}, "tradeIndex"),
    ("/v2/position/increase", {"delegate": T}, "delegate"),
    ("/v2/position/increase", {"delegate": "desk"}, "delegate"),
    ("/v2/position/increase-coin", {"minLeverage": "91"}, "minLeverage"),
    ("/v2/limit/update", {"price": "0"}, "price"),
    ("/v2/limit/update", {"price": "-1"}, "price"),
    ("/v2/limit/update", {"orderIndex": "x"}, "orderIndex"),
    ("/v2/limit/update", {"pairIndex": 99}, "pair"),
    ("/v2/trade/open", {"pairIndex": 5}, "pair"),
    ("/v2/trade/open", {"orderType": "market_pnl"}, "orderType"),
    ("/v2/trade/open", {"orderType": "limit"}, "openPrice"),
    ("/v2/trade/open", {"side": "up"}, "side"),
    ("/v2/trade/open", {"collateralUsdc": "1"}, "collateralUsdc"),
    ("/v2/trade/close", {"tradeIndex": 4}, "tradeIndex"),
    ("/v2/trade/close", {"collateralToCloseUsdc": "1000.000001"}, "collateralToCloseUsdc"),
    ("/v2/trade/close", {"collateralToCloseUsdc": "0"}, "collateralToCloseUsdc"),
    ("/v2/referral/set-code", {"code": "x" * 32}, "code"),
    ("/v2/referral/set-code", {"code": "0x12"}, "code"),
    ("/v2/referral/transfer-ownership", {"newOwner": "0x12"}, "newOwner"),
    ("/v2/referral/transfer-ownership", {"newOwner": S[:2] + S[2:].swapcase()}, "newOwner"),
    ("/v2/referral/cancel-request", {"caller": "me"}, "caller"),
    ("/v2/delegate/set", {"expirySeconds": START_MS}, "expirySeconds"),
    ("/v2/delegate/set", {"expirySeconds": START_MS // 1000}, "expirySeconds"),
    ("/v2/delegate/set", {"delegate": T}, "delegate"),
    ("/v2/token/approve", {"amountUsdc": "unlimited"}, "amountUsdc"),
    ("/v2/token/approve", {"spender": "storage"}, "spender"),
]


@pytest.mark.parametrize(("path", "change", "named"), BAD)
def test_a_bad_request_names_its_field(shared_desk: ServicesClient, path: str, change: Json, named: str) -> None:
    fields = {name: value for name, value in (GOOD[path][0] | change).items() if value is not None}
    assert refused(shared_desk, path, fields) == [named]


def test_an_approval_without_an_amount_is_unlimited(shared_desk: ServicesClient) -> None:
    payload = unsigned(shared_desk, "/v2/token/approve", trader=T, spender=S)
    spender, amount = abi.decode(["address", "uint256"], bytes.fromhex(payload["data"][10:]))
    assert (spender, amount) == (S.lower(), 2**256 - 1)
    assert payload["meta"] == {"spender": S, "amountUsdc": "unlimited"}


def test_a_limit_order_on_its_way_keeps_its_kind_and_price(shared_desk: ServicesClient) -> None:
    payload = unsigned(shared_desk, "/v2/trade/open", **OPENED, orderType="limit", openPrice="60000", stopLoss="59000")
    trade, kind, _ = abi.decode([TRADE, "uint8", "uint256"], bytes.fromhex(payload["data"][10:]))
    assert (trade[5], trade[9], kind) == (60_000 * ONE, 59_000 * ONE, 2)


# ---- the builder's lies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", GOOD)
@pytest.mark.parametrize(
    ("fault", "member", "value"),
    [("value-added", "value", "0xde0b6b3a7640000"), ("wrong-chain", "chainId", 1337), ("to-crossed", "to", None),
     ("call-swapped", "data", None)],
)  # fmt: skip
def test_a_lie_changes_one_member(desk: ServicesClient, path: str, fault: str, member: str, value: Any) -> None:
    honest = unsigned(desk, path, **GOOD[path][0])
    desk.faults(fault)
    lying = unsigned(desk, path, **GOOD[path][0])
    changed = {name for name in honest if honest[name] != lying[name]}
    assert changed == ({member, "to"} if fault == "call-swapped" and lying["to"] != honest["to"] else {member})
    assert value is None or lying[member] == value


ALTERABLE = tuple(path for path in GOOD if GOOD[path][4])


@pytest.mark.parametrize("path", ALTERABLE)
def test_an_altered_argument_changes_the_calldata_alone(desk: ServicesClient, path: str) -> None:
    honest = unsigned(desk, path, **GOOD[path][0])
    desk.faults("message-altered")
    lying = unsigned(desk, path, **GOOD[path][0])
    assert {name for name in honest if honest[name] != lying[name]} == {"data"}
    assert lying["data"][:10] == honest["data"][:10]
    decode_call(bytes.fromhex(lying["data"][2:]), indexed(CALLS))


def test_a_swapped_call_makes_a_stranger_the_delegate(desk: ServicesClient) -> None:
    desk.faults("call-swapped")
    data = bytes.fromhex(unsigned(desk, "/v2/misc/claim-keeper-rewards", caller=T)["data"][2:])
    assert data[:4] == keccak(b"setDelegate(address,uint256)")[:4]
    assert abi.decode(["address", "uint256"], data[4:])[0] == settings.STRANGER.lower()
