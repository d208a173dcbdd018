"""``ceremony workflow``: where a ceremony stands on this machine, read from its plan, folder and transcript.

It reads what others made, so that the command that leads people does not: that one starts it, and reads its answer.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from airlock_shared.ceremony.roles import CHECKPOINTS, Half, parse_people, require_same_people
from airlock_shared.ceremony.seals import parse_proofs
from airlock_shared.ceremony.workflow import (
    DEPLOYMENT,
    GIVEN,
    PEOPLE,
    PROOFS_FILE,
    TASKS_AT_MOST,
    Facts,
    Task,
    newest,
    next_task,
    numbered,
    workflow_tasks,
)
from airlock_shared.checks.times import clock_of
from airlock_shared.cli.ceremony.status import CeremonyMachine, plan_with_roles
from airlock_shared.cli.ceremony.waits import names_in
from airlock_shared.cli.terminal import FOLDER_TYPE, INPUT, json_option, rows, show_all, show_json
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import parse_requests, parse_signatures
from airlock_shared.documents.transcript import SENDING
from airlock_shared.errors import AirlockError, UsageError
from airlock_shared.host.files import read_document
from airlock_shared.plan.decisions import SIGN_AGE_AT_MOST_MS
from airlock_shared.plan.delegate_proofs import challenge_of, registrations
from airlock_shared.plan.model import Plan
from airlock_shared.venue.structs import SIGNED_AT, leaf, path_of

if TYPE_CHECKING:
    from airlock_shared.documents.requests import Request
    from airlock_shared.venue.structs import Intent

# ---- task lines ---------------------------------------------------------------------------------------------------
# A ceremony's folder on one machine, and its tasks as the lines that people read.


def ceremony_folder(plan_file: Path) -> Path:
    """Return where a machine keeps the documents of a ceremony: beside its plan, ``plan.ceremony`` for ``plan.toml``."""
    return plan_file.with_name(f"{plan_file.stem}.ceremony")


def task_lines(tasks: list[Task], half: str, commands: Sequence[Sequence[str]] = ()) -> Iterator[str]:
    """Yield the tasks for people: done, next or later, who acts, and what; perhaps each task's command."""
    following = next_task(tasks)
    for number, task in enumerate(tasks, start=1):
        state = "done" if task.done else "NEXT" if task is following else "later"
        who = ", ".join(task.by) or "the machine"
        yield from rows(f"{number:>3}  {state:<6} ", f"{who}: {task.says}")
        if commands:
            yield from rows(" " * 12, shlex.join(("airlock-" + half, *commands[number - 1])))
    done = sum(task.done for task in tasks)
    yield f"{done} of {len(tasks)} tasks are done on the {half} machine."


# ---- the command ---------------------------------------------------------------------------------------------------------


_Document = TypeVar("_Document")
BRING_AGAIN = "move it away, here and on the stick; bring it again, whole and of this plan"
_WATCH_MS = 60_000  # the watch with which the clock is compared may be wrong by so much


@click.command("workflow", short_help="Show every task of it: what is done, and what comes next.")
@click.argument("plan_file", metavar="PLAN", type=INPUT)
@click.option(
    "--folder",
    type=FOLDER_TYPE,
    # Landlock lets a command read what stands in its values, and nothing else of ours.
    callback=lambda context, _, given: given or ceremony_folder(context.params["plan_file"]),
    help="The ceremony's folder (default: beside the plan).",
)
@click.option("--exchange", type=FOLDER_TYPE, help="The folder through which documents cross.")
@json_option
@click.pass_obj
def workflow_command(
    place: CeremonyMachine, plan_file: Path, folder: Path, exchange: Path | None, as_json: bool
) -> None:
    r"""Show every task of the ceremony on this machine: what is done, what comes next, and who acts there.

    \b
    Example:
      PROGRAM ceremony workflow plan.toml
    """
    plan = plan_with_roles(plan_file)
    crossing = exchange and exchange / crossing_name(plan)
    for each in (folder, crossing):
        if each and place.half == "offline" and (names := _people(each, plan)):
            require_same_people(place.standing(plan), names)
    facts = facts_of(place, plan, folder, crossing)
    tasks = workflow_tasks(plan, place.half, place.transcript.entries(), facts)
    if len(tasks) > TASKS_AT_MOST:
        raise UsageError("this plan has more steps than one ceremony leads", do="divide it into plans of fewer steps")
    if as_json:
        begun = [entry.data for entry in place.transcript.entries() if entry.event in (SENDING, "exported")]
        touched = {each.get(name) for each in begun for name in ("digest", "signatures")}
        show_json(
            {
                "ok": True,
                "half": place.half,
                "crossing": crossing_name(plan),
                "made_here": made_here(place.half, facts, tasks),
                "sign_by_ms": facts.sign_by_ms,
                "unsent": bool(facts.digests) and touched.isdisjoint((*facts.digests, facts.signatures)),
                "tasks": [task._asdict() for task in tasks],
            }
        )
        return
    show_all(task_lines(tasks, place.half))


