"""A ceremony interrupted at every stop of both machines, as it begins and at its question, ends as if nothing had been."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from airlock_shared.ceremony.course import NAMES
from airlock_shared.host.transcript_file import read_transcript
from e2e.conftest import BothMachines, Ledger
from e2e.led import Asked, Screen, interrupt, lead
from e2e.test_one_command import Day, unpinned

__all__ = ["unpinned"]

_NOTE = re.compile(r"(?:online|offline)-at-(\d+)-of-\d+-.+")
_HALVES = ("online", "offline")


class Place(NamedTuple):
    """Where a machine is interrupted: the number of its stop from 1, as it begins or at its first question."""

    half: str
    stop: int
    moment: str


def stops_of(day: Day, half: str) -> list[str]:
    """Return the names of a machine's stops, as the program itself lists them before the ceremony."""
    run = day.desk.online if half == "online" else day.desk.offline
    told = run(*day.words(half), "--dry-run", "--json").json()
    return [stop["name"] for stop in told["stops"]]


def stands_at(day: Day, half: str, screen: Screen) -> Place | None:
    """Return where a machine stands, by the note that it leaves on the stick at each stop; None before its first one."""
    notes = [found for path in day.exchange.glob(f"*/{half}-at-*") if (found := _NOTE.fullmatch(path.name))]
    return Place(half, int(notes[0][1]), "asked" if screen.question() else "begun") if notes else None


def interrupted_everywhere(
    day: Day, how: signal.Signals, stops: dict[str, list[str]]
) -> tuple[dict[str, Screen], set[Place]]:
    """Lead a ceremony to its end, and interrupt each machine the first time that it stands anywhere.

    A comparison always asks, and is interrupted there; every other stop as it begins, and once more if it asks.
    """
    screens = {half: day.start(half) for half in _HALVES}
    done: set[Place] = set()

    def counts(place: Place) -> bool:
        return place.moment == "asked" or stops[place.half][place.stop - 1] != "compare"

    def new(now: dict[str, Screen], _asked: list[Asked] | None = None) -> list[Place]:
        places = [stands_at(day, half, screen) for half, screen in now.items() if screen.code is None]
        return [place for place in places if place is not None and place not in done and counts(place)]

    while any(screen.code is None for screen in screens.values()):
        lead(screens, until=lambda now, _asked: bool(new(now)))
        assert not any(screen.code for screen in screens.values()), {
            half: s.shown[-1500:] for half, s in screens.items()
        }
        for place in new(screens):
            done.add(place)
            interrupt(screens[place.half], how)
            screens[place.half] = day.start(place.half)
    return screens, done


def events(folder: Path, event: str) -> list[dict[str, object]]:
    return [entry.data for entry in read_transcript(folder / "transcript.jsonl") if entry.event == event]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_interrupted_at_every_stop_of_both_machines_it_ends_complete(
    unpinned: BothMachines, ledger: Ledger, how: signal.Signals
) -> None:
    day = Day(unpinned, ledger, "delegate-key")
    day.prove()
    stops = {half: stops_of(day, half) for half in _HALVES}
    assert set(NAMES) == {name for names in stops.values() for name in names}
    screens, done = interrupted_everywhere(day, how, stops)
    assert {half: screen.code for half, screen in screens.items()} == {"online": 0, "offline": 0}
    for half, names in stops.items():
        missed = [
            name
            for number, name in enumerate(names, 1)
            if not {Place(half, number, "begun"), Place(half, number, "asked")} & done
        ]
        assert missed == [], half
    asked_at = {stops[place.half][place.stop - 1] for place in done if place.moment == "asked"}
    assert {"begin", "compare", "preflight", "sign", "seal"} <= asked_at
    report = json.loads((day.folder("online") / "evidence" / "report.json").read_text())
    assert report["complete"], report["missing"]
    home = unpinned.path("offline-home")
    assert len(events(home, "signed")) == 1  # and not once more after an interruption
    assert max(Counter(str(each["digest"]) for each in events(home, "signed")).values()) == 1
    assert unpinned.services.posts["relayer"].total() == 1
    assert len(events(unpinned.path("online-home"), "sending")) == 1
