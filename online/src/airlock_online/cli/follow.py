"""``follow`` and ``status``: finding out what became of what was submitted, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from airlock_online.cli.delivery_context import Desk, open_desk, patience, recall
from airlock_online.cli.own_journal import journal_of
from airlock_online.delivery.submit import follow_submission, run_parallel
from airlock_online.home import OnlineHome
from airlock_online.journal.engine import place_of, shown_place
from airlock_online.journal.order_states import FINAL, OPEN
from airlock_online.journal.schema import Record
from airlock_shared.cli.progress import working
from airlock_shared.cli.terminal import finish, json_option, say, show, show_all, show_json, worst
from airlock_shared.cli.terminal import rows as rows_of
from airlock_shared.errors import ExitCode, UsageError
from airlock_shared.text.safe import safe

# ---- follow ---------------------------------------------------------------------------------------------------------
# ``follow``: finding out what became of what was submitted.


@click.command("follow")
@click.argument("digest", required=False)
@click.option("--tracking-id", metavar="ID", help="The order's id, where no answer brought it: told, not verified.")
@patience
@json_option
@click.pass_obj
def follow(home: OnlineHome, digest: str | None, tracking_id: str | None, patience: int, as_json: bool) -> None:
    r"""Follow DIGEST, or everything without a known outcome, all at once. It sends nothing.

    Outcomes that nobody has seen yet are shown too. By an id that you give, an order is followed too: what is told of it is
    compared with what was signed, and its outcome is by the service's word.

    \b
    Example:
      airlock-online follow
    """
    if tracking_id is not None and digest is None:
        raise UsageError("an id belongs to one order", do="say which: airlock-online follow DIGEST --tracking-id ID")
    with open_desk(home, float(patience), as_json=as_json) as desk:
        noted = recall(home, desk.journal)
        if digest is not None:
            chosen, noted = [desk.journal.get(digest).record], []
        else:
            every = desk.journal.submissions()
            untold = [known for known in every if known.state in FINAL and known.told != known.state]
            waiting = [known for known in every if known.state in OPEN]
            noted_of = desk.journal.noted()
            waited_for = [known for known in waiting if known.record.digest not in noted_of]
            chosen = [known.record for known in (*untold, *waited_for)]
            if left := len(waiting) - len(waited_for):
                say(f"{left} with a note are not waited for: airlock-online resolve tells of them.")
                noted.append(ExitCode.UNKNOWN)
        with working(f"Waiting for the outcome of {len(chosen)}"):
            codes = noted + run_parallel([partial(_follow, desk, each, tracking_id) for each in chosen], in_turn=False)
        desk.tally()
    if not chosen and not noted:
        say("Everything that was submitted has its outcome; nothing to follow.")
    finish(worst(codes))


def _follow(desk: Desk, record: Record, given_id: str | None, _answered: Callable[[], None]) -> ExitCode:
    desk.announce(f"step {record.step} of {record.ceremony}, {record.digest}")
    return desk.run(record, lambda: follow_submission(record.digest, desk.context(record), given_id))


# ---- status ---------------------------------------------------------------------------------------------------------
# ``status``: what was submitted from this machine, and what became of it.


@click.command("status")
@json_option
@click.pass_obj
def status(home: OnlineHome, as_json: bool) -> None:
    r"""List what was submitted from this machine, with its outcome.

    \b
    Example:
      airlock-online status
    """
    with journal_of(home) as journal:
        forgotten = recall(home, journal)
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
            show_all(rows_of("  given: ", given))
        if row.state in OPEN:
            show("  continue with: airlock-online follow, or airlock-online resolve")
    if not rows and not forgotten:
        place = shown_place(place_of(home.journal_url()))
        say(f"Nothing has been submitted from this machine yet. Its journal: {place}.")
