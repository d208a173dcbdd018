"""The relay: signed transactions by the whitelist, simulated, sent, mined, and what they change."""

from __future__ import annotations

from typing import Any

import pytest
from eth_utils.crypto import keccak

from airlock_rehearsal.services import runtime as settings
from online.rehearsal.conftest import OpenClient
from online.rehearsal.services_client import DELEGATE, PROMPT, STRANGER, TRADER, Json, ServicesClient
from online.rehearsal.wallet import node, relay, relayed, signed, unsigned

T, D, S = TRADER.address, DELEGATE.address, STRANGER.address
ONE, USDC_ONE = 10**10, 10**6
BTC = {"trader": T, "tradeIndex": 0, "pairIndex": 0}
APPROVE = {"trader": T, "amountUsdc": "2500.5"}


# ---- what transactions change ----------------------------------------------------------------------------------------


# ---- what the relay refuses ------------------------------------------------------------------------------------------


def refused(desk: ServicesClient, raw: Any, code: str, words: str, **other: Any) -> Json:
    reply = relay(desk, raw, **other)
    assert reply.status_code == 400, reply.text
    error: Json = reply.json()["error"]
    assert error["code"] == code
    assert words in error["message"]
    return error


def approval(desk: ServicesClient, **other: Any) -> str:
    return signed(desk, unsigned(desk, "/v2/token/approve", **APPROVE), **other)


@pytest.mark.parametrize("to", [S, "0x" + "00" * 19 + "04"])
def test_a_contract_that_is_not_whitelisted_is_refused(desk: ServicesClient, to: str) -> None:
    error = refused(desk, approval(desk, to=to), "TX_REJECTED", "is not whitelisted")
    assert error["details"] == {"target": to}
    assert node(desk, "eth_getTransactionCount", T, "pending") == "0x0"


REVERTS: dict[str, tuple[str, Any, Json, str, str, str]] = {
    "no delegate": (
        "/v2/trade/close",
        DELEGATE,
        BTC | {"collateralToCloseUsdc": "1", "delegate": D},
        settings.TRADING_ROUTER,
        "NotDelegate",
        "NotDelegate()",
    ),
    "stop above the price": (
        "/v2/limit/update",
        TRADER,
        {"trader": T, "orderIndex": 0, "pairIndex": 2, "price": "100", "stopLoss": "100"},
        settings.TRADING_ROUTER,
        "WrongSl",
        "WrongSl()",
    ),
    "not the owner": (
        "/v2/referral/transfer-ownership",
        TRADER,
        {"caller": T, "code": "TAKEN", "newOwner": S},
        settings.REFERRAL,
        "NotCodeOwner",
        "NotCodeOwner()",
    ),
}


@pytest.mark.parametrize("name", REVERTS)
def test_a_simulation_that_fails_says_where_and_why(desk: ServicesClient, name: str) -> None:
    path, key, fields, target, decoded, signature = REVERTS[name]
    error = refused(desk, signed(desk, unsigned(desk, path, **fields), key), "SIMULATION_FAILED", decoded)
    assert set(error["details"]) == {"target", "revertData", "decodedError"}
    assert (error["details"]["target"], error["details"]["decodedError"]) == (target, decoded)
    assert error["details"]["revertData"].startswith("0x" + keccak(signature.encode())[:4].hex())
    assert node(desk, "eth_getTransactionCount", fields.get("delegate", key.address), "pending") == "0x0"


def test_a_transaction_is_taken_once(desk: ServicesClient) -> None:
    raw = approval(desk)
    relayed(desk, raw)
    refused(desk, raw, "TX_REJECTED", "already known")
    refused(desk, approval(desk, nonce=0, gas=900_000), "TX_REJECTED", "nonce too low")
    assert desk.services.posts["relay"]["0x" + keccak(bytes.fromhex(raw[2:])).hex()] == 2


# ---- the rate limit --------------------------------------------------------------------------------------------------


def test_the_trading_endpoints_are_limited_and_the_reads_are_not(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(rate_limit=3))
    fields = {"trader": T, "amountUsdc": "1"}
    url = desk.services.builder_url
    assert [desk.http.post(url + "/v2/token/approve", json=fields).status_code for _ in range(2)] == [200, 200]
    desk.clock.ms += 20_500
    assert desk.ask("twap-cancel", {"trader": T, "twapId": 41}).status_code == 200
    late = desk.http.get(url + "/v2/token/approve", params=fields)
    assert (late.status_code, late.json()["error"]["code"], late.headers["retry-after"]) == (429, "RATE_LIMITED", "40")
    assert relay(desk, "0x").status_code == 429
    assert desk.http.get(url + "/v2/meta").status_code == 200
    desk.clock.ms += 40_000
    assert desk.http.post(url + "/v2/token/approve", json=fields).status_code == 200
