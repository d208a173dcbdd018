"""Two `sign`, a `seal`, a `compare` and a `preflight` on one home, in many orders: always one signature for the step."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from airlock_offline.signing import sign_item
from airlock_shared.ceremony.seals import check_seals
from airlock_shared.checks.nonces import SIGNED, SIGNED_LATE, SIGNING
from airlock_shared.documents.transcript import Entry
from airlock_shared.host import files
from airlock_shared.host import files as transcript_file
from airlock_software_ledger.app import SoftwareLedger
from draws import draws
from offline.recordings import Wrapped
from offline.scheduler import Actor, Scheduler
from offline.signing_room import STEPS, Room, answer_with, set_up, stop_the_clock
from offline.test_signing import SEED

INTERLEAVINGS = draws(48, 1000)
APPEND, ENTRIES = files.append_line, transcript_file.TranscriptFile.entries


def ledger(pause: Callable[[str], None]) -> Wrapped:
    """Return a Ledger with the plan's seed; each command has one, so that nothing but Airlock keeps them apart."""

    def answered(_apdu: bytes, person: bool) -> None:
        if person:
            pause("is answered by the Ledger")

    return Wrapped(SoftwareLedger(seed=SEED), lambda *_: pause("asks the Ledger"), answered)


def watch(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a scheduler draw at every question, lock, append, reading of the transcript, and APDU."""
    pause = scheduler.pause

    def append(path: Path, line: bytes) -> None:
        pause("appends")
        APPEND(path, line)
        pause("has appended")

    def entries(file: transcript_file.TranscriptFile) -> list[Entry]:
        pause("reads the transcript")
        return ENTRIES(file)

    monkeypatch.setattr(transcript_file, "append_line", append)
    monkeypatch.setattr(transcript_file.TranscriptFile, "entries", entries)
    monkeypatch.setattr(transcript_file, "alone_in", partial(files.alone_in, busy=scheduler.lock))
    monkeypatch.setattr(sign_item, "_wait", lambda _account, _file, descriptor: scheduler.lock(descriptor))
    answer_with(monkeypatch, lambda question: pause(f"is asked: {question}"), lambda: ledger(pause))


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    stop_the_clock(monkeypatch)
    monkeypatch.setattr(
        "tempfile.tempdir", str(tmp_path)
    )  # the account's lock is the machine's: other tests sign meanwhile
    return {step: set_up(tmp_path / step, step, monkeypatch) for step in STEPS}


def require_one(room: Room, actors: dict[str, Actor]) -> None:
    """Require that the step was signed once, that one document has it, and that the transcript and its seals hold."""
    errors = {name: actor.error for name, actor in actors.items() if actor.error is not None}
    assert not errors
    entries = room.state.transcript.entries()
    for event in (SIGNING, SIGNED):
        assert len({entry.data["digest"] for entry in entries if entry.event == event}) == 1
    assert not [entry for entry in entries if entry.event == SIGNED_LATE]
    assert len(check_seals(entries)) == 1
    written = {name: room.folder / f"{name}.signed.json" for name in ("one", "two")}
    [signed] = [path for path in written.values() if path.exists()]
    assert json.loads(signed.read_text())["signatures"][0]["result"] == "signed"
    refused = [entry.data["checks"] for entry in room.state.transcript.entries() if entry.event == "refused"]
    assert ["NONCE-PENDING" in checks for checks in refused] == [True]
    assert {actors["sign one"].result, actors["sign two"].result} == {0, 3}


def played(template: Path, folder: Path, seed: int) -> tuple[Scheduler, dict[str, Actor]]:
    """Play the five commands on a copy of a folder, in the order that a seed gives, and require one signature."""
    room = Room(Path(shutil.copytree(template, folder)))
    scheduler = Scheduler(seed)
    with pytest.MonkeyPatch.context() as monkeypatch:
        watch(scheduler, monkeypatch)
        actors = scheduler.play(room.commands())
    try:
        require_one(room, actors)
    except AssertionError as error:
        error.add_note(f"seed {seed}:\n" + "\n".join(scheduler.trace))
        raise
    shutil.rmtree(folder)
    return scheduler, actors


def test_interleavings_sign_a_step_once(templates: dict[str, Path], tmp_path: Path) -> None:
    orders, first = set(), {"sign one": 0, "sign two": 0}
    for seed in range(INTERLEAVINGS):
        scheduler, actors = played(templates[STEPS[seed % len(STEPS)]], tmp_path / str(seed), seed)
        orders.add(tuple(scheduler.trace))
        first[next(name for name in first if actors[name].result == 0)] += 1
    assert len(orders) == INTERLEAVINGS
    assert min(first.values()) > INTERLEAVINGS // 4
