"""How many cases the random and the exhaustive tests try: a part by default, all of them with ``AIRLOCK_DRAWS=all``.

``make test-signing`` sets it. The part is the same in every run, so that what fails fails again.
"""

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import HealthCheck, settings

Case = TypeVar("Case")

ALL = os.environ.get("AIRLOCK_DRAWS") == "all"


def draws(few: int, every: int) -> int:
    return every if ALL else few


def every_nth(cases: Sequence[Case], step: int, kind: Callable[[Case], object] = lambda _: "") -> list[Case]:
    """Return the cases to try, in their order: each ``step``-th one, and the first and the last of each kind."""
    if ALL:
        return list(cases)
    first: dict[object, int] = {}
    last: dict[object, int] = {}
    for at, case in enumerate(cases):
        first.setdefault(kind(case), at)
        last[kind(case)] = at
    tried = {*range(0, len(cases), step), *first.values(), *last.values()}
    return [case for at, case in enumerate(cases) if at in tried]


def step_of(place: str) -> str:
    """Return of which kind a place is at which a run is killed: ``append-before`` of ``append-before:3``."""
    return place.partition(":")[0]


repeatable = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=draws(100, 500),
    suppress_health_check=list(HealthCheck),
)
costly = settings(repeatable, max_examples=draws(30, 200))
"""For cases that are drawn slowly: whole documents of typed data."""
