"""A seal is over the transcript as it is: what was recorded meanwhile makes it void, and never the transcript."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from airlock_offline.ledger.ethereum_app import open_app
from airlock_shared.ceremony.seals import SEALED, VOID, check_seals, seal_of
from airlock_shared.host.files import TranscriptFile
from airlock_software_ledger.app import SoftwareLedger
from e2e.conftest import OFFLINE, BothMachines, Ledger

PATH = "m/44'/60'/0'/0/0"
QUESTION = "Type Yes to go on"


def _until_asked(process: subprocess.Popen[str]) -> str:
    """Read what a command says until it asks."""
    assert process.stderr is not None
    said = ""
    while not said.endswith(f"{QUESTION}, no to stop: "):
        read = process.stderr.read(1)
        assert read, f"it ended without a question: {said}"
        said += read
    return said


def _answer(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _events(desk: BothMachines) -> list[dict[str, Any]]:
    return [json.loads(line) for line in desk.path("offline-home/transcript.jsonl").read_text().splitlines()]


def _start(desk: BothMachines, plan: Path, ledger: Ledger) -> subprocess.Popen[str]:
    words = ("transcript", "seal", "--plan", plan, "--emulator", ledger.port)
    return subprocess.Popen(
        [str(OFFLINE), "--home", str(desk.path("offline-home")), *map(str, words)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_command_that_records_while_the_seal_is_made_makes_it_void_and_it_is_asked_again(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan = desk.write_plan("referral-code")
    with _start(desk, plan, ledger) as sealing:
        _until_asked(sealing)
        before = len(_events(desk))
        desk.state_time()  # recorded beside it, without waiting for the seal
        assert len(_events(desk)) > before
        _answer(sealing, "Yes")
        assert "This seal is void" in _until_asked(sealing)
        _answer(sealing, "Yes")
        _, err = sealing.communicate(timeout=60)
        assert sealing.returncode == 0, err
    assert "Sealed." in err
    assert [entry["event"] for entry in _events(desk)][-2:] == [VOID, SEALED]
    verified = desk.offline("transcript", "verify", "--plan", plan, "--json")
    assert verified.code == 0, verified.err
    assert [seal["entries"] for seal in verified.json()["seals"]] == [len(_events(desk)) - 1]


def test_seals_before_and_after_one_that_is_void_still_hold(tmp_path: Path) -> None:
    transcript = TranscriptFile(tmp_path / "transcript.jsonl")
    app = open_app(SoftwareLedger())
    address = app.address(PATH).address

    def seal() -> dict[str, Any]:
        taken = seal_of(transcript.entries(), "desk")
        return taken.as_data(address, app.sign_personal_message(PATH, taken.text()).rsv)

    transcript.record("a", {}, 1)
    transcript.record(SEALED, seal(), 2)
    late = seal()
    transcript.record("b", {}, 3)
    head = transcript.head()
    assert transcript.record_after(late["head"], SEALED, late, 4) is None
    assert transcript.head() == head
    transcript.record(VOID, late, 4)
    fresh = seal()
    assert transcript.record_after(fresh["head"], SEALED, fresh, 5) is not None
    assert [made.seal.entries for made in check_seals(transcript.entries())] == [1, 4]
