"""TIME: milliseconds and seconds told apart, deadlines neither past nor too far, stamps fresh.

The clock may be off by ``clock_uncertainty_ms``. A deadline is judged by the latest time that it can be now, and so is the
age of a stamp; how far ahead a deadline may lie is widened by the uncertainty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from airlock_shared.checks.model import (
    AGAIN,
    PLAN,
    READ,
    REBUILD,
    RECEIVED,
    Case,
    Check,
    Finding,
    IntentCase,
    ReadIntent,
    ReadPayload,
    check,
    leaf_of,
)
from airlock_shared.documents.transcript import Entry
from airlock_shared.plan.decisions import CLOCK_SKEW_MS, SIGN_AGE_AT_MOST_MS
from airlock_shared.plan.model import Exact
from airlock_shared.units import UNIX_MS, UNIX_S, looks_like_seconds, span_text, utc_text
from airlock_shared.venue.structs import DEADLINE, EXPIRY, OPENED, OPENED_MS, SIGNED_AT, leaf, path_of


@check("TIME-UNIT", READ, "milliseconds and seconds are mixed up", "A deadline fifty thousand years away.", REBUILD)
def units_are_right(case: ReadPayload) -> Finding:
    """Deadlines and sign stamps are milliseconds, a delegate's expiry and open times seconds, by their magnitude."""
    for field in case.fields:
        if field.unit is UNIX_MS or field.unit is UNIX_S:
            value = leaf(case.message, field.path)
            if value is not None and looks_like_seconds(value) != (field.unit is UNIX_S):
                return Finding(False, value, f"a time in {field.unit.name}", field.path)
    return Finding(True, "as declared", "as declared")


def _latest_ms(case: ReadPayload | Case) -> int:
    """Return the latest time that it may be, in unix ms."""
    return case.situation.now_ms + case.situation.clock_uncertainty_ms


def _ahead_ms(case: ReadPayload) -> int:
    """Return by how much an honest machine's stamp may lie ahead of this one's clock."""
    return CLOCK_SKEW_MS + case.situation.clock_uncertainty_ms


@check("TIME-REMAINING", READ, "too little time is left", "A signature that expires on its way.", AGAIN)
def deadline_is_ahead(case: ReadIntent) -> Finding | None:
    """The deadline leaves at least the plan's ``remaining_at_least``."""
    deadline_ms = leaf_of(case, DEADLINE)
    if deadline_ms is None:
        return None
    left = deadline_ms - _latest_ms(case)
    least = case.situation.plan.limits.remaining_at_least_ms
    return Finding(
        left >= least,
        f"{utc_text(deadline_ms)}, {span_text(left // 1000)} left after subtracting the clock's possible error",
        f"at least {span_text(least // 1000)} left",
        what=f"too late: it was over {span_text(-left // 1000)} ago" if left < 0 else "",
    )


@check(
    "TIME-HORIZON",
    READ,
    "the deadline is too far away",
    "A signature that can be kept and used later.",
    f"Compare the online machine's clock with a watch. {REBUILD}",
)
def deadline_is_near(case: ReadIntent) -> Finding | None:
    """The deadline is no further away than the plan's ``deadline_at_most``; without that, the plan must fix it."""
    deadline_ms, most = leaf_of(case, DEADLINE), case.situation.plan.limits.deadline_at_most_ms
    fixed = case.step is not None and type(case.step.values.get("deadlineMs")) is Exact
    if deadline_ms is None or (fixed and most is None):
        return None
    left = deadline_ms - case.situation.now_ms
    got = f"{utc_text(deadline_ms)}, {span_text(left // 1000)} left"
    if most is None:
        return Finding(False, got, "the limit deadline_at_most in the plan", case.intent.deadline)
    expected = f"at most {span_text(most // 1000)} from now + {span_text(_ahead_ms(case) // 1000)} for the clocks"
    return Finding(left <= most + _ahead_ms(case), got, expected)


@check(
    "TIME-STAMP",
    READ,
    "signTimestamp is in the future or old",
    "A trigger without a deadline, signed long ago.",
    AGAIN,
)
def stamp_is_fresh(case: ReadIntent) -> Finding | None:
    """``signTimestamp`` is not in the future and not old: the struct has no deadline, so this is its only age."""
    value = leaf_of(case, SIGNED_AT)
    if value is None:
        return None
    age = case.situation.now_ms - value
    ok = -_ahead_ms(case) <= age and _latest_ms(case) - value <= SIGN_AGE_AT_MOST_MS
    return Finding(
        ok,
        f"{utc_text(value)}, {span_text(abs(age) // 1000)} {'ahead of this clock' if age < 0 else 'old'}",
        f"not in the future, at most {span_text(SIGN_AGE_AT_MOST_MS // 1000)} old",
    )


@check("TIME-EXPIRY", READ, "the delegate's expiry is past", "A registration that does nothing.", PLAN)
def expiry_is_ahead(case: ReadPayload) -> Finding | None:
    """A delegate's expiry (unix seconds) is in the future."""
    value = leaf_of(case, EXPIRY)
    if value is None:
        return None
    return Finding(value * 1000 > _latest_ms(case), utc_text(value * 1000), "in the future")


@check("TIME-OPENED", READ, "the position's open time is in the future", "A made-up position.", REBUILD)
def position_is_past(case: ReadIntent) -> Finding | None:
    """The position's open time is not in the future."""
    opened = leaf_of(case, OPENED)
    if opened is None:
        return None
    opened_ms = opened if path_of(case.fields, OPENED_MS) else opened * 1000
    latest_ms = case.situation.now_ms + _ahead_ms(case)
    return Finding(opened_ms <= latest_ms, utc_text(opened_ms), "in the past")


