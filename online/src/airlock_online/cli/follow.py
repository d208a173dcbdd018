"""``follow`` and ``status``: finding out what became of what was submitted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from airlock_online.cli.delivery_context import Desk, open_desk
from airlock_online.cli.submit import patience
from airlock_online.clock import now_ms
from airlock_online.delivery.submit import follow
from airlock_online.journal.journal import open_journal
from airlock_online.journal.schema import Record
from airlock_online.journal.order_states import OPEN
from airlock_online.state import State
from airlock_online.delivery.parallel import Job, run_together
from airlock_shared.cli.console import finish, json_option, say, show, show_json, worst
from airlock_shared.errors import ExitCode
from airlock_shared.text.safe import safe


@click.command("follow")
@click.argument("digest", required=False)
@patience
@json_option
@click.pass_obj
def FOLLOW(state: State, digest: str | None, patience: int, as_json: bool) -> None:  # noqa: N802
    r"""Go on following DIGEST, or everything whose outcome is not known yet, all at once. Nothing is sent.

    \b
    Example:
      airlock-online follow
    """
    with open_desk(state, float(patience), as_json=as_json) as desk:
        if digest is not None:
            chosen = [desk.journal.get(digest).record]
        else:
            chosen = [known.record for known in desk.journal.submissions() if known.state in OPEN]
        codes = run_together([_job(record, desk) for record in chosen], in_turn=False)
    if not chosen:
        say("Everything that was submitted has its outcome; nothing to follow.")
    finish(worst(codes))


def _job(record: Record, desk: Desk) -> Job[ExitCode]:
    def job(_answered: Callable[[], None]) -> ExitCode:
        say(f"step {record.step} of {record.ceremony}, {record.digest}")
        return desk.run(
            record.step, record.digest, partial(follow, record.digest, desk.world(record.step, record.digest))
        )

    return job


@click.command("status")
@json_option
@click.pass_obj
def STATUS(state: State, as_json: bool) -> None:  # noqa: N802
    r"""List what was submitted from this machine and what became of it.

    \b
    Example:
      airlock-online status
    """
    with open_journal(state.journal_url(), now_ms) as journal:
        rows = journal.submissions()
    if as_json:
        own = ("tracking_id", "entity_id", "code", "note", "created_ms", "updated_ms")
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
        if row.state in OPEN:
            show("  go on with: airlock-online follow, or airlock-online resolve")
    if not rows:
        say("Nothing was submitted from this machine yet.")
