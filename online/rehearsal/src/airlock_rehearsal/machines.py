"""Both machines of a rehearsal: a folder for each, their commands run as typed there, and documents that cross the gap."""

from __future__ import annotations

import re
import shutil
import textwrap
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
from airlock_shared.cli.terminal import show
from airlock_shared.errors import AirlockError, ExitCode
from airlock_shared.host.files import make_folder
from airlock_shared.qr.scan import texts_in
from airlock_shared.text.safe import WIDTH
from airlock_shared.ur.decode import Decoder

ANSWERS = "Yes\n" * 8
_PLACES = re.compile(r"word (\d+) and word (\d+): $")


class Play(NamedTuple):
    """What a rehearsal is played on: the folder, both programs, the services' addresses, and the Ledger.

    ``ledger_port`` gives the Ledger's port, after its owner has switched Blind signing on (True) or off. ``channel`` is how
    documents cross the gap: as a ``file``, or by QR codes (``qr``). ``on_chain`` tells what happened on the chain since
    it was last asked, as labels and texts.
    """

    folder: Path
    online: Path
    offline: Path
    urls: dict[str, str]
    ledger_port: Callable[[bool], int]
    model: str
    channel: str
    on_chain: Callable[[], tuple[tuple[str, str], ...]]

    def path(self, half: str, name: str) -> str:
        """Return where a machine has a document."""
        return str(self.folder / half / name)

    def ledger(self, *, blind: bool = False) -> tuple[str, str]:
        """Return the words that name the software Ledger, with Blind signing on or off."""
        return ("--emulator", str(self.ledger_port(blind)))

    def run(self, half: str, *words: str, reading: str = "") -> str:
        """Run a command of a machine, whose people read another screen's words, and return what its screen showed.

        Raises ``RehearsalFailed``.
        """
        program = self.online if half == "online" else self.offline
        shown = [program.name, *(Path(word).name if word.startswith(str(self.folder)) else word for word in words)]
        show(
            "\n"
            + textwrap.fill(
                f"--- {MACHINES[half]} $ {' '.join(shown)}",
                WIDTH,
                subsequent_indent="      ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
        answers = partial(_two_words, reading) if reading else ANSWERS
        screen, code = run_command([program, "--home", self.path(half, "home"), *words], answers)
        if code != 0:
            raise RehearsalFailed(f"{shown[0]} {shown[1]} ended with exit code {code}", code)
        return screen

    def carry(self, name: str, source: str, target: str) -> str:
        """Carry a document across the gap, by QR codes or as a USB stick would; return its path on the other machine."""
        destination = self.path(target, name)
        if self.channel == "qr":
            codes, pictures = self.path(source, f"{name}.codes"), self.path(target, f"{name}.pictures")
            shown = self.run(source, "show", self.path(source, name), "--as", "png", "-o", codes)
            played, seen = photograph(Path(codes), Path(pictures), seed=name)
            show(f"\n=== {name} crosses the gap by QR codes: {source} -> {target}, {played} frames played, {seen} seen")
            read = self.run(target, "scan", pictures, "-o", self.path(target, name))
            self.compare("document's", "document", shown, read)
        else:
            shutil.copyfile(self.path(source, name), destination)
            show(f"\n=== {name} crosses the gap: {source} -> {target}")
        return destination

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


def fetching(urls: dict[str, str], document: str) -> tuple[str, ...]:
    """Return the words of the command that fetches the rehearsal's deployment."""
    return ("deployment", "fetch", "--name", _DEPLOYMENT, *service_words(urls), "-o", document)


def ceremonies_now(*, led: bool = False) -> list[Ceremony]:
    """Return the ceremonies for the rehearsal's deployment, with times from now on."""
    return ceremonies(_DEPLOYMENT, datetime.now(UTC), trading_storage=CONTRACTS[STORAGE], led=led)


class RehearsalFailed(AirlockError):
    """A command of the rehearsal ended otherwise than it should; its exit code is the rehearsal's."""

    def __init__(self, what: str, code: int) -> None:
        super().__init__(what, do="read its messages above; the folder is kept unchanged")
        known = [known for known in ExitCode if known == code and code != 0]
        self.exit_code = known[0] if known else ExitCode.UNKNOWN


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
