"""What is left for a person when several orders were followed: the end of a long run, which nobody read line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from airlock_shared.errors import ExitCode
from airlock_shared.text.safe import safe

_SHOWN = 20


class ToldOutcome(NamedTuple):
    """What was told of an order: its step, its state (empty where an error was told), its anomalies, its exit code."""

    step: str
    state: str
    anomalies: int
    code: ExitCode


def tally_lines(told: Sequence[ToldOutcome]) -> Iterator[str]:
    """Yield how many ended how, and each that needs a person; nothing for one order, which stands just above."""
    if len(told) < 2:
        return
    counts = Counter(each.state or "stopped by an error" for each in told)
    yield f"{len(told)} orders: {', '.join(f'{count} {state}' for state, count in sorted(counts.items()))}."
    odd = [each for each in told if each.anomalies or each.code is not ExitCode.DONE]
    if not odd:
        return
    yield f"{len(odd)} need{'s' if len(odd) == 1 else ''} a person: airlock-online resolve says what is known of each."
    for each in odd[:_SHOWN]:
        also = f", {each.anomalies} anomal{'y' if each.anomalies == 1 else 'ies'}" if each.anomalies else ""
        yield f"  {safe(each.step, limit=40)}: {each.state or 'stopped by an error'}{also}"
    if len(odd) > _SHOWN:
        yield f"  and {len(odd) - _SHOWN} more: airlock-online status"
