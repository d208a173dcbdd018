"""``follow``: finding out what became of what was submitted."""

from __future__ import annotations

from collections.abc import Callable

import click

from airlock_online.cli.delivery_context import Desk, open_desk, patience
from airlock_online.delivery.parallel import Job, run_parallel
from airlock_online.delivery.submit import follow as follow_order
from airlock_online.home import OnlineHome
from airlock_online.journal.order_states import FINAL, OPEN
from airlock_online.journal.schema import Record
from airlock_shared.cli.console import finish, json_option, say, worst
from airlock_shared.cli.progress import working
from airlock_shared.errors import ExitCode, UsageError


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
    noted: list[ExitCode] = []
    with open_desk(home, float(patience), as_json=as_json) as desk:
        if digest is not None:
            chosen = [desk.journal.get(digest).record]
        else:
            every = desk.journal.submissions()
            untold = [known for known in every if known.state in FINAL and known.told != known.state]
            waiting = [known for known in every if known.state in OPEN]
            noted_of = desk.journal.noted()
            waited_for = [known for known in waiting if known.record.digest not in noted_of]
            chosen = [known.record for known in (*untold, *waited_for)]
            if left := len(waiting) - len(waited_for):
                say(f"{left} with a note are not waited for: airlock-online resolve tells of them.")
                noted = [ExitCode.UNKNOWN]
        with working(f"Waiting for the outcome of {len(chosen)}"):
            codes = noted + run_parallel([_job(record, desk, tracking_id or "") for record in chosen], in_turn=False)
        desk.tally()
    if not chosen:
        say("Everything that was submitted has its outcome; nothing to follow.")
    finish(worst(codes))


def _job(record: Record, desk: Desk, given_id: str) -> Job[ExitCode]:
    def job(_: Callable[[], None]) -> ExitCode:
        say(f"step {record.step} of {record.ceremony}, {record.digest}")
        context = desk.context(record.step, record.digest)
        return desk.run(record.step, record.digest, lambda: follow_order(record.digest, context, given_id))

    return job
