"""Both machines of a rehearsal: a folder for each, their commands run as typed there, and documents that cross the gap."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from PIL import Image

from airlock_rehearsal.chain.evm import CONTRACTS, STORAGE
from airlock_rehearsal.processes import run_command
from airlock_rehearsal.scenarios import Ceremony, ceremonies, service_words
from airlock_shared.cli.terminal import rows, show, show_all
from airlock_shared.errors import AirlockError, ExitCode
from airlock_shared.host.files import make_folder
from airlock_shared.qr.scan import texts_in
from airlock_shared.ur.decode import Decoder

ANSWERS = "Yes\n" * 8
_PLACES = re.compile(r"word (\d+) and word (\d+): $")


class Play(NamedTuple):
    """What a rehearsal is played on: the folder, both programs, the services' addresses, and the Ledger.

    ``ledger_port`` gives the Ledger's port, after its owner has switched Blind signing on (True) or off. ``channel`` is how
    documents cross the gap: as a ``file``, or by QR codes (``qr``).
    """

    folder: Path
    online: Path
    offline: Path
    urls: dict[str, str]
    ledger_port: Callable[[bool], int]
    model: str
    channel: str

    def ledger(self, *, blind: bool = False) -> tuple[str, str]:
        """Return the words that name the software Ledger, with Blind signing on or off."""
        return ("--emulator", str(self.ledger_port(blind)))

    def run(self, half: str, *words: str, reading: str = "") -> str:
        """Run a command in a machine's folder and return what its screen showed; its people read another screen's words.

        Raises ``RehearsalFailed``.
        """
        program = self.online if half == "online" else self.offline
        show_all(["", *rows(f"--- {MACHINES[half]} $ ", " ".join((program.name, *words)))])
        answers = partial(_two_words, reading) if reading else ANSWERS
        screen, code = run_command([program, "--home", "home", *words], answers, self.folder / half)
        if code != 0:
            raise RehearsalFailed(f"{program.name} {words[0]} ended with exit code {code}", code)
        return screen

    def carry(self, name: str, source: str, target: str) -> None:
        """Carry a document across the gap, by QR codes or as a USB stick would."""
        if self.channel == "qr":
            codes, pictures = f"{name}.codes", f"{name}.pictures"
            shown = self.run(source, "show", name, "--as", "png", "-o", codes)
            played, seen = photograph(self.folder / source / codes, self.folder / target / pictures, seed=name)
            show(f"\n=== {name} crosses the gap by QR codes: {source} -> {target}, {played} frames played, {seen} seen")
            self.compare("document's", "document", shown, self.run(target, "scan", pictures, "-o", name))
        else:
            shutil.copyfile(self.folder / source / name, self.folder / target / name)
            show(f"\n=== {name} crosses the gap: {source} -> {target}")

    def compare(self, what: str, label: str, first: str, second: str) -> None:
        """Say that two screens show the same fingerprint. Raises ``RehearsalFailed`` where they do not."""
        if not fingerprint(first, label) == fingerprint(second, label) != "":
            raise RehearsalFailed(f"the {what} fingerprint is NOT EQUAL on both screens: report it", ExitCode.REFUSED)
        show(f"\n=== the {what} fingerprint is EQUAL on both screens")


ROUNDS = 2  # how often the camera sees the whole cycle, at least
MOST_ROUNDS = 20  # then somebody would look what is wrong
LEAST_FRAMES = 6  # of a still code, too, a camera takes more than one picture
LOST = 0.3  # of all frames, each time they are shown


def photograph(codes: Path, pictures: Path, *, seed: str) -> tuple[int, int]:
    """Keep what a camera sees of a folder's frames in a new folder; return how many were shown, and how many were seen.

    As people do, it holds the camera until the transfer is whole. The same seed and frames give the same pictures.
    """
    rng = Random(seed)  # noqa: S311  (a simulation)
    cycle, decoder = sorted(codes.glob("*.png")), Decoder()
    make_folder(pictures)
    shown = seen = 0
    for frame in cycle * MOST_ROUNDS:
        if shown >= max(ROUNDS * len(cycle), LEAST_FRAMES) and decoder.result is not None:
            break
        shown += 1
        if rng.random() < LOST:
            continue
        seen += 1
        shutil.copyfile(frame, pictures / f"picture-{seen:04}.png")
        if decoder.result is None:
            with Image.open(frame) as code:
                for text in texts_in(code):
                    decoder.receive(text)
    return shown, seen


MACHINES = {"online": "ONLINE MACHINE", "offline": "AIR-GAPPED MACHINE"}
_DEPLOYMENT = "rehearsal"


def fetching(urls: dict[str, str]) -> tuple[str, ...]:
    """Return the words of the command that fetches the rehearsal's deployment."""
    return ("deployment", "fetch", "--name", _DEPLOYMENT, *service_words(urls), "-o", "deployment.json")


def ceremonies_now(*, led: bool = False) -> list[Ceremony]:
    """Return the ceremonies for the rehearsal's deployment, with times from now on."""
    return ceremonies(_DEPLOYMENT, datetime.now(UTC), trading_storage=CONTRACTS[STORAGE], led=led)


class RehearsalFailed(AirlockError):
    """A command of the rehearsal ended otherwise than it should; its exit code is the rehearsal's."""

    def __init__(self, what: str, code: int) -> None:
        super().__init__(what, do="read its messages above; the folder is kept unchanged")
        self.exit_code = next((known for known in ExitCode if known == code), ExitCode.UNKNOWN)


def _two_words(reading: str, screen: str) -> str:
    """Return what somebody types who reads the words on the other machine's screen; empty where they are not asked for."""
    asked = _PLACES.search(screen)
    if asked is None:
        return ""
    words = [word for row in reading.splitlines()[-3:] for word in row.split()[1::2]]  # each with its number before it
    return " ".join(words[int(at) - 1] for at in asked.groups()) + "\n"


def fingerprint(screen: str, label: str = "requests") -> str:
    """Return the fingerprint that a screen shows of a document, in hex and words; empty when it shows none."""
    found = re.search(label + r" fingerprint\n((?:  .+\n){5})", screen.replace("\r\n", "\n"))
    return found[1] if found else ""
