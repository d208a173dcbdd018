"""What people typed or confirmed for this document is not asked again; where nothing was signed no name is used up."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import click
import pytest

from airlock_offline.cli import main, trust
from airlock_offline.cli.main import confine_command
from airlock_offline.cli.sign import BROUGHT
from airlock_offline.home import OfflineHome
from airlock_offline.preflight.page import preflight_verdict_lines, report_lines
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.errors import Declined, UsageError
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.safe import spoken
from airlock_software_ledger.app import SoftwareLedger
from commands import Screen
from offline.signing_room import Room, answer_with, room, write_documents
from offline.test_signing import SEED
from shared.make_payloads import NOW_MS
from shared.world import DEPLOYMENT_TEXT, plan_text_of

__all__ = ["room"]

PEOPLE = {"signer": "Ada Lovelace", "facilitator": "Grace Hopper", "witness": "Mary Somerville"}
SIGNER, WITNESS = ["signer"], ["witness"]


def asked_when_pinned(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *proofs: dict[str, Any], named: bool = True, pins: int = 1
) -> bool:
    """Begin the ceremony, record these confirmations, pin the deployment; tell whether a person was asked."""
    mark(folder)
    (folder / "plan.toml").write_text(plan_text_of("open"))
    state, plan = OfflineHome(folder / "home"), parse_plan(plan_text_of("open").encode())
    begun = {"ceremony": plan.id, "plan": plan.fingerprint, "roles": PEOPLE}
    state.transcript.record("ceremony-begun", begun, NOW_MS)
    for proof in proofs:
        state.transcript.record(proof.pop("event", "checkpoint-confirmed"), {"ceremony": plan.id} | proof, NOW_MS)
    asked: list[str] = []
    monkeypatch.setattr(trust, "ask_yes", lambda question, *, piped: asked.append(question))
    words = [str(folder / "deployment.json"), *(["--plan", str(folder / "plan.toml")] if named else [])]
    trust.trust.main(words, obj=state, standalone_mode=False)
    assert [entry.event for entry in state.transcript.entries()].count("deployment-pinned") == pins
    return bool(asked)


def mark(folder: Path) -> str:
    """Write the documents, the deployment with a rehearsal's own chain, and return its fingerprint."""
    write_documents(folder, "open")
    file = folder / "deployment.json"
    file.write_text(file.read_text().replace("84532", "31337"))
    return parse_deployment(file.read_bytes()).fingerprint


def proof(by: list[str], compared: str, *, how: str | None = "paper", checkpoint: str = "deployment") -> dict[str, Any]:
    return {"checkpoint": checkpoint, "by": by, "compared": compared} | ({"how": how} if how else {})


def test_without_both_their_words_a_person_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of, other = mark(tmp_path), "ab" * 32
    assert not asked_when_pinned(tmp_path, monkeypatch, proof(SIGNER, of), proof(WITNESS, of))
    over = {"event": "ceremony-ended", "complete": False, "missing": ["all"]}
    proofs: dict[str, list[dict[str, Any]]] = {
        "nothing": [],
        "signer alone": [proof(SIGNER, of), proof(["facilitator"], of)],
        "another deployment": [proof(SIGNER, other), proof(WITNESS, other)],
        "a Yes": [proof(SIGNER, of), proof(WITNESS, of, how=None)],
        "no paper": [proof(SIGNER, of), proof(WITNESS, of, how="no-paper")],
        "the other screen": [proof(SIGNER, of), proof(WITNESS, of, how="words")],
        "another checkpoint": [proof(SIGNER, of), proof(WITNESS, of, checkpoint="requests")],
        "ended": [proof(SIGNER, of), proof(WITNESS, of), over],
        "no plan": [proof(SIGNER, of), proof(WITNESS, of)],
    }
    for case, given in proofs.items():
        (tmp_path / case).mkdir()
        assert asked_when_pinned(tmp_path / case, monkeypatch, *given, named=case != "no plan"), case
    unrecorded = tmp_path / "a pin that nobody agreed to on record"
    unrecorded.mkdir()
    mark(unrecorded)
    data = (unrecorded / "deployment.json").read_bytes()
    pin = OfflineHome(unrecorded / "home").pin_path(parse_deployment(data).name)
    pin.parent.mkdir(parents=True)
    pin.write_bytes(data)
    assert asked_when_pinned(unrecorded, monkeypatch)


@pytest.mark.parametrize("damage", ["gone", "kept"])
def test_words_from_paper_replace_no_pin_unasked_nor_one_whose_file_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Screen, damage: str
) -> None:
    of, state = mark(tmp_path), OfflineHome(tmp_path / "home")
    other = (tmp_path / "deployment.json").read_bytes().replace(b"31337", b"1337")
    state.pin(parse_deployment(other), other, NOW_MS)
    if damage == "gone":
        state.pin_path(parse_deployment(other).name).unlink()
    proofs = (proof(SIGNER, of), proof(WITNESS, of))
    assert asked_when_pinned(tmp_path, monkeypatch, *proofs, pins=2)
    told = " ".join(capsys.readouterr().err.split())
    lost = f"The file of the pin is not there; on record is {parse_deployment(other).fingerprint}. The new one:"
    assert (lost in told, "No deployment of this name" in told) == (damage == "gone", False)


