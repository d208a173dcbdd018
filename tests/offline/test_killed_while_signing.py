"""`sign` killed at every place between the Yes and the end, and run again: the step is signed once, the transcript whole."""

import fcntl
import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_offline.ledger.screens import Page
from airlock_shared.checks.nonces import SIGNED, SIGNING
from airlock_software_ledger.app import SoftwareLedger
from draws import every_nth, step_of
from offline.recordings import Wrapped
from offline.signing_room import STEPS, Room, answer_with, set_up, stop_the_clock
from offline.test_signing import SEED

KINDS = {"locked", "append-before", "append-after", "synced", "asks", "answered", "linked", "closed"}


class Places:
    """The places that a run comes to once the person has said Yes to the step, by name; it dies at one of them."""

    def __init__(self, die_at: str, told: Path) -> None:
        self.begun = False
        self._die_at, self._told = die_at, told
        self._counts: Counter[str] = Counter()

    def reach(self, kind: str) -> None:
        if not self.begun:
            return
        self._counts[kind] += 1
        name = f"{kind}:{self._counts[kind]}"
        with self._told.open("a") as told:
            told.write(name + "\n")
        if name == self._die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def asked(self, question: str) -> None:
        self.begun = self.begun or question.startswith("Sign step")

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        flock, write, link, close = fcntl.flock, os.write, os.link, os.close

        def after(kind: str, work: Callable[..., object]) -> Callable[..., object]:
            def done(*words: object) -> object:
                result = work(*words)
                self.reach(kind)
                return result

            return done

        def written(descriptor: int, data: bytes) -> int:
            self.reach("append-before")
            count = write(descriptor, data)
            self.reach("append-after")
            return count

        monkeypatch.setattr(fcntl, "flock", after("locked", flock))
        monkeypatch.setattr(os, "write", written)
        monkeypatch.setattr(os, "fsync", after("synced", lambda _descriptor: None))
        monkeypatch.setattr(os, "link", after("linked", link))
        monkeypatch.setattr(os, "close", after("closed", close))


def ledger(places: Places, signed: Path) -> Wrapped:
    """Return a Ledger that writes down, beside the machine, which pages it has signed; the same for the same digest."""

    def approve(pages: list[Page]) -> bool:
        with signed.open("a") as written:
            written.write(json.dumps(pages) + "\n")
        return True

    device = SoftwareLedger(seed=SEED, screens=approve)
    return Wrapped(device, lambda *_: places.reach("asks"), lambda *_: places.reach("answered"))


def run(folder: Path, name: str, die_at: str = "") -> int:
    """Sign a document in a process of its own, and return its exit code, negative for the signal that ended it."""
    (folder / "places").unlink(missing_ok=True)
    (folder / f"{name}.signed.json").unlink(missing_ok=True)
    child = os.fork()
    if not child:
        code = 70
        try:
            places = Places(die_at, folder / "places")
            with pytest.MonkeyPatch.context() as monkeypatch:
                answer_with(monkeypatch, places.asked, lambda: ledger(places, folder / "device"))
                places.watch(monkeypatch)
                code = int(str(Room(folder).commands()[f"sign {name}"]()))
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def result(folder: Path, name: str) -> tuple[str, str]:
    """Return what became of the step: a file tells of a signature, the record of everything else."""
    file = folder / f"{name}.signed.json"
    if not file.exists():
        last = Room(folder).state.transcript.entries()[-1]
        return last.event, last.data["checks"][0]
    [item] = json.loads(file.read_text())["signatures"]
    return item["result"], item.get("why", "")


@pytest.mark.parametrize("step", STEPS)
def test_killed_anywhere_a_step_is_signed_once(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_the_clock(monkeypatch)
    template = set_up(tmp_path / "template", step, monkeypatch)
    whole = Path(shutil.copytree(template, tmp_path / "whole"))
    assert run(whole, "one") == 0
    places = (whole / "places").read_text().split()
    assert {name.partition(":")[0] for name in places} == KINDS
    outcomes: Counter[str] = Counter()
    for number, place in enumerate(every_nth(places, 10, step_of)):
        folder = Path(shutil.copytree(template, tmp_path / str(number)))
        assert run(folder, "one", die_at=place) == -signal.SIGKILL
        events = {entry.event for entry in Room(folder).state.transcript.entries()}
        assert SIGNED not in events or SIGNING in events
        asked = (folder / "device").exists()
        assert not asked or SIGNING in events, f"{place}: the Ledger signed what was not reserved"
        other = run(folder, "two")
        if SIGNING in events:
            assert (other, result(folder, "two")) == (3, ("refused", "NONCE-PENDING")), place
            assert (run(folder, "one"), result(folder, "one")) == (0, ("signed", "")), place
        else:
            assert (other, result(folder, "two")) == (0, ("signed", "")), place
            assert (run(folder, "one"), result(folder, "one")) == (3, ("refused", "NONCE-PENDING")), place
        assert len(set((folder / "device").read_text().splitlines())) == 1, place
        outcomes["reserved" if SIGNING in events else "free"] += 1
        entries = Room(folder).state.transcript.entries()
        assert len({entry.data["digest"] for entry in entries if entry.event == SIGNED}) == 1
        shutil.rmtree(folder)
    assert min(outcomes["reserved"], outcomes["free"]) > 0
