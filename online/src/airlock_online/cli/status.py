"""``status``: what was submitted from this machine, and what became of it."""

from __future__ import annotations

import click

from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_online.journal.engine import place_of, shown_place
from airlock_online.journal.journal import journal_at
from airlock_online.journal.order_states import OPEN
from airlock_shared.cli.console import json_option, say, show, show_json
from airlock_shared.cli.console import rows as rows_of
from airlock_shared.text.safe import safe


@click.command("status")
@json_option
@click.pass_obj
def status(home: OnlineHome, as_json: bool) -> None:
    r"""List what was submitted from this machine, with its outcome.

    \b
    Example:
      airlock-online status
    """
    with journal_at(home.journal_url(), now_ms, own=home.journal_is_own()) as journal:
        rows = journal.submissions()
    if as_json:
        own = ("tracking_id", "entity_id", "unusable_ids", "code", "note", "created_ms", "updated_ms")
        show_json(
            [
                {**row.record._asdict(), "state": row.state.value, **{name: getattr(row, name) for name in own}}
                for row in rows
            ]
        )
        return
    for row in rows:
        code = f"  {safe(row.code, limit=30)}" if row.code else ""
        show(f"{row.record.ceremony} / {row.record.step}: {row.state.value}{code}")
        show(f"  {row.record.digest}")
        for given in row.unusable_ids:
            show("\n".join(rows_of("  given: ", given)))
        if row.state in OPEN:
            show("  continue with: airlock-online follow, or airlock-online resolve")
    if not rows:
        place = shown_place(place_of(home.journal_url()))
        say(f"Nothing has been submitted from this machine yet. Its journal: {place}.")
