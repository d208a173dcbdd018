"""Times on their limits: what is just inside passes, what is just outside is refused."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.checks.judge import require_none
from airlock_shared.checks.model import Verdict
from airlock_shared.errors import ExitCode, Refusal
from airlock_shared.plan.decisions import CLOCK_SKEW_MS, SIGN_AGE_AT_MOST_MS
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


@pytest.mark.parametrize(("minutes_before", "ok"), [(4, True), (5, False), (400 * 24 * 60, False)])
def test_a_deadline_that_the_plan_fixes_keeps_the_plans_own_limit(minutes_before: int, ok: bool) -> None:
    earlier = situation()._replace(now_ms=NOW_MS - minutes_before * MINUTE)  # the deadline is 26 min 40 s after NOW_MS
    assert ("TIME-HORIZON" in judge(good("stop-twap"), earlier)) is not ok


@pytest.mark.parametrize("step", ["open", "referral", "desk-key", "stop-twap"])
@pytest.mark.parametrize("minutes", [13, 60 * 24])
def test_a_payload_that_was_good_is_refused_when_its_time_is_over(step: str, minutes: int) -> None:
    later = situation()._replace(now_ms=NOW_MS + minutes * MINUTE)
    expected = set() if step == "stop-twap" and minutes < 20 else {"TIME-REMAINING"}
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


@pytest.mark.parametrize(
    ("step", "member", "value"),
    [
        ("open", "_deadline", (NOW_MS + 15 * MINUTE) * 1000),  # microseconds are no milliseconds either
        ("desk-key", "deadline", (NOW_MS + 15 * MINUTE) // 1000),
        ("take-profit", "signTimestamp", NOW_MS // 1000),
        ("close", "_openTimestamp", 1_789_000_000_000),
        ("take-profit", "timestamp", 1_789_000_000_000),
        ("desk-key", "expiry", 1_806_451_200_000),
    ],
)
def test_a_time_in_the_other_unit_is_never_accepted(step: str, member: str, value: int) -> None:
    refused = judge(_at(step, member, value))
    microseconds = value > 10**15
    assert refused & {"TIME-UNIT", "TIME-HORIZON"}
    assert microseconds or "TIME-UNIT" in refused


UNSURE_MS = 2 * MINUTE


@pytest.mark.parametrize(
    ("step", "member", "inside", "outside", "check"),
    [
        ("open", "_deadline", NOW_MS + 5 * MINUTE, NOW_MS + 5 * MINUTE - 1, "TIME-REMAINING"),  # it may be later
        ("open", "_deadline", NOW_MS + 33 * MINUTE, NOW_MS + 33 * MINUTE + 1, "TIME-HORIZON"),  # it may be earlier
        ("take-profit", "signTimestamp", NOW_MS + 3 * MINUTE, NOW_MS + 3 * MINUTE + 1, "TIME-STAMP"),
        ("take-profit", "signTimestamp", NOW_MS - 28 * MINUTE, NOW_MS - 28 * MINUTE - 1, "TIME-STAMP"),
        ("close", "_openTimestamp", NOW_MS // 1000 + 180, NOW_MS // 1000 + 181, "TIME-OPENED"),
    ],
)
def test_a_clock_that_may_be_off_moves_each_limit(
    step: str, member: str, inside: int, outside: int, check: str
) -> None:
    unsure = situation()._replace(clock_uncertainty_ms=UNSURE_MS)
    assert judge(_at(step, member, inside), unsure) == set()
    assert judge(_at(step, member, outside), unsure) == {check}


@pytest.mark.parametrize(("unsure_ms", "live"), [(0, True), (60_000, True), (60_001, False), (UNSURE_MS, False)])
def test_an_expiry_must_lie_ahead_whatever_the_clocks_error(unsure_ms: int, live: bool) -> None:
    expiry_s = 1_806_451_200  # the plan's, for the new delegate and for the one that signs
    late = situation()._replace(now_ms=expiry_s * 1000 - 60_001, clock_uncertainty_ms=unsure_ms)
    assert ("TIME-EXPIRY" not in judge(good("desk-key"), late)) == live
    assert ("SIGNER-DELEGATE" not in judge(good("increase"), late)) == live


def test_it_is_too_late_only_where_nothing_but_time_stands_in_the_way() -> None:
    late, other = Verdict("TIME-DEADLINE", "refused"), Verdict("PLAN-STEPS", "refused")
    codes = {}
    for verdicts in ([late], [late, other], [other, late]):
        with pytest.raises(Refusal) as caught:
            require_none(verdicts)
        codes[caught.value.check, len(verdicts)] = caught.value.exit_code
    assert codes == {
        ("TIME-DEADLINE", 1): ExitCode.EXPIRED, ("TIME-DEADLINE", 2): ExitCode.REFUSED, ("PLAN-STEPS", 2): ExitCode.REFUSED
    }  # fmt: skip
    require_none([])