def test_where_it_is_led_the_page_has_what_is_not_in_order_and_counts_the_rest() -> None:
    line = {"group": "disk", "what": "space", "found": "enough", "verdict": "ok", "do": "", "check": ""}
    doubt = {**line, "what": "camera", "verdict": "LOOK", "do": "clean it"}
    report = {"production": True, "airlock": "1", "time_utc": "now", "lines": [line, doubt, line], "refused": []}
    short = "\n".join((*report_lines(report, whole=False), *preflight_verdict_lines(report, whole=False)))
    assert ("space" in short, "camera" in short, "do: clean it" in short) == (False, True, True)
    assert "\nin order: 2 of 3 checks\nNo check is refused.\n" in short
    refused = report | {"lines": [line, {**doubt, "verdict": "REFUSED"}], "refused": ["AIRGAP-ROUTE"]}
    shown = "\n".join((*report_lines(refused, whole=False), *preflight_verdict_lines(refused, whole=False)))
    assert ("camera" in shown, "REFUSED: AIRGAP-ROUTE" in shown) == (True, True)


def test_what_is_typed_from_the_kits_paper_is_not_on_the_page() -> None:
    words = spoken("cd" * 32)
    line = {"group": "installed", "what": "kit", "verdict": "ok", "do": "", "check": ""}
    line["found"] = f"{'cd' * 32} {words}"
    report = {"production": True, "airlock": "1", "time_utc": "now", "lines": [line, {**line, "what": "medium"}]}
    assert words.split()[0] in "\n".join(report_lines(report))
    assert words.split()[0] not in "\n".join(report_lines(report, kit=False))
    assert words.split()[0] not in "\n".join(report_lines(report, kit=False, whole=False))


@pytest.mark.parametrize(
    ("words", "confined"),
    [("ceremony run", False), ("ceremony compare", True), ("ceremony workflow", True), ("sign", True), ("trust", True)],
)
def test_only_the_leader_of_a_ceremony_is_not_confined(
    words: str, confined: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(main, "needs_of", lambda *_: json)
    monkeypatch.setattr(main, "confine", seen.append)
    root = SimpleNamespace(obj=OfflineHome(tmp_path))
    context = SimpleNamespace(command_path=f"airlock-offline {words}", params={}, find_root=lambda: root)
    confine_command(cast("click.Context", context))
    assert seen == ([json] if confined else [])


def test_nothing_is_pinned_that_could_not_be_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, data = OfflineHome(tmp_path / "home"), DEPLOYMENT_TEXT.encode()
    deployment = parse_deployment(data)

    def full(*_entry: object) -> None:
        raise UsageError("the transcript cannot be written")

    monkeypatch.setattr(type(state.transcript), "record", full)
    with pytest.raises(UsageError):
        state.pin(deployment, data, NOW_MS)
    assert state.pinned(deployment.name) is None


def sign(room: Room, monkeypatch: pytest.MonkeyPatch, *, says_no: str = "", name: str = "one") -> tuple[int, list[str]]:
    """Sign, with No to the question that begins so; return the exit code and the questions."""
    asked: list[str] = []

    def ask(question: str) -> None:
        asked.append(question)
        if says_no and question.startswith(says_no):
            raise Declined("not confirmed: the answer was not Yes")

    answer_with(monkeypatch, ask, lambda: SoftwareLedger(seed=SEED))
    return room.run_to_end(name), asked


def test_after_a_no_the_same_command_signs_into_the_same_name(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Declined):
        sign(room, monkeypatch, says_no=BROUGHT)  # a comparison that is not confirmed is asked again
    code, asked = sign(room, monkeypatch, says_no="Sign step")
    assert (code, BROUGHT in asked, (room.folder / "one.signed.json").exists()) == (6, True, False)
    events = [entry.event for entry in room.state.transcript.entries()]
    assert (events[-1], "signatures-written" in events) == ("declined", False)
    code, asked = sign(room, monkeypatch)
    assert (code, BROUGHT in asked) == (0, False)  # the comparison is on record for this very document
    assert json.loads((room.folder / "one.signed.json").read_text())["signatures"][0]["result"] == "signed"
    code, _ = sign(room, monkeypatch, name="two")  # another nonce for a step that was signed: a refusal uses up no name
    assert (code, (room.folder / "two.signed.json").exists()) == (3, False)
    assert room.state.transcript.entries()[-1].event == "refused"


def test_other_documents_and_people_are_compared_for_themselves(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    sign(room, monkeypatch, says_no="Sign step")
    assert BROUGHT in sign(room, monkeypatch, says_no="Sign step", name="two")[1]
    plan = parse_plan((room.folder / "plan.toml").read_bytes())
    names = {"signer": "Ada Lovelace", "facilitator": "Grace Hopper", "witness": "Emmy Noether"}
    begun = {"ceremony": plan.id, "plan": plan.fingerprint, "roles": names}
    over = {"ceremony": plan.id, "complete": False, "missing": ["all"]}
    for event, data in (("ceremony-begun", begun), ("ceremony-ended", over)):
        room.state.transcript.record(event, data, NOW_MS)
        assert BROUGHT in sign(room, monkeypatch, says_no="Sign step")[1]
