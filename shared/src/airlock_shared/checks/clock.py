"""TIME-CLOCK: somebody has vouched for this machine's clock, from a watch, within the last day.

A statement holds for a day, and only while the clock runs on: one that was set back, that was set at all since the machine
was started, or that a later statement contradicts, is vouched for by nobody. Source: DESIGN section 6, family ``TIME``;
clock_gettime(2): ``CLOCK_BOOTTIME`` runs on through a suspend and cannot be set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.checks.case import RECEIVED, Finding, check
from airlock_shared.units import span_text, utc_text

if TYPE_CHECKING:
    from airlock_shared.documents.transcript import Entry

VALID_MS = 24 * 3600 * 1000
GAP_MS = 2000  # by how much the clock may have gone another way than the time since the start of the machine
STATED, CONTRADICTED = "clock-stated", "clock-contradicted"
"""The transcript's events for a statement that the clock keeps, and for one that it does not."""

COMMAND = "airlock-offline preflight --time {now} --uncertainty 60"
_REFUSAL = "nobody has compared this machine's clock with a watch in the last 24 hours"


class Uptime(NamedTuple):
    """How long the machine has been running, in ms, and which start of it that is (Linux' ``boot_id``)."""

    boot_id: str
    boot_ms: int


class Clock(NamedTuple):
    """What a machine's transcript says of its clock: the last statement, and how far it vouches for the clock, in ms.

    ``uncertainty_ms`` is None while nobody vouches for it. ``gap_ms`` is by how much the clock went another way since the
    statement than the time since the machine's start; None when that is not known.
    """

    now_ms: int
    last: Entry | None
    uncertainty_ms: int | None
    gap_ms: int | None = None

    @property
    def was_set(self) -> bool:
        """Whether somebody or something set the clock since the statement."""
        return self.gap_ms is not None and abs(self.gap_ms) > GAP_MS


def clock_of(entries: Sequence[Entry], now_ms: int, uptime: Uptime | None = None) -> Clock:
    """Return what a transcript says of the clock at ``now_ms``, compared with how long the machine has been running."""
    last = next((entry for entry in reversed(entries) if entry.event in (STATED, CONTRADICTED)), None)
    clock = Clock(now_ms, last, None, _gap_ms(last, now_ms, uptime))
    return clock if clock.was_set else clock._replace(uncertainty_ms=_uncertainty_ms(entries, last, now_ms))


def _gap_ms(last: Entry | None, now_ms: int, uptime: Uptime | None) -> int | None:
    """Return the gap since the statement; None after another start, or from a statement that does not say it."""
    if last is None or last.event != STATED or uptime is None or last.data.get("boot_id") != uptime.boot_id:
        return None
    return (now_ms - int(last.data["machine_ms"])) - (uptime.boot_ms - int(last.data["boot_ms"]))


def _uncertainty_ms(entries: Sequence[Entry], last: Entry | None, now_ms: int) -> int | None:
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
    if last is not None and clock.gap_ms is not None and clock.was_set:
        got = f"stated at {utc_text(last.at_ms)}; since then it was set {span_text(abs(clock.gap_ms) // 1000)} "
        what = f"the clock of this machine was moved since you compared it: compare it again; {advice()}"
        return Finding(False, got + ("ahead" if clock.gap_ms > 0 else "back"), expected, "", what)
    if last is None:
        return Finding(None, "no statement of the time", expected, "", what)
    said = "stated" if last.event == STATED else "a watch contradicts the clock"
    got = f"last {said} at {utc_text(last.at_ms)}; the clock says {utc_text(clock.now_ms)}"
    return Finding(None if last.event == STATED else False, got, expected, "", what)


def advice() -> str:
    """Return the command by which a person states the time."""
    return f"read the time from a watch and run: {COMMAND.format(now='YYYY-MM-DDTHH:MM:SSZ')}"
