"""``ceremony show`` and ``ceremony end``: how a ceremony stands, and whether it is complete."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_shared.ceremony.roles import NOT_ENDED, require_open
from airlock_shared.ceremony.sections import CEREMONY_ENDED
from airlock_shared.cli.ceremony.by_screens import turn_page
from airlock_shared.cli.ceremony.status import (
    CeremonyMachine,
    head_lines,
    plan_with_roles,
    standing_json,
    standing_lines,
)
from airlock_shared.cli.terminal import (
    advice,
    ask_yes,
    explain_error,
    finish,
    json_option,
    led,
    plan_option,
    say,
    say_all,
    show_all,
    show_json,
)
from airlock_shared.errors import Refusal


@click.command("show", short_help="Show who holds and confirmed what, and what is missing.")
@plan_option
@json_option
@click.pass_obj
def show_ceremony(place: CeremonyMachine, plan_file: Path, as_json: bool) -> None:
    r"""Show who holds which role, what was confirmed by whom and when, and what is missing.

    \b
    Example:
      PROGRAM ceremony show --plan plan.toml
    """
    plan = plan_with_roles(plan_file)
    stands = place.standing(plan)
    if as_json:
        show_json({"ok": True, **standing_json(stands, plan, place.half), "head": place.transcript.head()})
        return
    show_all(standing_lines(stands, plan, place.half))


@click.command("end", short_help="End it, and record whether it is complete.")
@plan_option
@click.option("--when-complete", is_flag=True, help="Ask nothing when nothing is missing.")
@json_option
@click.pass_obj
def end(place: CeremonyMachine, plan_file: Path, when_complete: bool, as_json: bool) -> None:
    r"""End the ceremony on this machine, and record whether it is complete.

    Exit code 3 when it is INCOMPLETE: the ceremony still ends, and the record says what is missing.

    \b
    Example:
      PROGRAM ceremony end --plan plan.toml
    """
    plan = plan_with_roles(plan_file)
    stands = place.standing(plan)
    if stands.ended_ms is not None:
        say("The ceremony was ended already; nothing to do.")
    else:
        require_open(stands)
        missing = [line for line in stands.missing if line != NOT_ENDED]
        say_all(f"missing: {line}" for line in missing)
        if missing or not when_complete:
            ask_yes(
                "End the ceremony INCOMPLETE?" if missing else "End the ceremony? Nothing is missing.",
                piped=place.all_worth_nothing(),
            )
        place.record(CEREMONY_ENDED, plan, {"complete": not missing, "missing": missing})
        stands = place.standing(plan)
    head = place.transcript.head()
    incomplete = Refusal(
        "ROLE-INCOMPLETE",
        "the ceremony ended INCOMPLETE",
        got=f"{len(stands.missing)} missing",
        expected="every role held, every checkpoint confirmed",
    )
    if as_json:
        error = {} if stands.complete else {"error": incomplete.as_json() | {"do": advice(incomplete)}}
        show_json({"ok": stands.complete, **standing_json(stands, plan, place.half), "head": head} | error)
    else:
        if not (when_complete and stands.complete):  # the report says so next
            show_all(standing_lines(stands, plan, place.half))
        if place.half == "offline":  # the online machine tells its head with its report, which adds an entry
            show_all(head_lines(place.transcript.entries(), plan.id))
            if led():
                turn_page()  # it is written down by hand
    if not stands.complete:
        say(explain_error(incomplete))
        finish(incomplete.exit_code)
