"""``plan show``, the same command on both machines: two people compare what two screens say."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_shared.command import INPUT, json_option, show, show_json
from airlock_shared.files import read_input
from airlock_shared.listing import plan_lines
from airlock_shared.plan import parse_plan
from airlock_shared.words import spoken


@click.command("show")
@click.argument("file", type=INPUT)
@json_option
def show_plan(file: Path, as_json: bool) -> None:
    """Show the plan in FILE with its fingerprint, to compare between machines and people."""
    plan = parse_plan(read_input(file))
    if as_json:
        words = spoken(plan.fingerprint)
        show_json(
            {"ok": True, "id": plan.id, "steps": list(plan.steps), "fingerprint": plan.fingerprint, "words": words}
        )
        return
    for line in plan_lines(plan):
        show(line)
