"""TIME: milliseconds and seconds told apart, deadlines neither past nor too far, stamps fresh.

The clock may be off by ``clock_uncertainty_ms``. What must lie ahead is judged as if it were later, and what must be young
as if it were older; what must not lie too far ahead is allowed the uncertainty, which is the clock's fault and not its own.
"""

from __future__ import annotations

from airlock_shared.catalogue.intents import leaf
from airlock_shared.checks.case import Case, Check, Finding
from airlock_shared.plan.model import Exact
from airlock_shared.units import UNIX_MS, UNIX_S, looks_like_seconds, span_text, utc_text

CLOCK_SKEW_MS = 60_000
SIGN_AGE_AT_MOST_MS = 30 * 60_000


def units_are_right(case: Case) -> Finding:
    """Deadlines and sign stamps are milliseconds, a delegate's expiry and open times seconds, by their magnitude."""
    for field in case.fields:
        if field.unit is UNIX_MS or field.unit is UNIX_S:
            value = leaf(case.message, field.path)
            if type(value) is int and looks_like_seconds(value) != (field.unit is UNIX_S):
                return Finding(False, value, f"a time in {field.unit.name}", field.path)
    return Finding(True, "as declared", "as declared")


def _latest_ms(case: Case) -> int:
    """Return the latest time that it may be, in unix ms."""
    return case.situation.now_ms + case.situation.clock_uncertainty_ms


def _ahead_ms(case: Case) -> int:
    """Return by how much an honest machine's stamp may lie ahead of this one's clock."""
    return CLOCK_SKEW_MS + case.situation.clock_uncertainty_ms


def _deadline_ms(case: Case) -> int | None:
    path = case.intent.deadline
    value = leaf(case.message, path) if path else None
    return value if type(value) is int else None


def deadline_is_ahead(case: Case) -> Finding | None:
    """The deadline leaves at least the plan's ``remaining_at_least``."""
    deadline_ms = _deadline_ms(case)
    if deadline_ms is None:
        return None
    left = deadline_ms - _latest_ms(case)
    least = case.situation.plan.limits.remaining_at_least_ms
    got = f"{utc_text(deadline_ms)}, {span_text(left // 1000)} left"
    return Finding(left >= least, got, f"at least {span_text(least // 1000)} left")


def deadline_is_near(case: Case) -> Finding | None:
    """The deadline is no further away than the plan's ``deadline_at_most``, unless the plan fixes it."""
    deadline_ms = _deadline_ms(case)
    fixed = hasattr(case, "step") and type(case.step.values.get("deadlineMs")) is Exact
    if deadline_ms is None or fixed:
        return None
    most = case.situation.plan.limits.deadline_at_most_ms or 0
    left = deadline_ms - case.situation.now_ms
    got = f"{utc_text(deadline_ms)}, {span_text(left // 1000)} left"
    return Finding(left <= most + _ahead_ms(case), got, f"at most {span_text(most // 1000)} from now")


def stamp_is_fresh(case: Case) -> Finding | None:
    """``signTimestamp`` is not in the future and not old: the struct has no deadline, so this is its only age."""
    value = case.message.get("signTimestamp")
    if type(value) is not int:
        return None
    age = case.situation.now_ms - value
    ok = -_ahead_ms(case) <= age and _latest_ms(case) - value <= SIGN_AGE_AT_MOST_MS
    expected = f"not in the future, at most {span_text(SIGN_AGE_AT_MOST_MS // 1000)} old"
    return Finding(ok, f"{utc_text(value)}, {span_text(age // 1000)} old", expected)


def expiry_is_ahead(case: Case) -> Finding | None:
    """A delegate's expiry (unix seconds) is in the future."""
    value = case.message.get("expiry")
    if type(value) is not int:
        return None
    return Finding(value * 1000 > _latest_ms(case), utc_text(value * 1000), "in the future")


def position_is_past(case: Case) -> Finding | None:
    """The position's open time (unix seconds) is not in the future."""
    message = case.message
    path = next((f.path for f in case.intent.fields if f.rule.limit == "open-time"), "")
    value = leaf(message, path) if path else None
    if type(value) is not int:
        return None
    return Finding(value * 1000 <= case.situation.now_ms + _ahead_ms(case), utc_text(value * 1000), "in the past")


_NEEDS = ("intent", "message")
CHECKS = (
    Check("TIME-UNIT", units_are_right, ("fields", "message")),
    Check("TIME-REMAINING", deadline_is_ahead, _NEEDS),
    Check("TIME-HORIZON", deadline_is_near, _NEEDS),
    Check("TIME-STAMP", stamp_is_fresh, _NEEDS),
    Check("TIME-EXPIRY", expiry_is_ahead, _NEEDS),
    Check("TIME-OPENED", position_is_past, _NEEDS),
)
EXPIRY_CHECKS = tuple(
    check._replace(needs=("fields", "message")) for check in CHECKS if check.id in ("TIME-UNIT", "TIME-EXPIRY")
)
"""Those that apply to a transaction: it has no deadline, and its arguments may hold an expiry."""