def made_here(half: Half, facts: Facts, tasks: Iterable[Task]) -> dict[str, str]:
    """Return the fingerprints of what was made on a machine and may still be compared with its screen on the other one."""
    awaited = any(task.name == "take" and not task.done and task.brings[0].startswith("signatures") for task in tasks)
    words = {"requests": facts.requests if awaited else "", "signatures": facts.signatures}
    return {name: mark for name, mark in words.items() if mark and CHECKPOINTS[name].made_on == half}


def crossing_name(plan: Plan) -> str:
    """Return the folder, within the one through which documents cross, of this ceremony and no other."""
    return f"{plan.id}-{plan.fingerprint[:16]}"


def facts_of(place: CeremonyMachine, plan: Plan, folder: Path, crossing: Path | None) -> Facts:
    """Read what stands beside the transcript. Raises as the readers of the documents do."""
    files = names_in(folder)
    if "report.html" not in names_in(folder / "evidence"):
        files -= {"evidence"}  # somebody has copied what a report is made from, and none was made

    def read(name: str, parse: Callable[[bytes], _Document]) -> _Document | None:
        return read_document(folder / name, parse, do=BRING_AGAIN) if name in files else None

    came = read(DEPLOYMENT, parse_deployment)
    asked, signed = (numbered(name, newest(name, files)) for name in ("requests", "signatures"))
    _, requests, requests_mark = read(asked, parse_requests) or (None, [], "")
    answer, signatures, signatures_mark = read(signed, parse_signatures) or (None, [], "")
    entries = place.transcript.entries()
    ours = came if came and came.name == plan.deployment else None
    challenges = {step.id: challenge_of(plan, ours, step).sha256() for step in registrations(plan) if ours}
    return Facts(
        files=files,
        given=names_in(folder / GIVEN),
        brought=names_in(crossing) if crossing else frozenset(),
        deployment=came.fingerprint if came else "",
        pinned=place.known_deployment(plan.deployment),
        names=_people(folder, plan),
        requests=requests_mark,
        signatures=signatures_mark,
        answers=answer.requests if answer else "",
        digests=tuple(item.digest for item in signatures if item.result == "signed"),
        challenges=challenges,
        proofs={
            name: frozenset(proof.claimed.step for proof in read(name, parse_proofs) or ())
            for name in files
            if PROOFS_FILE.fullmatch(name)
        },
        clock_stated=clock_of(entries, place.now_ms(), place.uptime()).uncertainty_ms is not None,
        sign_by_ms=_sign_by_ms(came.structs if came else {}, requests, plan),
    )


def _sign_by_ms(known: Mapping[str, Intent], requests: Iterable[Request], plan: Plan) -> int:
    """Return until when requests can be signed (unix ms), to be shown; 0 where none of a known struct has an end."""
    found = []
    for request in requests:
        payload = request.payload
        intent = known.get(str(payload.get("primaryType")))
        if intent is None:
            continue
        more_ms = {
            intent.deadline: -plan.limits.remaining_at_least_ms,
            path_of(intent.fields, SIGNED_AT): SIGN_AGE_AT_MOST_MS,
        }
        for path in filter(None, more_ms):  # empty: it has none, and a member without a name is not it
            with suppress(KeyError, TypeError, ValueError):  # another form is refused where it is judged
                found.append(int(str(leaf(payload["message"], path))) + more_ms[path])
    until = min(found, default=0) - _WATCH_MS
    return until if 0 < until < 1 << 63 else 0  # another number is refused where it is judged


def _people(folder: Path, plan: Plan) -> dict[str, str]:
    """Return the names that stand in the folder; none when they are of another plan, and so not what is handed over."""
    with suppress(AirlockError):
        return read_document(folder / PEOPLE, partial(parse_people, plan=plan))
    return {}
