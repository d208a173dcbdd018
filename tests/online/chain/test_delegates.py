"""Delegates on the chain: how they are named, what they may do for whom, and until when."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_rehearsal.chain.evm import Reverted
from airlock_rehearsal.chain.interface import REFERRAL, ROUTER, USDC, encode_call
from airlock_shared.ethereum.abi import encode_struct
from airlock_shared.venue.structs import CATALOGUE, types_of
from online.chain.bench import Bench
from online.chain.ground import (
    DESK_SENDER,
    EXPIRY_S,
    NOW_S,
    ONE,
    STRANGER,
    TREASURY_SENDER,
    USDC_ONE,
    Ground,
    code,
    trade,
)
from shared.make_payloads import DESK, OTHER, TREASURY


@pytest.mark.parametrize("step", ["desk-key", "desk-key-terms"])
def test_a_delegate_request_encoded_as_it_is_hashed_is_not_what_was_signed(ground: Ground, step: str) -> None:
    bench = Bench(ground.venue, step)
    members = types_of(CATALOGUE["DelegateReq"])["DelegateReq"]
    read: dict[str, Any] = {"address": lambda v: bytes.fromhex(v[2:]), "uint256": int, "string": str}
    values = [read[m["type"]](bench.payload["message"][m["name"]]) for m in members]
    hashed_order = encode_struct(f"({','.join(m['type'] for m in members)})", values)
    right = bytes.fromhex(bench.payload["encodedIntent"][2:])
    assert sorted(hashed_order) == sorted(right)
    assert hashed_order != right
    with pytest.raises(Reverted):
        ground.venue.submit("DelegateReq", hashed_order, bench.signature)
    delegate = bench.payload["message"]["delegate"]
    ground.send(TREASURY_SENDER, ROUTER, "setDelegate", delegate, NOW_S + 100)
    ground.venue.submit("DelegateReq", right, bench.signature)
    assert ground.venue.delegation_expiry(TREASURY, delegate) == EXPIRY_S


# ---- delegated actions ---------------------------------------------------------------------------------------------

LIMIT = encode_call(ROUTER, "updateOpenLimitOrder", 0, 0, 59_000 * ONE, ONE, 70_000 * ONE, 50_000 * ONE)
CODE = encode_call(REFERRAL, "setTraderReferralCodeByUser", code("DESK"))
CLOSE = encode_call(ROUTER, "closeTradeMarket", 0, 2, 10 * USDC_ONE, 62_000 * ONE)


def increased(place: tuple[int, int], collateral: int) -> dict[str, object]:
    return {
        "trader": TREASURY, "pairIndex": place[0], "index": place[1], "openPrice": 62_000 * ONE,
        "initialPosToken": collateral * USDC_ONE, "leverage": 10 * ONE,
    }  # fmt: skip


OPENED = {**trade((0, 0), 0, 10, 62_000, True, 0, size=100 * USDC_ONE)}
DELEGABLE = {
    "updateOpenLimitOrder": (LIMIT, "LimitOrderUpdated"),
    "setTraderReferralCodeByUser": (CODE, "ReferralCodeSet"),
    "closeTradeMarket": (CLOSE, "MarketOrderInitiated"),
    "openTrade": (encode_call(ROUTER, "openTrade", OPENED, 0, ONE), "MarketOrderInitiated"),
    "increasePositionSize": (
        encode_call(ROUTER, "increasePositionSize", increased((0, 1), 10), ONE),
        "IncreasePositionRequested",
    ),
    "increasePositionSizeWithCoinExposure": (
        encode_call(
            ROUTER, "increasePositionSizeWithCoinExposure", increased((0, 1), 10), ONE // 100, ONE, 90 * ONE, ONE
        ),
        "IncreasePositionRequested",
    ),
}


@pytest.mark.parametrize("name", DELEGABLE)
def test_a_live_delegate_acts_for_the_trader(ground: Ground, name: str) -> None:
    call, event = DELEGABLE[name]
    receipt = ground.send(DESK_SENDER, ROUTER, "delegatedAction", TREASURY, call)
    found = ground.venue.outcome(receipt).event(event)
    assert found is not None
    assert TREASURY in found.arguments.values()


@pytest.mark.parametrize("name", DELEGABLE)
def test_an_expired_removed_or_unknown_delegate_does_not(ground: Ground, name: str) -> None:
    call, _ = DELEGABLE[name]
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(STRANGER, ROUTER, "delegatedAction", TREASURY, call)
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(TREASURY_SENDER, ROUTER, "delegatedAction", DESK, call)
    mark = ground.evm.snapshot()
    ground.send(TREASURY_SENDER, ROUTER, "removeDelegate", DESK)
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(DESK_SENDER, ROUTER, "delegatedAction", TREASURY, call)
    ground.evm.go_back(mark)
    ground.clock.now_s = EXPIRY_S
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(DESK_SENDER, ROUTER, "delegatedAction", TREASURY, call)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (encode_call(ROUTER, "setDelegate", OTHER, EXPIRY_S), "NotAllowedForDelegate"),
        (encode_call(ROUTER, "claimTokens"), "NotAllowedForDelegate"),
        (encode_call(ROUTER, "delegatedAction", TREASURY, CLOSE), "NotAllowedForDelegate"),
        (encode_call(USDC, "approve", DESK, 1), "UnknownAction"),
        (CLOSE[:-1], "reverted without a reason"),
    ],
)
def test_a_delegate_may_do_nothing_else(ground: Ground, call: bytes, error: str) -> None:
    with pytest.raises(Reverted, match=error):
        ground.send(DESK_SENDER, ROUTER, "delegatedAction", TREASURY, call)
