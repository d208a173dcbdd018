"""A plan of one step, two requests documents for it, and a home on which commands run as the program runs them."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from airlock_offline import device_connection
from airlock_offline.cli import preflight, sign, transcript
from airlock_offline.home import OfflineHome
from airlock_offline.installation import examine_installation
from airlock_offline.preflight import page
from airlock_offline.signing.sign_item import SigningDesk
from airlock_shared.cli import terminal
from airlock_shared.cli.ceremony import commands as ceremony
from airlock_shared.cli.ceremony import compare
from airlock_shared.cli.ceremony.status import CeremonyMachine
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.host.files import MachineProbes
from airlock_shared.host.machine import library_lines
from airlock_shared.units import utc_text
from airlock_software_ledger.app import SoftwareLedger
from offline.test_signing import SEED, SameProcess
from shared.make_payloads import NOW_MS
from shared.world import good, plan_text_of, rehearsal_deployment, rehearsed, renonce, to_bytes

STEPS = ("open", "take-profit")  # with a deadline, and without one
PEOPLE = ("signer=Ada Lovelace", "facilitator=Grace Hopper", "witness=Mary Somerville")
WATCH = utc_text(NOW_MS).replace(" UTC", "Z").replace(" ", "T")


def write_documents(folder: Path, step: str) -> None:
    """Write the plan and two requests documents for its step, of which the second has another nonce."""
    (folder / "deployment.json").write_bytes(to_bytes(rehearsal_deployment()))
    plan = plan_text_of(step)
    (folder / "plan.toml").write_text(plan)
    for name, nonce in (("one", "1001"), ("two", "1002")):
        document = rehearsed(good(step), plan)
        renonce(document["requests"][0], nonce)
        (folder / f"{name}.json").write_bytes(to_bytes(document))


class Room(NamedTuple):
    """The folder, and the commands on it."""

    folder: Path

    @property
    def state(self) -> OfflineHome:
        return OfflineHome(self.folder / "home")

    def run(self, command: Any, *words: object, obj: object = None) -> int:
        """Run a command as the program does, and return its exit code."""
        code = command.main([str(word) for word in words], obj=obj or self.state, standalone_mode=False)
        return int(code or 0)

    def run_to_end(self, name: str) -> int:
        return int(self.commands()[f"sign {name}"]() or 0)  # type: ignore[call-overload, no-any-return]

    def place(self) -> CeremonyMachine:
        deployment = parse_deployment((self.folder / "deployment.json").read_bytes())
        return CeremonyMachine(
            "offline", self.state.transcript, lambda: NOW_MS, lambda _name: deployment.fingerprint, lambda: True
        )

    def commands(self) -> dict[str, Callable[[], object]]:
        """Return the five commands that run beside each other."""
        plan, device = ("--plan", self.folder / "plan.toml"), ("--emulator", 1)

        def signing(name: str) -> Callable[[], object]:
            words = (self.folder / f"{name}.json", *plan, "-o", self.folder / f"{name}.signed.json", *device)
            return lambda: self.run(sign.sign, *words)

        return {
            "sign one": signing("one"),
            "sign two": signing("two"),
            "seal": lambda: self.run(transcript.seal_transcript, *plan, "--signer", "treasury", *device),
            "compare": lambda: self.run(compare.compare, "plan", *plan, "--by", "witness", obj=self.place()),
            "preflight": lambda: self.run(preflight.preflight, "--time", WATCH, "--uncertainty", 60, *device),
        }


def stop_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock at the vectors' time; leave the disk's cache, the kit's files and another process out."""
    for module in (sign, transcript, preflight):
        monkeypatch.setattr(module, "now_ms", lambda: NOW_MS)
    for module in (sign, preflight):
        monkeypatch.setattr(module, "uptime", lambda: None)
    found, libraries = examine_installation(), list(library_lines(MachineProbes()))
    monkeypatch.setattr(preflight, "examine_installation", lambda: found)
    monkeypatch.setattr(page, "library_lines", lambda *_: libraries)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    monkeypatch.setattr(sign, "SigningDesk", partial(SigningDesk, opinion=SameProcess))


def answer_with(monkeypatch: pytest.MonkeyPatch, ask: Callable[[str], object], device: Callable[[], object]) -> None:
    """Have every question answered by ``ask``, which returns for a Yes, and every Ledger opened by ``device``."""

    def answered(question: str, *, piped: bool) -> object:
        return ask(question)

    def typed(question: str, *, piped: bool) -> str:
        ask(question)
        return "Yes"

    for module in (sign, transcript, ceremony):
        monkeypatch.setattr(module, "ask_yes", answered)
    monkeypatch.setattr(terminal, "ask", typed)
    monkeypatch.setattr(device_connection.Device, "_open", lambda _device: device())


def set_up(folder: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the folder: documents written, deployment pinned, the time stated, the ceremony begun."""
    answer_with(monkeypatch, lambda _question: None, lambda: SoftwareLedger(seed=SEED))
    room = Room(folder)
    folder.mkdir()
    write_documents(folder, step)
    data = (folder / "deployment.json").read_bytes()
    room.state.pin(parse_deployment(data), data, NOW_MS)
    assert room.commands()["preflight"]() == 0
    roles = [word for person in PEOPLE for word in ("--role", person)]
    assert room.run(ceremony.begin, "--plan", folder / "plan.toml", *roles, obj=room.place()) == 0
    return folder


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    stop_the_clock(monkeypatch)
    return Room(set_up(tmp_path / "room", "open", monkeypatch))
