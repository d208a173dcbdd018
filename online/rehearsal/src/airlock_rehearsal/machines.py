"""Both machines of a rehearsal: a folder for each, their commands run as typed there, and documents that cross the gap."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from airlock_rehearsal.processes import Ended, run_command
from airlock_shared.errors import AirlockError, ExitCode
from airlock_shared.text.safe import WIDTH

ANSWERS = "Yes\n" * 8
_PLACES = re.compile(r"word (\d+) and word (\d+): $")


class Play(NamedTuple):
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
    say: Callable[[str], None]
    channel: str
    on_chain: Callable[[], tuple[tuple[str, str], ...]]


class RehearsalFailed(AirlockError):
    """A command of the rehearsal ended otherwise than it should; its exit code is the rehearsal's."""

    def __init__(self, what: str, code: int) -> None:
        super().__init__(what, do="read its messages above; the folder is kept unchanged")
        known = [known for known in ExitCode if known == code and code != 0]
        self.exit_code = known[0] if known else ExitCode.UNKNOWN


def online(play: Play, *words: str, reading: str = "") -> Ended:
    """Run a command on the online machine, whose people read another screen's words. Raises ``RehearsalFailed``."""
    return _run(play, "ONLINE MACHINE", [play.online, "--home", play.folder / "online" / "home", *words], reading)


def offline(play: Play, *words: str) -> Ended:
    """Run a command on the air-gapped machine. Raises ``RehearsalFailed``."""
    return _run(play, "AIR-GAPPED MACHINE", [play.offline, "--home", play.folder / "offline" / "home", *words])


RUN = {"online": online, "offline": offline}


def _run(play: Play, machine: str, words: list[str | Path], reading: str = "") -> Ended:
    shown = [Path(words[0]).name, *(_short(play, str(word)) for word in words[3:])]
    play.say("\n" + textwrap.fill(f"--- {machine} $ {' '.join(shown)}", WIDTH, subsequent_indent="      ",
                                   break_long_words=False, break_on_hyphens=False))  # fmt: skip
    answers = partial(_two_words, reading) if reading else ANSWERS
    ended = run_command(words, answers)
    if ended.code != 0:
        raise RehearsalFailed(f"{shown[0]} {shown[1]} ended with exit code {ended.code}", ended.code)
    return ended


def _two_words(reading: str, screen: str) -> str:
    """Return what somebody types who reads the words on the other machine's screen; empty where they are not asked for."""
    asked = _PLACES.search(screen)
    if asked is None:
        return ""
    words = [word for row in reading.splitlines()[-2:] for word in row.split()[1:]]  # each row begins with a number
    return " ".join(words[int(at) - 1] for at in asked.groups()) + "\n"


def _short(play: Play, word: str) -> str:
    """Return a word of a command line as an operator on that machine would type it."""
    return Path(word).name if word.startswith(str(play.folder)) else word


def carry(play: Play, name: str, source: str, target: str) -> str:
    """Carry a document across the gap, by light or as a USB stick would; return its path on the other machine."""
    if play.channel == "qr":
        return _carry_by_light(play, name, source, target)
    destination = play.folder / target / name
    shutil.copyfile(play.folder / source / name, destination)
    play.say(f"\n=== {name} crosses the gap: {source} -> {target}")
    return str(destination)


def _carry_by_light(play: Play, name: str, source: str, target: str) -> str:
    """Show a document as codes on one machine, photograph them badly, and scan the pictures on the other."""
    from airlock_rehearsal.camera import photograph

    codes, pictures = play.folder / source / f"{name}.codes", play.folder / target / f"{name}.pictures"
    destination = play.folder / target / name
    shown = RUN[source](play, "show", str(play.folder / source / name), "--as", "png", "-o", str(codes))
    played, seen = photograph(codes, pictures, seed=name)
    play.say(f"\n=== {name} crosses the gap by light: {source} -> {target}, {played} frames played, {seen} seen")
    read = RUN[target](play, "scan", str(pictures), "-o", str(destination))
    same = fingerprint(shown.screen, "document") == fingerprint(read.screen, "document") != ""
    play.say(f"\n=== the document's fingerprint is {'EQUAL' if same else 'NOT EQUAL'} on both screens")
    if not same:
        raise RehearsalFailed(f"{name} is a different document on the other machine", ExitCode.REFUSED)
    return str(destination)


def ledger(play: Play, *, blind: bool = False) -> tuple[str, str]:
    """Return the words that name the software Ledger, with Blind signing on or off."""
    return ("--emulator", str(play.ledger_port(blind)))


def fingerprint(screen: str, label: str = "requests") -> str:
    """Return the fingerprint that a screen shows of a document, in hex and words; empty when it shows none."""
    found = re.search(label + r" fingerprint\n((?:  .+\n){4})", screen.replace("\r\n", "\n"))
    return found[1] if found else ""
