"""A plan's limits for what the builder chooses, as rows: the same on every screen and in the report."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.plan.model import Limits
from airlock_shared.units import GWEI, NATIVE, PERCENT, span_text, to_human


def limit_rows(limits: Limits) -> Iterator[tuple[str, str]]:
    """Yield the name of each limit, and what it is."""
    spans = {"deadline at most": limits.deadline_at_most_ms, "remaining at least": limits.remaining_at_least_ms}
    for name, span_ms in spans.items():
        yield name, _NONE if span_ms is None else span_text(span_ms // 1000)
    for name, raw, unit in (
        ("slippage at most", limits.slippage_at_most_raw, PERCENT),
        ("max fee at most", limits.max_fee_at_most_wei, GWEI),
        ("native fee at most", limits.native_fee_at_most_wei, NATIVE),
    ):
        if raw is not None or unit is not NATIVE:
            yield name, _NONE if raw is None else f"{to_human(raw, unit)} {unit.name}"


_NONE = "none: the plan must fix this value"
