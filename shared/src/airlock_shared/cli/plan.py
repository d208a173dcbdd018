"""``plan show``, ``plan check`` and ``plan new``, the same commands on both machines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from airlock_shared.ceremony.roles import ROLES
from airlock_shared.checks.foreseen import contradictions, foreseen_anywhere
from airlock_shared.cli.ceremony.by_screens import show_above_question
from airlock_shared.cli.comparison_lines import plan_lines
from airlock_shared.cli.qr.file_or_qr import require_output
from airlock_shared.cli.terminal import (
    INPUT,
    PATH_TYPE,
    ask,
    explain_error,
    finish,
    json_option,
    output_option,
    rows,
    say,
    show,
    show_all,
    show_json,
)
from airlock_shared.errors import AirlockError, ExitCode, PlanError, UsageError
from airlock_shared.host.files import read_input, write_new
from airlock_shared.plan.authoring import ask_plan, write_plan
from airlock_shared.plan.known import NOTHING, KnownValues, known_from
from airlock_shared.plan.mistakes import Mistake, find_mistakes
from airlock_shared.plan.model import Plan
from airlock_shared.plan.questions import People
from airlock_shared.plan.reader import MAX_PLAN_BYTES
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.report.page.page import plan_page
from airlock_shared.text.safe import fingerprint_lines, safe, spoken

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment

_QUOTED = 240
DEPLOYMENTS = "airlock.deployments"  # where a half keeps, in its context's ``meta``, how its deployments are read


@click.command("show")
@click.argument("file", type=INPUT)
@click.option("-o", "--html", type=PATH_TYPE, help="Write it into this new file too, as a page to read and print.")
@json_option
def show_plan(file: Path, html: Path | None, as_json: bool) -> None:
    r"""Show the plan in FILE with its fingerprint, to compare between machines and people.

    \b
    Examples:
      PROGRAM plan show plan.toml
      PROGRAM plan show plan.toml --html plan.html
    """
    plan = parse_written_plan(read_input(file))
    if html:
        write_new(html, plan_page(plan))
    if as_json:
        show_json(_as_json(plan))
        return
    show_all(plan_lines(plan))


def _as_json(plan: Plan) -> dict[str, object]:
    words = spoken(plan.fingerprint)
    return {"ok": True, "id": plan.id, "steps": list(plan.steps), "fingerprint": plan.fingerprint, "words": words}


# ---- check ----------------------------------------------------------------------------------------------------------


MachineFaults = Callable[[Any, Plan], list[PlanError] | None]
"""What a half refuses in a plan whatever comes, from the command's context object; None without the plan's deployment."""


def plan_check_command(machine_faults: MachineFaults) -> click.Command:
    """Return ``plan check``, which also tells what ``machine_faults`` finds in a plan without another mistake."""

    @click.command("check")
    @click.argument("file", type=INPUT)
    @json_option
    @click.pass_context
    def check(context: click.Context, file: Path, as_json: bool) -> None:
        r"""Explain every mistake of the plan in FILE, each by its line.

        Exit code 2 when there is one. What is refused whatever comes is one, a time by this machine's clock among them.
        Only people can tell whether a plan without mistakes says what they mean: plan show.

        \b
        Example:
          PROGRAM plan check plan.toml
        """

        def faults(plan: Plan) -> list[PlanError]:
            found = machine_faults(context.obj, plan)
            if found is None:
                say(f"{plan.deployment} is not a deployment of this machine: what it decides is not compared.")
                found = list(foreseen_anywhere(plan, time.time_ns() // 1_000_000))
            return [*contradictions(plan), *found]

        data = read_input(file, max_bytes=MAX_PLAN_BYTES)
        mistakes = find_mistakes(data, faults)
        plan = None if mistakes else parse_written_plan(data)
        if plan and (own := [role for role in plan.roles if role not in ROLES]):
            say(f"Roles of this plan alone: {', '.join(own)}. Checkpoints ask for {', '.join(ROLES)}. Is one misspelt?")
        if as_json:
            told = {"ok": plan is not None, "file": str(file), "mistakes": [_mistake_json(each) for each in mistakes]}
            show_json((_as_json(plan) if plan else {}) | told)
        elif plan:
            show(f"{safe(file.name)}: no mistakes")
            show_all(fingerprint_lines("plan", plan.fingerprint))
        for mistake in () if as_json else mistakes:
            show_all(_mistake_lines(file.name, mistake))
        if mistakes:
            say(f"{len(mistakes)} mistake{'s' if len(mistakes) > 1 else ''} in {safe(file.name)}")
            finish(ExitCode.USAGE)

    return check


def _mistake_lines(name: str, mistake: Mistake) -> Iterator[str]:
    """Yield a mistake for people: its line, id, what; what stands on the line; expected, example, advice."""
    error = mistake.error
    heading = f"{name}:{mistake.line}: " if mistake.line else f"{name}: "
    yield from rows(heading if len(heading) < 40 else f"{heading[:39]} ", f"{error.check}: {error.what}")
    if mistake.text:
        yield from rows("    ", mistake.text.strip(), limit=_QUOTED)
    found = (("at", error.where), ("got", error.got), ("expected", error.expected), ("example", mistake.example))
    for label, text in (*found, ("do", error.do)):
        if text:
            yield from rows(f"  {label + ':':<10}", text)
    yield ""


def _mistake_json(mistake: Mistake) -> dict[str, object]:
    place = {"line": mistake.line, "text": mistake.text[:2000]}
    return {**place, **mistake.error.as_json(), "example": mistake.example}


# ---- new ------------------------------------------------------------------------------------------------------------


@click.command("new")
@output_option("The plan to write.")
@json_option
def new_plan(output: Path, as_json: bool) -> None:
    r"""Write a plan by asking: the ceremony, its limits, who signs, and each step with its fields.

    Every answer is checked at once; < goes back to the question before. The plan is written after it was shown and
    confirmed with Yes. After no, each question offers your answer again. Ctrl-C leaves nothing behind.

    \b
    Example:
      PROGRAM plan new -o plan.toml
    """
    require_output(output)
    try:
        people, known = People(_ask, say, _explained, show_above_question), _known()
        written = False
        while not written:
            text = write_plan(ask_plan(people, known))
            plan = parse_written_plan(text.encode())
            show_above_question(list(plan_lines(plan)))
            written = _write_after_yes(output, text, people)
    except KeyboardInterrupt:
        say(f"\nInterrupted.{'' if output.exists() else ' Nothing was written.'}")
        finish(ExitCode.INTERRUPTED)
    if as_json:
        show_json({**_as_json(plan), "file": str(output)})
    else:
        show(f"Wrote {safe(str(output))}")
        say("Read it. Then have everybody who takes part compare what this shows, on a machine of their own:")
        say(f"  {click.get_current_context().find_root().info_name} plan show {safe(output.name)}")


def _ask(question: str) -> str:
    return ask(question, piped=False)  # a plan is what everything else is judged by: people write it, at a terminal


def _write_after_yes(output: Path, text: str, people: People) -> bool:
    """Write the plan after a Yes; False when answers are to be changed.

    It is asked again after any other word, and where it cannot be written: so many answers are not lost for a small letter,
    or for a stick that was pulled out.
    """
    question = (
        f"Write this plan to {safe(output.name)}?\nType Yes to write it, no to change answers, < to go back by one: "
    )
    while (answer := _ask(question)).strip() != "<":
        if answer == "Yes":
            try:
                write_new(output, text.encode())
            except UsageError as error:
                say(explain_error(error))
            else:
                return True
        elif answer.strip().lower() in ("no", "n"):
            people.restart()
            say("Not written. Your answers are kept: Enter takes each as it was. Ctrl-C discards them.")
            return False
        else:
            say("Only the whole word Yes counts, with a capital Y and nothing else.")
    people.back()
    return False


def _known() -> KnownValues:
    """Return what this machine's folder knows; what cannot be read there is not offered, and said by ``doctor``."""
    context = click.get_current_context()
    deployments = context.meta.get(DEPLOYMENTS)
    if deployments is None:
        return NOTHING
    try:
        return known_from(deployments(context.obj), context.obj.transcript.entries())
    except AirlockError:
        return NOTHING


def _explained(error: PlanError) -> None:
    error.where = ""
    say(explain_error(error))


def plan_group(does: str, deployments: Callable[[Any], list[Deployment]], machine_faults: MachineFaults) -> click.Group:
    """Return the group of a half, which ``does`` this; ``deployments`` gives those that a half's folder knows.

    ``check`` also tells what a half's machine alone can know.
    """

    @click.pass_context
    def begin(context: click.Context) -> None:
        context.meta[DEPLOYMENTS] = deployments

    return click.Group(
        "plan", commands=[show_plan, plan_check_command(machine_faults), new_plan], help=does, callback=begin
    )
