"""The time is what a person said it is: for a day, while the clock runs on and the machine was not started again."""

from pathlib import Path

import pytest

from airlock_offline.cli.ceremony import _place
from airlock_offline.cli.preflight import Statement, compare_clocks, read_time
from airlock_offline.home import OfflineHome, now_ms, uptime
from airlock_shared.checks.times import CONTRADICTED, STATED, VALID_MS, Clock, Uptime, clock_of, time_is_stated
from airlock_shared.cli.ceremony.workflow import facts_of
from airlock_shared.documents.transcript import Entry, next_entry
from airlock_shared.errors import Expired, UsageError
from shared.make_payloads import NOW_MS
from shared.world import situation

MINUTE, HOUR = 60_000, 3_600_000
STATED_AT = Uptime("one start", 5 * HOUR)


@pytest.mark.parametrize("off_ms", [-60_001, 60_001, -HOUR, 10**15, -NOW_MS])
def test_a_clock_that_differs_by_more_is_refused_with_its_id(off_ms: int) -> None:
    with pytest.raises(Expired, match="TIME-CLOCK") as error:
        compare_clocks(Statement(NOW_MS, 60), NOW_MS + off_ms)
    assert error.value.exit_code == 7
    assert ("fast" if off_ms > 0 else "slow") in error.value.what
    for keeps_the_watch in (-60_000, 0, 60_000):
        compare_clocks(Statement(NOW_MS, 60), NOW_MS + keeps_the_watch)


def test_a_time_is_read_with_its_zone_alone() -> None:
    for text in ("2026-09-21T14:13:20Z", "2026-09-21T16:13:20+02:00", "2026-09-21 14:13:20+00:00"):
        assert read_time(text) == NOW_MS
    for text in ("", "2026-09-21T14:13:20", "14:13:20Z", "2026-09-21", "1790000000", "2026-13-01T00:00:00Z", "\x1b[2J"):
        with pytest.raises(UsageError):
            read_time(text)


@pytest.mark.parametrize(
    ("events", "holds"),
    [
        ([], False),
        ([(STATED, NOW_MS - VALID_MS)], True),
        ([(STATED, NOW_MS - VALID_MS - 1)], False),
        ([(STATED, NOW_MS + 1)], False),  # the clock was set back since
        ([(STATED, NOW_MS - HOUR), ("signed", NOW_MS + MINUTE)], True),
        ([(STATED, NOW_MS - HOUR), ("signed", NOW_MS + MINUTE + 1)], False),
        ([(STATED, NOW_MS - HOUR), (CONTRADICTED, NOW_MS - 1)], False),
        ([(CONTRADICTED, NOW_MS - HOUR), (STATED, NOW_MS - 1)], True),
        ([(STATED, NOW_MS - 1), (STATED, NOW_MS - 2 * VALID_MS)], False),  # the last one counts
    ],
)
def test_a_statement_holds_for_a_day_while_the_clock_runs_on(events: list[tuple[str, int]], holds: bool) -> None:
    entries: list[Entry] = []
    for event, at_ms in events:
        data = Statement(at_ms, 60).as_data(at_ms) if event in (STATED, CONTRADICTED) else {}
        entries.append(next_entry(entries[-1] if entries else None, at_ms, event, data))
    assert clock_of(entries, NOW_MS, None).uncertainty_ms == (MINUTE if holds else None)
    verdict = time_is_stated.run(clock_of(entries, NOW_MS, None))
    known_wrong = bool(entries) and entries[-1].event == CONTRADICTED
    failed = "refused" if known_wrong else "not-judged"
    assert (verdict.check, verdict.result) == ("TIME-CLOCK", "pass" if holds else failed)
    if not holds:
        assert "airlock-offline preflight --time" in verdict.what
        assert ("the watch said another time" in verdict.what) == known_wrong


def _clock(after_ms: int, ran_ms: int, boot_id: str = "one start", event: str = STATED) -> Clock:
    """Return the clock ``after_ms`` after a statement, on a machine that ran for ``ran_ms`` since then."""
    entries = [next_entry(None, NOW_MS, event, Statement(NOW_MS, 60).as_data(NOW_MS, STATED_AT))]
    return clock_of(entries, NOW_MS + after_ms, Uptime(boot_id, STATED_AT.boot_ms + ran_ms))


@pytest.mark.parametrize("gap_ms", [-HOUR, -2001, -2000, 0, 2000, 2001, 20 * HOUR])
@pytest.mark.parametrize("ran_ms", [0, 3 * HOUR])
def test_a_clock_that_was_set_since_the_time_was_stated_is_refused(ran_ms: int, gap_ms: int) -> None:
    clock = _clock(max(0, ran_ms + gap_ms), max(0, ran_ms + gap_ms) - gap_ms)
    verdict = time_is_stated.run(clock)
    fine = abs(gap_ms) <= 2000
    assert verdict.result == ("pass" if fine else "refused")
    assert clock.uncertainty_ms == (MINUTE if fine else None)
    if not fine:
        assert "preflight --time" in verdict.what
        assert ("ahead" if gap_ms > 0 else "back") in str(verdict.got)


@pytest.mark.parametrize(("after_ms", "ran_ms"), [(HOUR, -4 * HOUR), (HOUR, HOUR), (1, 0), (11 * HOUR, -5 * HOUR)])
def test_after_another_start_nobody_vouches_for_the_clock(after_ms: int, ran_ms: int) -> None:
    verdict = time_is_stated.run(clock := _clock(after_ms, ran_ms, "another start"))
    assert (clock.uncertainty_ms, clock.was_set, verdict.result) == (None, False, "not-judged")
    assert "the machine was started again" in verdict.what
    assert "preflight --time" in verdict.what
    contradicted = _clock(after_ms, max(ran_ms, 0), event=CONTRADICTED)  # it stays so, whatever ran
    assert (contradicted.uncertainty_ms, contradicted.was_set) == (None, False)


@pytest.mark.parametrize("boot_id", ["", "another start"])
def test_a_led_run_has_the_time_stated_anew_after_another_start(tmp_path: Path, boot_id: str) -> None:
    state, ran, at_ms = OfflineHome(tmp_path), uptime(), now_ms()
    assert ran is not None
    said = Statement(at_ms, 60).as_data(at_ms, ran._replace(boot_id=boot_id or ran.boot_id))
    state.transcript.record(STATED, said, at_ms)
    facts = facts_of(_place(state), situation().plan, tmp_path / "ceremony", None)
    assert facts.clock_stated is (not boot_id)
    again = uptime()
    assert again is not None
    assert again.boot_id == ran.boot_id
    assert 0 <= again.boot_ms - ran.boot_ms < MINUTE
