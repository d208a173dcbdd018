"""The time as a person states it from a watch: the only thing that can vouch for the clock of a machine without network.

For how long it vouches is in :mod:`airlock_shared.checks.clock`, which judges by it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from airlock_shared.checks.clock import Uptime
from airlock_shared.errors import Expired, UsageError
from airlock_shared.units import span_text, utc_text

UNCERTAINTY_AT_MOST_S = 300


class Statement(NamedTuple):
    """What a person said: the time on the watch in unix ms, and by how many seconds it may be wrong."""

    stated_ms: int
    uncertainty_s: int

    def as_data(self, machine_ms: int, uptime: Uptime | None = None) -> dict[str, Any]:
        """Return the statement as the transcript records it, beside the machine's clock and how long it has been running."""
        said = {"stated_ms": self.stated_ms, "machine_ms": machine_ms, "uncertainty_s": self.uncertainty_s}
        return said | (uptime._asdict() if uptime is not None else {})


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
            do="check the watch again; if it is right, set this machine's clock, and state the time again",
        )


def stated_text(now_ms: int) -> str:
    """Return a time in the form that ``--time`` reads."""
    return datetime.fromtimestamp(now_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
