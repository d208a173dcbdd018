"""The builder: every endpoint by GET and by POST, what it builds, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.ethereum.typed_document import read_typed_data
from online.rehearsal.services_client import DELEGATE, START_MS, TRADER, Json, ServicesClient, document

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
def test_get_and_post_build_the_same_payload_whose_digest_the_gate_computes(
    shared_desk: ServicesClient, name: str
) -> None:
    by_post, by_get = (shared_desk.ask(name, asked(name), method) for method in ("POST", "GET"))
    assert by_post.status_code == by_get.status_code == 200
    assert by_post.json() == by_get.json()
    assert by_get.headers["x-airlock-rehearsal"] == "simulator"
    payload = by_get.json()["data"]
    assert "0x" + read_typed_data(document(payload))[1].digest.hex() == payload["digest"]


def test_unknown_fields_are_ignored_but_by_tpsl_partial(shared_desk: ServicesClient) -> None:
    assert shared_desk.ask("twap-cancel", asked("twap-cancel", colour="red")).status_code == 200
    refused = shared_desk.ask("tpsl-partial", asked("tpsl-partial", colour="red"))
    assert refused.json()["error"]["details"]["issues"] == [{"path": "colour", "message": "unknown field"}]


BAD: list[tuple[str, Json, str]] = [
    ("open", {"trader": None}, "trader"),
    ("open", {"collateralUsdc": "100.0000001"}, "collateralUsdc"),
    ("open", {"leverage": "101"}, "leverage"),
    ("open", {"pairIndex": None}, "pair"),
    ("open", {"pairIndex": 3, "orderType": "market", "leverage": "100"}, "orderType"),
    ("open", {"deadlineMs": str(NOW_S + 60)}, "deadlineMs"),
    ("close", {"tradeIndex": None}, "tradeIndex"),
    ("tpsl-partial", {"triggerType": "percentage", "percentage": "15"}, "price"),
    ("referral-set-code", {"code": ""}, "code"),
    ("delegate", {"delegate": T}, "delegate"),
]


@pytest.mark.parametrize(("name", "fields", "path"), BAD, ids=[f"{n}-{f}" for n, f, _ in BAD])
def test_a_bad_request_names_the_field(shared_desk: ServicesClient, name: str, fields: Json, path: str) -> None:
    reply = shared_desk.ask(name, asked(name, **fields))
    assert reply.status_code == 400
    body = reply.json()
    assert (body["ok"], body["error"]["code"]) == (False, "BAD_REQUEST")
    assert path in [issue["path"] for issue in body["error"]["details"]["issues"]]
