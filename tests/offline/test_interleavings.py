"""Two `sign`, a `seal`, a `confirm` and a `preflight` on one home, in 1,000 orders: always one signature for the step."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from airlock_offline import device_connection
from airlock_offline.cli import preflight, sign, transcript
from airlock_offline.emulator.app import SoftwareLedger
from airlock_offline.home import OfflineHome
from airlock_offline.installation.manifest import examine_installation
from airlock_offline.signing.account_lock import account_lock
from airlock_shared.ceremony.seals import check_seals
from airlock_shared.checks.nonces import LATE, SIGNED, SIGNING
from airlock_shared.cli.ceremony import commands as ceremony
from airlock_shared.cli.ceremony.context import Place
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.transcript import Entry
from airlock_shared.host import files, transcript_file
from airlock_shared.units import utc_text
from offline.scheduler import Actor, Scheduler
from offline.test_signing import SEED
from shared.make_payloads import NOW_MS, fingerprint, plan_fingerprint, seal
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXT, good, patched, to_bytes

INTERLEAVINGS = 1000
STEPS = ("open", "take-profit")  # with a deadline, and without one
PEOPLE = ("signer=Ada Lovelace", "facilitator=Grace Hopper", "witness=Mary Somerville")
WATCH = utc_text(NOW_MS).replace(" UTC", "Z").replace(" ", "T")


def plan_of(step: str) -> str:
    """Return the vectors' plan with one step alone."""
    head, *steps = PLAN_TEXT.split("[[steps]]\n")
    [wanted] = [text for text in steps if f'id = "{step}"\n' in text]
    return f"{head}[[steps]]\n{wanted}"


def write_documents(folder: Path, step: str) -> None:
    """Write the plan and two requests documents for its step, of which the second has another nonce."""
    deployment = patched(json.loads(DEPLOYMENT_TEXT), [{"at": "rehearsal", "set": True}])
    (folder / "deployment.json").write_bytes(to_bytes(deployment))
    plan = plan_of(step)
    (folder / "plan.toml").write_text(plan)
    for name, nonce in (("one", "1001"), ("two", "1002")):
        document = good(step)
        message = document["requests"][0]["payload"]["message"]
        message["_nonce" if "_nonce" in message else "nonce"] = nonce
        seal(document["requests"][0]["payload"])
        document["header"] |= {
            "plan": plan_fingerprint(plan), "deployment": fingerprint(deployment), "rehearsal": True,
        }  # fmt: skip
        (folder / f"{name}.json").write_bytes(to_bytes(document))


class Room(NamedTuple):
    """A folder with the documents and a home, and what schedules the commands on it."""

    folder: Path
    scheduler: Scheduler

    @property
    def state(self) -> OfflineHome:
        return OfflineHome(self.folder / "home")

    def run(self, command: Any, *words: object, obj: object = None) -> int:
        """Run a command as the program does, and return its exit code."""
        code = command.main([str(word) for word in words], obj=obj or self.state, standalone_mode=False)
        return int(code or 0)

    def place(self) -> Place:
        deployment = parse_deployment((self.folder / "deployment.json").read_bytes())
        return Place("offline", self.state.transcript, lambda: NOW_MS, lambda _name: deployment.fingerprint)

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
            "confirm": lambda: self.run(ceremony.confirm, "plan", *plan, "--by", "witness", obj=self.place()),
            "preflight": lambda: self.run(preflight.preflight, "--time", WATCH, "--uncertainty", 60, *device),
        }


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock at the vectors' time, and leave the disk's cache and the kit's files out."""
    for module in (sign, transcript, preflight):
        monkeypatch.setattr(module, "now_ms", lambda: NOW_MS)
    for module in (sign, preflight):
        monkeypatch.setattr(module, "uptime", lambda: None)
    found = examine_installation()
    monkeypatch.setattr(preflight, "examine_installation", lambda: found)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch, clock: None) -> Callable[[Scheduler], None]:
    """Return what has a scheduler draw at every question, lock, append, reading of the transcript, and APDU."""
    append, entries = files.append_line, transcript_file.TranscriptFile.entries

    def watch(scheduler: Scheduler) -> None:
        pause = scheduler.pause

        class Ledger:
            """A Ledger with the plan's seed; each command has one, so that only Airlock keeps them apart."""

            def __init__(self) -> None:
                self.device = SoftwareLedger(seed=SEED)

            def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
                pause("asks the Ledger")
                answer = self.device.exchange(apdu, person=person)
                if person:
                    pause("is answered by the Ledger")
                return answer

            def close(self) -> None:
                self.device.close()

        def appended(path: Path, line: bytes) -> None:
            pause("appends")
            append(path, line)
            pause("has appended")

        def read(file: transcript_file.TranscriptFile) -> list[Entry]:
            pause("reads the transcript")
            return entries(file)

        locks = SimpleNamespace(flock=lambda descriptor, _: scheduler.lock(descriptor), LOCK_EX=fcntl.LOCK_EX)
        monkeypatch.setattr(transcript_file, "append_line", appended)
        monkeypatch.setattr(transcript_file.TranscriptFile, "entries", read)
        monkeypatch.setattr(transcript_file, "fcntl", locks)
        monkeypatch.setattr(sign, "account_lock", partial(account_lock, wait=scheduler.lock))
        monkeypatch.setattr(device_connection.Device, "_open", lambda _device: Ledger())
        for module in (sign, transcript, ceremony):
            monkeypatch.setattr(module, "ask_yes", lambda question: pause(f"is asked: {question}"))

    return watch


