"""Orders that no builder endpoint builds, and the check that one was refused."""

from __future__ import annotations

from typing import Any

from online.rehearsal.services_client import START_MS, TRADER, Json, ServicesClient, handmade

T = TRADER.address
ONE = 10**10
DEADLINE = str(START_MS + 60_000)


def trade(pair_index: int = 0, **other: Any) -> Json:
    base = {
        "trader": T, "pairIndex": str(pair_index), "index": "0", "initialPosToken": "0", "positionSizeUSDC": "100000000",
        "openPrice": str(64_000 * ONE), "buy": True, "leverage": str(10 * ONE), "tp": "0", "sl": "0", "timestamp": "0",
    }  # fmt: skip
    return base | other


COINS = {0: ONE // 64, 3: 3 * ONE}
"""Exposures of 100 USDC at 10x on the BTC pair, and at 96x on the PnL pair."""


def coin_close(desk: ServicesClient, pair_index: int, price: int, coins: str) -> Json:
    position = desk.position(pair_index)
    assert position is not None
    message = {
        "_trader": T, "_pairIndex": str(pair_index), "_index": "0", "_openTimestamp": position["timestamp"],
        "_coinExposure": coins, "_wantedPrice": str(price * ONE), "_deadline": DEADLINE, "_nonce": "98",
    }  # fmt: skip
    return handmade(desk, "CloseTradeCoinExposureReq", message)


def refused(desk: ServicesClient, body: Any, words: str) -> None:
    before = desk.state.venue.evm.block_number()
    reply = desk.post_order(body)
    assert reply.status_code == 400
    assert reply.headers["x-airlock-rehearsal"] == "simulator"
    assert set(reply.json()) == {"statusCode", "message", "error"}
    assert (reply.json()["statusCode"], reply.json()["error"]) == (400, "Bad Request")
    assert words in str(reply.json()["message"])
    assert desk.state.venue.evm.block_number() == before
