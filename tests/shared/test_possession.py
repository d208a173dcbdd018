"""Proof that a delegate key is held: what is signed, what is refused by name, and what a registration has to have."""

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from airlock_shared.ceremony import seals
from airlock_shared.ceremony.seals import check_claim, check_possession, choose_step, parse_proofs, write_proofs
from airlock_shared.checks.judge import Known
from airlock_shared.checks.model import Situation, Verdict
from airlock_shared.cli.possession import proved_keys
from airlock_shared.documents.requests import Request
from airlock_shared.documents.transcript import PROVED, Entry, proved
from airlock_shared.errors import PlanError, Refusal, UsageError
from airlock_shared.plan.delegate_proofs import WAIVED, Challenge, challenge_of, registrations
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.report.model import waivers
from refusals import check_of, error_of
from shared import world
from shared.make_payloads import DESK, KEYS, NOW_MS, TREASURY
from shared.world import PLAN_TEXT, PLAN_TEXTS, deployment, good, plan, request_of, situation

STEP = "desk-key"


def challenge(step: str = STEP, of: Plan | None = None) -> Challenge:
    of = of or plan()
    return challenge_of(of, deployment(), of.steps[step])


def signed(text: bytes, key: str = DESK) -> bytes:
    """Return the signature that another wallet makes over a text."""
    return bytes(Account.from_key(KEYS[key]).sign_message(encode_defunct(text)).signature)


def document(**changes: Any) -> bytes:
    """Return a document of one proof; ``format`` and ``proofs`` are the document's members, the others the proof's."""
    value = json.loads(write_proofs([(challenge(), "0x" + signed(challenge().text()).hex())]))
    for name, member in changes.items():
        of = value if name in ("format", "proofs") else value["proofs"][0]
        if member is None:
            del of[name]
        else:
            of[name] = member
    return json.dumps(value).encode()


def test_the_text_names_everything_that_the_proof_is_for_in_lines_that_a_wallet_shows() -> None:
    text = challenge().text().decode()
    assert text.isascii()
    assert text.isprintable() is False  # line feeds alone
    assert text.replace("\n", "").isprintable()
    assert text == text.strip()
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    for named in (plan().id, plan().fingerprint, STEP, f"chain {deployment().chain_id}", TREASURY, DESK):
        assert any(line.endswith(named) for line in lines), named
    assert any(f"deployment {deployment().name}," in line for line in lines)
    digest = hashlib.sha256(challenge().text()).hexdigest()  # which the transcript's event names
    assert challenge().as_data() == {"ceremony": plan().id, "step": STEP, "delegate": DESK, "challenge": digest}


GOOD = signed(challenge().text())


@pytest.mark.parametrize(
    ("signature", "check"),
    [
        (GOOD[:64], "SIG-LENGTH"),
        (GOOD + b"\0", "SIG-LENGTH"),
        (GOOD[:64] + bytes([GOOD[64] - 27]), "SIG-V"),
        (bytes(32) + GOOD[32:], "SIG-RANGE"),
        (GOOD[:32] + bytes(32) + GOOD[64:], "SIG-RANGE"),
        (world.high_s(GOOD), "SIG-LOW-S"),
        (GOOD[:64] + bytes([55 - GOOD[64]]), "PROOF-SIGNER"),
        (signed(challenge().text(), TREASURY), "PROOF-SIGNER"),
        (signed(challenge().text() + b"\n"), "PROOF-SIGNER"),
        (signed(challenge().text().replace(b"\n", b"\r\n")), "PROOF-SIGNER"),
        (signed(challenge("desk-key-terms").text()), "PROOF-SIGNER"),
    ],
)
def test_another_signature_is_refused_by_name(signature: bytes, check: str) -> None:
    assert check_of(check_possession, challenge(), signature) == check


@pytest.mark.parametrize(
    "text",
    [GOOD.hex(), "0x" + GOOD.hex()[:-2], "0x" + GOOD.hex() + "00", "0X" + GOOD.hex(), "0x" + GOOD.hex() + "\n",
     "0x" + "\uff11" * 130],
)  # fmt: skip
def test_a_signature_in_another_writing_is_refused(text: str) -> None:
    assert check_of(seals.read_seal, text) == "SIG-LENGTH"