@pytest.fixture
def templates(tmp_path: Path, clock: None, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Return a folder for each step: pinned, the time stated, the ceremony begun."""
    monkeypatch.setattr(ceremony, "ask_yes", lambda _question: None)
    monkeypatch.setattr(device_connection.Device, "_open", lambda _device: SoftwareLedger(seed=SEED))
    folders = {}
    for step in STEPS:
        room = Room(tmp_path / step, Scheduler(0))
        room.folder.mkdir()
        write_documents(room.folder, step)
        data = (room.folder / "deployment.json").read_bytes()
        room.state.pin(parse_deployment(data), data, NOW_MS)
        assert room.commands()["preflight"]() == 0
        roles = [word for person in PEOPLE for word in ("--role", person)]
        assert room.run(ceremony.begin, "--plan", room.folder / "plan.toml", *roles, obj=room.place()) == 0
        folders[step] = room.folder
    return folders


def require_one(room: Room, actors: dict[str, Actor]) -> None:
    """Require that the step was signed once, that one document has it, and that the transcript and its seals hold."""
    errors = {name: actor.error for name, actor in actors.items() if actor.error is not None}
    assert not errors
    entries = room.state.transcript.entries()
    for event in (SIGNING, SIGNED):
        assert len({entry.data["digest"] for entry in entries if entry.event == event}) == 1
    assert not [entry for entry in entries if entry.event == LATE]
    assert len(check_seals(entries)) == 1
    results = {
        name: json.loads((room.folder / f"{name}.signed.json").read_text())["signatures"][0] for name in ("one", "two")
    }
    assert sorted(result["result"] for result in results.values()) == ["refused", "signed"]
    assert {result.get("why") for result in results.values()} == {None, "NONCE-PENDING"}
    assert {actors["sign one"].result, actors["sign two"].result} == {0, 3}


def test_a_thousand_interleavings_sign_a_step_once(
    templates: dict[str, Path], watched: Callable[[Scheduler], None], tmp_path: Path
) -> None:
    orders, first = set(), {"sign one": 0, "sign two": 0}
    for seed in range(INTERLEAVINGS):
        folder = Path(shutil.copytree(templates[STEPS[seed % len(STEPS)]], tmp_path / str(seed)))
        scheduler = Scheduler(seed)
        watched(scheduler)
        room = Room(folder, scheduler)
        actors = scheduler.play(room.commands())
        try:
            require_one(room, actors)
        except AssertionError as error:
            error.add_note(f"seed {seed}:\n" + "\n".join(scheduler.trace))
            raise
        orders.add(tuple(scheduler.trace))
        first[next(name for name in first if actors[name].result == 0)] += 1
        shutil.rmtree(folder)
    assert len(orders) == INTERLEAVINGS
    assert min(first.values()) > INTERLEAVINGS // 4


def test_the_same_seed_is_the_same_interleaving(
    templates: dict[str, Path], watched: Callable[[Scheduler], None], tmp_path: Path
) -> None:
    traces = []
    for name in ("a", "b"):
        folder = Path(shutil.copytree(templates["open"], tmp_path / name))
        scheduler = Scheduler(7)
        watched(scheduler)
        require_one(Room(folder, scheduler), scheduler.play(Room(folder, scheduler).commands()))
        traces.append(scheduler.trace)
    assert traces[0] == traces[1]
