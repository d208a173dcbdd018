"""What leads a ceremony: this program's own commands, each a process of its own; one of them tells where it stands."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from airlock_shared.ceremony.roles import CHECKPOINTS, Half
from airlock_shared.ceremony.workflow import DEPLOYMENT, PEOPLE, TASKS_AT_MOST, Task, numbered, read_task
from airlock_shared.cli.ceremony.waits import CROSSING_NAME, names_in
from airlock_shared.cli.terminal import LED, finish
from airlock_shared.errors import AirlockError, ExitCode
from airlock_shared.qr.scan import CAMERA
from airlock_shared.wire.strict_json import HEX_32, parse_json, read_list, read_matching, read_members

_LOOK_AGAIN_S = 0.3
_MISSED_S = 1.0


class WorkflowState(NamedTuple):
    """Where a ceremony stands, as the child says: half, fingerprints of what was made here, tasks.

    ``crossing`` is this ceremony's folder within the one through which documents cross, if there is one. ``sign_by_ms`` is
    until when the requests can be signed, 0 for no end; it is shown. ``unsent``: signatures are here, and none of them was
    sent. ``there`` are the names that stood in the ceremony's folder before it was asked.
    """

    half: Half
    crossing: Path | None
    made_here: dict[str, str]
    tasks: list[Task]
    sign_by_ms: int
    unsent: bool
    there: frozenset[str]


class Lead(NamedTuple):
    """What a run stands on: our own program's words, plan and ceremony's folder, and where documents cross.

    ``pictures`` is the source of the other machine's codes, where documents cross as pictures: a camera, or a folder.
    ``device`` are the words that name the Ledger, ``model`` those of its model for signing.
    """

    program: tuple[str, ...]
    plan: str
    folder: Path
    exchange: Path | None
    to_stderr: bool
    pictures: str = ""
    device: tuple[str, ...] = ()
    model: tuple[str, ...] = ()

    def source(self, task: Task) -> str:
        """Return where the codes of what a task waits for are read: the camera, or a folder of that name with pictures.

        Empty where documents do not cross by codes.
        """
        if not self.pictures or CAMERA.fullmatch(self.pictures):
            return self.pictures
        return str(Path(self.pictures).absolute() / next(iter(task.brings), "").partition(".")[0])

    def words(self, task: Task, crossing: Path | None = None) -> tuple[str, ...]:
        """Return the words of the command that does a task, as a person would give them after the program's name.

        ``crossing`` is the folder through which this ceremony's documents cross, if there is one.
        """
        plan, signing = ("--plan", self.plan), (*self.model, *self.device)
        folder, other = str(self.folder), str(crossing or "EXCHANGE")

        def path(name: str) -> str:
            return f"{folder}/{name}"

        here = tuple(map(path, task.brings))
        first = here[0] if here else ""
        compared = ("--file", first) if first else ()
        made = path(numbered("requests" if task.name == "prepare" else "signatures", task.attempt))
        hand = ("ceremony", "carry", *here, "-o", other)
        take = ("ceremony", "carry", *(f"{other}/{name}" for name in task.brings), "-o", folder)
        if self.pictures:
            awaited = (word for name in task.brings for word in ("--file", name))
            hand = ("ceremony", "codes", *here, *plan, "-o", path("codes"))
            take = ("ceremony", "scan", self.source(task), *plan, *awaited, "-o", folder)
        words: dict[str, tuple[str, ...]] = {
            "begin": ("ceremony", "begin", *plan, *(("--people", path(PEOPLE)) if task.brings else ())),
            "gather": ("ceremony", "gather", *plan, "-o", folder),
            "hand": hand,
            "take": take,
            "ready": ("ready", "--deployment", task.of),
            "prepare": ("prepare", self.plan, "-o", made),
            "compare": ("ceremony", "compare", task.of, *plan, *compared),
            "submit": ("submit", first),
            "end": ("ceremony", "end", *plan, "--when-complete"),
            "trust": ("trust", path(DEPLOYMENT), *plan),
            "preflight": ("preflight", "--watch", *self.device),
            "address": ("address", *plan, "--signer", task.of, "--confirm", *self.device),
            "proof": ("delegate", "check", *here, *plan),
            "sign": ("sign", first, *plan, "-o", made, *signing),
            "seal": ("transcript", "seal", *plan, "--signer", task.of, *signing),
            "report": ("report", "make", *plan, *_report_words(task, here), "-o", path("evidence")),
        }
        return words[task.name]

    def state(self) -> WorkflowState:
        """Ask a child where the ceremony stands. Without an answer it ends as :meth:`require`."""
        exchange = () if self.exchange is None else ("--exchange", str(self.exchange))
        words = ("ceremony", "workflow", self.plan, "--folder", str(self.folder), *exchange, "--json")
        there = names_in(self.folder)
        code, answer = _started([*self.program, *words], stdout=subprocess.PIPE)
        self.require(code)
        return _read(answer, self.exchange, there)

    def child(self, words: Sequence[str]) -> int:
        """Run a command of this program in this terminal, and return its exit code."""
        environment = {**os.environ, LED: "1"}
        return _started([*self.program, *words], stdout=sys.stderr if self.to_stderr else None, env=environment)[0]

    @staticmethod
    def require(code: int) -> None:
        """Raise what ends the command with the exit code of a child that did not end with 0."""
        if code:
            stopped = AirlockError("the ceremony stops here", do="put right what stands above")
            stopped.exit_code = Lead.code_of(code)
            if stopped.exit_code is ExitCode.INTERRUPTED:  # that child has said it
                finish(stopped.exit_code)
            raise stopped

    @staticmethod
    def code_of(code: int) -> ExitCode:
        """Return the exit code of a child that ended with this one; of one that a signal ended, as after Ctrl-C."""
        return ExitCode(code) if code in list(ExitCode) else ExitCode.INTERRUPTED


def _report_words(task: Task, here: Sequence[str]) -> Iterator[str]:
    options = {
        "requests": "--requests",
        "signatures": "--signatures",
        "offline": "--transcript",
        "screens": "--screens",
    }
    for name, path in zip(task.brings, here, strict=True):
        yield from (options.get(re.split("[-.]", name)[0], ""), path)


def _started(words: Sequence[str], **how: Any) -> tuple[int, bytes]:
    """Run a child to its end, and return its exit code, and its stdout where that is a pipe.

    Ctrl-C is the child's, which has the terminal too: we wait for what it makes of it. A child that is being started may
    miss it, and gets it once more when it goes on as if nothing had been. Raises ``KeyboardInterrupt`` when it ended with 0.
    """
    pressed: list[float] = []
    sent_again = False
    with subprocess.Popen(words, **how) as process:  # noqa: S603 (our own program)
        before = signal.signal(signal.SIGINT, lambda *_: pressed.append(monotonic()))
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    answer, _ = process.communicate(timeout=_LOOK_AGAIN_S)
                    break
                if pressed and not sent_again and monotonic() - pressed[-1] > _MISSED_S:
                    sent_again = True
                    process.send_signal(signal.SIGINT)
        finally:
            signal.signal(signal.SIGINT, before)
    if pressed and not process.returncode:
        raise KeyboardInterrupt
    return process.returncode, answer or b""


def _read(answer: bytes, exchange: Path | None, there: frozenset[str]) -> WorkflowState:
    """Read the child's answer, strictly. Raises ``DocumentError``."""
    value = parse_json(answer)
    form = {
        "ok": bool,
        "half": str,
        "crossing": str,
        "made_here": dict,
        "sign_by_ms": int,
        "unsent": bool,
        "tasks": list,
    }
    read_members(value, "workflow", form)
    read_matching(value["half"], "workflow.half", re.compile("online|offline"), "a machine")
    read_matching(value["crossing"], "workflow.crossing", CROSSING_NAME, "a ceremony's folder")
    made = read_members(value["made_here"], "workflow.made_here", {}, dict.fromkeys(CHECKPOINTS, str))
    for name in made:
        read_matching(made[name], f"workflow.made_here.{name}", HEX_32, "a fingerprint in hex")
    tasks = [read_task(each) for each in read_list(value["tasks"], "workflow.tasks", TASKS_AT_MOST)]
    crossing = exchange and exchange / value["crossing"]
    return WorkflowState(value["half"], crossing, made, tasks, value["sign_by_ms"], value["unsent"], there)