@pytest.mark.parametrize(
    ("data", "check"),
    [
        (document(format="airlock/proofs@2"), "DOC-FORMAT"),
        (b"[]", "DOC-FORMAT"),
        (b"\xff", "DOC-UTF8"),
        (document() + b"x", "DOC-JSON"),
        (document(chain_id=True), "DOC-FIELD"),
        (document(signature=[]), "DOC-FIELD"),
        (document(text=None), "DOC-FIELD"),
        (document(proofs=[{}] * 1001), "DOC-FIELD"),
        (document(proofs=[1]), "DOC-FIELD"),
        (document(proofs=[]), "DOC-FIELD"),
        (document().replace(b'"step"', b'"plan"'), "DOC-DUPLICATE"),
        (document(step="x" * (8 << 20)), "DOC-SIZE"),
    ],
)
def test_another_document_is_refused(data: bytes, check: str) -> None:
    assert check_of(parse_proofs, data) == check


@pytest.mark.parametrize("name", [*Challenge._fields, "text"])
def test_a_proof_for_something_else_is_refused_and_the_thing_is_named(name: str) -> None:
    (proof,) = parse_proofs(document(**{name: 1 if name == "chain_id" else "\ud800 other"}))
    error = error_of(Refusal, check_claim, proof, challenge())
    assert (error.check, error.where, name in error.what) == ("PROOF-CHALLENGE", name, True)


def test_of_many_proofs_one_that_does_not_hold_is_named_and_none_counts(tmp_path: Path) -> None:
    asked = [challenge(), challenge("desk-key-terms")]
    Account.enable_unaudited_hdwallet_features()
    of_phrase = (Account.from_mnemonic("test " * 11 + "junk", account_path=f"m/44'/60'/0'/0/{n}") for n in range(3))
    keys = {account.address: account for account in of_phrase}
    signatures = [keys[each.delegate].sign_message(encode_defunct(each.text())).signature for each in asked]
    answers = [(each, "0x" + signature.hex()) for each, signature in zip(asked, signatures, strict=True)]
    documents = (answers[:1], answers, [answers[0], (asked[1], answers[0][1])], answers)
    files = [tmp_path / name for name in ("one.json", "both.json", "wrong.json", "other.json")]
    for file, found in zip(files, documents, strict=True):
        file.write_bytes(write_proofs(found))
    assert proved_keys(plan(), deployment(), files[1:2], None, None) == answers
    assert proved_keys(plan(), deployment(), [files[0], files[1]], None, None) == answers
    error = error_of(Refusal, proved_keys, plan(), deployment(), [files[2]], None, None)
    assert (error.check, error.where) == ("PROOF-SIGNER", f"{files[2]}, step desk-key-terms")
    assert "move this one away" in error.do
    files[3].write_bytes(files[1].read_bytes().replace(b"I hold this", b"I held this", 1))
    assert check_of(proved_keys, plan(), deployment(), [files[3]], None, None) == "PROOF-CHALLENGE"
    with pytest.raises(UsageError, match="not both"):
        proved_keys(plan(), deployment(), [], None, None)


def test_the_only_registration_is_meant_and_of_several_one_has_to_be_named() -> None:
    assert choose_step(plan("transactions"), None).id == "delegate-set"
    with pytest.raises(UsageError, match="several"):
        choose_step(plan(), None)
    for registers_nobody in ("close", "", "DESK-KEY", "delegate-remove"):
        with pytest.raises(PlanError, match="PLAN-STEP"):
            choose_step(plan(), registers_nobody)
    text = world.replaced(PLAN_TEXTS["transactions"], [('action = "delegate-set"', 'action = "delegate-remove"'),
                                                 ("expiry = 2027-03-31T00:00:00Z\n", "")])  # fmt: skip
    with pytest.raises(UsageError, match="no delegate"):
        choose_step(parse_plan(text.encode()), None)


def test_a_challenge_is_made_for_the_plans_own_deployment() -> None:
    elsewhere = parse_plan(PLAN_TEXT.replace('deployment = "venue"', 'deployment = "elsewhere"').encode())
    assert error_of(PlanError, challenge, of=elsewhere).check == "PLAN-NAME"


def entries(*data: dict[str, Any], event: str = PROVED) -> list[Entry]:
    return world.chain(*((event, each) for each in data))


