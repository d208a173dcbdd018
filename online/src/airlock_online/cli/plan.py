"""``plan``: show, check, or write by asking."""

from __future__ import annotations

import click

from airlock_shared.cli.plan import check_plan, new_plan, show_plan


@click.group("plan")
def plan() -> None:
    """Write, check or show a ceremony plan."""


for each in (show_plan, check_plan, new_plan):
    plan.add_command(each)
