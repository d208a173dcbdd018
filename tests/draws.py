"""How many cases the random and the exhaustive tests try: a part by default, all of them with ``AIRLOCK_DRAWS=all``.

``make test-signing`` sets it. The part is the same in every run, so that what fails fails again.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import HealthCheck, settings

Case = TypeVar("Case")

ALL = os.environ.get("AIRLOCK_DRAWS") == "all"


def draws(few: int, every: int) -> int:
    """Return how many cases to draw."""
    return every if ALL else few


def every_nth(cases: Sequence[Case], step: int) -> list[Case]:
    """Return the cases to try: the first, the last, and each ``step``-th one between them."""
    return list(cases) if ALL else [case for at, case in enumerate(cases) if at % step == 0 or at == len(cases) - 1]


repeatable = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=draws(100, 500),
    suppress_health_check=list(HealthCheck),
)
costly = settings(repeatable, max_examples=draws(30, 200))
"""For cases that are drawn slowly: whole documents of typed data."""
