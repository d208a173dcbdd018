"""``pairs``: the venue's pairs, as it lists them now."""

from __future__ import annotations

import click

from airlock_online.cli.venue_reads import VenueRead, reading
from airlock_online.clients.builder_reads import pair_rows
from airlock_online.clients.pair_catalogue import read_pairs
from airlock_shared.cli.console import show, show_json


@click.command("pairs")
@reading
def pairs(at: VenueRead) -> None:
    r"""List the pairs that the venue has now.

    \b
    Example:
      airlock-online pairs
    """
    with at.builder() as builder:
        reply = read_pairs(builder, at.config.speech)
    table = pair_rows(reply, at.config.speech.replies["pairs"], at.deployment)
    if at.as_json:
        show_json({"ok": True, "pairs": [row._asdict() for row in table], "reply": reply})
        return
    show(f"{'index':>9}  {'name':<20} {'kind':<9} {'leverage':<12} remarks")
    for row in table:
        remarks = row.remarks if row.pinned else f"{row.remarks}, not as pinned".removeprefix(", ")
        show(f"{row.number:>9}  {row.name:<20} {row.kind:<9} {row.leverages:<12} {remarks}".rstrip())
