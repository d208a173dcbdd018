"""How stored orders are executed or declined, where collateral goes, and private codes."""

from __future__ import annotations

import pytest

from airlock_rehearsal.chain.evm import Reverted
from online.chain.bench import intent_of
from online.chain.calls import CLOSE, sent
from online.chain.ground import ONE, OPENED_S, USDC_ONE, Ground


@pytest.mark.parametrize(
    ("step", "member", "opened_s"),
    [
        ("close", "_openTimestamp", OPENED_S[0, 2] + 1),
        ("close-coin", "_openTimestamp", OPENED_S[7, 0] - 1),
        ("take-profit", "timestamp", OPENED_S[0, 1] + 1),
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
