"""How long preparing waits for a service that is busy or away: no longer than the deadlines of what is kept allow.

To build is to read: the builder stores nothing, so that it may be asked again (specification, "Builder service"). A
submission never comes this way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import TypeVar

from airlock_shared.checks.model import Situation
from airlock_shared.errors import ServiceError
from airlock_shared.plan.model import Step
from airlock_shared.units import span_text

PASSING = frozenset({429, 502, 503, 504})
"""Statuses that say nothing of what was asked: too many calls, or a proxy whose service is away."""
MAX_BUILDS = 6
"""Of what fails without a word of when to come again: 1, 2, 4, 8 and 16 s lie between them."""
WAIT_AT_MOST_S = 900
"""For one answer, however often the service says to wait."""
_Answer = TypeVar("_Answer")


class Patience:
    """Asks again for what a service did not answer. ``wait`` waits some seconds, and shows what for."""

    def __init__(self, wait: Callable[[int, str], None], now_ms: Callable[[], int]) -> None:
        self._wait = wait
        self._now_ms = now_ms
        self.until_ms = inf
        """When the first of the kept payloads has too little time left (unix ms)."""

    def bound(self, until_ms: int | None) -> None:
        """Take note until when a kept payload leaves enough time (unix ms); None for one without a deadline."""
        if until_ms is not None:
            self.until_ms = min(self.until_ms, until_ms)

    def ask(self, ask: Callable[[], _Answer]) -> _Answer:
        """Return the answer to what changes nothing, asked again as long as that may help.

        Raises ``ServiceError``: what the service said, or why there is no time to wait for it.
        """
        waited_s = attempts = 0
        while True:
            try:
                return ask()
            except ServiceError as error:
                attempts += 1
                told_s = error.retry_after_s
                if not (error.unanswered or error.status in PASSING) or (told_s is None and attempts >= MAX_BUILDS):
                    raise
                wait_s = 1 << attempts - 1 if told_s is None else max(told_s, 1)
                too_long = waited_s + wait_s > WAIT_AT_MOST_S
                if too_long or self._now_ms() + wait_s * 1000 > self.until_ms:
                    waited = (
                        f"it was waited for {span_text(waited_s)} already"
                        if waited_s
                        else "that is too long to wait here"
                    )
                    why = waited if too_long else "until then, too little would be left of a deadline that is kept"
                    raise ServiceError(
                        f"{error.what}. The wait would be {span_text(wait_s)}; {why}",
                        code=error.code,
                        status=error.status,
                        do=f"run it again after {span_text(wait_s)}",
                    ) from error
                self._wait(wait_s, error.what)
                waited_s += wait_s


# ---- pace -----------------------------------------------------------------------------------------------------------
# Whether people can keep up with the deadlines of what they prepare: how often a signature is needed.


QUICK_S = 60
"""A signature more often than this is told as a warning: a person reads, and confirms every page of a Ledger."""


def pace_lines(steps: Sequence[Step], situation: Situation, per_minute: int) -> Iterator[str]:
    """Yield how often a signature is needed, for several steps of which the last would otherwise come too late.

    ``per_minute`` is how many questions the builder is asked a minute at most; 0: as many as it answers.
    """
    if per_minute and len(steps) > 1:
        takes = span_text(max(1, round(60 * len(steps) / per_minute)))
        yield f"{len(steps)} steps at {per_minute} requests a minute: building them takes {takes} or more"
    limits, deployment = situation.plan.limits, situation.deployment
    usual_ms = limits.deadline_at_most_ms or deployment.intent_deadline_ms
    lengths_ms = [
        fixed - situation.now_ms if type(fixed := step.raw("deadlineMs")) is int else usual_ms
        for step in steps
        if (known := deployment.structs.get(step.action.primary_type)) is not None and known.deadline
    ]
    if len(lengths_ms) < 2:
        return
    usable_s = max(min(lengths_ms) - limits.remaining_at_least_ms, 0) / 1000
    each_s = usable_s / len(lengths_ms)
    quick = each_s < QUICK_S
    each = f"{each_s:.1f} s" if quick else span_text(int(each_s))
    yield (
        f"{'WARNING: ' if quick else ''}{len(lengths_ms)} steps have a deadline; the nearest leaves "
        f"{span_text(int(usable_s))} to sign and submit them all: a signature every {each}"
    )
    if quick:
        yield "If that is too quick for the people at the table, use plans of fewer steps, or later deadlines."
