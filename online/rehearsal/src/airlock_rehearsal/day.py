"""The day, rehearsed: ``ceremony run`` on two machines, in two terminals, with the questions and pages of the real day."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import sleep
from typing import NamedTuple

from airlock_rehearsal.machines import ANSWERS, MACHINES, RehearsalFailed, ceremonies_now, fetching
from airlock_rehearsal.processes import software_ledger
from airlock_rehearsal.scenarios import DELEGATE_PATH
from airlock_shared.cli.ceremony.status import word_lines
from airlock_shared.cli.terminal import LEDGER_HERE, ask, say, show, show_all
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input, write_new
from airlock_shared.plan.toml_positions import parse_written_plan

LED = ("market-close", "delegate-key", "referral-code")
"""Which ceremonies a day can have: those that three people lead."""

SECOND = "air-gapped-machine"
"""The script in the rehearsal's folder that a second terminal runs."""
_LOST = "ended"
"""An empty file in the rehearsal's folder, once the first terminal was closed before the end."""
_PAPERS = """
# The papers
Signer and witness each write down two papers: these words, numbered 1 to 24. In
earnest they do so days before, each on a machine of their own."""
_WORDS = """
# The second terminal
It is the air-gapped machine, and shows the Ledger's screens. Open it, and give
this command there:

  sh {second}

# This terminal
It is the online machine. The services run in it: when it is closed, or Ctrl-C
pressed where it waits for Enter, this rehearsal is lost. Begin another.
"""
_CAMERAS = """Documents cross by codes here. Nobody photographs them: the cameras are
simulated, and the pictures of each page come into the other machine's folder
by themselves."""
_PICTURES = "pictures"
_LOOKS_S = 0.5


class Day(NamedTuple):
    """A rehearsed day: a folder with one for each machine, both programs, the model, what is led, and how it crosses."""

    folder: Path
    online: Path
    offline: Path
    model: str
    ceremony: str
    channel: str

    def machine(self, half: str, *words: str) -> int:
        """Run a command of a machine in this terminal, and return its exit code; Ctrl-C is that command's alone."""
        program = self.online if half == "online" else self.offline
        place = self.folder / half
        environment = {**os.environ, LEDGER_HERE: "1"}
        with _left_to_the_command():
            return subprocess.run(  # noqa: S603
                [program, "--home", place / "home", *words], cwd=place, env=environment, check=False
            ).returncode

    @property
    def plan(self) -> str:
        """The name of the plan in each machine's folder."""
        return f"{self.ceremony}.plan.toml"

    def lead(self, half: str, *words: str) -> int:
        """Lead a machine's people through the ceremony, from where it stands; return the exit code."""
        crossing = ("--qr", _PICTURES) if self.channel == "qr" else ("--exchange", str(self.folder / "stick"))
        return self.machine(half, "ceremony", "run", self.plan, *crossing, *words)


def begin(day: Day, urls: dict[str, str]) -> None:
    """Make both machines' folders and the plan, show the papers, and lead the people of the online machine to the end."""
    for place in (f"online/{_PICTURES}", f"offline/{_PICTURES}", "stick"):
        (day.folder / place).mkdir(parents=True)
    if code := day.machine("online", *fetching(urls)):
        raise RehearsalFailed("the deployment was not fetched", code)
    plans = {each.id: each.plan for each in ceremonies_now(led=True)}
    for half in MACHINES:
        write_new(day.folder / half / day.plan, plans[day.ceremony].encode())
    words = [
        Path(sys.argv[0]).absolute(),
        "rehearse",
        "air-gapped",
        day.folder,
        "--model",
        day.model,
        "--ceremony",
        day.ceremony,
        "--channel",
        day.channel,
        "--offline-command",
        day.offline,
    ]
    second = day.folder / SECOND
    write_new(second, f"#!/bin/sh\nexec {shlex.join(map(str, words))}\n".encode())
    if day.ceremony == "delegate-key":
        _bring_proof(day)
    day.machine("online", "plan", "show", day.plan)
    show(_PAPERS)
    plan, deployment = (read_input(day.folder / "online" / name) for name in (day.plan, "deployment.json"))
    show_all(word_lines("plan", parse_written_plan(plan).fingerprint))
    show_all(word_lines("deployment", parse_deployment(deployment).fingerprint))
    try:
        ask("Press Enter when both papers are written: ", piped=True)
        show(_WORDS.format(second=second))
        if day.channel == "qr":
            show(_CAMERAS)
            Thread(target=_photograph, args=(day,), daemon=True).start()
        _to_the_end(lambda: day.lead("online"))
    except BaseException:
        (day.folder / _LOST).touch()
        raise


