"""Times on their limits: what is just inside passes, what is just outside is refused."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.checks.times import CLOCK_SKEW_MS, SIGN_AGE_AT_MOST_MS
from shared.make_payloads import NOW_MS, seal
from shared.world import good, judge, situation

MINUTE = 60_000


def _at(step: str, member: str, value: int) -> dict[str, Any]:
    document = good(step)
    payload = document["requests"][0]["payload"]
    payload["message"][member] = str(value)
    seal(payload)
    return document


@pytest.mark.parametrize(
    ("step", "member", "inside", "outside", "check"),
    [
        ("open", "_deadline", NOW_MS + 3 * MINUTE, NOW_MS + 3 * MINUTE - 1, "TIME-REMAINING"),
        ("open", "_deadline", NOW_MS + 31 * MINUTE, NOW_MS + 31 * MINUTE + 1, "TIME-HORIZON"),
        ("take-profit", "signTimestamp", NOW_MS + CLOCK_SKEW_MS, NOW_MS + CLOCK_SKEW_MS + 1, "TIME-STAMP"),
        ("take-profit", "signTimestamp", NOW_MS - SIGN_AGE_AT_MOST_MS, NOW_MS - SIGN_AGE_AT_MOST_MS - 1, "TIME-STAMP"),
        ("close", "_openTimestamp", NOW_MS // 1000 + 60, NOW_MS // 1000 + 61, "TIME-OPENED"),
        ("open", "_slippageP", 10**10, 10**10 + 1, "PLAN-LIMIT"),
    ],
)
def test_a_limit_belongs_to_what_is_allowed(step: str, member: str, inside: int, outside: int, check: str) -> None:
    assert judge(_at(step, member, inside)) == set()
    assert judge(_at(step, member, outside)) == {check}


@pytest.mark.parametrize("step", ["open", "close", "increase", "referral", "desk-key", "stop-twap"])
@pytest.mark.parametrize("minutes", [13, 15, 60 * 24, 60 * 24 * 365 * 100])
def test_a_payload_that_was_good_is_refused_when_its_time_is_over(step: str, minutes: int) -> None:
    later = situation()._replace(now_ms=NOW_MS + minutes * MINUTE)
    expected = set() if step == "stop-twap" and minutes < 60 else {"TIME-REMAINING"}
    assert judge(good(step), later) & {"TIME-REMAINING"} == expected


@pytest.mark.parametrize("now_ms", [0, -1, 2**63])
def test_a_clock_that_cannot_be_right_signs_nothing(now_ms: int) -> None:
    wrong = situation()._replace(now_ms=now_ms)
    for step in ("open", "take-profit", "desk-key"):
        assert judge(good(step), wrong)


@pytest.mark.parametrize("expiry", [NOW_MS // 1000 * 1000, NOW_MS + 10**9])
def test_a_delegation_whose_expiry_is_in_milliseconds_is_not_taken_for_a_far_future(expiry: int) -> None:
    document = good("increase")
    document["requests"][0]["delegation"]["expiry"] = expiry
    assert judge(document) == {"SIGNER-DELEGATE"}
