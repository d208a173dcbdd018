"""A ceremony interrupted at every task of both machines, as it begins and at its question, ends as if nothing had been."""

import re
import signal
from typing import NamedTuple

import pytest

from airlock_shared.ceremony.workflow import NAMES
from airlock_shared.host.files import read_transcript
from draws import ALL, every_nth
from e2e.conftest import BothMachines, Ledger
from e2e.led import Asked, Screen, interrupt, lead
from e2e.test_one_command import Day

_HEAD = re.compile(r"(?m)^\[(\d+)/\d+\] ")
_NOTE = re.compile(r"(?:online|offline)-at-(\d+)-of-\d+-.+")
_HALVES = ("online", "offline")
_STARTED = {"PYTHONHASHSEED": "0"}
"""Each command is started, no fork of a loaded program (``loaded.can_be_forked``): so it lasts until it was seen."""


class Place(NamedTuple):
    """Where a machine is interrupted: the number of its task from 1, as it begins or at its first question."""

    half: str
    task: int
    moment: str


def stops_of(day: Day, half: str) -> dict[int, tuple[str, bool]]:
    """Return where a machine is interrupted: tasks as the program lists them before the ceremony, their names, and whether
    somebody acts there.
    """
    run = day.desk.online if half == "online" else day.desk.offline
    told = run(*day.words(half), "--dry-run", "--json").json()
    tasks = [(number, task["name"], bool(task["by"])) for number, task in enumerate(told["tasks"], 1)]
    chosen = every_nth(tasks, 5, kind=lambda task: task[1] if task[2] else "")
    return {number: (name, acts) for number, name, acts in chosen}


def stands_at(day: Day, half: str, screen: Screen, how: signal.Signals) -> Place | None:
    """Return where a machine stands; None before its first task.

    By the note that it leaves on the stick at each task. Ctrl-C comes from somebody who reads the last heading shown:
    at tasks where nobody acts there is none.
    """
    if how == signal.SIGINT:
        numbers = _HEAD.findall(screen.plain())[-1:]
    else:
        notes = (_NOTE.fullmatch(path.name) for path in day.exchange.glob(f"*/{half}-at-*"))
        numbers = [found[1] for found in notes if found][:1]
    return Place(half, int(numbers[0]), "asked" if screen.question() else "begun") if numbers else None


def interrupted_everywhere(
    day: Day, how: signal.Signals, tasks: dict[str, dict[int, tuple[str, bool]]]
) -> tuple[dict[str, Screen], set[Place]]:
    """Lead a ceremony to its end, and interrupt each machine the first time that it stands anywhere.

    A comparison always asks, and is interrupted there; every other task as it begins, and once more if it asks.
    """
    screens = {half: day.start(half, **_STARTED) for half in _HALVES}
    done: set[Place] = set()

    def counts(place: Place) -> bool:
        name, _ = tasks[place.half].get(place.task, ("", False))
        return bool(name) and (place.moment == "asked" or name != "compare")

    def new(now: dict[str, Screen], _asked: list[Asked] | None = None) -> list[Place]:
        places = [stands_at(day, half, screen, how) for half, screen in now.items() if screen.code is None]
        return [place for place in places if place is not None and place not in done and counts(place)]

    while any(screen.code is None for screen in screens.values()):
        lead(screens, until=lambda now, _asked: bool(new(now)))
        assert not any(screen.code for screen in screens.values()), {
            half: s.shown[-1500:] for half, s in screens.items()
        }
        for place in new(screens):
            done.add(place)
            interrupt(screens[place.half], how)
            screens[place.half] = day.start(place.half, **_STARTED)
    return screens, done


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT] if ALL else [signal.SIGKILL])
def test_interrupted_at_every_task_of_both_machines_it_ends_complete(
    unpinned: BothMachines, ledger: Ledger, how: signal.Signals
) -> None:
    day = Day(unpinned, ledger, "delegate-key")
    day.prove()
    tasks = {half: stops_of(day, half) for half in _HALVES}
    assert not ALL or set(NAMES) == {name for places in tasks.values() for name, _ in places.values()}
    screens, done = interrupted_everywhere(day, how, tasks)
    assert {half: screen.code for half, screen in screens.items()} == {"online": 0, "offline": 0}
    reached = {(place.half, place.task) for place in done}
    for half, places in tasks.items():
        wanted = {(half, number) for number, (_, acts) in places.items() if acts or how == signal.SIGKILL}
        assert wanted - reached == set()
    asked_at = {tasks[place.half][place.task][0] for place in done if place.moment == "asked"}
    assert {"begin", "compare", "preflight", "sign", "seal"} <= asked_at
    report = day.complete_report()
    assert any("was interrupted" in each for each in report["notes"])
    events = {half: read_transcript(unpinned.path(f"{half}-home") / "transcript.jsonl") for half in _HALVES}
    assert [entry.event for entry in events["offline"]].count("signed") == 1  # and not once more after an interruption
    assert [entry.event for entry in events["online"]].count("sending") == 1
    assert unpinned.services.posts["relayer"].total() == 1
