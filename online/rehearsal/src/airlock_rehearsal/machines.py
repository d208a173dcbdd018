"""Both machines of a rehearsal: a folder for each, their commands run as typed there, and documents that cross the gap."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from airlock_rehearsal.processes import Ended, run_command
from airlock_shared.errors import AirlockError, ExitCode

_ANSWERS = "Yes\n" * 8


class Stage(NamedTuple):
    """What a rehearsal is played on: the folder, both programs, the services' addresses, and the Ledger.

    ``ledger_port`` gives the Ledger's port, after its owner has switched Blind signing on (True) or off. ``channel`` is how
    documents cross the gap: as a ``file``, or by light (``qr``). ``on_chain`` tells what happened on the chain since it was
    last asked, as labels and texts.
    """

    folder: Path
    online: Path
    offline: Path
    urls: dict[str, str]
    ledger_port: Callable[[bool], int]
    model: str
    unattended: bool
    say: Callable[[str], None]
    channel: str
    on_chain: Callable[[], tuple[tuple[str, str], ...]]


class RehearsalFailed(AirlockError):
    """A command of the rehearsal ended otherwise than it should; its exit code is the rehearsal's."""

    def __init__(self, what: str, code: int) -> None:
        super().__init__(what, do="read what it said above; the folder is kept as it is")
        known = [known for known in ExitCode if known == code and code != 0]
        self.exit_code = known[0] if known else ExitCode.UNKNOWN


def online(stage: Stage, *words: str) -> Ended:
    """Run a command on the online machine. Raises ``RehearsalFailed``."""
    return _run(stage, "ONLINE MACHINE", [stage.online, "--home", stage.folder / "online" / "home", *words])


def offline(stage: Stage, *words: str) -> Ended:
    """Run a command on the air-gapped machine. Raises ``RehearsalFailed``."""
    return _run(stage, "AIR-GAPPED MACHINE", [stage.offline, "--home", stage.folder / "offline" / "home", *words])


def _run(stage: Stage, machine: str, words: list[str | Path]) -> Ended:
    shown = [Path(words[0]).name, *(_short(stage, str(word)) for word in words[3:])]
    stage.say("\n" + textwrap.fill(f"--- {machine} $ {' '.join(shown)}", 80, subsequent_indent="      ",
                                   break_long_words=False, break_on_hyphens=False))  # fmt: skip
    ended = run_command(words, _ANSWERS if stage.unattended else None)
    if ended.code != 0:
        raise RehearsalFailed(f"{shown[0]} {shown[1]} ended with exit code {ended.code}", ended.code)
    return ended


def _short(stage: Stage, word: str) -> str:
    """Return a word of a command line as an operator on that machine would type it."""
    return Path(word).name if word.startswith(str(stage.folder)) else word


def carry(stage: Stage, name: str, source: str, target: str) -> str:
    """Carry a document across the gap, by light or as a USB stick would; return its path on the other machine."""
    if stage.channel == "qr":
        return _carry_by_light(stage, name, source, target)
    destination = stage.folder / target / name
    shutil.copyfile(stage.folder / source / name, destination)
    stage.say(f"\n=== {name} crosses the gap: {source} -> {target}")
    return str(destination)


def _carry_by_light(stage: Stage, name: str, source: str, target: str) -> str:
    """Show a document as codes on one machine, photograph them badly, and scan the pictures on the other."""
    from airlock_rehearsal.camera import photograph

    run = {"online": online, "offline": offline}
    codes, pictures = stage.folder / source / f"{name}.codes", stage.folder / target / f"{name}.pictures"
    destination = stage.folder / target / name
    shown = run[source](stage, "show", str(stage.folder / source / name), "--as", "png", "-o", str(codes))
    played, seen = photograph(codes, pictures, seed=name)
    stage.say(f"\n=== {name} crosses the gap by light: {source} -> {target}, {played} frames played, {seen} seen")
    read = run[target](stage, "scan", str(pictures), "-o", str(destination))
    same = fingerprint(shown.screen, "document") == fingerprint(read.screen, "document") != ""
    stage.say(f"\n=== the document's fingerprint is {'EQUAL' if same else 'NOT EQUAL'} on both screens")
    if not same:
        raise RehearsalFailed(f"{name} is another document on the other machine", ExitCode.REFUSED)
    return str(destination)


def ledger(stage: Stage, *, blind: bool = False) -> tuple[str, str]:
    """Return the words that name the software Ledger, with Blind signing on or off."""
    return ("--emulator", str(stage.ledger_port(blind)))


def fingerprint(screen: str, label: str = "requests") -> str:
    """Return the fingerprint that a screen shows of a document, in hex and words; empty when it shows none."""
    found = re.search(label + r" fingerprint\n((?:  .+\n){4})", screen.replace("\r\n", "\n"))
    return found[1] if found else ""
