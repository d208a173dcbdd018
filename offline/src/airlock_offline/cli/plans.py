"""``plan show`` and ``plan draft``."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.state import State
from airlock_shared.command import INPUT, say
from airlock_shared.draft import draft_plan
from airlock_shared.files import read_input, require_new, write_new
from airlock_shared.listing import fingerprint_lines
from airlock_shared.plan import parse_plan
from airlock_shared.plan_command import show_plan
from airlock_shared.requests import parse_requests


@click.group("plan")
def COMMAND() -> None:  # noqa: N802
    """Show a ceremony plan, or draft one from a request."""


COMMAND.add_command(show_plan)


@COMMAND.command("draft")
@click.argument("file", type=INPUT)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The plan to write.")
@click.pass_obj
def draft(state: State, file: Path, output: Path) -> None:
    """Write a plan from the requests document FILE, for a person to read, correct and agree on.

    What the draft says is what the payload says: nothing is checked by it. Read every line.
    """
    require_new(output)
    header, items, fingerprint = parse_requests(read_input(file))
    deployment = state.require_pinned(header.deployment_name)
    text = draft_plan(header, items, deployment)
    parse_plan(text.encode())
    write_new(output, text.encode())
    for line in fingerprint_lines("requests", fingerprint):
        say(line)
    say(f"Wrote {output}. It repeats what the payload says: read and correct every line, then use it as the plan.")