def join(day: Day) -> None:
    """Lead the people of the air-gapped machine to the end, with the software Ledger's screens among what they see."""

    def go_on() -> int:
        if (day.folder / _LOST).exists():
            raise UsageError(
                "the online machine's terminal was closed, and with it the services: this rehearsal is lost",
                do=f"begin another one there: make rehearse CEREMONY={day.ceremony}",
            )
        with software_ledger(day.offline, ["--model", day.model, "--ask"]) as port:
            return day.lead("offline", "--emulator", str(port), "--model", day.model)

    _to_the_end(go_on)


def _photograph(day: Day) -> None:
    """Play both cameras: photograph each page of codes that is new, and put the pictures before the other machine."""
    done: set[Path] = set()
    while True:
        sleep(_LOOKS_S)
        for page in sorted(
            day.folder.glob("*/*.ceremony/codes/hand-over-*.html"), key=lambda page: page.stat().st_mtime, reverse=True
        ):
            document, taken = page.with_suffix(".json"), day.folder / "camera" / page.stem
            words = ("--home", day.folder / "camera" / "home", "show", document, "--as", "png", "-o", taken)
            if page not in done and subprocess.run([day.online, *words], capture_output=True, check=False).returncode:  # noqa: S603 (ours)
                continue  # it is still being written
            done.add(page)
            other = "offline" if page.is_relative_to(day.folder / "online") else "online"
            place = day.folder / other / _PICTURES / min(json.loads(document.read_text())["files"]).partition(".")[0]
            if not place.exists():  # or somebody has removed what lay there
                shutil.copytree(taken, taken.with_suffix(".copy")).rename(place)


def _bring_proof(day: Day) -> None:
    """Bring the proof of the delegate's key, from the desk that holds it: another machine, with a Ledger of its own."""
    desk = day.folder / "desk"
    proof = day.folder / "online" / day.plan.replace(".toml", ".ceremony") / "proofs.json"
    for folder in (desk, proof.parent):
        folder.mkdir()
    with software_ledger(day.offline, ["--model", day.model]) as port:
        asked = ("--plan", day.plan, "--path", DELEGATE_PATH, "-o", proof, "--emulator", port)
        for words in (("trust", "deployment.json"), ("delegate", "prove", *asked)):
            command = [str(word) for word in (day.offline, "--home", desk / "home", *words)]
            ended = subprocess.run(  # noqa: S603  (our own programs)
                command, input=ANSWERS, text=True, cwd=day.folder / "online", capture_output=True, check=False
            )
            if ended.returncode:
                raise RehearsalFailed(ended.stderr, ended.returncode)


def _to_the_end(work: Callable[[], int]) -> None:
    """Do the work until it succeeds; between two tries a person presses Enter."""
    while code := work():
        say(f"It ended with exit code {code}. Enter goes on with the same command; Ctrl-C leaves this terminal.")
        if not sys.stdin.readline():
            raise RehearsalFailed("the rehearsal was not led to its end", code)


@contextmanager
def _left_to_the_command() -> Iterator[None]:
    """Leave Ctrl-C to the command in the foreground; a handler, since a child inherits what is ignored."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
