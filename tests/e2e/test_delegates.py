"""Delegates, completely: proved, registered, read back, changed for another key, removed; the example plans run for real."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from airlock_rehearsal.scenarios import DELEGATE, DELEGATE_PATH, TRADER
from commands import FinishedCommand
from e2e.conftest import BY_NAME, ROOT, BothMachines, Ledger, key_at, refused, signed_by, start_ledger, stop_ledger

NEW_PATH = "m/44'/60'/2'/0/0"
EXAMPLES = ROOT / "docs/guides/examples"


def example(desk: BothMachines, name: str, change: Callable[[str], str] = lambda text: text) -> Path:
    """Write an example plan of the documentation, its expiry moved to a time from now on."""
    expiry = (datetime.now(UTC) + timedelta(days=130)).strftime("%Y-%m-%dT00:00:00Z")
    text = (EXAMPLES / f"delegate-{name}.plan.toml").read_text()
    path = desk.path(f"{name}.plan.toml")
    path.write_text(change(re.sub(r"(?m)^expiry = .+$", f"expiry = {expiry}", text)))
    return path


def prepared(desk: BothMachines, plan: Path, *, node: bool) -> FinishedCommand:
    words = ("--rpc", desk.services.rpc_url) if node else ()
    return desk.online("prepare", plan, "-o", plan.with_suffix(".requests.json"), *words)


def begin(desk: BothMachines, plan: Path) -> None:
    """Begin the ceremony, which the examples require, unless it is open."""
    desk.offline("ceremony", "begin", "--plan", plan, *BY_NAME, typed="Yes\n").done()


def signed(desk: BothMachines, ledger: Ledger, plan: Path, typed: str = "Yes\n" * 4) -> FinishedCommand:
    begin(desk, plan)
    requests, output = plan.with_suffix(".requests.json"), plan.with_suffix(".signatures.json")
    return desk.sign(ledger, plan, requests, output, typed=typed)


def submitted(desk: BothMachines, plan: Path) -> FinishedCommand:
    return desk.online("submit", plan.with_suffix(".signatures.json")).done()


def enabled(desk: BothMachines, delegate: str) -> bool:
    ended = desk.online("delegation", TRADER, delegate, "--json").done()
    return bool(re.search(r'"isEnabled": true', ended.out))


def done(desk: BothMachines, ledger: Ledger, plan: Path, *, node: bool) -> str:
    """Take a plan the whole way, and return what the online machine said after it was sent."""
    begin(desk, plan)
    prepared(desk, plan, node=node).done()
    desk.offline("verify", plan.with_suffix(".requests.json"), "--plan", plan).done()
    signed(desk, ledger, plan).done()
    sent = submitted(desk, plan)
    return sent.out + sent.err


def registered(desk: BothMachines, ledger: Ledger) -> str:
    plan = example(desk, "registration")
    desk.prove(plan)
    return done(desk, ledger, plan, node=False)


def test_a_key_is_proved_on_its_ledger_registered_and_read_back(desk: BothMachines, blind: Ledger) -> None:
    plan, proof = example(desk, "registration"), desk.path("proof.json")
    words = ("--plan", plan, "--path", DELEGATE_PATH, "--emulator", blind.port, "-o")
    refused(desk.offline("delegate", "prove", *words, desk.path("no folder/proof")), 2, "could not be written")
    ended = desk.offline("delegate", "prove", *words, proof, typed="Yes\n").done()
    assert ended.err.count("Airlock: I hold this delegate key.") >= 1
    assert [len(line) > 80 for line in ended.err.splitlines() if "SIMULATOR" not in line].count(True) == 0
    assert json.loads(proof.read_text())["format"] == "airlock/proofs@1"
    checked = desk.offline("delegate", "check", proof, "--plan", plan, "--json")
    (found,) = checked.json()["proofs"]
    assert (found["delegate"], found["recorded_before"]) == (DELEGATE, False)
    again = desk.offline("delegate", "check", proof, "--plan", plan, "--json").json()
    assert again["proofs"][0]["recorded_before"] is True
    assert desk.events().count("delegate-proved") == 1
    other = desk.path("other.toml")
    other.write_text(plan.read_text().replace('id = "delegate-registration"', 'id = "next-year"'))
    refused(desk.offline("delegate", "check", proof, "--plan", other), 3, "PROOF-CHALLENGE", "for another ceremony")
    said = done(desk, blind, plan, node=False)
    for promise in ("enabled until", "may sign intents", "may send calls"):
        assert promise in said
    assert "NOT KEPT" not in said.upper()
    assert enabled(desk, DELEGATE)


def test_a_key_on_a_server_proves_itself_by_the_document_of_the_online_half(desk: BothMachines) -> None:
    plan, asks, proof = example(desk, "registration"), desk.path("challenges.json"), desk.path("proof.json")
    assert desk.online("delegate", "challenge", "--plan", plan, "-o", asks).code == 0
    asked = desk.offline("delegate", "challenge", "--plan", plan, "--json").json()["challenges"][0]["text"]
    answers = json.loads(asks.read_text())
    assert [each["text"] for each in answers["proofs"]] == [asked]
    words = ("delegate", "proof", "--plan", plan, "-o", proof, "--signature")
    right, another = (signed_by(key_at(path), asked) for path in (DELEGATE_PATH, NEW_PATH))
    wrong = desk.online(*words, another)
    assert (wrong.code, "PROOF-SIGNER" in wrong.err, proof.exists()) == (3, True, False), wrong.err
    for check, signature in (("PROOF-SIGNER", another), ("SIG-LENGTH", right[:-2])):
        refused(desk.offline("delegate", "check", "--signature", signature, "--plan", plan), 3, check)
    assert "delegate-proved" not in desk.events()
    answers["proofs"][0]["signature"] = right
    asks.write_text(json.dumps(answers))
    ended = desk.online("delegate", "proof", asks, "--plan", plan, "-o", proof, "--json")
    assert (ended.code, ended.json()["delegates"]) == (0, {"desk-key": DELEGATE}), ended.err
    assert desk.online(*words, right).code == 2  # nothing is overwritten
    assert desk.offline("delegate", "check", proof, "--plan", plan).code == 0
    assert desk.events().count("delegate-proved") == 1


def test_a_rotation_is_shown_as_a_whole_and_ends_with_the_new_key_alone(desk: BothMachines, blind: Ledger) -> None:
    def turned(text: str) -> str:
        head, first, second = text.split("[[steps]]\n")
        return f"{head}[[steps]]\n{second}\n[[steps]]\n{first}"

    registered(desk, blind)
    plan, new = example(desk, "rotation", turned), key_at(NEW_PATH).address
    assert new in plan.read_text()
    desk.prove(plan, "new-key", NEW_PATH)
    assert prepared(desk, plan, node=True).code == 0
    in_the_other_order = signed(desk, blind, plan, typed="Yes\nno\nno\n")
    assert in_the_other_order.code == 6, in_the_other_order.err
    assert "WARNING: a new key is registered before this one is removed" in in_the_other_order.err
    plan.with_suffix(".requests.json").unlink()
    plan = example(desk, "rotation")
    desk.prove(plan, "new-key", NEW_PATH)
    assert prepared(desk, plan, node=True).code == 0
    shown = signed(desk, blind, plan).err
    removal, _, registration = shown[shown.index("STEP 1 of 2") :].partition("STEP 2 of 2")
    assert re.search(rf"step new-key\s+after this,\s+registers\s+{new}", removal), removal
    ends = rf"step old-key-ends\s+before this,\s+ends the registration of\s+{DELEGATE}"
    assert re.search(ends, registration), registration
    assert "WARNING" not in shown
    sent = submitted(desk, plan)
    said = sent.out + sent.err
    assert (enabled(desk, DELEGATE), enabled(desk, new)) == (False, True)
    assert said.index("old-key-ends") < said.index("new-key")
    assert ("not enabled" in said, "may send calls" in said) == (True, True)


def test_a_key_whose_proof_the_plan_waives_is_registered_with_a_warning_and_removed(
    desk: BothMachines, blind: Ledger
) -> None:
    plan = example(desk, "registration", lambda text: f'{text}possession = "waived"\n')
    assert prepared(desk, plan, node=False).code == 0
    ended = signed(desk, blind, plan).done()
    assert "WARNING: the plan waives the proof" in ended.err
    assert "waived by the plan" in ended.err
    submitted(desk, plan)
    assert enabled(desk, DELEGATE)
    assert "not enabled" in done(desk, blind, example(desk, "removal"), node=True)
    assert not enabled(desk, DELEGATE)


def test_a_deployment_without_the_relayer_is_told_before_anybody_signs(desk: BothMachines) -> None:
    words = ("--name", "rehearsal", "--builder", desk.services.builder_url, "-o", desk.path("again.json"))
    assert desk.online("deployment", "fetch", *words).code == 0
    ended = prepared(desk, example(desk, "registration"), node=False)
    told = " ".join(ended.err.split())
    assert ended.code == 0, ended.err
    assert "WARNING: the deployment has no address for the relayer" in told
    assert "again with --relayer URL before anybody signs" in told


def test_an_unproved_key_is_not_registered_and_the_command_is_named(desk: BothMachines, blind: Ledger) -> None:
    plan = example(desk, "registration")
    ended = prepared(desk, plan, node=False)
    assert (ended.code, "no address for the relayer" in " ".join(ended.err.split())) == (0, False), ended.err
    requests = plan.with_suffix(".requests.json")
    verified = desk.offline("verify", requests, "--plan", plan)
    assert (verified.code, "PROOF-DELEGATE" in verified.out) == (3, True), verified.out
    ended = signed(desk, blind, plan)
    assert (ended.code, "PROOF-DELEGATE" in ended.err) == (3, True), ended.err
    assert not plan.with_suffix(".signatures.json").exists()
    assert "refused (PROOF-DELEGATE)" in ended.err
    assert "No signature is given out, and no file was written.\n" in ended.err
    assert "Keep it secret" not in ended.err
    desk.prove(plan)
    assert desk.offline("verify", requests, "--plan", plan).code == 0
    again = signed(desk, blind, plan)
    assert (again.code, "Keep it secret" in again.err, "No signature is given out" in again.err) == (0, True, False)


def test_a_ledger_that_signs_something_else_proves_nothing(desk: BothMachines) -> None:
    ledger = start_ledger("--fault", "wrong-hash")
    try:
        plan, proof = example(desk, "registration"), desk.path("proof.json")
        words = ("--plan", plan, "--path", DELEGATE_PATH, "-o", proof, "--emulator", ledger.port)
        ended = desk.offline("delegate", "prove", *words, typed="Yes\n")
    finally:
        stop_ledger(ledger)
    assert (ended.code, proof.exists()) == (3, False), ended.err
    assert desk.events()[-1] == "signature-quarantined"
