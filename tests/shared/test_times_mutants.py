"""How sure the clock is counts: what must lie ahead is judged as if it were later, what must be young as if older."""

from __future__ import annotations

import pytest

from airlock_shared.checks.times import SIGN_AGE_AT_MOST_MS
from shared.make_payloads import NOW_MS, seal
from shared.world import good, judge, situation

MINUTE = 60_000


@pytest.mark.parametrize(
    ("step", "member", "value", "check"),
    [
        ("open", "_deadline", NOW_MS + 3 * MINUTE, "TIME-REMAINING"),
        ("take-profit", "signTimestamp", NOW_MS - SIGN_AGE_AT_MOST_MS, "TIME-STAMP"),
    ],
)
def test_an_unsure_clock_refuses_what_a_sure_one_lets_pass(step: str, member: str, value: int, check: str) -> None:
    document = good(step)
    payload = document["requests"][0]["payload"]
    payload["message"][member] = str(value)
    seal(payload)
    assert judge(document) == set()
    assert judge(document, situation()._replace(clock_uncertainty_ms=1)) == {check}
