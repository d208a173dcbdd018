"""Whole requests documents through ``sign`` itself, in this process: a fresh folder, a rehearsal, the software Ledger."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from airlock_offline.cli.main import program
from airlock_offline.cli.preflight import Statement
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.ethereum_app import open_app
from airlock_shared.checks.times import STATED
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.transcript import PROVED
from airlock_shared.plan.delegate_proofs import challenge_of, registrations
from airlock_shared.plan.reader import parse_plan
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from commands import run_here
from offline.signing_room import stop_the_clock
from offline.test_signing import SEED
from shared.make_payloads import NOW_MS
from shared.world import PLAN_TEXTS, rehearsal_deployment, rehearsed, whole

DESK_PATHS = ("m/44'/60'/1'/0/0", "m/44'/60'/0'/0/1")
FOLDERS = ("requests", "transactions", "authorizations")
ENDS = {0, 3, 4, 7}
"""The exit codes of a document that was signed, refused, not readable, or too late."""

DECIDED = ("signed", "refused", "declined")


class Ended(NamedTuple):
    """A run of ``sign``: its exit code, what it said, the transcript's events of it, and the results that it wrote."""

    code: int
    err: str
    events: list[tuple[str, dict[str, Any]]]
    results: dict[str, str] | None

    def count(self, *events: str) -> int:
        return sum(event in events for event, _ in self.events)


def plan_text(folder: str) -> str:
    """Return a plan of the vectors; the desk's key is where the phrase has it."""
    return PLAN_TEXTS[folder].replace(*DESK_PATHS)


REHEARSAL = json.dumps(rehearsal_deployment()).encode()


def document(folder: str) -> dict[str, Any]:
    """Return the good requests of a whole plan under the rehearsal deployment."""
    return rehearsed(json.loads(json.dumps(whole(folder)).replace(*DESK_PATHS)), plan_text(folder))


def ended_of(code: int, err: str, home: Path, before: int, output: Path) -> Ended:
    """Return a run that has ended, with what it left in a machine's folder; where nothing was signed there is no file."""
    entries = OfflineHome(home).transcript.entries()[before:]
    results = {entry.data["step"]: entry.event for entry in entries if entry.event in DECIDED} or None
    if output.exists():
        results = {item["step"]: item["result"] for item in json.loads(output.read_text())["signatures"]}
        assert "signed" in results.values()
    return Ended(code, err, [(entry.event, entry.data) for entry in entries], results)


class World:
    """The folder of a rehearsal, in which every document is signed on a fresh machine at the vectors' time."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        state = OfflineHome(folder / "fresh")
        state.pin(parse_deployment(REHEARSAL), REHEARSAL, NOW_MS)
        state.transcript.record(STATED, Statement(NOW_MS, 60).as_data(NOW_MS), NOW_MS)
        for kind in FOLDERS:
            (folder / f"{kind}.toml").write_text(plan_text(kind))
            plan = parse_plan(plan_text(kind).encode())
            for step in registrations(plan):
                proved = challenge_of(plan, parse_deployment(REHEARSAL), step).as_data()
                state.transcript.record(PROVED, proved, NOW_MS)
        self._before = len(state.transcript.entries())
        stop_the_clock(monkeypatch)
        monkeypatch.setattr("airlock_offline.preflight.isolation.airgap_lines", lambda _world: [])
        monkeypatch.setattr("airlock_offline.cli.sign.opened", lambda *_, **__: _device())

    def sign(self, data: bytes, folder: str, answers: str = "Yes\n" * 40, *, again: bool = False) -> Ended:
        """Sign a document as ``airlock-offline sign`` does; what the program does not foresee comes out of it as it is."""
        home, output = self.folder / "home", self.folder / "out.json"
        if not again:
            shutil.rmtree(home, ignore_errors=True)
            shutil.copytree(self.folder / "fresh", home)
        output.unlink(missing_ok=True)
        (self.folder / "requests.json").write_bytes(data)
        words = ("sign", self.folder / "requests.json", "--plan", self.folder / f"{folder}.toml", "-o", output)
        ended = run_here(program, "--home", home, *words, "--emulator", "9", typed=answers)
        return ended_of(ended.code, ended.err, home, self._before, output)


@contextmanager
def _device() -> Iterator[Any]:
    ledger = SoftwareLedger(seed=SEED, settings=AppSettings(blind_signing=True, smart_accounts=True))
    device = SimpleNamespace(app=lambda: open_app(ledger), close=lambda: None, model="", listed_model="", version="")
    device.probe = lambda need: vars(device).update(model="flex", listed_model="flex", version="1.22.0")
    yield device


def require_complete(ended: Ended, steps: list[str]) -> None:
    """Assert that a run ended as it may, and that the record tells of every item what became of it."""
    assert ended.code in ENDS, ended.err[-3000:]
    assert "Traceback" not in ended.err
    assert "fault in Airlock" not in ended.err, ended.err[-3000:]
    if not ended.count("sign-begun"):  # the document as a whole could not be read, or is not the plan's
        assert (ended.events, ended.results, ended.code in (3, 4, 7)) == ([], None, True)
        return
    decided = [(data["step"], event) for event, data in ended.events if event in DECIDED]
    assert [step for step, _ in decided] == steps
    assert dict(decided) == ended.results
    assert ended.count("signatures-written") == ("signed" in dict(decided).values())
    assert ended.count("sign-stopped", "signature-quarantined") == 0
