"""Two `sign`, a `seal`, a `compare` and a `preflight` on one home, in many orders: always one signature for the step."""

import fcntl
import json
import random
import shutil
import threading
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
from offline.signing_room import STEPS, Room, answer_with, set_up, stop_the_clock
from offline.test_signing import SEED

INTERLEAVINGS = draws(48, 1000)
APPEND, ENTRIES = files.append_line, transcript_file.TranscriptFile.entries


class Actor:
    """A command that is scheduled: its thread, whether it has ended, and with what error."""

    def __init__(self, name: str, play: Callable[[], object]) -> None:
        self.name = name
        self.turn = threading.Semaphore(0)
        self.ended = False
        self.result: object = None
        self.error: BaseException | None = None
        self._play = play

    def run(self, back: threading.Semaphore) -> None:
        self.turn.acquire()
        try:
            self.result = self._play()
        except BaseException as error:  # noqa: BLE001 (told by the test)
            self.error = error
        self.ended = True
        back.release()


class Scheduler:
    """Plays commands to their ends; :meth:`pause` is called wherever another one may go on."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._back = threading.Semaphore(0)
        self._current: Actor | None = None
        self.trace: list[str] = []

    def play(self, commands: dict[str, Callable[[], object]]) -> dict[str, Actor]:
        """Run every command in a thread, one at a time, until all have ended."""
        actors = {name: Actor(name, play) for name, play in commands.items()}
        threads = [threading.Thread(target=actor.run, args=(self._back,), daemon=True) for actor in actors.values()]
        for thread in threads:
            thread.start()
        while going := [actor for actor in actors.values() if not actor.ended]:
            self._current = self._random.choice(going)
            self._current.turn.release()
            assert self._back.acquire(timeout=60), f"{self._current.name} waits for another one: {self.trace[-20:]}"
        for thread in threads:
            thread.join()
        return actors

    def pause(self, place: str) -> None:
        """Let somebody else go on; outside of :meth:`play` nothing happens."""
        actor = self._current
        if actor is None or threading.current_thread() is threading.main_thread():
            return
        self.trace.append(f"{actor.name}: {place}")
        self._back.release()
        actor.turn.acquire()

    def lock(self, descriptor: int) -> None:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.pause("waits for a lock")
            else:
                return


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
