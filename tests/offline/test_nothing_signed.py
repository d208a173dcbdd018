"""Where nothing was signed no file is written and no name is used up, and the same command asks only for what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airlock_offline.cli.sign import BROUGHT
from airlock_shared.errors import Declined
from airlock_shared.plan.reader import parse_plan
from airlock_software_ledger.app import SoftwareLedger
from offline.signing_room import Room, answer_with, set_up, stop_the_clock
from offline.test_signing import SEED
from shared.make_payloads import NOW_MS


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    stop_the_clock(monkeypatch)
    return Room(set_up(tmp_path / "room", "open", monkeypatch))


def sign(room: Room, monkeypatch: pytest.MonkeyPatch, *, says_no: str = "", name: str = "one") -> tuple[int, list[str]]:
    """Sign, with No to the question that begins so; return the exit code and the questions."""
    asked: list[str] = []

    def ask(question: str) -> None:
        asked.append(question)
        if says_no and question.startswith(says_no):
            raise Declined("not confirmed: the answer was not Yes")

    answer_with(monkeypatch, ask, lambda: SoftwareLedger(seed=SEED))
    return room.run_to_end(name), asked


def signed_file(room: Room, name: str = "one") -> Path:
    return room.folder / f"{name}.signed.json"


def test_after_a_no_the_same_command_signs_into_the_same_name(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Declined):
        sign(room, monkeypatch, says_no=BROUGHT)  # a comparison that is not confirmed is asked again
    code, asked = sign(room, monkeypatch, says_no="Sign step")
    assert (code, BROUGHT in asked, signed_file(room).exists()) == (6, True, False)
    events = [entry.event for entry in room.state.transcript.entries()]
    assert (events[-1], "signatures-written" in events) == ("declined", False)
    code, asked = sign(room, monkeypatch)
    assert (code, BROUGHT in asked) == (0, False)  # the comparison is on record for this very document
    assert json.loads(signed_file(room).read_text())["signatures"][0]["result"] == "signed"


def test_what_was_refused_uses_up_no_name_either(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sign(room, monkeypatch)[0] == 0
    code, _ = sign(room, monkeypatch, name="two")  # another nonce for a step that was signed
    assert (code, signed_file(room, "two").exists()) == (3, False)
    assert room.state.transcript.entries()[-1].event == "refused"


def test_other_documents_and_other_people_are_compared_for_themselves(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign(room, monkeypatch, says_no="Sign step")
    assert BROUGHT in sign(room, monkeypatch, says_no="Sign step", name="two")[1]
    plan = parse_plan((room.folder / "plan.toml").read_bytes())
    names = {"signer": "Ada Lovelace", "facilitator": "Grace Hopper", "witness": "Emmy Noether"}
    begun = {"ceremony": plan.id, "plan": plan.fingerprint, "roles": names}
    over = {"ceremony": plan.id, "complete": False, "missing": ["all"]}
    for event, data in (("ceremony-begun", begun), ("ceremony-ended", over)):
        room.state.transcript.record(event, data, NOW_MS)
        assert BROUGHT in sign(room, monkeypatch, says_no="Sign step")[1]
