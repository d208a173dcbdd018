"""Whose turn is next, of many that take turns: the one that is due longest, in a lane that has a place left.

Pure: the time is given. A lane is for turns that hold a thread alike, and has its places, so that those which may last long
never hold all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum, auto
from heapq import heappop, heappush
from itertools import count
from typing import Generic, NamedTuple, TypeVar

_Who = TypeVar("_Who")


class Lane(Enum):
    """What a turn is for, which says how long it may last."""

    SENDING = auto()
    """One request that is sent once, and the stream of events behind it: minutes."""
    POLLING = auto()
    """One question about what was sent: milliseconds, and seconds at a service that hangs."""
    ASIDE = auto()
    """What reads from other services, and the questions of an order whose last one was slow: up to a minute."""


class _Waiting(NamedTuple, Generic[_Who]):
    due_s: float
    number: int  # of two that are due at one moment, the one that came first
    who: _Who


class Turns(Generic[_Who]):
    """Those who wait, and how many are at work in each lane. ``places`` is how many may be."""

    def __init__(self, places: Mapping[Lane, int]) -> None:
        self._places = dict(places)
        self._waiting: dict[Lane, list[_Waiting[_Who]]] = {lane: [] for lane in places}
        self._at_work: Counter[Lane] = Counter()
        self._numbers = count()

    def wait(self, who: _Who, lane: Lane, due_s: float) -> None:
        """Let somebody wait for a turn, which is due at ``due_s``."""
        heappush(self._waiting[lane], _Waiting(due_s, next(self._numbers), who))

    def take(self, now_s: float) -> tuple[_Who, Lane] | None:
        """Return who is next, and the lane in which a place is taken; None when nobody is due who could have one."""
        lane = self._next()
        if lane is None or self._waiting[lane][0].due_s > now_s:
            return None
        self._at_work[lane] += 1
        return heappop(self._waiting[lane]).who, lane

    def give_back(self, lane: Lane) -> None:
        """Say that a turn is over."""
        self._at_work[lane] -= 1

    def next_due_s(self) -> float | None:
        """Return when somebody is due next who could have a place; None when that has to wait for a place, or for nobody."""
        lane = self._next()
        return None if lane is None else self._waiting[lane][0].due_s

    def _next(self) -> Lane | None:
        open_lanes = [lane for lane, waiting in self._waiting.items() if waiting and self._has_place(lane)]
        return min(open_lanes, key=lambda lane: self._waiting[lane][0][:2], default=None)

    def _has_place(self, lane: Lane) -> bool:
        return self._at_work[lane] < self._places[lane]
