"""A limit of rate that this machine keeps by itself: the builder's questions come evenly, so many a minute at most.

A venue answers too many with 429, which is waited for as well (:mod:`airlock_online.preparing.patience`); who keeps the
limit is not told to wait. What is submitted is never held back. Source: the specification, "Limits", row "rate limit".
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from threading import Lock


class Spacing:
    """Lets one question begin every so many seconds, whichever thread asks it."""

    def __init__(
        self,
        per_minute: int,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._every_s = 60 / per_minute if per_minute else 0.0
        self._monotonic, self._sleep = monotonic, sleep
        self._next_s = 0.0
        self._taking = Lock()

    def wait(self) -> None:
        """Return when the next question may begin."""
        if not self._every_s:
            return
        with self._taking:
            now_s = self._monotonic()
            begins_s = max(now_s, self._next_s)
            self._next_s = begins_s + self._every_s
        if begins_s > now_s:
            self._sleep(begins_s - now_s)


@lru_cache(maxsize=64)
def spacing_of(base_url: str, per_minute: int) -> Spacing:
    """Return the spacing of one builder, the same for all that this command asks of it."""
    del base_url  # it tells one builder's from another's
    return Spacing(per_minute)
