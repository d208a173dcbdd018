"""A seal is over the transcript as it is: what was recorded meanwhile makes it void, and never the transcript."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from airlock_offline.emulator.app import SoftwareLedger
from airlock_offline.ledger.ethereum_app import open_app
from airlock_shared.ceremony.seals import SEALED, VOID, check_seals, seal_of
from airlock_shared.host.transcript_file import TranscriptFile
from e2e.conftest import OFFLINE, BothMachines, Ledger

PATH = "m/44'/60'/0'/0/0"
QUESTION = "Type Yes to go on"


def _until_asked(process: subprocess.Popen[str]) -> str:
    """Read what a command says until it asks."""
    assert process.stderr is not None
    said = ""
    while not said.endswith(f"{QUESTION}, anything else to stop: "):
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


def _spoil(desk: BothMachines) -> int:
    """Record a seal too late, as an earlier version did; return its entry's number."""
    transcript = TranscriptFile(desk.path("offline-home/transcript.jsonl"))
    entries = transcript.entries()
    app, seal = open_app(SoftwareLedger()), seal_of(entries, "desk-2026")
    data = seal.as_data(app.address(PATH).address, app.sign_personal_message(PATH, seal.text()).rsv)
    transcript.record("address", {"path": PATH}, entries[-1].at_ms)
    return transcript.record(SEALED, data, entries[-1].at_ms).seq


def test_a_transcript_that_an_earlier_version_spoiled_is_continued_and_hides_nothing(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan = desk.write_plan("referral-code")
    spoiled = _spoil(desk)
    refused = desk.offline("transcript", "verify")
    assert (refused.code, "DOC-SEAL" in refused.err, "void-seal" in refused.err) == (4, True, True), refused.err
    before = _events(desk)
    told = desk.offline("transcript", "void-seal", "--json", typed="no\n")
    assert told.code == 6, told.err
    assert _events(desk) == before
    told = desk.offline("transcript", "void-seal", "--json", typed="Yes\n")
    assert (told.code, told.json()["void"]) == (0, [spoiled]), told.err
    assert f"The seal at entry {spoiled} covers" in told.err
    assert _events(desk)[:-1] == before
    assert (_events(desk)[-1]["event"], _events(desk)[-1]["data"]["entry"]) == (VOID, spoiled)
    assert desk.offline("transcript", "void-seal", "--json").json()["void"] == []
    sealed = desk.offline("transcript", "seal", "--plan", plan, "--emulator", ledger.port, typed="Yes\n")
    assert sealed.code == 0, sealed.err
    verified = desk.offline("transcript", "verify", "--plan", plan, "--json")
    assert (verified.code, len(verified.json()["seals"])) == (0, 1), verified.err


def test_a_seal_that_is_wrong_in_another_way_cannot_be_declared_void(desk: BothMachines) -> None:
    transcript = TranscriptFile(desk.path("offline-home/transcript.jsonl"))
    entries = transcript.entries()
    app, seal = open_app(SoftwareLedger()), seal_of(entries, "desk-2026")._replace(head="11" * 32)
    data = seal.as_data(app.address(PATH).address, app.sign_personal_message(PATH, seal.text()).rsv)
    wrong = transcript.record(SEALED, data, entries[-1].at_ms).seq
    transcript.record(VOID, {"entry": wrong, "entries": seal.entries, "head": seal.head}, entries[-1].at_ms)
    assert desk.offline("transcript", "verify").code == 4
    refused = desk.offline("transcript", "void-seal", typed="Yes\n")
    assert (refused.code, "DOC-SEAL" in refused.err) == (4, True), refused.err


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
