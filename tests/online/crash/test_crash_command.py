"""The whole command killed: `airlock-online submit` with four signatures for four services, then started again.

Its orders are followed in threads of their own, so that the places are counted over all of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import FINAL, OrderState
from airlock_shared.host.files import read_transcript
from online.crash.ceremony import STEPS, lay_out
from online.crash.runs import WORKERS, Launcher, Ran, at_once, killed
from online.crash.venue import Venue
from online.delivering_machine import NOW

EVERY = 4  # of the places one in so many: the routes alone are killed at each
DEATHS_AT_LEAST = 50


@pytest.fixture(scope="module")
def launchers() -> Iterator[list[Launcher]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Launcher()) for _ in range(WORKERS)]


class KilledMachine:
    """An online machine with its folder, its screen, and a venue."""

    def __init__(self, folder: Path, venue: Venue, launcher: Launcher) -> None:
        self.folder, self.home, self.venue = folder, folder / "home", venue
        folder.mkdir()
        self.home.mkdir(mode=0o700)
        self.file = lay_out(self.home, venue.url)
        self._launcher = launcher

    def run(self, *command: str, die_at: str = "") -> Ran:
        told = {"folder": str(self.folder), "home": str(self.home), "command": command}
        ran = self._launcher.run({**told, "die_at": die_at, "now_ms": NOW})
        self.venue.settle()
        return ran

    @property
    def screen(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "screen").read_text().splitlines()]

    def check(self) -> None:
        """Each step reached the venue once at most; the journal has its end or why not; nothing was told twice."""
        assert set(Counter(self.venue.bodies).values()) <= {1}
        assert self.venue.started <= len(STEPS)
        told = Counter((line["digest"], line["seq"]) for line in self.screen if "event" in line)
        assert set(told.values()) <= {1}, f"told twice: {told}"
        read_transcript(self.home / "transcript.jsonl")
        with open_journal(str(self.home / "journal.sqlite3"), lambda: NOW) as journal:
            rows = journal.submissions()
            assert len(rows) == len(STEPS)
            for row in rows:
                unknown = row.state in (OrderState.UNKNOWN, OrderState.PRESUMED_UNKNOWN)
                assert row.state in FINAL or (unknown and not row.tracking_id and row.note)
                events = [(row.record.digest, event.seq) for event in journal.events(row.record.digest)]
                assert {one for one in told if one[0] == row.record.digest} <= set(events)


def test_the_command_killed_anywhere_and_run_again_sends_each_signature_once(
    launchers: list[Launcher], tmp_path: Path
) -> None:
    with Venue() as venue:
        machine = KilledMachine(tmp_path / "unharmed", venue, launchers[0])
        ran = machine.run("submit", str(machine.file), "--json")
        assert (ran.status, ran.code, venue.taken) == (0, 0, len(STEPS))
        machine.check()

    deaths: list[int] = []

    def check(launcher: Launcher, place: int) -> None:
        with Venue() as venue:
            machine = KilledMachine(tmp_path / f"place-{place}", venue, launcher)
            ran = machine.run("submit", str(machine.file), "--json", die_at=f"place {place}")
            assert killed(ran) or ran.status == 0  # the last places may not be reached: the threads vary in their polls
            deaths.extend([place] * killed(ran))
            codes = [machine.run("follow", "--json").code, machine.run("submit", str(machine.file), "--json").code]
            assert set(codes) <= {0, 9}
            machine.check()

    at_once(launchers, range(1, len(ran.names), EVERY), check)
    assert len(deaths) >= DEATHS_AT_LEAST
