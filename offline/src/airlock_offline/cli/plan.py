"""``plan``: show, check, write by asking, or draft from a request."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.cli.plan_draft import draft_plan
from airlock_offline.home import OfflineHome
from airlock_shared.cli.console import INPUT, json_option, say, show_json
from airlock_shared.cli.document_lines import fingerprint_lines
from airlock_shared.cli.plan import plan_group
from airlock_shared.documents.requests import parse_requests
from airlock_shared.host.files import read_input, require_new, write_new
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.safe import safe

plan = plan_group("Write, check or show a ceremony plan, or draft one from a request.", lambda home: home.pins())


@plan.command("draft")
@click.argument("file", type=INPUT)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The plan to write.")
@json_option
@click.pass_obj
def draft(state: OfflineHome, file: Path, output: Path, as_json: bool) -> None:
    r"""Write a plan from the requests document FILE, for a person to read, correct and agree on.

    The draft repeats what the payload says. It checks nothing, so read every line.

    \b
    Example:
      airlock-offline plan draft requests.json -o plan.toml
    """
    require_new(output)
    header, items, fingerprint = parse_requests(read_input(file))
    deployment = state.require_pinned(header.deployment_name)
    text = draft_plan(header, items, deployment)
    drafted = parse_plan(text.encode())
    write_new(output, text.encode())
    for line in fingerprint_lines("requests", fingerprint):
        say(line)
    say(
        f"Wrote {safe(str(output))}. It repeats what the payload says: read and correct every line, then use it as the plan."
    )
    if as_json:
        show_json({"ok": True, "file": str(output), "requests": fingerprint, "plan": drafted.fingerprint})
