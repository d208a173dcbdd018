"""A report of the form ``airlock/report@1``, of which many are filed: its value as it was made, for its verification.

The second form says more, and says all that the first said. So the first is the second without what was added.
"""

from __future__ import annotations

from airlock_shared.report.rows import Row

FORMAT = "airlock/report@1"
_MADE_BY = "0.1.0"  # the only version whose reports have this form
_ADDED = {"request": ("account", "until"), "outcome": ("read_back_at",)}


def first_form(value: Row) -> Row:
    """Return a report's value as a report of the first form has it."""
    return value | {"format": FORMAT, "airlock": _MADE_BY, "steps": [_step(step) for step in value["steps"]]}


def _step(step: Row) -> Row:
    return step | {part: _without(step[part], names) for part, names in _ADDED.items()}


def _without(part: Row | None, names: tuple[str, ...]) -> Row | None:
    return part if part is None else {name: member for name, member in part.items() if name not in names}
