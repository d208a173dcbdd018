"""Whether people can keep up with the deadlines of what they prepare: how often a signature is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airlock_shared.checks.case import Situation
from airlock_shared.plan.model import Exact, Step
from airlock_shared.units import span_text

QUICK_S = 60
"""A signature more often than this is told as a warning: a person reads, and confirms every page of a Ledger."""


def pace_lines(steps: Sequence[Step], situation: Situation, per_minute: int = 0) -> Iterator[str]:
    """Yield how often a signature is needed, for several steps of which the last would otherwise come too late.

    ``per_minute`` is how many questions the builder is asked a minute at most; 0: as many as it answers.
    """
    if per_minute and len(steps) > 1:
        takes = span_text(max(1, round(60 * len(steps) / per_minute)))
        yield f"{len(steps)} steps at {per_minute} requests a minute: building them takes {takes} or more"
    limits, lengths_ms = situation.plan.limits, []
    for step in steps:
        known = None if step.action.call else situation.deployment.structs.get(step.action.primary_type)
        if known is None or not known.deadline:
            continue
        fixed = step.values.get("deadlineMs")
        if isinstance(fixed, Exact) and type(fixed.raw) is int:
            lengths_ms.append(fixed.raw - situation.now_ms)
        else:
            lengths_ms.append(limits.deadline_at_most_ms or situation.deployment.intent_deadline_ms)
    if len(lengths_ms) < 2:
        return
    usable_s = max(min(lengths_ms) - limits.remaining_at_least_ms, 0) / 1000
    each_s = usable_s / len(lengths_ms)
    each = span_text(int(each_s)) if each_s >= QUICK_S else f"{each_s:.1f} s"
    yield (
        f"{'' if each_s >= QUICK_S else 'WARNING: '}{len(lengths_ms)} steps have a deadline; the nearest leaves "
        f"{span_text(int(usable_s))} to sign and submit them all: a signature every {each}"
    )
    if each_s < QUICK_S:
        yield "If that is too quick for the people at the table, use plans of fewer steps, or later deadlines."
