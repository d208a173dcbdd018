"""How stored orders are executed or declined, where collateral goes, and private codes."""

from __future__ import annotations

import pytest

from airlock_rehearsal.chain.evm import Reverted
from airlock_rehearsal.chain.interface import REFERRAL, STORAGE, USDC
from online.chain.bench import intent_of
from online.chain.calls import CLOSE, GOOD, opening, sent, word
from online.chain.ground import (
    ONE,
    OPENED_S,
    STRANGER,
    TREASURY_SENDER,
    USDC_ONE,
    Ground,
    code,
)
from shared.make_payloads import TREASURY


def test_collateral_is_pulled_only_after_an_approval(ground: Ground) -> None:
    message = GOOD["openTrade"][0]
    storage = word(ground.venue.contracts.trading_storage)
    sent(ground, "approve", {"spender": storage, "amount": 0})
    with pytest.raises(Reverted, match="insufficient allowance"):
        sent(ground, "openTrade", message)
    sent(ground, "approve", {"spender": storage, "amount": 100 * USDC_ONE})
    sent(ground, "openTrade", message)
    assert ground.venue.read(USDC, "allowance", TREASURY, ground.venue.contracts.trading_storage) == 0
    sent(ground, "approve", {"spender": storage, "amount": 2**256 - 1})
    sent(ground, "openTrade", message)
    assert ground.venue.read(USDC, "allowance", TREASURY, ground.venue.contracts.trading_storage) == 2**256 - 1


def test_a_fill_beyond_the_slippage_is_declined_and_the_collateral_comes_back(ground: Ground) -> None:
    held = ground.venue.read(USDC, "balanceOf", TREASURY)
    order_id = sent(ground, "openTrade", GOOD["openTrade"][0]).events[-1].arguments["orderId"]
    assert ground.venue.read(USDC, "balanceOf", TREASURY) == held - 100 * USDC_ONE
    done = ground.venue.fulfil(order_id, 62_620 * ONE + 1)
    assert [event.name for event in done.events] == ["Transfer", "MarketOrderCanceled"]
    assert done.receipt.ok
    assert ground.venue.read(USDC, "balanceOf", TREASURY) == held
    with pytest.raises(Reverted, match="NoPendingOrder"):
        ground.venue.fulfil(order_id, 62_000 * ONE)


def test_an_order_fills_at_the_very_edge_of_its_slippage(ground: Ground) -> None:
    order_id = sent(ground, "openTrade", GOOD["openTrade"][0]).events[-1].arguments["orderId"]
    assert ground.venue.fulfil(order_id, 62_620 * ONE).event("MarketOrderExecuted") is not None


def test_an_order_whose_position_is_gone_is_declined(ground: Ground) -> None:
    whole = {**CLOSE, "amount": 1_000 * USDC_ONE}
    first, second = (sent(ground, "closeTradeMarket", whole).events[-1].arguments["orderId"] for _ in range(2))
    assert ground.venue.fulfil(first, 62_000 * ONE).event("MarketOrderExecuted") is not None
    assert ground.venue.fulfil(second, 62_000 * ONE).event("MarketOrderCanceled") is not None


def test_a_limit_order_waits_until_its_price_and_then_opens(ground: Ground) -> None:
    outcome = sent(ground, "openTrade", {"t": opening(), "orderType": 2, "slippage": ONE})
    placed = outcome.event("LimitOrderPlaced").arguments
    where = (TREASURY, placed["pairIndex"], placed["index"])
    with pytest.raises(Reverted, match="TriggerNotHit"):
        ground.venue.act(STORAGE, "executeLimit", *where, 62_001 * ONE)
    assert ground.venue.act(STORAGE, "executeLimit", *where, 62_000 * ONE).event("MarketOrderExecuted") is not None
    with pytest.raises(Reverted, match="NoLimitOrder"):
        ground.venue.act(STORAGE, "executeLimit", *where, 62_000 * ONE)
    assert ground.venue.read(STORAGE, "keeperRewards", ground.venue.operator.address) == USDC_ONE // 2


def test_a_private_code_is_asked_for_and_granted(ground: Ground) -> None:
    private = code("HOUSE")
    ground.send(TREASURY_SENDER, REFERRAL, "setPrivate", private, True)
    with pytest.raises(Reverted, match="CodeIsPrivate"):
        ground.send(STRANGER, REFERRAL, "setTraderReferralCodeByUser", private)
    ground.send(STRANGER, REFERRAL, "requestAccess", private)
    with pytest.raises(Reverted, match="NotCodeOwner"):
        ground.send(STRANGER, REFERRAL, "grantAccess", STRANGER.address)
    ground.send(TREASURY_SENDER, REFERRAL, "grantAccess", STRANGER.address)
    assert ground.venue.read(REFERRAL, "traderReferralCodes", STRANGER.address) == private
    with pytest.raises(Reverted, match="NoRequest"):
        ground.send(STRANGER, REFERRAL, "cancelRequest")


@pytest.mark.parametrize(
    ("step", "member", "opened_s"),
    [
        ("close", "_openTimestamp", OPENED_S[0, 2] + 1),
        ("close", "_openTimestamp", 0),
        ("close-coin", "_openTimestamp", OPENED_S[7, 0] - 1),
        ("take-profit", "timestamp", OPENED_S[0, 1] + 1),
        ("stop-loss", "timestamp", 0),
    ],
)
def test_a_signed_intent_for_an_earlier_position_in_the_slot_is_rejected(
    ground: Ground, step: str, member: str, opened_s: int
) -> None:
    ground.venue.check(*intent_of(ground, step))
    with pytest.raises(Reverted, match="PositionMismatch"):
        ground.venue.check(*intent_of(ground, step, **{member: opened_s}))


def test_a_signed_intent_for_a_position_that_was_closed_is_rejected(ground: Ground) -> None:
    order_id = sent(ground, "closeTradeMarket", {**CLOSE, "amount": 1_000 * USDC_ONE}).events[-1].arguments["orderId"]
    ground.venue.fulfil(order_id, 62_000 * ONE)
    with pytest.raises(Reverted, match="PositionMismatch"):
        ground.venue.check(*intent_of(ground, "close"))
