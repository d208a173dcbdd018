"""What a plan must keep of itself: its own limits, and values that mean something.

A limit that bound the builder alone would be no promise: people read it at the top of the plan and rely on it. A zero is
refused where the specification gives it no meaning; a take profit of 0 is none, and an approval of 0 is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from airlock_shared.errors import PlanError
from airlock_shared.plan.model import AsSigned, Bounds, Exact, Limits, Value
from airlock_shared.plan.values import plan_error
from airlock_shared.units import PERCENT, span_text, to_human

_NEVER_ZERO = frozenset({
    "collateralUsdc", "additionalCollateralUsdc", "collateralToCloseUsdc", "coinExposure", "leverage", "minLeverage",
    "maxLeverage", "openPrice", "expectedPrice", "price", "expiry", "openTimestamp",
})  # fmt: skip
"""Fields in which 0 means nothing. Source: the builder's specification, "Common request-field conventions", each action."""


def limit_faults(limits: Limits) -> Iterator[PlanError]:
    """Yield what is wrong with the limits themselves: ``PLAN-OWN-LIMIT``."""
    least, most = limits.remaining_at_least_ms, limits.deadline_at_most_ms
    if most is not None and least > most:
        what = "remaining_at_least is longer than deadline_at_most"
        yield plan_error("PLAN-OWN-LIMIT", what, "limits.remaining_at_least",
                         got=span_text(least // 1000), expected=f"at most {span_text(most // 1000)}")  # fmt: skip
    highest = {"slippage_percent": limits.slippage_at_most_raw, "max_fee_gwei": limits.max_fee_at_most_wei,
               "native_fee": limits.native_fee_at_most_wei}  # fmt: skip
    for name, raw in highest.items():
        if raw is not None and raw < 0:
            yield plan_error("PLAN-OWN-LIMIT", "a limit below zero", f"limits.{name}_at_most", expected="0 or more")


def value_faults(values: Mapping[str, Value], limits: Limits, where: str) -> Iterator[PlanError]:
    """Yield which of a step's values break the plan's limits (``PLAN-OWN-LIMIT``) or mean nothing (``PLAN-FIELD``)."""
    for name, value in values.items():
        if name in _NEVER_ZERO and (highest := _highest(value)) is not None and highest <= 0:
            yield plan_error("PLAN-FIELD", "zero has no meaning here", f"{where}.{name}", got=value.text,
                             expected="more than 0")  # fmt: skip
        if name == "slippagePercent" and not isinstance(value, AsSigned):  # of a venue's own leaf we know nothing
            yield from _slippage_faults(value, limits.slippage_at_most_raw, f"{where}.{name}")


def _slippage_faults(value: Value, most: int | None, where: str) -> Iterator[PlanError]:
    highest = _highest(value)
    if highest is not None and highest < 0:
        yield plan_error("PLAN-FIELD", "a slippage below zero", where, got=value.text, expected="0 or more")
    elif most is not None and (highest is None or highest > most):
        yield plan_error("PLAN-OWN-LIMIT", "the step breaks the plan's own limit", where, got=value.text,
                         expected=f"at most {to_human(most, PERCENT)}, as slippage_percent_at_most says")  # fmt: skip


def _highest(value: Value) -> int | None:
    """Return the highest raw value that fits, None when there is no highest."""
    if isinstance(value, Exact):
        return value.raw if type(value.raw) is int else None
    return value.high if isinstance(value, Bounds) else None
