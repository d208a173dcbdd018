"""TIME: milliseconds and seconds told apart, deadlines neither past nor too far, stamps fresh.

The clock may be off by ``clock_uncertainty_ms``. What must lie ahead is judged as if it were later, and what must be young
as if it were older; what must not lie too far ahead is allowed the uncertainty, which is the clock's fault and not its own.
"""

from __future__ import annotations

from airlock_shared.catalogue.kinds import EXPIRY, OPENED, OPENED_MS, SIGNED_AT, leaf, path_of, value_of
from airlock_shared.checks.case import (
    AGAIN,
    PLAN,
    READ,
    REBUILD,
    Case,
    Check,
    Finding,
    IntentCase,
    Read,
    ReadIntent,
    check,
)
from airlock_shared.plan.model import Exact
from airlock_shared.units import UNIX_MS, UNIX_S, looks_like_seconds, span_text, utc_text

CLOCK_SKEW_MS = 60_000
SIGN_AGE_AT_MOST_MS = 30 * 60_000


@check("TIME-UNIT", READ, "milliseconds and seconds are mixed up", "A deadline fifty thousand years away.", REBUILD)
def units_are_right(case: Read) -> Finding:
    """Deadlines and sign stamps are milliseconds, a delegate's expiry and open times seconds, by their magnitude."""
    for field in case.fields:
        if field.unit is UNIX_MS or field.unit is UNIX_S:
            value = leaf(case.message, field.path)
            if type(value) is int and looks_like_seconds(value) != (field.unit is UNIX_S):
                return Finding(False, value, f"a time in {field.unit.name}", field.path)
    return Finding(True, "as declared", "as declared")


def _latest_ms(case: Read | IntentCase) -> int:
    """Return the latest time that it may be, in unix ms."""
    return case.situation.now_ms + case.situation.clock_uncertainty_ms


def _ahead_ms(case: Read) -> int:
    """Return by how much an honest machine's stamp may lie ahead of this one's clock."""
    return CLOCK_SKEW_MS + case.situation.clock_uncertainty_ms


def _deadline_ms(case: ReadIntent | IntentCase) -> int | None:
    path = case.intent.deadline
    value = leaf(case.message, path) if path else None
    return value if type(value) is int else None


@check("TIME-REMAINING", READ, "too little time is left", "A signature that expires on its way.", AGAIN)
def deadline_is_ahead(case: ReadIntent) -> Finding | None:
    """The deadline leaves at least the plan's ``remaining_at_least``."""
    deadline_ms = _deadline_ms(case)
    if deadline_ms is None:
        return None
    left = deadline_ms - _latest_ms(case)
    least = case.situation.plan.limits.remaining_at_least_ms
    return Finding(
        left >= least,
        f"{utc_text(deadline_ms)}, {span_text(left // 1000)} left",
        f"at least {span_text(least // 1000)} left",
        what=f"too late: it was over {span_text(-left // 1000)} ago" if left < 0 else "",
    )


@check("TIME-HORIZON", READ, "the deadline is too far away", "A signature that can be kept and used later.", REBUILD)
def deadline_is_near(case: ReadIntent) -> Finding | None:
    """The deadline is no further away than the plan's ``deadline_at_most``; without that, the plan must fix it."""
    deadline_ms, most = _deadline_ms(case), case.situation.plan.limits.deadline_at_most_ms
    fixed = case.step is not None and type(case.step.values.get("deadlineMs")) is Exact
    if deadline_ms is None or (fixed and most is None):
        return None
    most = most or 0
    left = deadline_ms - case.situation.now_ms
    return Finding(
        left <= most + _ahead_ms(case),
        f"{utc_text(deadline_ms)}, {span_text(left // 1000)} left",
        f"at most {span_text(most // 1000)} from now",
    )


@check(
    "TIME-STAMP", READ,
    "signTimestamp is in the future or old", "A trigger without a deadline, signed long ago.", AGAIN,
)  # fmt: skip
def stamp_is_fresh(case: ReadIntent) -> Finding | None:
    """``signTimestamp`` is not in the future and not old: the struct has no deadline, so this is its only age."""
    value = value_of(case.fields, case.message, SIGNED_AT)
    if type(value) is not int:
        return None
    age = case.situation.now_ms - value
    ok = -_ahead_ms(case) <= age and _latest_ms(case) - value <= SIGN_AGE_AT_MOST_MS
    return Finding(
        ok,
        f"{utc_text(value)}, {span_text(age // 1000)} old",
        f"not in the future, at most {span_text(SIGN_AGE_AT_MOST_MS // 1000)} old",
    )


@check("TIME-EXPIRY", READ, "the delegate's expiry is past", "A registration that does nothing.", PLAN)
def expiry_is_ahead(case: Read) -> Finding | None:
    """A delegate's expiry (unix seconds) is in the future."""
    value = value_of(case.fields, case.message, EXPIRY)
    if type(value) is not int:
        return None
    return Finding(value * 1000 > _latest_ms(case), utc_text(value * 1000), "in the future")


@check("TIME-OPENED", READ, "the position's open time is in the future", "A made-up position.", REBUILD)
def position_is_past(case: ReadIntent) -> Finding | None:
    """The position's open time is not in the future."""
    opened = value_of(case.fields, case.message, OPENED)
    if type(opened) is not int:
        return None
    opened_ms = opened if path_of(case.fields, OPENED_MS) else opened * 1000
    latest_ms = case.situation.now_ms + _ahead_ms(case)
    return Finding(opened_ms <= latest_ms, utc_text(opened_ms), "in the past")


def late_by(case: Case) -> Check | None:
    """Return the check by which a signature that was made now comes after its time; None when it is in time.

    The plan's margin is for the way that is left, and was judged before: here the deadline itself counts.
    """
    if isinstance(case, IntentCase):
        deadline_ms = _deadline_ms(case)
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


def registration_is_live(case: Case | Read, permission: str) -> Finding:
    """Judge the registration read that came with an item; an expiry with the magnitude of milliseconds is no expiry."""
    read = case.request.delegation or {}
    expiry_s = read.get("expiry", 0)
    live = read.get("isEnabled") is True and read.get(permission, True) is True
    latest_ms = case.situation.now_ms + case.situation.clock_uncertainty_ms
    live = live and looks_like_seconds(expiry_s) and expiry_s * 1000 > latest_ms
    return Finding(live, read, "enabled, with this permission, expiry (unix seconds) in the future")