def judged(
    proofs: Collection[str] | None, step: str = STEP, folder: str = "requests", where: Situation | None = None
) -> Verdict:
    return possession_of(request_of(good(step, folder)), where or situation(folder), proofs)


def possession_of(request: Request, where: Situation, proofs: Collection[str] | None) -> Verdict:
    verdicts = world.examined(request, where, known=Known(proofs=proofs)).verdicts.found
    return next(verdict for verdict in verdicts if verdict.check == "PROOF-DELEGATE")


@pytest.mark.parametrize(("step", "folder"), [(STEP, "requests"), ("desk-key-terms", "requests"),
                                               ("delegate-set", "transactions")])  # fmt: skip
def test_a_registration_is_refused_until_its_own_challenge_is_proved(step: str, folder: str) -> None:
    own = challenge_of(plan(folder), deployment(), plan(folder).steps[step])
    assert world.refusals([judged(proved([]), step, folder)]) == {"PROOF-DELEGATE"}
    others = [challenge_of(plan(f), deployment(), s) for f in PLAN_TEXTS for s in registrations(plan(f))]
    others = [each for each in others if each != own]
    assert len(others) == 2
    found = proved(entries(*(each.as_data() for each in others)))
    assert world.refusals([judged(found, step, folder)]) == {"PROOF-DELEGATE"}
    assert judged(proved(entries(own.as_data())), step, folder).result == "pass"


@pytest.mark.parametrize("data", [{}, {"challenge": None}, {"challenge": []}])
def test_an_event_without_a_challenge_proves_nothing(data: dict[str, Any]) -> None:
    assert judged(proved(entries(data))).result == "refused"
    for event in ("delegate-challenged", "refused", "signed"):  # nor does any other event
        assert proved(entries(challenge().as_data(), event=event)) == frozenset()


@pytest.mark.parametrize(("step", "folder"), [("close", "requests"), ("referral", "requests"),
                                               ("delegate-remove", "transactions")])  # fmt: skip
def test_what_registers_nobody_needs_no_proof(step: str, folder: str) -> None:
    assert judged(frozenset(), step, folder).result == "not-applicable"


def waiving(word: str) -> Plan:
    line = f'delegate = "{DESK}"'
    return parse_plan(PLAN_TEXT.replace(line, f"{line}\npossession = {word}", 1).encode())


def test_a_plan_may_waive_the_proof_in_that_word_and_the_waiver_is_named() -> None:
    waived = waiving(f'"{WAIVED}"')
    step = next(step for step in registrations(waived) if step.values["possession"].text == WAIVED)
    verdict = judged(frozenset(), step.id, where=Situation(waived, deployment(), NOW_MS))
    assert (verdict.result, verdict.got) == ("pass", "waived by the plan")
    (sentence,) = waivers(waived)
    assert (step.id in sentence, DESK in sentence) == (True, True)
    assert waivers(plan()) == []


def test_proofs_are_read_as_they_were_written() -> None:
    (proof,) = parse_proofs(document())
    assert proof == (challenge(), challenge().text().decode(), "0x" + GOOD.hex())
    check_claim(proof, challenge())
    check_possession(challenge(), seals.read_seal(proof.signature))
    both = [(challenge(), "0x" + GOOD.hex()), (challenge("desk-key-terms"), "")]
    assert [(each.claimed, each.signature) for each in parse_proofs(write_proofs(both))] == both


def test_a_changed_plan_needs_a_new_proof() -> None:
    before = proved(entries(challenge().as_data()))
    edited = parse_plan(PLAN_TEXT.replace("title = ", 'title = "Edited" # ', 1).encode())
    assert judged(before, where=Situation(edited, deployment(), NOW_MS)).result == "refused"


def test_without_a_record_of_proofs_or_a_step_it_is_not_judged_and_not_passed_over() -> None:
    verdict = judged(None)
    assert (verdict.result, "only the signing machine" in verdict.what) == ("not-judged", True)
    request = request_of(good(STEP))._replace(step="no-such-step")
    assert possession_of(request, situation(), frozenset()).result == "not-reached"


@pytest.mark.parametrize("word", ['"Waived"', '"no"', '""', "false", "0", '"waived "', '["waived"]'])
def test_no_other_word_waives_it(word: str) -> None:
    with pytest.raises(PlanError, match="PLAN-F"):
        waiving(word)
