"""TIME-CLOCK: somebody has vouched for this machine's clock, from a watch, within the last day.

A statement holds for a day, and only while the clock runs on: one that was set back, or that a later statement
contradicts, is vouched for by nobody. Source: DESIGN section 6, family ``TIME``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.checks.case import RECEIVED, Finding, check
from airlock_shared.units import span_text, utc_text

if TYPE_CHECKING:
    from airlock_shared.documents.transcript import Entry

VALID_MS = 24 * 3600 * 1000
STATED, CONTRADICTED = "clock-stated", "clock-contradicted"
"""The transcript's events for a statement that the clock keeps, and for one that it does not."""

COMMAND = "airlock-offline preflight --time {now} --uncertainty 60"
_REFUSAL = "nobody has vouched for this machine's clock today"


class Clock(NamedTuple):
    """What a machine's transcript says of its clock: the last statement, and how far it vouches for the clock, in ms.

    ``uncertainty_ms`` is None while nobody vouches for it.
    """

    now_ms: int
    last: Entry | None
    uncertainty_ms: int | None


def clock_of(entries: Sequence[Entry], now_ms: int) -> Clock:
    """Return what a transcript says of the clock at ``now_ms``."""
    return Clock(now_ms, _last(entries), uncertainty_ms(entries, now_ms))


def uncertainty_ms(entries: Sequence[Entry], now_ms: int) -> int | None:
    """Return the uncertainty, in ms, of the statement that vouches for the clock at ``now_ms``; None without one."""
    last = _last(entries)
    if last is None or last.event != STATED or not 0 <= now_ms - last.at_ms <= VALID_MS:
        return None
    found = int(last.data["uncertainty_s"]) * 1000
    set_back = any(entry.at_ms > now_ms + found for entry in entries[last.seq :])
    return None if set_back else found


@check(
    "TIME-CLOCK", RECEIVED,
    _REFUSAL, "A clock that makes an old signature look young.",
    "Read the time from a watch and run airlock-offline preflight --time, then go on.",
)  # fmt: skip
def time_is_stated(clock: Clock) -> Finding:
    """A person stated the time within the last 24 hours, and the clock agreed; without a statement nobody can judge."""
    last = clock.last
    expected = f"a statement not older than {span_text(VALID_MS // 1000)}"
    if clock.uncertainty_ms is not None and last is not None:
        got = f"stated {utc_text(last.at_ms)}, within {span_text(clock.uncertainty_ms // 1000)}"
        return Finding(True, got, expected)
    what = f"{_REFUSAL}; {advice()}"
    if last is None:
        return Finding(None, "no statement of the time", expected, "", what)
    said = "stated" if last.event == STATED else "contradicted by a watch"
    got = f"last {said} at {utc_text(last.at_ms)}; the clock says {utc_text(clock.now_ms)}"
    return Finding(None if last.event == STATED else False, got, expected, "", what)


def advice() -> str:
    """Return the command by which a person states the time."""
    return f"read the time from a watch and run: {COMMAND.format(now='YYYY-MM-DDTHH:MM:SSZ')}"


def _last(entries: Iterable[Entry]) -> Entry | None:
    found = None
    for entry in entries:
        if entry.event in (STATED, CONTRADICTED):
            found = entry
    return found
