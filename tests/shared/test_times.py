"""Times on their limits: what is just inside passes, what is just outside is refused."""

import re
from typing import Any

import pytest

from airlock_shared.checks.catalogue import CHECKS_BY_ID
from airlock_shared.checks.judge import require_none
from airlock_shared.checks.model import Verdict
from airlock_shared.checks.times import expiry_is_ahead, late_by
from airlock_shared.errors import ExitCode, Refusal
from refusals import error_of
from shared.make_payloads import NOW_MS
from shared.make_transactions import EXPIRY
from shared.world import case_of, examined_of, good, good_with, judge, situation

MINUTE = 60_000


def _at(step: str, member: str, value: int) -> dict[str, Any]:
    return good_with(step, **{member: str(value)})


@pytest.mark.parametrize("unsure_ms", [0, 2 * MINUTE])
@pytest.mark.parametrize(
    ("step", "member", "limit_ms", "beyond", "check"),
    [
        ("open", "_deadline", NOW_MS + 3 * MINUTE, -1, "TIME-REMAINING"),  # it may be later
        ("open", "_deadline", NOW_MS + 31 * MINUTE, 1, "TIME-HORIZON"),  # it may be earlier
        ("take-profit", "signTimestamp", NOW_MS + MINUTE, 1, "TIME-STAMP"),
        ("take-profit", "signTimestamp", NOW_MS - 30 * MINUTE, -1, "TIME-STAMP"),
        ("close", "_openTimestamp", NOW_MS + MINUTE, 1, "TIME-OPENED"),
    ],
)
def test_a_limit_belongs_to_what_is_allowed_and_moves_by_what_a_clock_may_be_off(
    step: str, member: str, limit_ms: int, beyond: int, check: str, unsure_ms: int
) -> None:
    where = situation()._replace(clock_uncertainty_ms=unsure_ms)
    limit = (limit_ms + unsure_ms) // (1000 if step == "close" else 1)
    assert judge(_at(step, member, limit), where) == set()
    assert judge(_at(step, member, limit + beyond), where) == {check}


def test_a_registration_without_a_deadline_that_ran_out_meanwhile_is_late() -> None:
    where = situation("transactions")
    case = case_of(good("delegate-set", "transactions"), where)
    for left_s, late in ((1, None), (0, expiry_is_ahead)):
        assert late_by(case._replace(situation=where._replace(now_ms=(EXPIRY - left_s) * 1000))) is late


def test_the_plans_slippage_belongs_to_what_is_allowed() -> None:
    assert judge(_at("open", "_slippageP", 10**10)) == set()
    assert judge(_at("open", "_slippageP", 10**10 + 1)) == {"PLAN-LIMIT"}


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


@pytest.mark.parametrize(("step", "member"), [("open", "_deadline"), ("desk-key", "deadline")])
def test_yesterdays_payload_is_told_as_that_and_nobody_is_suspected(step: str, member: str) -> None:
    (verdict,) = examined_of(_at(step, member, NOW_MS - 35 * 60 * MINUTE)).verdicts.refused()
    assert (verdict.check, verdict.what) == ("TIME-REMAINING", "too late: it was over 1 d 11 h ago")
    assert verdict.do.startswith("Prepare again on the online machine.")
    assert "altered" not in verdict.do


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


@pytest.mark.parametrize(("unsure_ms", "live"), [(0, True), (60_000, True), (60_001, False), (120_000, False)])
def test_an_expiry_must_lie_ahead_whatever_the_clocks_error(unsure_ms: int, live: bool) -> None:
    expiry_s = 1_806_451_200  # the plan's, for the new delegate and for the one that signs
    late = situation()._replace(now_ms=expiry_s * 1000 - 60_001, clock_uncertainty_ms=unsure_ms)
    assert ("TIME-EXPIRY" not in judge(good("desk-key"), late)) == live
    assert ("SIGNER-DELEGATE" not in judge(good("increase"), late)) == live


def test_it_is_too_late_only_where_nothing_but_time_stands_in_the_way() -> None:
    late, other = Verdict("TIME-DEADLINE", "refused"), Verdict("PLAN-STEPS", "refused")
    codes = {}
    for verdicts in ([late], [late, other], [other, late]):
        error = error_of(Refusal, require_none, verdicts)
        codes[error.check, len(verdicts)] = error.exit_code
    assert codes == {
        ("TIME-DEADLINE", 1): ExitCode.EXPIRED, ("TIME-DEADLINE", 2): ExitCode.REFUSED, ("PLAN-STEPS", 2): ExitCode.REFUSED
    }  # fmt: skip
    require_none([])


@pytest.mark.parametrize(("minutes", "age"), [(-61, "1 h 1 min ahead of this clock"), (61, "1 h 1 min old")])
def test_a_stamp_that_lies_ahead_is_not_called_old(minutes: int, age: str) -> None:
    [refused] = examined_of(_at("take-profit", "signTimestamp", NOW_MS - minutes * MINUTE)).verdicts.refused()
    assert (refused.check, str(refused.got).endswith(f"UTC, {age}")) == ("TIME-STAMP", True), refused.got


@pytest.mark.parametrize("check", ["TIME-REMAINING", "TIME-HORIZON", "TIME-STAMP"])
def test_a_time_that_a_clock_may_have_made_wrong_is_not_called_altered_before_that_clock_was_compared(
    check: str,
) -> None:
    before_it, _, _ = CHECKS_BY_ID[check].do.partition("altered")
    assert re.search(r"(online machine's|its) clock with a watch", before_it)
