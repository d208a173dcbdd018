"""``ceremony run``: one command a machine, which leads its people through a ceremony.

A thin parent. It reads no document that somebody else made: where the ceremony stands, it learns from a child, and it
believes nothing of the answer but names of a closed list (``workflow.read_task``). Each task is a command of this program,
in a process of its own, in the same terminal. It keeps no state: after each task it asks again.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from airlock_shared.ceremony.roles import other_half
from airlock_shared.ceremony.workflow import (
    GIVEN,
    WAS_READY,
    WORKFLOW_PARTS,
    Task,
    next_task,
    numbered,
    workflow_part,
)
from airlock_shared.cli.ceremony.crossing import (
    await_new_requests,
    await_outcome,
    await_put_right,
    hand_over,
    is_past,
    leave_place,
    note_given,
    offer_new_requests,
    part_of_other,
    take,
)
from airlock_shared.cli.ceremony.lead import Lead, WorkflowState
from airlock_shared.cli.ceremony.status import word_lines
from airlock_shared.cli.ceremony.waits import OVER, STOPPED
from airlock_shared.cli.ceremony.workflow import ceremony_folder, task_lines
from airlock_shared.cli.terminal import (
    FOLDER_TYPE,
    INPUT,
    MACHINES,
    ask,
    at_a_terminal,
    json_option,
    rows,
    say,
    say_all,
    show_all,
    show_if_json,
    show_json,
)
from airlock_shared.errors import AirlockError, ExitCode, UsageError
from airlock_shared.host.files import alone_in, make_folder
from airlock_shared.qr.render import WINDOW
from airlock_shared.qr.scan import CAMERA
from airlock_shared.text.safe import safe

_DEVICE = {"emulator_port": "--emulator", "ledger_path": "--ledger"}


def run_command() -> click.Command:
    """Return ``ceremony run`` for one of the halves, which may add options to it."""

    @click.command("run", short_help="Lead this machine's people through the whole ceremony.")
    @click.argument("plan_file", metavar="PLAN", type=INPUT)
    @click.option(
        "--exchange", type=FOLDER_TYPE, help="The folder or stick through which documents cross, on each machine."
    )
    @click.option(
        "--qr", "pictures", metavar="SOURCE", help="Cross by QR codes: camera, camera:N, or a folder for pictures."
    )
    @click.option("--dry-run", is_flag=True, help="Only show what was done and what will be done, by whom.")
    @json_option
    @click.pass_context
    def run(
        context: click.Context,
        /,
        plan_file: Path,
        exchange: Path | None,
        pictures: str | None,
        dry_run: bool,
        as_json: bool,
        **device: Any,
    ) -> None:
        r"""Lead this machine's people through the ceremony of PLAN: do what comes next, and ask whose turn it is.

        It stops where the other machine is needed, and waits. Start it on both machines. After Ctrl-C, or on another
        day, the same command goes on where it stood. Each task is a command that you can also give yourself. The
        documents of the ceremony are kept beside the plan, in plan.ceremony. With --qr each hand-over is a page of
        codes. This machine's camera reads it. Or SOURCE is a folder, and the pictures go into a folder in it, such as
        requests.

        \b
        Example:
          PROGRAM ceremony run plan.toml --exchange /media/stick
        """
        if exchange is not None and pictures:
            raise UsageError("documents cross by --exchange or by --qr", do="give one of them")
        if pictures and not CAMERA.fullmatch(pictures) and not Path(pictures).is_dir():
            raise UsageError(
                f"the folder {pictures} is not there", do="make it: each page's pictures go into a folder in it"
            )
        chosen = context.get_parameter_source("model") is ParameterSource.COMMANDLINE
        model = ("--model", device["model"]) if chosen else ()
        ledger = tuple(
            word
            for name, option in _DEVICE.items()
            if device.get(name) is not None
            for word in (option, str(device[name]))
        )
        plan = plan_file.absolute()
        home = context.find_root().params.get("home")
        program = (*own_program(), *(("--home", str(home.absolute())) if home else ()))
        crossing = exchange and exchange.absolute()
        lead = Lead(program, str(plan), ceremony_folder(plan), crossing, as_json, pictures or "", ledger, model)
        if dry_run:
            _show_tasks(lead, as_json=as_json)
            return
        make_folder(lead.folder)
        with alone_in(lead.folder, _busy):
            if pictures and not (lead.folder / "codes").exists():  # what a stick may have lost is shown, too
                shutil.rmtree(lead.folder / GIVEN, ignore_errors=True)
            try:
                _walk(lead)
            except AirlockError as error:
                error.do = "; then ".join(filter(None, (error.do, "give the same command again")))
                raise
            finally:
                with suppress(OSError):  # only an empty one goes: of a plan that is not there, for one
                    lead.folder.rmdir()
        show_if_json(as_json, folder=str(lead.folder))

    return run


def _busy(_descriptor: int) -> None:
    raise UsageError("another terminal leads this ceremony here", do="go on there, or end it there by Ctrl-C")


def own_program() -> tuple[str, ...]:
    """Return the words that start this very program again: the interpreter with its flags, and the program, absolute."""
    words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    last = Path(words[-1])
    return (sys.executable, *words[1:-1], str(last.absolute()) if last.is_file() else words[-1])


# ---- the walk -------------------------------------------------------------------------------------------------------


def _walk(lead: Lead) -> None:
    """Do task after task until nothing is left; a task that fails ends the command with its exit code."""
    signal.signal(signal.SIGHUP, signal.default_int_handler)  # a terminal that is closed is left as by Ctrl-C
    before: tuple[Task, bool] | None = None
    shown: set[str] = set()
    part = ""
    while (task := next_task((state := lead.state()).tasks)) is not None:
        if before == (task, True):
            raise UsageError(
                f"task {task.name} {task.of} ran, but it is still not done",
                do="look at the tasks: ceremony workflow PLAN; then give its command by hand",
            )
        number = 1 + state.tasks.index(task)
        heading = rows(
            f"[{number}/{len(state.tasks)}] ", f"{', '.join(task.by)}: {task.says}" if task.by else task.says
        )
        if part != (part := workflow_part(state.half, number, len(state.tasks))):
            say(_bar(lead, state, part))
        if before != (task, False) and (task.by or _awaits_somebody(lead, state, task)):
            say_all(heading)
        done = False
        leave_place(state, task, "proof" if task.name == "take" and task.of else task.name)
        try:
            done = _do(lead, state, task, shown)
        except BaseException as error:
            leave_place(state, task, STOPPED)
            if not task.by and not isinstance(error, KeyboardInterrupt):
                say_all(heading)  # it was not said before, for nobody acts there
            raise
        before = task, done
    leave_place(state, state.tasks[-1], OVER)
    _show_words(state, shown)  # whoever began this run late may still be asked for them on the other machine
    if before is None and lead.pictures and state.half == "offline" and at_a_terminal():
        _show_again(lead, state, shown)
    report = lead.folder / "evidence"
    names = "report.html" + ", report.pdf" * (report / "report.pdf").exists()
    place = f"{safe(lead.folder.name)}/{report.name}, beside the plan"
    say(f"The ceremony is over on {MACHINES[state.half]}. Open {names} in {place}.")


def _show_again(lead: Lead, state: WorkflowState, shown: set[str]) -> None:
    """Show the signatures' page again after the end, and then the evidence's: no other machine says what it has read."""
    say("The ceremony is over here. Its last pages are shown again, for a machine that still needs them.")
    for task in [each for each in state.tasks if each.name == "hand"][-2:]:
        hand_over(lead, state, task)
        _show_window(lead, shown)
        say(task.says)
        ask("Press Enter when the other machine has read the page: ", piped=False)


def _awaits_somebody(lead: Lead, state: WorkflowState, task: Task) -> bool:
    """Tell whether somebody has to make what a task waits for: a proof that is not there yet."""
    there = state.crossing or lead.folder
    return task.name == "take" and bool(task.of) and not all(os.path.lexists(there / name) for name in task.brings)


def _bar(lead: Lead, state: WorkflowState, here: str) -> str:
    """Return the parts of the day in one line: where this machine is, and the other one by its note on the stick."""
    arrow = " \u25b8 " if "utf" in str(getattr(sys.stderr, "encoding", "")).lower() else " > "
    parts = arrow.join(f"[{part.upper()}]" if part == here else part for part in WORKFLOW_PARTS)
    if lead.pictures:  # no note of it crosses
        return f"{parts}   ask the other machine's people"
    there = part_of_other(state)
    return f"{parts}   {MACHINES[other_half(state.half)]}: {there}" if there else parts


def _do(lead: Lead, state: WorkflowState, task: Task, shown: set[str]) -> bool:
    """Do a task; tell whether it was: while it waited, something else may have come first."""
    if task.name == "take":
        _show_window(lead, shown)  # a page of before may stand there still
        _show_words(state, shown)
        return take(lead, state, task)
    if task.name == "hand":
        crossed = hand_over(lead, state, task)
        if crossed:
            _show_window(lead, shown)
        return crossed
    if task.name == "seal" and at_a_terminal() and (over := f"outcome of {state.made_here}") not in shown:
        _show_words(state, shown)
        if not await_outcome(lead, state, task):
            return False
        shown.add(over)  # nobody is asked again after a Ledger that was not ready
    code = lead.child(lead.words(task))
    if code == ExitCode.DEVICE and at_a_terminal():  # what is wrong with it stands above
        await_put_right("the Ledger")
        return False
    if (task.name, code) == ("sign", ExitCode.EXPIRED) and is_past(state.sign_by_ms):
        if (lead.folder / numbered("signatures", task.attempt)).exists():
            return True  # what was signed in time goes on
        await_new_requests(lead, state, task)
        return False
    if (task.name, code) == ("submit", ExitCode.EXPIRED) and at_a_terminal():
        now = lead.state()
        if now.unsent:
            offer_new_requests(lead, state)
        if now.unsent or next_task(now.tasks) != task:  # of several some were sent: people look at each
            return False
    lead.require(code)
    if task.name == "ready":
        note_given(lead, (WAS_READY,))
    return True


def _show_window(lead: Lead, shown: set[str]) -> None:
    """Open, once a run, the page that shows whatever is handed over, and say where it is: for a person without a desktop."""
    page = lead.folder / "codes" / WINDOW
    if not lead.pictures or not page.parent.is_dir() or str(page) in shown:
        return
    shown.add(str(page))
    say(f"Open {safe('/'.join(page.parts[-3:]))} for the other machine; leave it open.")
    opener = shutil.which("xdg-open") if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") else None
    if opener:
        quiet = subprocess.DEVNULL
        subprocess.Popen([opener, page], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)  # noqa: S603 (ours)


def _show_words(state: WorkflowState, shown: set[str]) -> None:
    """Show the words of what this machine made, once, so that they are there while others type two of them."""
    new = {name: mark for name, mark in state.made_here.items() if mark not in shown}
    shown.update(new.values())
    if new:
        say("Two words of it are typed on the other machine, unless they were:")
    for name, mark in new.items():
        say_all(word_lines(name, mark))


def _show_tasks(lead: Lead, *, as_json: bool) -> None:
    state = lead.state()
    commands = [lead.words(task, state.crossing) for task in state.tasks]
    if as_json:
        tasks = [{**task._asdict(), "command": words} for task, words in zip(state.tasks, commands, strict=True)]
        show_json({"ok": True, "half": state.half, "folder": str(lead.folder), "tasks": tasks})
        return
    show_all(task_lines(state.tasks, state.half, commands))
