"""``ceremony begin``, ``confirm``, ``exception``, ``show`` and ``end``, the same on both machines.

Each machine records them in its own transcript; the decisions are in :mod:`airlock_shared.ceremony.roles`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click

from airlock_shared.ceremony.roles import (
    CHECKPOINTS,
    MAX_PEOPLE_BYTES,
    MAX_REASON,
    check_holder,
    check_people,
    check_text,
    on_record,
    other_plan,
    parse_people,
    require_open,
    require_same_people,
    wrong_words,
)
from airlock_shared.ceremony.sections import CEREMONY_BEGUN, CHECKPOINT_CONFIRMED, EXCEPTION
from airlock_shared.cli.ceremony.by_screens import LOOK_AT_PAPER
from airlock_shared.cli.ceremony.compare import DOCUMENTS, ask_names, compare, fingerprint_of, names_given
from airlock_shared.cli.ceremony.end import end, show_ceremony
from airlock_shared.cli.ceremony.handover import carry, gather
from airlock_shared.cli.ceremony.run import run_command
from airlock_shared.cli.ceremony.status import CeremonyMachine, people_lines, plan_with_roles, record_lines
from airlock_shared.cli.ceremony.workflow import workflow_command
from airlock_shared.cli.terminal import INPUT, ask_yes, json_option, led, plan_option, rows, say, show_json
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.host.files import read_input
from airlock_shared.plan.model import Plan
from airlock_shared.text.safe import hanging, safe
from airlock_shared.text.words import grouped


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
    each person answers for themselves at the stations.

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
        names = parse_people(read_input(people_file, max_bytes=MAX_PEOPLE_BYTES), plan) | names
    check_people(names, plan)
    names = {role: name for role, name in ask_names(plan, names).items() if role in plan.roles}
    check_people(names, plan)
    stands = place.standing(plan)
    require_same_people(stands, names)
    if stands.is_open:
        say("The ceremony was begun already, with these names; nothing to do.")
    else:
        typed = led() and people_file is None  # and looked at, a moment ago; each answers for themselves later
        came = hanging(", ".join(f"{role} {safe(name) or 'nobody'}" for role, name in names.items()))
        for line in () if typed else came if led() else people_lines(names):
            say(line)
        if other := other_plan(place.transcript.entries(), plan):
            say(f"NOTE: {plan.id} is open with another plan, {grouped(other[:16])} …; its confirmations end now.")
        if people_file is None and not typed:
            ask_yes(
                f"Begin the ceremony {plan.id} on this machine, with these people?", piped=place.all_worth_nothing()
            )
        place.record(CEREMONY_BEGUN, plan, {"plan": plan.fingerprint, "roles": names})
        if not led():
            say("Begun.")
    if as_json:
        facts = {"ok": True, "ceremony": plan.id, "plan": plan.fingerprint, "roles": names}
        show_json(facts | {"head": place.transcript.head()})


@click.command("confirm", short_help="Confirm a station, after comparing.")
@click.argument("station", type=click.Choice(list(CHECKPOINTS)), metavar="STATION")
@plan_option
@click.option("--by", multiple=True, required=True, metavar="ROLE", help="Who confirms; once for each role.")
@click.option("--file", "file", type=INPUT, help="The document that was compared, if it is not on record here yet.")
@json_option
@click.pass_obj
def confirm(
    place: CeremonyMachine, station: str, plan_file: Path, by: tuple[str, ...], file: Path | None, as_json: bool
) -> None:
    r"""Confirm STATION: show what is compared there and what is on record, then ask for Yes.

    The stations, in the order of the day: plan, deployment, preflight, address, requests, review, signatures, outcome,
    seal. If the record changes later, confirm again.

    \b
    Example:
      PROGRAM ceremony confirm requests --plan plan.toml --by witness
    """
    plan, here = plan_with_roles(plan_file), CHECKPOINTS[station]
    stands = place.standing(plan)
    require_open(stands)
    for role in by:
        check_holder(role, stands.names, plan)
    if station not in stands.checkpoints:
        raise UsageError(f"station {station} is confirmed on the other machine",
                         do=f"run airlock-{next(iter(here.by))} ceremony confirm {station} there")  # fmt: skip
    if file is not None and station not in DOCUMENTS:
        raise UsageError(f"station {station} compares no document", do="leave --file out")
    record = _to_compare(place, plan, station) if file is None else fingerprint_of(place, plan, station, file)
    known = [
        each for each in stands.checkpoints[station] if (each.holds or file is not None) and each.compared == record
    ]
    if set(by) <= {role for each in known for role in each.by}:
        say(f"Station {station} is confirmed already by {' and '.join(dict.fromkeys(by))}; nothing to do.")
    else:
        _refuse_after_wrong(place, plan, station, by)
        for line in (f"station {station}", *rows("  ", here.compares), *record_lines(record)):
            say(line)
        say("confirmed by")
        for line in people_lines({role: stands.names[role] for role in dict.fromkeys(by)}):
            say(line)
        ask_yes("Has each of them compared it, and is it correct?", piped=place.all_worth_nothing())
        place.record(
            CHECKPOINT_CONFIRMED, plan, {"station": station, "by": list(dict.fromkeys(by)), "compared": record}
        )
        say("Confirmed.")
        for line in place.standing(plan).missing:
            if line.startswith(f"station {station} "):
                say(f"Still missing: {line}")
    if as_json:
        facts = {
            "ok": True,
            "ceremony": plan.id,
            "station": station,
            "by": list(dict.fromkeys(by)),
            "compared": record,
        }
        show_json(facts | {"head": place.transcript.head()})


def _refuse_after_wrong(place: CeremonyMachine, plan: Plan, checkpoint: str, by: Collection[str]) -> None:
    """Raise ``Refusal("ROLE-WORDS")`` for a role whose paper has other words on record: its Yes does not put that right."""
    wrong = [
        entry.data for entry in wrong_words(place.transcript.entries(), plan) if entry.data["station"] == checkpoint
    ]
    if CHECKPOINTS[checkpoint].paper and any(set(by) & set(each["by"]) for each in wrong):
        raise Refusal("ROLE-WORDS", f"words of the {checkpoint} were typed from paper, and they differ",
                      got=f"{len(wrong)} wrong answers", expected="the words of the paper", do=LOOK_AT_PAPER)  # fmt: skip


_NAME_THE_FILE = "do the station's work on this machine, or name the document that was compared with --file"


def _to_compare(place: CeremonyMachine, plan: Plan, checkpoint: str) -> str:
    """Return what stands on record for a checkpoint. Raises ``Refusal("ROLE-EARLY")`` when nothing does."""
    found = on_record(place.transcript.entries(), plan, checkpoint)
    if checkpoint == "deployment":
        return place.deployment(plan.deployment)
    if found is None:
        raise Refusal("ROLE-EARLY", f"nothing of station {checkpoint} is recorded on this machine since the ceremony "
                                    f"began",
                      got="no entry in the transcript", expected=" or ".join(CHECKPOINTS[checkpoint].events),
                      do=_NAME_THE_FILE if checkpoint in DOCUMENTS else "")  # fmt: skip
    return found


@click.command("exception", short_help="Record a deviation with its reason.")
@plan_option
@click.option("--station", "checkpoint", default="", type=click.Choice(["", *CHECKPOINTS]), metavar="STATION",
              help="The station, if the deviation was at one.")  # fmt: skip
@click.option("--by", required=True, metavar="ROLE", help="Who reports it.")
@click.option("--reason", required=True, help="What differed from the plan, and why, in one line.")
@json_option
@click.pass_obj
def exception(place: CeremonyMachine, plan_file: Path, checkpoint: str, by: str, reason: str, as_json: bool) -> None:
    r"""Record a deviation with its reason. It explains the deviation; it does not complete the ceremony.

    \b
    Example:
      PROGRAM ceremony exception --plan plan.toml --station preflight \
        --by facilitator --reason "The camera was replaced by the spare one."
    """
    plan = plan_with_roles(plan_file)
    stands = place.standing(plan)
    require_open(stands)
    check_holder(by, stands.names, plan)
    check_text(reason, "the reason", MAX_REASON)
    data = {"station": checkpoint, "by": by, "reason": reason}
    if any((known.checkpoint, known.by, known.reason) == (checkpoint, by, reason) for known in stands.exceptions):
        say("This exception is recorded already; nothing to do.")
    else:
        place.record(EXCEPTION, plan, data)
        say("Recorded.")
    if as_json:
        show_json({"ok": True, "ceremony": plan.id, **data, "head": place.transcript.head()})


CEREMONY_COMMANDS = (
    workflow_command, begin, gather, carry, compare, confirm, exception, show_ceremony, end,
)  # fmt: skip


def ceremony_group(
    place_of: Callable[[Any], CeremonyMachine],
    by_qr: tuple[click.Command, ...],
    device_options: Callable[[click.Command], click.Command] = lambda it: it,
) -> click.Group:
    """Return the group of a half; ``place_of`` makes of its folder what the commands stand on.

    ``by_qr`` are the commands that cross by codes; ``device_options`` adds to ``run`` which Ledger its checkpoints talk to,
    on the half that has one.
    """

    @click.group("ceremony")
    @click.pass_context
    def ceremony(context: click.Context) -> None:
        """Lead people through a ceremony; record who holds which role, and what they confirm at each station."""
        context.obj = place_of(context.obj)

    for command in (device_options(run_command()), *CEREMONY_COMMANDS, *by_qr):
        ceremony.add_command(command)
    return ceremony
