"""The builder: every endpoint by GET and by POST, what it builds, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi import abi

from airlock_shared.ethereum.typed_document import read_typed_data
from online.rehearsal.services_client import DELEGATE, START_MS, STRANGER, TRADER, Json, ServicesClient, digest_in

NOW_S = START_MS // 1000
T, D = TRADER.address, DELEGATE.address
FIXED = {"nonce": "7", "deadlineMs": str(START_MS + 60_000)}
SLOT = {"trader": T, "tradeIndex": 0, "pairIndex": 0}

GOOD: dict[str, tuple[str, Json]] = {
    "open": ("OpenTradeReq", {"trader": T, "side": "long", "collateralUsdc": "100", "leverage": "10", "pairIndex": 0}),
    "close": ("CloseTradeReq", SLOT | {"collateralToCloseUsdc": "250.5"}),
    "increase": ("IncreasePositionSizeReq", SLOT | {"additionalCollateralUsdc": "10", "leverage": "2.5"}),
    "increase-coin": (
        "IncreasePositionSizeWithCoinExposureReq",
        SLOT
        | {"additionalCollateralUsdc": "10", "leverage": "2", "coinExposure": "0.01"}
        | {"minLeverage": "1", "maxLeverage": "90"},
    ),
    "tpsl-partial": (
        "TpSlReq",
        SLOT | {"kind": "take_profit", "coinExposure": "0.05", "side": "long", "price": "70000", "nonce": "7"},
    ),
    "twap-cancel": ("TwapCancelReq", {"trader": T, "twapId": 41}),
    "referral-set-code": ("SetTraderReferralCodeByUserReq", {"referee": T, "code": "TREASURY"}),
    "delegate": ("DelegateReq", {"trader": T, "delegate": D, "expirySeconds": NOW_S + 3600}),
}


def asked(name: str, **fields: Any) -> Json:
    base = GOOD[name][1] | ({} if name == "tpsl-partial" else FIXED)
    return {k: v for k, v in (base | fields).items() if v is not None}


@pytest.mark.parametrize("name", GOOD)
def test_get_and_post_build_the_same_payload(shared_desk: ServicesClient, name: str) -> None:
    by_post = shared_desk.ask(name, asked(name))
    by_get = shared_desk.ask(name, asked(name), "GET")
    assert by_post.status_code == by_get.status_code == 200
    assert by_post.json() == by_get.json()
    assert by_get.headers["x-airlock-rehearsal"] == "simulator"


@pytest.mark.parametrize("name", GOOD)
def test_a_payload_has_the_members_of_the_specification(shared_desk: ServicesClient, name: str) -> None:
    payload = shared_desk.build(name, **asked(name))
    meta = [] if name == "referral-set-code" else ["meta"]
    expected = ["intent", "signerRule", "domain", "primaryType", "types", "message", "digest", "encodedIntent", *meta]
    assert list(payload) == expected
    assert payload["intent"] == payload["primaryType"] == GOOD[name][0]
    assert payload["signerRule"] == ("trader-only" if name == "delegate" else "trader-or-delegate")
    assert payload["digest"] == digest_in(payload)
    contract = shared_desk.state.settings.domain("referral" if "referral" in name else "trading")
    assert payload["domain"] == contract


@pytest.mark.parametrize("name", GOOD)
def test_the_gate_computes_the_same_digest(shared_desk: ServicesClient, name: str) -> None:
    payload = shared_desk.build(name, **asked(name))
    document = {k: payload[k] for k in ("types", "primaryType", "domain", "message")}
    assert "0x" + read_typed_data(document)[1].digest.hex() == payload["digest"]


def test_amounts_are_scaled_exactly(shared_desk: ServicesClient) -> None:
    payload = shared_desk.build("close", **asked("close", expectedPrice="64000.0000000001"))
    assert payload["message"]["_amount"] == "250500000"
    assert payload["message"]["_wantedPrice"] == "640000000000001"
    body = '{"trader":"TRADER","tradeIndex":0,"pairIndex":0,"collateralToCloseUsdc":0.1}'.replace("TRADER", T)
    exact = shared_desk.http.post(shared_desk.services.builder_url + "/v2/intents/close", content=body)
    assert exact.json()["data"]["message"]["_amount"] == "100000"


def test_an_open_carries_its_collateral_in_position_size(shared_desk: ServicesClient) -> None:
    payload = shared_desk.build("open", **asked("open", takeProfit="70000"))
    trade = payload["message"]["_t"]
    assert trade["positionSizeUSDC"] == "100000000"
    assert (trade["initialPosToken"], trade["index"], trade["timestamp"], trade["sl"]) == ("0", "0", "0", "0")
    assert trade["openPrice"] == "640000000000000"
    assert trade["tp"] == "700000000000000"
    assert payload["message"]["_slippageP"] == "10000000000"
    assert payload["meta"] == {"pair": "BTC/USD", "pairIndex": 0, "openPrice": 64000.0}


def test_a_pnl_pair_gets_the_pnl_order_type(shared_desk: ServicesClient) -> None:
    payload = shared_desk.build("open", **asked("open", pairIndex=3, leverage="100"))
    assert payload["message"]["_type"] == "3"


@pytest.mark.parametrize("kind", ["limit", "stop_limit"])
def test_a_limit_order_is_built_with_its_type(shared_desk: ServicesClient, kind: str) -> None:
    payload = shared_desk.build("open", **asked("open", orderType=kind, openPrice="60000"))
    assert payload["message"]["_type"] == {"limit": "2", "stop_limit": "1"}[kind]


@pytest.mark.parametrize("name", ["btc/usd", "BTC-USD", "Btc_Usd"])
def test_a_pair_is_found_by_any_spelling(shared_desk: ServicesClient, name: str) -> None:
    assert shared_desk.build("close", **asked("close", pairIndex=None, pair=name))["meta"]["pairIndex"] == 0


def test_a_pair_whose_name_has_a_separator_is_found(shared_desk: ServicesClient) -> None:
    payload = shared_desk.build("open", **asked("open", pairIndex=None, pair="btc_upside-usd"))
    assert payload["meta"] == {"pair": "BTC_UPSIDE/USD", "pairIndex": 4, "openPrice": 64000.0}


def test_a_close_binds_the_open_timestamp(shared_desk: ServicesClient) -> None:
    position = shared_desk.position(0)
    assert position is not None
    assert shared_desk.build("close", **asked("close"))["message"]["_openTimestamp"] == position["timestamp"]
    stale = shared_desk.build("close", **asked("close", openTimestamp=5))
    assert stale["message"]["_openTimestamp"] == "5"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ("4", "0", "700000000000000", "0")),
        ({"kind": "stop_loss"}, ("5", "0", "700000000000000", "0")),
        ({"triggerType": "percentage", "price": None, "percentage": "15"}, ("4", "1", "0", "150000000000")),
        ({"triggerType": "percentage", "price": None, "percentage": "-10"}, ("4", "1", "0", "-100000000000")),
        ({"triggerType": "percentage", "price": None, "percentage": -10}, ("4", "1", "0", "-100000000000")),
    ],
)
def test_a_trigger_has_a_price_or_a_percentage(
    shared_desk: ServicesClient, fields: Json, expected: tuple[str, ...]
) -> None:
    message = shared_desk.build("tpsl-partial", **asked("tpsl-partial", **fields))["message"]
    assert (message["orderType"], message["triggerType"], message["price"], message["percentage"]) == expected
    assert message["signTimestamp"] == str(START_MS)
    assert "deadline" not in message


@pytest.mark.parametrize(
    ("code", "expected"),
    [("TREASURY", b"TREASURY"), ("a" * 31, b"a" * 31), ("0x" + "ab" * 32, b"\xab" * 32)],
)
def test_a_referral_code_is_left_aligned(shared_desk: ServicesClient, code: str, expected: bytes) -> None:
    message = shared_desk.build("referral-set-code", **asked("referral-set-code", code=code))["message"]
    assert message["_code"] == "0x" + expected.ljust(32, b"\0").hex()


def test_a_delegate_request_is_encoded_in_another_order_than_it_is_hashed(shared_desk: ServicesClient) -> None:
    payload = shared_desk.build("delegate", **asked("delegate"))
    data = bytes.fromhex(payload["encodedIntent"][2:])
    (values,) = abi.decode(["(address,address,uint256,string,uint256,uint256)"], data)
    message = payload["message"]
    assert values[2:] == (NOW_S + 3600, message["tnc"], int(message["deadline"]), 7)
    assert [m["name"] for m in payload["types"]["DelegateReq"]][3:] == ["deadline", "tnc", "nonce"]
    assert 280 <= len(message["tnc"]) <= 340


def test_a_nonce_and_a_deadline_are_chosen_when_left_out(shared_desk: ServicesClient) -> None:
    first, second = (shared_desk.build("twap-cancel", trader=T, twapId=41)["message"] for _ in range(2))
    assert first["nonce"] != second["nonce"]
    assert first["deadline"] == str(START_MS + 600_000)


def test_unknown_fields_are_ignored_but_by_tpsl_partial(shared_desk: ServicesClient) -> None:
    assert shared_desk.ask("twap-cancel", asked("twap-cancel", colour="red")).status_code == 200
    refused = shared_desk.ask("tpsl-partial", asked("tpsl-partial", colour="red"))
    assert refused.json()["error"]["details"]["issues"] == [{"path": "colour", "message": "unknown field"}]


BAD: list[tuple[str, Json, str]] = [
    ("open", {"trader": None}, "trader"),
    ("open", {"trader": T.lower()[:-1]}, "trader"),
    ("open", {"trader": T[:-1] + T[-1].swapcase() if T[-1].isalpha() else T.swapcase()}, "trader"),
    ("open", {"trader": 5}, "trader"),
    ("open", {"side": "up"}, "side"),
    ("open", {"side": True}, "side"),
    ("open", {"collateralUsdc": "100.0000001"}, "collateralUsdc"),
    ("open", {"collateralUsdc": "1e2"}, "collateralUsdc"),
    ("open", {"collateralUsdc": "-100"}, "collateralUsdc"),
    ("open", {"collateralUsdc": "+100"}, "collateralUsdc"),
    ("open", {"collateralUsdc": ""}, "collateralUsdc"),
    ("open", {"collateralUsdc": "9"}, "collateralUsdc"),
    ("open", {"collateralUsdc": True}, "collateralUsdc"),
    ("open", {"collateralUsdc": ["100"]}, "collateralUsdc"),
    ("open", {"leverage": "101"}, "leverage"),
    ("open", {"leverage": "0.5"}, "leverage"),
    ("open", {"leverage": "10.00000000001"}, "leverage"),
    ("open", {"pairIndex": None}, "pair"),
    ("open", {"pairIndex": 99}, "pair"),
    ("open", {"pairIndex": -1}, "pairIndex"),
    ("open", {"pairIndex": "1.0"}, "pairIndex"),
    ("open", {"pairIndex": 0, "pair": "ETH/USD"}, "pair"),
    ("open", {"pairIndex": None, "pair": ""}, "pair"),
    ("open", {"pairIndex": None, "pair": "NOPE/USD"}, "pair"),
    ("open", {"pairIndex": 5}, "pair"),
    ("open", {"pairIndex": 3, "orderType": "market", "leverage": "100"}, "orderType"),
    ("open", {"orderType": "market_pnl"}, "orderType"),
    ("open", {"orderType": "limit"}, "openPrice"),
    ("open", {"orderType": "iceberg"}, "orderType"),
    ("open", {"nonce": "-1"}, "nonce"),
    ("open", {"nonce": "0x7"}, "nonce"),
    ("open", {"nonce": str(1 << 256)}, "nonce"),
    ("open", {"deadlineMs": str(NOW_S + 60)}, "deadlineMs"),
    ("open", {"deadlineMs": str(START_MS)}, "deadlineMs"),
    ("open", {"deadlineMs": "soon"}, "deadlineMs"),
    ("close", {"tradeIndex": None}, "tradeIndex"),
    ("close", {"tradeIndex": 3}, "tradeIndex"),
    ("close", {"trader": STRANGER.address}, "tradeIndex"),
    ("close", {"collateralToCloseUsdc": "1000.000001"}, "collateralToCloseUsdc"),
    ("close", {"collateralToCloseUsdc": "0"}, "collateralToCloseUsdc"),
    ("close", {"expectedPrice": "sixty"}, "expectedPrice"),
    ("increase", {"pairIndex": 3}, "pair"),
    ("increase", {"additionalCollateralUsdc": "0.999999"}, "additionalCollateralUsdc"),
    ("increase", {"leverage": "1000"}, "leverage"),
    ("increase-coin", {"coinExposure": None}, "coinExposure"),
    ("increase-coin", {"minLeverage": "91"}, "minLeverage"),
    ("increase-coin", {"maxLeverage": None}, "maxLeverage"),
    ("tpsl-partial", {"kind": "profit"}, "kind"),
    ("tpsl-partial", {"kind": None}, "kind"),
    ("tpsl-partial", {"side": None}, "side"),
    ("tpsl-partial", {"coinExposure": "0"}, "coinExposure"),
    ("tpsl-partial", {"price": None}, "price"),
    ("tpsl-partial", {"price": "0"}, "price"),
    ("tpsl-partial", {"percentage": "15"}, "percentage"),
    ("tpsl-partial", {"triggerType": "percentage"}, "percentage"),
    ("tpsl-partial", {"triggerType": "percentage", "percentage": "15"}, "price"),
    ("tpsl-partial", {"triggerType": "sometimes"}, "triggerType"),
    ("tpsl-partial", {"deadlineMs": str(START_MS + 1)}, "deadlineMs"),
    ("twap-cancel", {"twapId": None}, "twapId"),
    ("twap-cancel", {"twapId": "41a"}, "twapId"),
    ("referral-set-code", {"code": ""}, "code"),
    ("referral-set-code", {"code": "a" * 32}, "code"),
    ("referral-set-code", {"code": "0xabcd"}, "code"),
    ("referral-set-code", {"code": "Ωmega"}, "code"),
    ("referral-set-code", {"code": "a\nb"}, "code"),
    ("referral-set-code", {"referee": None}, "referee"),
    ("delegate", {"delegate": T}, "delegate"),
    ("delegate", {"delegate": "0x12"}, "delegate"),
    ("delegate", {"expirySeconds": START_MS}, "expirySeconds"),
    ("delegate", {"expirySeconds": NOW_S}, "expirySeconds"),
    ("delegate", {"expirySeconds": None}, "expirySeconds"),
]


@pytest.mark.parametrize(("name", "fields", "path"), BAD, ids=[f"{n}-{f}" for n, f, _ in BAD])
def test_a_bad_request_names_the_field(shared_desk: ServicesClient, name: str, fields: Json, path: str) -> None:
    reply = shared_desk.ask(name, asked(name, **fields))
    assert reply.status_code == 400
    body = reply.json()
    assert (body["ok"], body["error"]["code"]) == (False, "BAD_REQUEST")
    assert path in [issue["path"] for issue in body["error"]["details"]["issues"]]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"a":NaN}',
        b'{"a":1,"a":2}',
        b"[" * 100_000,
        b"\xff\xfe",
        b'"' + b"a" * 300_000 + b'"',
    ],
    ids=["empty", "array", "null", "cut", "nan", "doubled", "deep", "not-utf8", "large"],
)
def test_a_body_that_is_not_one_json_object_is_refused(shared_desk: ServicesClient, body: bytes) -> None:
    reply = shared_desk.http.post(shared_desk.services.builder_url + "/v2/intents/close", content=body)
    assert reply.status_code in (400, 413)
    assert reply.json()["error"]["code"] == "BAD_REQUEST"


def test_a_lone_surrogate_is_echoed_without_harm(shared_desk: ServicesClient) -> None:
    url = shared_desk.services.builder_url + "/v2/intents/tpsl-partial"
    reply = shared_desk.http.post(url, content=b'{"\\ud800": 1}')
    assert reply.status_code == 400
    assert "\\ud800" in reply.text


def test_a_doubled_query_parameter_is_refused(shared_desk: ServicesClient) -> None:
    reply = shared_desk.http.get(shared_desk.services.builder_url + f"/v2/positions?trader={T}&trader={D}")
    assert reply.status_code == 400
