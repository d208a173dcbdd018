"""``meta``: what the venue says of itself now, against what was fetched."""

from __future__ import annotations

import click

from airlock_online.cli.venue_reads import VenueRead, reading
from airlock_online.preparing.deployment_fetch import decisive_differences
from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.cli.console import say, show, show_json
from airlock_shared.errors import Refusal


@click.command("meta")
@reading
def meta(at: VenueRead) -> None:
    r"""Show the venue's own description now, and whether it is still as fetched (exit code 3 if not).

    \b
    Example:
      airlock-online meta
    """
    with at.builder() as builder:
        told = builder.meta()
    changed = decisive_differences(told.data, at.deployment, at.config.speech.replies)
    if at.as_json and not changed:
        show_json({"ok": True, "deployment": at.deployment.name, "reply": told.data})
    if not at.as_json:
        for line in deployment_lines(at.deployment):
            show(line)
    if changed:
        raise Refusal(
            "PIN-DEPLOYMENT",
            f"the venue's meta document has changed since it was fetched for {at.deployment.name}",
            got="; ".join(f"{difference.where}: {difference.now}" for difference in changed),
            expected="; ".join(f"{difference.where}: {difference.pinned}" for difference in changed),
            do="sign nothing; ask the venue why, then fetch and trust the deployment again on both machines",
        )
    say("The venue's meta document is unchanged.")
