"""``ceremony begin`` and ``exception``, and the group of all its commands, the same on both machines.

Each machine records them in its own transcript; the decisions are in :mod:`airlock_shared.ceremony.roles`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from airlock_shared.ceremony.roles import (
    CHECKPOINTS,
    MAX_REASON,
    check_holder,
    check_people,
    check_text,
    other_plan,
    parse_people,
    require_open,
    require_same_people,
)
from airlock_shared.ceremony.sections import CEREMONY_BEGUN, EXCEPTION
from airlock_shared.cli.ceremony.compare import ask_names, compare, names_given
from airlock_shared.cli.ceremony.end import end, show_ceremony
from airlock_shared.cli.ceremony.handover import carry, codes, gather, scan_hand_over
from airlock_shared.cli.ceremony.run import run_command
from airlock_shared.cli.ceremony.status import CeremonyMachine, people_lines, plan_with_roles
from airlock_shared.cli.ceremony.workflow import BRING_AGAIN, workflow_command
from airlock_shared.cli.terminal import INPUT, ask_yes, json_option, led, plan_option, say, say_all, show_if_json
from airlock_shared.host.files import read_document
from airlock_shared.text.safe import grouped, hanging, safe


@click.command("begin", short_help="Begin it here: who holds each role of the plan.")
@plan_option
@click.option(
    "--role", "given", multiple=True, metavar="ROLE=NAME", help="Who holds a role of the plan; empty: nobody."
)
@click.option("--people", "people_file", type=INPUT, help="The names that the other machine has put together.")
@json_option
@click.pass_obj
def begin(
    place: CeremonyMachine, plan_file: Path, given: tuple[str, ...], people_file: Path | None, as_json: bool
) -> None:
    r"""Begin a ceremony on this machine: who holds each role of the plan.

    Asks for the roles that were not given. Begin on both machines, with the same names, before anything else: what
    happened earlier does not count. With a changed plan, begin again. Names that came with --people answer nothing:
    each person answers for themselves at the checkpoints.

    \b
    Example:
      PROGRAM ceremony begin --plan plan.toml \
        --role signer="Ada Lovelace" --role witness="Mary Somerville"
    """
    plan = plan_with_roles(plan_file)
    if led() and place.deployment_file is not None:
        place.deployment(plan.deployment)  # nobody is asked for names where it could not go on
    names = names_given(given)
    if people_file is not None:
        names = read_document(people_file, partial(parse_people, plan=plan), do=BRING_AGAIN) | names
    check_people(names, plan)
    names = ask_names(plan, names)
    stands = place.standing(plan)
    require_same_people(stands, names)
    data = {"plan": plan.fingerprint, "roles": names}
    if stands.is_open:
        say("The ceremony was begun already, with these names; nothing to do.")
    else:
        if not led():
            say_all(people_lines(names))
        elif people_file is not None:  # else they were looked at, a moment ago; each answers for themselves later
            say_all(hanging(", ".join(f"{role} {safe(name) or 'nobody'}" for role, name in names.items())))
        if other := other_plan(place.transcript.entries(), plan):
            say(f"NOTE: {plan.id} is open with another plan, {grouped(other[:16])} …; its confirmations end now.")
        if people_file is None and not led():
            ask_yes(
                f"Begin the ceremony {plan.id} on this machine, with these people?", piped=place.all_worth_nothing()
            )
        place.record(CEREMONY_BEGUN, plan, data)
        if not led():
            say("Begun.")
    show_if_json(as_json, ceremony=plan.id, **data, head=place.transcript.head())


@click.command("exception", short_help="Record a deviation with its reason.")
@plan_option
@click.option("--checkpoint", "checkpoint", default="", type=click.Choice(["", *CHECKPOINTS]), metavar="CHECKPOINT",
              help="The checkpoint, if the deviation was at one.")  # fmt: skip
@click.option("--by", required=True, metavar="ROLE", help="Who reports it.")
@click.option("--reason", required=True, help="What differed from the plan, and why, in one line.")
@json_option
@click.pass_obj
def exception(place: CeremonyMachine, plan_file: Path, checkpoint: str, by: str, reason: str, as_json: bool) -> None:
    r"""Record a deviation with its reason. It explains the deviation; it does not complete the ceremony.

    \b
    Example:
      PROGRAM ceremony exception --plan plan.toml --checkpoint preflight \
        --by facilitator --reason "The camera was replaced by the spare one."
    """
    plan = plan_with_roles(plan_file)
    stands = place.standing(plan)
    require_open(stands)
    check_holder(by, stands.names, plan)
    check_text(reason, "the reason", MAX_REASON)
    data = {"checkpoint": checkpoint, "by": by, "reason": reason}
    if any((known.checkpoint, known.by, known.reason) == (checkpoint, by, reason) for known in stands.exceptions):
        say("This exception is recorded already; nothing to do.")
    else:
        place.record(EXCEPTION, plan, data)
        say("Recorded.")
    show_if_json(as_json, ceremony=plan.id, **data, head=place.transcript.head())


CEREMONY_COMMANDS = (
    workflow_command, begin, gather, carry, compare, exception, show_ceremony, end, codes, scan_hand_over,
)  # fmt: skip


def ceremony_group(
    place_of: Callable[[Any], CeremonyMachine],
    device_options: Callable[[click.Command], click.Command] = lambda it: it,
) -> click.Group:
    """Return the group of a half; ``place_of`` makes of its folder what the commands stand on.

    ``device_options`` adds to ``run`` which Ledger its checkpoints talk to, on the half that has one.
    """

    @click.group("ceremony")
    @click.pass_context
    def ceremony(context: click.Context) -> None:
        """Lead people through a ceremony; record who holds which role, and what they confirm at each checkpoint."""
        context.obj = place_of(context.obj)

    for command in (device_options(run_command()), *CEREMONY_COMMANDS):
        ceremony.add_command(command)
    return ceremony
