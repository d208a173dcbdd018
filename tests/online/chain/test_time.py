"""Milliseconds, seconds and blocks: where each moment falls."""

from __future__ import annotations

import pytest

from airlock_rehearsal.chain.evm import Reverted
from online.chain.bench import intent_of
from online.chain.ground import NOW_S, Ground
from shared.make_payloads import NOW_MS


@pytest.mark.parametrize(
    ("deadline_ms", "last_s"),
    [
        (NOW_MS + 5_000, NOW_S + 5),
        (NOW_MS + 5_001, NOW_S + 5),
        (NOW_MS + 5_999, NOW_S + 5),
        (NOW_MS + 6_000, NOW_S + 6),
    ],
)
def test_a_deadline_is_over_when_a_later_second_has_begun(ground: Ground, deadline_ms: int, last_s: int) -> None:
    arguments = intent_of(ground, "close", _deadline=deadline_ms)
    ground.clock.now_s = last_s
    ground.venue.check(*arguments)
    ground.clock.now_s = last_s + 1
    with pytest.raises(Reverted, match="DeadlineExpired"):
        ground.venue.check(*arguments)


def test_a_stamp_within_the_second_of_the_block_is_now_and_a_later_one_is_not(ground: Ground) -> None:
    ground.venue.check(*intent_of(ground, "take-profit", signTimestamp=NOW_MS + 999))
    with pytest.raises(Reverted, match="SignedInFuture"):
        ground.venue.check(*intent_of(ground, "take-profit", signTimestamp=NOW_MS + 1_000))
    ground.venue.check(*intent_of(ground, "take-profit", signTimestamp=NOW_MS - 600_000))
    with pytest.raises(Reverted, match="StaleSignature"):
        ground.venue.check(*intent_of(ground, "take-profit", signTimestamp=NOW_MS - 600_001))
