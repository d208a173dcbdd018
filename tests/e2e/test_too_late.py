"""What grows too old at the table: both machines say so, and go on with requests that are prepared again."""

import json
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from e2e.conftest import BothMachines, Ledger
from e2e.led import Asked, Screen, careful, lead
from e2e.test_one_command import Day
from loaded import CLOCK

LIMITS = {"deadline_at_most": "300s", "remaining_at_least": "40s"}
"""With the minute by which the watch may be wrong, 200 seconds are left to sign."""


class Clock:
    """The one clock of both machines and of the services: it can be moved on."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path, self._ahead_s = path, 0
        path.write_bytes(bytes(8))
        monkeypatch.setenv(CLOCK, str(path))
        monkeypatch.setattr(time, "time_ns", lambda real=time.time_ns: real() + 10**9 * self._ahead_s)

    def go_on(self, seconds: int) -> None:
        self._ahead_s += seconds
        with self._path.open("r+b") as file:
            file.write(self._ahead_s.to_bytes(8, "big"))

    def now_s(self) -> int:
        return time.time_ns() // 10**9


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(tmp_path / "ahead", monkeypatch)


class ShortDay(Day):
    """A day whose plan leaves little time."""

    def __init__(self, desk: BothMachines, ledger: Ledger) -> None:
        super().__init__(desk, ledger, "market-close")
        text = self.plans["online"].read_text()
        for name, span in LIMITS.items():
            text, count = re.subn(rf'(?m)^{name} = ".*"$', f'{name} = "{span}"', text)
            assert count == 1
        self.agree_on(text)


def test_signatures_that_came_too_late_to_be_submitted_are_made_again_and_sent(
    unpinned: BothMachines, ledger: Ledger, clock: Clock
) -> None:
    """And a watch is read an hour wrongly, and somebody thinks before the review: neither ends the run."""
    day, slips, opened_s = ShortDay(unpinned, ledger), list[str](), list[int]()

    def late(machine: str, question: str, screens: dict[str, Screen]) -> str | None:
        if "on your watch" in question and not slips:
            slips.append("an hour")
            return (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        if question.startswith("-- Enter") and "Raw messages" in screens[machine].lines()[-2] and not opened_s:
            clock.go_on(40)
            opened_s.append(clock.now_s())
        if "), signatures" in question:
            signed = json.loads((day.folder("offline") / "requests.json").read_text())["requests"][0]
            clock.go_on(max(0, 1 + int(signed["payload"]["message"]["_deadline"]) // 1000 - clock.now_s()))
        if question == "Enter prepares them again: " or "new requests are there" in question:
            if question[:5] in slips:
                return None  # the line stands until the next look, and is answered once
            slips.append(question[:5])
            return "n" if "new" in question else ""
        return careful(machine, question, screens)

    def wait(screens: dict[str, Screen], _asked: list[Asked]) -> bool:
        """Have the minute pass that the online machine waits then; never an end."""
        if "waiting: a minute, until what was signed is surely over" in screens["online"].shown and not passed:
            passed.append("a minute")
            clock.go_on(60)
        return False

    passed: list[str] = []
    screens = {half: day.start(half) for half in ("online", "offline")}
    lead(screens, late, until=wait)
    shown = {half: screen.plain() for half, screen in screens.items()}
    assert [screen.code for screen in screens.values()] == [0, 0], shown
    assert "the ceremony stops here" not in shown["offline"] + shown["online"]
    assert (day.folder("offline") / "requests-2.json").exists()
    report = day.complete_report()
    assert (slips, passed) == (["an hour", "Enter", "waiti"], ["a minute"])
    assert (day.folder("online") / "signatures-2.json").exists()
    told = [line for line in report["notes"] if "on a watch" in line]
    assert [" DIFFERS from the air-gapped" in line for line in told] == [True]
    assert '"too_late":true' in (day.desk.path("online-home") / "transcript.jsonl").read_text().replace(" ", "")
    found = re.search(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC \(in (\d) min (\d+) s\)", shown["offline"])
    assert found
    drawn_s = datetime.fromisoformat(f"{found[1]}Z").timestamp() - 60 * int(found[2]) - int(found[3])
    assert -2 < drawn_s - opened_s[0] < 30  # computed after the key, not before it
