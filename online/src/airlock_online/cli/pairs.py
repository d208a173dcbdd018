"""``pairs``: the venue's pairs, as it lists them now."""

from __future__ import annotations

import click

from airlock_online.cli.venue_reads import reading, venue
from airlock_online.clients import builder_reads
from airlock_online.clients.pair_catalogue import read_pairs
from airlock_online.home import OnlineHome
from airlock_shared.cli.console import show, show_json


@click.command("pairs")
@reading
def pairs(home: OnlineHome, name: str | None, as_json: bool) -> None:
    r"""List the pairs that the venue has now.

    \b
    Example:
      airlock-online pairs
    """
    with venue(home, name) as at:
        reply = read_pairs(at.builder, at.config.reads.pairs, at.config.meta.pair_number)
    paths = at.config.meta
    table = builder_reads.pair_rows(reply, paths.pair_number, paths.pair_name, paths.pair_pnl, at.deployment)
    if as_json:
        show_json({"ok": True, "pairs": [row._asdict() for row in table], "reply": reply})
        return
    show(f"{'index':>9}  {'name':<20} {'kind':<9} {'leverage':<12} remarks")
    for row in table:
        remarks = row.remarks if row.pinned else f"{row.remarks}, not as pinned".removeprefix(", ")
        show(f"{row.number:>9}  {row.name:<20} {row.kind:<9} {row.leverages:<12} {remarks}".rstrip())
