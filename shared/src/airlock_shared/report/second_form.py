"""A report of the form ``airlock/report@2``: its value is today's; its page lacks a sentence and a rule for print."""

from __future__ import annotations

from airlock_shared.report.rows import Row

FORMAT = "airlock/report@2"


def second_form(value: Row) -> Row:
    """Return a report's value as a report of the second form has it."""
    return value | {"format": FORMAT}