def late_by(case: Case) -> Check | None:
    """Return the check by which a signature that was made now comes after its time; None when it is in time.

    The plan's margin is for the way that is left, and was judged before: here the deadline itself counts.
    """
    if isinstance(case, IntentCase):
        deadline_ms = leaf_of(case, DEADLINE)
        if deadline_ms is not None and deadline_ms <= _latest_ms(case):
            return deadline_is_ahead
        if stamp_is_fresh.run(case).result == "refused":
            return stamp_is_fresh
    return expiry_is_ahead if expiry_is_ahead.run(case).result == "refused" else None


CHECKS = (
    units_are_right,
    deadline_is_ahead,
    deadline_is_near,
    stamp_is_fresh,
    expiry_is_ahead,
    position_is_past,
)
EXPIRY_CHECKS = (units_are_right, expiry_is_ahead)
"""Those that apply to a transaction: it has no deadline, and its arguments may hold an expiry."""


def registration_is_live(case: Case | ReadPayload, permission: str) -> Finding:
    """Judge the registration read that came with an item; an expiry with the magnitude of milliseconds is no expiry."""
    read = case.request.delegation or {}
    expiry_s = read.get("expiry", 0)
    live = read.get("isEnabled") is True and read.get(permission, True) is True
    live = live and looks_like_seconds(expiry_s) and expiry_s * 1000 > _latest_ms(case)
    return Finding(live, read, "enabled, with this permission, expiry (unix seconds) in the future")


# ---- clock ----------------------------------------------------------------------------------------------------------
# TIME-CLOCK: somebody has vouched for this machine's clock, from a watch, within the last day.
# A statement holds for a day, and only while the machine and its clock run on: one that was set, that was read at another
# start of the machine, or that a later statement contradicts, is vouched for by nobody. Source: clock_gettime(2):
# ``CLOCK_BOOTTIME`` runs on through a suspend and cannot be set; nothing tells what was done to a clock over a restart.


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

    ``uncertainty_ms`` is None while nobody vouches for it. ``gap_ms`` is how far the clock went since the statement, less
    how long the machine ran since then; None when that is not known. ``restarted``: the machine was started again since
    then.
    """

    now_ms: int
    last: Entry | None
    uncertainty_ms: int | None
    gap_ms: int | None = None
    restarted: bool = False

    @property
    def was_set(self) -> bool:
        """Whether somebody or something set the clock since the statement."""
        return self.gap_ms is not None and abs(self.gap_ms) > GAP_MS


def clock_of(entries: Sequence[Entry], now_ms: int, uptime: Uptime | None) -> Clock:
    """Return what a transcript says of the clock at ``now_ms`` (unix ms), compared with the time since it started.

    Entries before the last statement are not compared with the clock.
    """
    last = next((entry for entry in reversed(entries) if entry.event in (STATED, CONTRADICTED)), None)
    restarted = bool(last and uptime and last.data.get("boot_id") != uptime.boot_id)
    if last is None or last.event != STATED or restarted:
        return Clock(now_ms, last, None, None, restarted)
    gap_ms = None
    if uptime is not None:
        gap_ms = (now_ms - int(last.data["machine_ms"])) - (uptime.boot_ms - int(last.data["boot_ms"]))
    clock = Clock(now_ms, last, None, gap_ms, restarted)
    if clock.was_set or not 0 <= now_ms - last.at_ms <= VALID_MS:
        return clock
    uncertainty_ms = int(last.data["uncertainty_s"]) * 1000
    set_back = any(entry.at_ms > now_ms + uncertainty_ms for entry in entries[last.seq :])
    return clock if set_back else clock._replace(uncertainty_ms=uncertainty_ms)


@check(
    "TIME-CLOCK",
    RECEIVED,
    _REFUSAL,
    "A clock that makes an old signature look young.",
    "Read the time from a watch and run airlock-offline preflight --time, then go on.",
)
def time_is_stated(clock: Clock) -> Finding:
    """A person stated the time within the last 24 hours, and the clock agreed; without a statement nobody can judge."""
    last = clock.last
    expected = f"a statement not older than {span_text(VALID_MS // 1000)}"
    what = f"{_REFUSAL}; {time_advice()}"
    if last is None:
        return Finding(None, "no statement of the time", expected, "", what)
    if clock.uncertainty_ms is not None:
        got = f"stated {utc_text(last.at_ms)}, within {span_text(clock.uncertainty_ms // 1000)}"
        return Finding(True, got, expected)
    if clock.gap_ms is not None and clock.was_set:
        got = f"stated at {utc_text(last.at_ms)}; since then it was set {span_text(abs(clock.gap_ms) // 1000)} "
        what = f"the clock of this machine was moved since you compared it: compare it again; {time_advice()}"
        return Finding(False, got + ("ahead" if clock.gap_ms > 0 else "back"), expected, "", what)
    if last.event == CONTRADICTED:
        what = f"the watch said another time than this machine's clock: set the clock, then {time_advice()}"
    elif clock.restarted:
        what = f"the machine was started again since its clock was compared with a watch; {time_advice()}"
    got = f"last compared at {utc_text(last.at_ms)}; the clock says {utc_text(clock.now_ms)}"
    return Finding(None if last.event == STATED else False, got, expected, "", what)


def time_advice() -> str:
    """Return the command by which a person states the time."""
    return f"read the time from a watch and run: {COMMAND.format(now='YYYY-MM-DDTHH:MM:SSZ')}"
