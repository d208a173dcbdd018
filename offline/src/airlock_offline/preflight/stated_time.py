"""The time as a person states it from a watch: the only thing that can vouch for the clock of a machine without network.

A statement holds for a day, and only while the clock runs on: one that was set back, or that a later statement
contradicts, is vouched for by nobody. Source: DESIGN section 6, family ``TIME``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from airlock_shared.checks.case import Verdict
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import Expired, UsageError
from airlock_shared.units import span_text, utc_text

VALID_MS = 24 * 3600 * 1000
UNCERTAINTY_AT_MOST_S = 300
STATED, CONTRADICTED = "clock-stated", "clock-contradicted"
"""The transcript's events for a statement that the clock keeps, and for one that it does not."""

COMMAND = "airlock-offline preflight --time {now} --uncertainty 60"


class Statement(NamedTuple):
    """What a person said: the time on the watch in unix ms, and by how many seconds it may be wrong."""

    stated_ms: int
    uncertainty_s: int

    def as_data(self, machine_ms: int) -> dict[str, int]:
        """Return the statement as the transcript records it, beside the machine's clock."""
        return {"stated_ms": self.stated_ms, "machine_ms": machine_ms, "uncertainty_s": self.uncertainty_s}


def read_time(text: str) -> int:
    """Return the unix ms of a time with a zone, such as ``2026-11-21T02:43:00Z``. Raises ``UsageError``."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise UsageError(
            f"not a time with a zone: {text[:40]!r}", do="write it in UTC, such as --time 2026-11-21T02:43:00Z"
        )
    return int(moment.timestamp()) * 1000


def compare(statement: Statement, machine_ms: int) -> None:
    """Compare the watch with the machine's clock. Raises ``Expired`` when they differ by more than the uncertainty."""
    off_ms = machine_ms - statement.stated_ms
    if abs(off_ms) > statement.uncertainty_s * 1000:
        raise Expired(
            f"TIME-CLOCK: this machine's clock is {span_text(abs(off_ms) // 1000)} {'fast' if off_ms > 0 else 'slow'}: "
            f"it says {utc_text(machine_ms)}, the watch {utc_text(statement.stated_ms)}, "
            f"which may be wrong by {span_text(statement.uncertainty_s)}",
            do="look at the watch again; if it is right, set this machine's clock, and state the time again",
        )


def uncertainty_ms(entries: Sequence[Entry], now_ms: int) -> int | None:
    """Return the uncertainty, in ms, of the statement that vouches for the clock at ``now_ms``; None without one."""
    last = _last(entries)
    if last is None or last.event != STATED or not 0 <= now_ms - last.at_ms <= VALID_MS:
        return None
    found = int(last.data["uncertainty_s"]) * 1000
    set_back = any(entry.at_ms > now_ms + found for entry in entries[last.seq :])
    return None if set_back else found


def examine_clock(entries: Sequence[Entry], now_ms: int) -> Verdict:
    """Return the verdict ``TIME-CLOCK``: a person stated the time within the last 24 hours, and the clock agreed."""
    found, last = uncertainty_ms(entries, now_ms), _last(entries)
    expected = f"a statement not older than {span_text(VALID_MS // 1000)}"
    if found is not None and last is not None:
        return Verdict(
            "TIME-CLOCK", "pass", f"stated {utc_text(last.at_ms)}, within {span_text(found // 1000)}", expected
        )
    from airlock_shared.checks.catalogue import CHECKS

    got = "no statement of the time"
    if last is not None:
        said = "stated" if last.event == STATED else "contradicted by a watch"
        got = f"last {said} at {utc_text(last.at_ms)}; the clock says {utc_text(now_ms)}"
    return Verdict("TIME-CLOCK", "refused", got, expected, "", f"{CHECKS['TIME-CLOCK'].refusal}; {advice()}")


def advice() -> str:
    """Return the command by which a person states the time."""
    example = COMMAND.format(now="YYYY-MM-DDTHH:MM:SSZ")
    return f"read the time from a watch and run: {example}"


def _last(entries: Iterable[Entry]) -> Entry | None:
    found = None
    for entry in entries:
        if entry.event in (STATED, CONTRADICTED):
            found = entry
    return found


def stated_text(now_ms: int) -> str:
    """Return a time in the form that ``--time`` reads."""
    return datetime.fromtimestamp(now_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
