"""Killed at every write of the journal and every step on the network, then started again: sent once, nothing lost.

The same when it is the service that dies at each of its steps, and when the disk is full from each commit on.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from airlock_online.journal.order_states import FINAL
from draws import every_nth, step_of
from online.crash.orders import WAYS
from online.crash.points import named
from online.crash.runs import WORKERS, Launcher, at_once, killed, recover, stand

POINTS_AT_LEAST = 300
UNANSWERED = "receive-before:1"  # everything is sent, nothing has come back
FIRST_TOLD = "tell-after:1"  # the first event is written and shown

each_way = pytest.mark.parametrize("way", WAYS)


class Whole(NamedTuple):
    """An unharmed life: the places that `submit` passes, the events that it tells, and the venue's steps."""

    names: list[str]
    events: list[list[Any]]
    steps: int


@pytest.fixture(scope="module")
def launchers() -> Iterator[list[Launcher]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Launcher()) for _ in range(WORKERS)]


@pytest.fixture(scope="module")
def lives(launchers: list[Launcher], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Whole]:
    folder = tmp_path_factory.mktemp("unharmed")
    return {way: _unharmed(way, folder / way, launchers[0]) for way in WAYS}


def _unharmed(way: str, folder: Path, launcher: Launcher) -> Whole:
    with stand(way, folder, launcher) as place:
        ran = place.run("submit")
        assert (ran.status, ran.error, place.venue.started, place.venue.taken) == (0, "", 1, 1)
        assert ran.state in FINAL
        assert place.told == ran.events
        return Whole(ran.names, ran.events, place.venue.steps)


@each_way
def test_a_submission_killed_anywhere_is_sent_once_and_loses_nothing(
    way: str, launchers: list[Launcher], lives: dict[str, Whole], tmp_path: Path
) -> None:
    def check(launcher: Launcher, name: str) -> None:
        with stand(way, tmp_path / name, launcher) as place:
            assert killed(place.run("submit", die_at=name))
            recover(place, lives[way].events)

    at_once(launchers, every_nth(lives[way].names, 12, step_of), check)


@each_way
@pytest.mark.parametrize("left_at", [UNANSWERED, FIRST_TOLD])
def test_a_following_killed_anywhere_loses_nothing_and_sends_nothing(
    way: str, left_at: str, launchers: list[Launcher], lives: dict[str, Whole], tmp_path: Path
) -> None:
    with stand(way, tmp_path / "unharmed", launchers[0]) as place:
        assert killed(place.run("submit", die_at=left_at))
        names = place.run("follow").names

    def check(launcher: Launcher, name: str) -> None:
        with stand(way, tmp_path / name, launcher) as place:
            assert killed(place.run("submit", die_at=left_at))
            assert killed(place.run("follow", die_at=name))
            recover(place, lives[way].events)
            assert place.venue.started == 1

    at_once(launchers, every_nth(names, 12, step_of), check)


def test_the_places_are_several_hundred_and_cover_every_kind_of_step(lives: dict[str, Whole]) -> None:
    total = sum(len(life.names) for life in lives.values())
    print({way: len(life.names) for way, life in lives.items()}, "in all", total)
    assert total >= POINTS_AT_LEAST
    kinds = ("write", "commit-before", "commit-after", "connect-before", "connect-after")
    steps = ("send-before", "send-half", "send-after", "receive-before", "receive-after", "tell-before", "tell-after")
    for life in lives.values():
        assert all(named(life.names, kind) for kind in (*kinds, *steps))


@each_way
def test_a_service_that_dies_at_any_step_gets_the_order_once_and_is_asked_again_when_it_is_back(
    way: str, launchers: list[Launcher], lives: dict[str, Whole], tmp_path: Path
) -> None:
    def check(launcher: Launcher, step: int) -> None:
        with stand(way, tmp_path / str(step), launcher, die_at=step) as place:
            assert place.run("submit").error == ""
            recover(place, lives[way].events)

    at_once(launchers, every_nth(range(1, lives[way].steps + 1), 4), check)


@each_way
def test_a_disk_that_is_full_from_any_commit_on_stops_the_sending_or_leaves_it_to_be_followed(
    way: str, launchers: list[Launcher], lives: dict[str, Whole], tmp_path: Path
) -> None:
    def check(launcher: Launcher, name: str) -> None:
        with stand(way, tmp_path / name, launcher) as place:
            ran = place.run("submit", full_at=name)
            assert (ran.status, ran.error) == (0, "OutcomeUnknown" if place.venue.started else "JournalError")
            if place.venue.started:
                assert "do not submit it elsewhere" in ran.reason
            recover(place, lives[way].events)

    at_once(launchers, every_nth(named(lives[way].names, "commit-before"), 3), check)
