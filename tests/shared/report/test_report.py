"""A report is what its artefacts give: nothing more, nothing else, and nothing that was put together or changed."""

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from airlock_shared.checks.nonces import Use
from airlock_shared.cli.report import add_deployment
from airlock_shared.documents.requests import parse_requests, parse_signatures
from airlock_shared.documents.transcript import Entry, next_entry, read_entries
from airlock_shared.errors import AirlockError, DocumentError, Refusal
from airlock_shared.host.files import read_document
from airlock_shared.plan.reader import parse_plan
from airlock_shared.report.evidence.artefacts import DEPLOYMENT_FILE, FILES, PLAN_FILE
from airlock_shared.report.evidence.redaction import parse_withheld, withhold
from airlock_shared.report.evidence.timeline import parse_screens, parse_timeline
from airlock_shared.report.facts import MARGIN_MS, proves, standings
from airlock_shared.report.model import report_of
from airlock_shared.report.reexamined import judge
from airlock_shared.report.rows import UNWITNESSED, headline
from airlock_shared.report.verify import read_evidence, report_of_artefacts, verify_report
from draws import every_nth
from refusals import check_of, error_of
from shared.make_payloads import KEYS
from shared.report import day
from shared.strategies import at, places
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXT, PLAN_TEXTS, deployment, plan, to_bytes, whole

OFFLINE, ONLINE = "offline-transcript.jsonl", "online-transcript.jsonl"


def _refused(files: dict[str, bytes]) -> Refusal:
    return error_of(Refusal, report_of_artefacts, files, judge)


def test_the_same_artefacts_give_the_same_bytes() -> None:
    for files in (day.offline_files(), day.online_files()):
        one, other = report_of_artefacts(files, judge), report_of_artefacts(dict(reversed(files.items())), judge)
        assert (one.json, one.html) == (other.json, other.html)


def test_before_anything_was_submitted_nothing_of_it_holds() -> None:
    files = day.online_files()
    del files["timeline.jsonl"]
    before = [each for each in day.online_events(day.timeline_bytes()) if each[0] in ("referral-read", "prepared")]
    told = report_of_artefacts(files | {ONLINE: day.chain(before)}, judge).value["matches"]
    assert [each["result"] for each in told if "submitted" in each["what"]] == ["not yet", "not yet"]


def test_what_has_not_ended_has_no_signature_in_any_file() -> None:
    whole = {item.digest: item.signature[2:] for item in parse_signatures(day.signatures_bytes())[1]}
    for signature in whole.values():  # nor where the document is refused
        changed = day.signatures_bytes().replace(signature.encode(), signature.upper().encode())
        assert error_of(DocumentError, parse_signatures, changed).got == "134 characters"
    for files, shown in ((day.offline_files(), set()), (day.online_files(), {day.digests()[0], day.digests()[2]})):
        report = report_of_artefacts(files, judge)
        everything = b"".join([*files.values(), report.json, report.html]).replace(b" ", b"")
        assert {digest for digest, signature in whole.items() if signature.encode() in everything} == shown


def test_each_thing_that_is_missing_has_its_sentence() -> None:
    given = day.reported().value["missing"]
    assert "step open-pnl: its outcome is not known yet (UNKNOWN)" in given
    assert "step close: signed, and not submitted from this machine" in given
    assert "the air-gapped machine's transcript is not sealed by a signer of the plan" in given
    events = day.offline_events()
    for event, sentence in (
        ("preflight", "no preflight is on record before the signing"),
        ("delegate-proved", "step desk-key: no proof is on record that anybody holds the delegate key"),
        ("delegate-proved", "step desk-key: a check refuses what came back"),
        ("ceremony-begun", "air-gapped machine: no ceremony was begun with this plan on this machine"),
    ):
        assert sentence not in given
        assert sentence in day.reported([(name, data) for name, data in events if name != event]).value["missing"]


SENT = ("sending 1", "exported 0", "FILLED 0", "sending 1, PREPARED 1, sending 2", "sending 1, sending 2, PREPARED 1")


@pytest.mark.parametrize("turns", [*SENT, "sending 1, REJECTED 1", "sending 1, PREPARED 1"])
def test_what_only_the_transcript_knows_as_sent_is_not_called_unsent(turns: str) -> None:
    [close] = [item for item in day.signed() if item.step == "close"]
    events, facts = day.online_events(day.timeline_bytes()), {"digest": close.digest, "digests": [close.digest]}
    for name, claim in map(str.split, turns.split(", ")):
        event = "outcome" if name.isupper() else name
        events.append((event, {**facts, "claim": int(claim)} | ({"state": name} if name.isupper() else {})))
    told = day.reported(online=events).value["missing"]
    assert ("step close: its outcome is not known yet (UNKNOWN)" in told) is (turns in SENT)
    assert ("step close: signed, and not submitted from this machine" in told) is (turns not in SENT)


def test_a_report_is_made_and_verified_however_much_the_services_told() -> None:
    files = day.online_files()
    told = {"kind": "event", "digest": day.digests()[0], "type": "Told", "payload": {"m": "x" * 999_000}}
    timeline = day.timeline_bytes() + 9 * (json.dumps(told).encode() + b"\n")
    files |= {"timeline.jsonl": timeline, ONLINE: day.chain(day.online_events(timeline))}
    report = report_of_artefacts(files, judge)
    assert verify_report(report.json, report.html, files, judge).value == report.value


def test_a_preflight_that_was_refused_and_one_after_the_signing_do_not_count() -> None:
    refused = [(e, d | {"refused": ["AIRGAP-ROUTE"]} if e == "preflight" else d) for e, d in day.offline_events()]
    missing = day.reported([day.offline_events()[2], *refused]).value["missing"]  # one that was fit is before it
    assert "the preflight before the signing was refused: AIRGAP-ROUTE" in missing
    late = sorted(day.offline_events(), key=lambda each: each[0] == "preflight")
    assert "no preflight is on record before the signing" in day.reported(late).value["missing"]


def test_hostile_texts_are_neither_markup_nor_hidden_on_the_page() -> None:
    html = report_of_artefacts(day.online_files(), judge).html.decode()
    assert day.HIDDEN not in html
    for tag in ("<script", "<img", "onerror=alert(1)>"):
        assert tag not in html
    assert "&lt;script&gt;document.title=&quot;owned&quot;&lt;/script&gt;" in html
    assert {c for c in html if not c.isprintable()} == {"\n"}


def test_one_signers_part_of_a_plan_says_which_steps_are_not_in_it() -> None:
    files = day.part_files("desk")
    mine = [step.id for step in plan().steps.values() if step.signer.name == "desk"]
    assert 0 < len(mine) < len(plan().steps)
    report = report_of_artefacts(files, judge)
    others = [step.id for step in plan().steps.values() if step.id not in mine]
    what = "part of the plan: the steps that desk signs"
    assert report.value["part"] == {"signer": "desk", "what": what, "not_in_it": others}
    assert [step["id"] for step in report.value["steps"] if not step["in_part"]] == others
    assert report.value["missing"] == ["the signatures were not given"]  # of the others nothing is missing
    html = report.html.decode()
    assert f"<strong>This is {what}</strong>" in html
    assert html.count("Not in this part of the plan: treasury signs it.") == len(others)
    assert html.count("<caption>What is signed: ") == len(mine)
    assert "PART OF THE PLAN, INCOMPLETE" in html
    document = json.loads(files["requests.json"])
    document["header"]["signer"] = "treasury"
    assert _refused(files | {"requests.json": to_bytes(document)}).check == "PLAN-STEPS"


def test_a_proof_that_the_plan_waives_is_on_the_first_page_and_at_its_step() -> None:
    before, heading, fields = PLAN_TEXTS["requests"].partition('id = "desk-key"')
    waived = before + heading + fields.replace("[steps.fields]", '[steps.fields]\npossession = "waived"', 1)
    report = report_of_artefacts({"plan.toml": waived.encode(), "deployment.json": DEPLOYMENT_TEXT.encode()}, judge)
    (sentence,) = [each for each in report.value["notes"] if "waives the proof" in each]
    assert sentence.startswith("step desk-key: ")
    assert [step["id"] for step in report.value["steps"] if step["waived"]] == ["desk-key"]
    assert report.html.count(b"The plan waives the proof that anybody holds this delegate key.") == 1
    assert b"waives the proof" not in report_of_artefacts(day.online_files(), judge).html


@pytest.mark.parametrize("member", ["ceremony", "plan", "step"])
def test_a_read_for_something_else_is_not_this_steps(member: str) -> None:
    _, *others = day.online_events(day.timeline_bytes())
    report = day.reported(online=[day.referral_read(**{member: "f" * 64}), *others]).value
    assert not any(step["reads"] for step in report["steps"])
    assert not any("read before" in sentence for sentence in report["notes"])
    for malformed in ({"code": member}, {"seen": [{"source": "the chain", "adopted": member}]}):
        assert check_of(day.reported, online=[day.referral_read(**malformed), *others]) == "DOC-FIELD"


@pytest.mark.parametrize(("told", "expected"), [("nanosp", "holds"), (None, "not on record"), ("flex", ""), (7, "")])
def test_the_pages_are_of_the_model_that_the_signing_recorded(told: Any, expected: str) -> None:
    model = {} if told is None else {"model": told}
    events = [
        (e, {n: v for n, v in d.items() if n != "model"} | model if e == "sign-begun" else d)
        for e, d in day.offline_events()
    ]
    files = day.offline_files() | {OFFLINE: day.chain(events)}
    if not expected:
        assert _refused(files).check == "REPORT-MATCH"
        return
    what = "the Ledger's pages are of a model that the air-gapped machine's transcript names"
    matches = report_of_artefacts(files, judge).value["matches"]
    assert [row["result"] for row in matches if row["what"] == what] == [expected]


def test_transactions_are_decoded_with_what_they_call_and_may_cost() -> None:
    files = {"plan.toml": PLAN_TEXTS["transactions"].encode(), "deployment.json": DEPLOYMENT_TEXT.encode()}
    report = report_of_artefacts(files | {"requests.json": to_bytes(whole("transactions"))}, judge)
    for step in report.value["steps"]:
        request = step["request"]
        assert request["kind"] == "transaction"
        assert [row["name"] for row in request["under"]][:2] == ["calls", "contract"]
        assert [row["name"] for row in request["hashes"]] == ["transaction hash, which is signed"]
        assert request["checks"]["refused"] == []
    assert len(report.value["steps"]) > 10


@pytest.mark.parametrize(("roles", "signed_there"), [(True, 99), (False, 99), (False, 1)])
def test_the_offline_transcript_is_needed_where_it_signed_or_roles_were_held(roles: bool, signed_there: int) -> None:
    asked, answered = whole(), json.loads(day.signatures_bytes())
    text = day.offline_files()["plan.toml"]
    text = text if roles else text.replace(b'["signer", "facilitator", "witness"]', b"[]")
    asked["header"]["plan"] = parse_plan(text).fingerprint
    mark = parse_requests(to_bytes(asked))[2]
    answered["header"]["requests"] = mark
    for item in answered["signatures"][:signed_there]:
        item["shown"] = "by another wallet"
    files = {"plan.toml": text, "deployment.json": DEPLOYMENT_TEXT.encode(), "requests.json": to_bytes(asked)}
    files |= {"signatures.json": withhold(to_bytes(answered), ())}
    elsewhere = signed_there == 99
    report = report_of_artefacts(files, judge).value
    assert ("signed by another wallet" in [row["result"] for row in report["matches"]]) is elsewhere
    facts = {"ceremony": plan().id, "requests": mark, "plan": asked["header"]["plan"]}
    online = day.chain([("prepared", facts), ("timeline-exported", {**facts, "sha256": hashlib.sha256().hexdigest()})])
    report = report_of_artefacts(files | {ONLINE: online, "timeline.jsonl": b""}, judge).value
    needed = roles or not elsewhere
    assert ("the air-gapped machine's transcript was not given" in report["missing"]) is needed


def test_documents_that_were_not_given_are_named_and_not_hidden() -> None:
    some = {n: d for n, d in day.offline_files().items() if n in ("plan.toml", "deployment.json")}
    report = report_of_artefacts(some, judge)
    assert report.value["missing"] == ["the requests were not given", "the signatures were not given"]
    assert report.html.count(b"not given") > 5
    assert verify_report(report.json, report.html, some, judge).value["complete"] is False


@pytest.mark.parametrize("given", [(), ("requests.json",)])
def test_without_signatures_a_step_is_told_as_the_last_signing_of_these_requests_left_it(given: tuple[str]) -> None:
    ours = {"requests": day.requests_fingerprint(), "plan": plan().fingerprint}
    events = [*day.offline_events()[:1], ("sign-begun", ours), ("declined", {"step": "close"})]
    events += [("sign-begun", dict.fromkeys(ours, "0" * 64)), ("declined", {"step": "open-pnl"})]
    events += [("signed", {"step": "close", "digest": "0x"})]
    files = {n: d for n, d in day.offline_files().items() if n in ("plan.toml", "deployment.json", *given)}
    told = report_of_artefacts(files | {OFFLINE: day.chain(events)}, judge).value["missing"]
    assert [line for line in told if "declined" in line] == ["step close: declined"]


# ---- the people of both machines -------------------------------------------------------------------------------------

ADA, MARY = "Ada Lovelace", "Mary Somerville"


def test_one_person_in_two_roles_on_two_machines_is_not_complete() -> None:
    def begun(signer: str, witness: str) -> day.Event:
        people = {"signer": signer, "witness": witness}
        return "ceremony-begun", {"ceremony": plan().id, "plan": plan().fingerprint, "roles": people}

    here = [begun(ADA, MARY) if event == "ceremony-begun" else (event, data) for event, data in day.offline_events()]
    told = day.reported(here, [begun(MARY, ADA), *day.online_events(day.timeline_bytes())]).value["missing"]
    assert f"{ADA} is signer on the air-gapped machine, and witness on the online machine" in told
    assert f"{MARY} is witness on the air-gapped machine, and signer on the online machine" in told


@pytest.mark.parametrize("checkpoint", ["deployment", "address", "requests", "review", "signatures"])
def test_what_was_confirmed_for_other_documents_does_not_hold_for_these(checkpoint: str) -> None:
    """Requests that were prepared again, another attempt's document, another signer's address: none is this report's."""
    signers = {item["signer"]["address"] for item in whole()["requests"]}
    mark = parse_signatures(day.signatures_bytes())[2]
    right = {"deployment": deployment().fingerprint, "address": " ".join(signers), "requests": day.requests_fingerprint(),
             "review": mark, "signatures": mark}[checkpoint]  # fmt: skip
    later: list[day.Event] = [
        ("address", {"address": day.signed()[0].signer, "confirmed": True}),
        ("sign-begun", {"requests": "ee" * 32, "plan": plan().fingerprint, "ceremony": plan().id}),
        ("signatures-written", {"requests": "ee" * 32, "signatures": "ee" * 32}),
    ]
    last = day.signed()[0].signer if checkpoint == "address" else "ee" * 32
    for compared, holds in ((right, True), (last, False)):
        data = {"ceremony": plan().id, "checkpoint": checkpoint, "by": ["signer", "witness"], "compared": compared}
        events = [*day.offline_events(), *later, ("checkpoint-confirmed", data)]
        value = day.reported(events).value
        [row] = [each for row in value["people"] for each in row["checkpoints"]]
        assert row["holds"] is holds
        told = "is not confirmed by signer and witness, because something else was confirmed"
        wrong = f"air-gapped machine: checkpoint {checkpoint} {told}" in value["missing"]
        assert wrong is (not holds and checkpoint != "signatures")


def test_an_earlier_beginning_is_told_for_what_was_said_then_counts_no_more() -> None:
    def at(seq: int) -> day.Event:
        return "ceremony-begun", {"ceremony": plan().id, "plan": "ee" * 32, "roles": {"signer": f"{ADA} {seq}"}}

    other: day.Event = ("ceremony-begun", {"ceremony": "other", "plan": plan().fingerprint, "roles": {}})
    no: day.Event = ("exception", {"ceremony": plan().id, "checkpoint": "review", "by": "signer", "reason": "not so"})
    notes = day.reported([at(1), other, no, *day.offline_events(), at(2)]).value["notes"]
    assert len([line for line in notes if line.startswith("begun before on the air-gapped machine, 20")]) == 1
    assert not [line for line in day.reported().value["notes"] if "begun before" in line or "interrupted" in line]


@pytest.mark.parametrize(("signed_under", "told"), [(plan().fingerprint, 1), ("ee" * 32, 0)])
def test_of_signings_without_an_end_those_of_this_plan_are_told(signed_under: str, told: int) -> None:
    begun: day.Event = ("sign-begun", {"ceremony": plan().id, "plan": signed_under, "requests": "dd" * 32})
    notes = day.reported([begun, *day.offline_events()]).value["notes"]
    assert sum("was interrupted" in line for line in notes) == told


def test_what_was_confirmed_after_the_seal_is_told_for_the_seal_does_not_cover_it() -> None:
    """Whoever gets a sealed transcript can add entries behind the seal, and no key is needed for that."""
    files = day.played()
    assert report_of_artefacts(files, judge).value["notes"] == []
    entries = read_entries(files[OFFLINE].splitlines())
    [review] = [entry for entry in entries if entry.data.get("checkpoint") == "review"]
    at = [entry.event for entry in entries].index("sealed") + 1
    made = entries[:at]
    for entry in (review, *entries[at:]):
        made.append(next_entry(made[-1], max(made[-1].at_ms, entry.at_ms), entry.event, entry.data))
    added = b"".join(entry.line() + b"\n" for entry in made)
    value = report_of_artefacts(files | {OFFLINE: added}, judge).value
    told = "checkpoint review on the air-gapped machine: confirmed after the seal, which does not cover it"
    assert (value["complete"], value["notes"]) == (True, [told])


def test_wrong_words_are_told_on_the_first_page() -> None:
    data = {"ceremony": plan().id, "checkpoint": "plan", "by": ["witness"], "compared": plan().fingerprint}
    wrong: day.Event = ("words-wrong", data | {"positions": [1, 2]})
    odd: list[day.Event] = [("words-wrong", wrong[1] | {"by": by}) for by in ([], ["signer", "witness"])]  # not ours
    told = day.reported(day.after("ceremony-begun", wrong, wrong, *odd)).value["notes"]
    assert "wrong words typed on the air-gapped machine: plan, witness: 3; plan, signer: 1" in told
    assert not [line for line in day.reported().value["notes"] if "wrong words" in line]


def test_a_time_that_the_clock_contradicted_is_told_on_the_first_page_and_not_one_that_agreed() -> None:
    stated = {"stated_ms": 1_790_000_000_000, "uncertainty_s": 60}
    events = day.after("ceremony-begun", ("clock-contradicted", stated), ("clock-stated", stated))
    look = day.reported(events).value["notes"]
    told = [line.partition(" the air-gapped machine's")[0] for line in look if "on a watch" in line]
    assert told == ["2026-09-21 14:13:20 UTC on a watch DIFFERS from"]


@pytest.mark.parametrize(("back_ms", "told"), [(3_601_000, True), (2000, False)])
def test_a_clock_that_was_set_back_is_told_by_each_machines_report(back_ms: int, told: bool) -> None:
    files, made, back = day.offline_files(), list[Entry](), 0
    for entry in read_entries(files[OFFLINE].splitlines()):
        made.append(next_entry(made[-1] if made else None, entry.at_ms - back, entry.event, entry.data))
        back = back_ms if entry.event == "sign-begun" else back
    moved = {OFFLINE: b"".join(entry.line() + b"\n" for entry in made)}
    for each in (files, day.online_files()):
        notes = report_of_artefacts(each | moved, judge).value["notes"]
        assert any("the air-gapped machine's clock was set back: from 2" in line for line in notes) is told


def test_what_was_not_compared_with_paper_is_told_and_never_shown_as_compared() -> None:
    def confirmed(role: str, how: dict[str, object]) -> day.Event:
        data = {"ceremony": plan().id, "checkpoint": "plan", "by": [role], "compared": plan().fingerprint}
        return "checkpoint-confirmed", data | how

    answers = [confirmed("signer", {"how": "no-paper"}), confirmed("witness", {"how": "paper", "positions": [6, 23]})]
    made = day.reported(day.after("ceremony-begun", *answers))
    told = "checkpoint plan on the air-gapped machine: not compared with paper by the signer"
    assert [line for line in made.value["notes"] if "paper" in line] == [told]
    checkpoints = next(row["checkpoints"] for row in made.value["people"] if row["machine"] == "offline")
    assert [each["how"] for each in checkpoints if "how" in each] == ["no-paper", "paper"]
    html = made.html.decode()
    said = ('<span class="bad">not compared with paper</span>, air-gapped', "\N{CHECK MARK} own paper, air-gapped")
    assert list(map(html.count, said)) == [1, 1]


@pytest.mark.parametrize(("kit", "calm"), [("", True), ("cd" * 32, False)])
def test_without_a_kit_nobody_could_compare_it_and_the_page_says_that(kit: str, calm: bool) -> None:
    looked = ("preflight", {"installed": {"fingerprint": kit}})
    entries = read_entries(day.chain([*day.offline_events(), looked]).splitlines())
    data = {"ceremony": plan().id, "checkpoint": "preflight", "by": ["witness"], "compared": entries[-1].hash}
    entries.append(next_entry(entries[-1], entries[-1].at_ms, "checkpoint-confirmed", data | {"how": "no-paper"}))
    made = report_of_artefacts(day.online_files() | {OFFLINE: b"".join(e.line() + b"\n" for e in entries)}, judge)
    said = "not compared with paper"
    told = f"no kit, so {said}" if calm else f"{said} by the witness"
    assert f"checkpoint preflight on the air-gapped machine: {told}" in made.value["notes"]
    shown = f"<p>no kit, so {said}" if calm else f'<span class="bad">{said}</span>'
    assert made.html.decode().count(f"{shown}, air-gapped") == 1


def test_a_declined_review_and_the_sections_that_were_opened_are_in_the_report() -> None:
    step = day.signed()[0]
    about = {"step": step.step, "digest": step.digest}
    reviews: list[day.Event] = [
        ("declined", about | {"digest": f"0x{'0d' * 32}", "why": "not Yes"}),  # as it was prepared before
        ("reviewed", about | {"action": "x", "decides": [], "opened": []}),
        ("declined", about | {"why": "not answered"}),
        ("reviewed", about | {"action": "x", "decides": [], "opened": ["the hashes", day.HOSTILE]}),
        ("declined", about),
    ]
    made = day.reported(day.after("sign-begun", *reviews))
    [row] = [each for each in made.value["steps"] if each["id"] == step.step]
    assert [(each["declined"], each["opened"]) for each in row["reviews"]] == [
        ("not Yes", ""), ("", "none"), ("not answered", ""), ("", f"the hashes, {day.HOSTILE}"), ("declined", ""),
    ]  # fmt: skip
    html = made.html.decode()
    assert html.count("Reviewed on the air-gapped machine, and which sections were opened there") == 1
    for each in ("not Yes", "not answered", "declined"):
        assert f'<span class="bad">{each}</span>' in html
        assert [line for line in made.value["notes"] if line.startswith(f"step {step.step}: {each}, 20")]
    assert day.HOSTILE not in html


def test_a_signature_that_is_shown_has_the_sha256_that_is_said_of_it() -> None:
    files = day.online_files()
    document = json.loads(files["signatures.json"])
    shown = next(item for item in document["signatures"] if item.get("signature"))
    shown["signature_sha256"] = "0" * 64
    assert _refused(files | {"signatures.json": to_bytes(document)}).check == "REPORT-MATCH"


def test_pages_without_the_transcript_that_names_their_model_are_compared_with_none() -> None:
    files = {name: data for name, data in day.offline_files().items() if name != OFFLINE}
    results = {row["what"]: row["result"] for row in report_of_artefacts(files, judge).value["matches"]}
    assert results["the Ledger's pages are for these requests"] == "holds"
    assert [result for what, result in results.items() if "of a model that" in what] == ["not given"]


def test_a_plan_without_roles_misses_them() -> None:
    files = day.offline_files()
    bare = files["plan.toml"].decode().replace('roles = ["signer", "facilitator", "witness"]', "roles = []")
    assert bare != files["plan.toml"].decode()
    told = report_of_artefacts({"plan.toml": bare.encode(), "deployment.json": files["deployment.json"]}, judge).value
    assert (UNWITNESSED in told["missing"], told["complete"]) == (True, False)
    assert headline(told["missing"]) == "INCOMPLETE"  # there is more that is missing
    assert UNWITNESSED not in report_of_artefacts(files, judge).value["missing"]


# ---- which signatures could still execute ------------------------------------------------------------------------------

NOW_MS = 1_800_000_000_000
A, B = "0x" + "aa" * 20, "0x" + "bb" * 20
INTENT = Use("0x01", 8453, "0x" + "cc" * 20, A, A, 7, "demo", "step", NOW_MS + 1)
TRIGGER = INTENT._replace(deadline_ms=None)
TRANSACTION = Use("0x01", 8453, "", A, A, 7, "demo", "step", None)
KINDS = {"intent": INTENT, "trigger": TRIGGER, "transaction": TRANSACTION}
OPEN = ("", "PREPARED", "SENDING", "REJECTED", "EXPORTED", "ACCEPTED", "UNKNOWN", "anything else", "confirmed")
ENDED = ("EXPIRED_UNUSED", "VOIDED")  # both are by the operator's node; any other one may be a service's word
STATES = (*OPEN, "FILLED", "CONFIRMED", "MARKET_DECLINED", "FAILED", "EXPIRED_UNUSED", "VOIDED")


def alive(
    *uses: Use, states: Any = None, proved: str = "", now_ms: int | None = NOW_MS, unsure_ms: int = 0
) -> set[str]:
    return {each.use.digest for each in standings(uses, states or {}, [proved], now_ms, unsure_ms) if not each.over}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", STATES)
def test_an_outcome_ends_a_signature_only_when_the_node_has_proved_it(kind: str, state: str) -> None:
    assert alive(KINDS[kind], states={"0x01": state}) == (set() if state in ENDED else {"0x01"})
    assert alive(KINDS[kind], states={"0x01": state}, proved="0x01") == set()
    [told] = standings([KINDS[kind]], {"0x01": state}, ["0x01"], NOW_MS)
    assert "has not proved" not in told.known


@pytest.mark.parametrize(
    ("event", "payload", "proof"),
    [("FoundOnChain", {"confirmedBlock": 9}, True), ("TransactionConfirmed", {"confirmedBlock": 9}, True),
     ("TransactionReverted", {"confirmedBlock": 9}, True), ("TransactionConfirmed", {"blockNumber": 9}, False),
     ("TransactionReverted", {"code": "REVERTED"}, False), ("FoundOnChain", {}, False),
     ("MarketOrderExecuted", {"confirmedBlock": 9}, False), ("RelayConfirmed", {"confirmedBlock": 9}, False)],
)  # fmt: skip
def test_only_a_confirmed_block_of_the_operators_node_is_a_proof(event: str, payload: Any, proof: bool) -> None:
    assert proves(event, payload) is proof


@pytest.mark.parametrize(
    ("past_ms", "unsure_ms", "over"),
    [(0, 0, False), (MARGIN_MS, 0, False), (MARGIN_MS + 1, 0, True), (MARGIN_MS + 1, MARGIN_MS + 1, False),
     (600_001, 600_000, True), (-1, 0, False)],
)  # fmt: skip
def test_a_deadline_is_past_when_it_surely_is(past_ms: int, unsure_ms: int, over: bool) -> None:
    use = INTENT._replace(deadline_ms=NOW_MS - past_ms)
    assert alive(use, unsure_ms=unsure_ms) == (set() if over else {"0x01"})
    assert alive(use, now_ms=None) == {"0x01"}
    assert alive(use._replace(deadline_ms=None)) == {"0x01"}


@pytest.mark.parametrize("said", ["clock-stated", "clock-contradicted"])
def test_no_deadline_is_past_by_a_clock_that_a_watch_has_contradicted(said: str) -> None:
    files, facts = day.offline_files(), {"stated_ms": NOW_MS, "uncertainty_s": 60}
    last = next_entry(read_entries(files[OFFLINE].splitlines())[-1], NOW_MS + 10**9, said, facts)
    alive = report_of_artefacts(files | {OFFLINE: files[OFFLINE] + last.line() + b"\n"}, judge).value["alive"]
    known = said == "clock-stated"  # a trigger and a transaction have no deadline
    assert (len(alive["signatures"]) < len(day.digests()), alive["as_of"] is not None) == (known, known)


@pytest.mark.parametrize("kind", KINDS)
def test_what_replaced_it_ends_it_once_that_has_spent_the_nonce(kind: str) -> None:
    old = KINDS[kind]
    new = old._replace(digest="0x02", step="withdraw", replaces="0x01")
    for state in STATES:
        assert alive(old, new, states={"0x02": state}) == ({"0x01"} if state in ENDED else {"0x01", "0x02"})
        assert alive(old, new, states={"0x02": state}, proved="0x02") == set()


@pytest.mark.parametrize(
    "other",
    [{"chain_id": 1}, {"contract": b"\xdd" * 20}, {"signer": B}, {"trader": B}, {"nonce": 8}, {"contract": b""}],
)
def test_another_nonce_ends_nothing(other: dict[str, Any]) -> None:
    apart = INTENT._replace(digest="0x02", **other)
    assert alive(INTENT, apart, states={"0x02": "CONFIRMED"}, proved="0x02") == {"0x01"}


# ---- what is refused --------------------------------------------------------------------------------------------------


def test_without_plan_or_deployment_and_with_a_file_that_is_no_artefact_there_is_no_report() -> None:
    files = day.offline_files()
    without = [{n: d for n, d in files.items() if n != missing} for missing in ("plan.toml", "deployment.json")]
    for given in (*without, files | {"notes.txt": b""}):
        assert _refused(given).check == "REPORT-ARTEFACT"
    assert len(FILES) == 8


@pytest.mark.parametrize(
    ("event", "member"),
    [
        ("deployment-pinned", "fingerprint"), ("sign-begun", "plan"), ("sign-begun", "requests"), ("signed", "digest"),
        ("signatures-written", "requests"), ("signatures-written", "signatures"), ("prepared", "plan"),
        ("prepared", "requests"), ("submit-begun", "requests"), ("submit-begun", "signatures"),
        ("submit-begun", "offline_transcript_head"), ("timeline-exported", "sha256"), ("timeline-exported", "requests"),
    ],
)  # fmt: skip
def test_an_entry_that_names_something_else_is_refused(event: str, member: str) -> None:
    files = day.online_files()
    for name, events in ((OFFLINE, day.offline_events()), (ONLINE, day.online_events(day.timeline_bytes()))):
        changed = [(e, d | {member: "f" * 64} if e == event else d) for e, d in events]
        if changed != events:
            assert _refused(files | {name: day.chain(changed)}).check == "REPORT-MATCH"
            return
    pytest.fail("no such event")


TREASURY, STRANGER = next(iter(KEYS)), "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"


def test_a_seal_by_another_key_is_refused() -> None:
    files = day.offline_files()
    alone = files["plan.toml"].replace(f'address = "{STRANGER}"'.encode(), f'address = "{TREASURY}"'.encode())
    bare = {"plan.toml": alone, "deployment.json": files["deployment.json"], OFFLINE: day.sealed(STRANGER)}
    assert _refused(bare).check == "DOC-SEAL"


def test_a_seal_from_before_this_plan_is_an_earlier_signers_and_stops_no_report() -> None:
    earlier = "ceremony-begun", {"ceremony": plan().id, "plan": "f" * 64, "roles": {}}
    head = read_entries(day.chain([earlier, earlier, *day.offline_events()]).splitlines())[0].hash
    seal = "sealed", day.seal_of("0x" + "11" * 32, plan().id, 1, head)
    whole = day.chain([earlier, seal, *day.offline_events()])
    report = report_of_artefacts(day.offline_files() | {OFFLINE: whole}, judge).value
    assert report["transcripts"][0]["seals"] == []
    assert "the air-gapped machine's transcript is not sealed by a signer of the plan" in report["missing"]


@pytest.mark.parametrize(
    "altered",
    [{"entries": 3}, {"head": "f" * 64}, {"address": STRANGER}, {"signature": "0x" + "11" * 65}, {"signature": 7}],
)
def test_a_seal_that_does_not_hold_is_refused(altered: dict[str, Any]) -> None:
    assert _refused(day.offline_files() | {OFFLINE: day.sealed(TREASURY, **altered)}).check in ("DOC-SEAL", "DOC-FIELD")


def test_a_seal_of_another_ceremony_is_not_this_ones_and_one_before_the_signatures_does_not_cover_them() -> None:
    report = report_of_artefacts(day.offline_files() | {OFFLINE: day.sealed(TREASURY, ceremony="another")}, judge).value
    assert report["transcripts"][0]["seals"] == []
    lines = day.sealed(TREASURY)
    last = read_entries(lines.splitlines())[-1]
    marks = next(data for event, data in day.offline_events() if event == "signatures-written")
    later = lines + next_entry(last, last.at_ms, "signatures-written", marks).line() + b"\n"
    found = report_of_artefacts(day.offline_files() | {OFFLINE: later}, judge).value["missing"]
    assert "the air-gapped machine's transcript was sealed before these signatures were written" in found


def test_a_head_that_no_transcript_has_is_refused() -> None:
    files = day.offline_files()
    document = json.loads(day.signatures_bytes())
    document["header"]["transcript_head"] = "f" * 64
    other = json.dumps(document).encode()
    marks = {"signatures": parse_signatures(other)[2]}
    events = [(e, d | marks if e == "signatures-written" else d) for e, d in day.offline_events()]
    refusal = _refused(files | {"signatures.json": withhold(other, ()), OFFLINE: day.chain(events)})
    assert (refusal.check, "head" in refusal.got) == ("REPORT-MATCH", True)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["header"].update(requests="f" * 64),
        lambda d: d["header"].update(ceremony="another"),
        lambda d: d["header"].update(rehearsal=True),
        lambda d: d["header"].update(fingerprint="f" * 64),
        lambda d: d["signatures"].reverse(),
        lambda d: d["signatures"].pop(),
        lambda d: d["signatures"][0].update(digest="0x" + "0" * 64),
        lambda d: d["signatures"][0].update(signer=d["signatures"][0]["signer"][:-1] + "0"),
        lambda d: d["signatures"][0].update(step="close"),
    ],
)
def test_signatures_of_another_ceremony_are_refused(change: Any) -> None:
    files = day.offline_files()
    document = json.loads(files["signatures.json"])
    change(document)
    assert _refused(files | {"signatures.json": json.dumps(document).encode()}).check == "REPORT-MATCH"


def test_bytes_that_are_not_the_signers_are_refused() -> None:
    files = day.online_files()
    document = json.loads(files["signatures.json"])
    other = "0x" + document["signatures"][2]["signature"][2:]
    row = document["signatures"][0]
    row |= {"signature": other, "signature_sha256": hashlib.sha256(bytes.fromhex(other[2:])).hexdigest()}
    assert _refused(files | {"signatures.json": json.dumps(document).encode()}).check == "SIG-SIGNER"


def _altered(value: Any) -> Iterator[Any]:
    """Yield a JSON value with each of its members, at any depth, replaced by values of other types, or taken away."""
    for *parents, last in places(value):
        for other in (None, 7, -1, "x", [], {}, [7], {"x": 7}, True, 1e9):
            changed = copy.deepcopy(value)
            at(changed, parents)[last] = other
            yield changed
        shorter = copy.deepcopy(value)
        del at(shorter, parents)[last]
        yield shorter


def _settles(files: dict[str, bytes]) -> str:
    """Make a report of changed files: it is one, or one of our own refusals; anything else fails the test."""
    try:
        report_of(read_evidence(files), judge(read_evidence(files)))
    except AirlockError as error:
        return type(error).__name__
    return "report"


@pytest.mark.parametrize("name", [OFFLINE, ONLINE])
def test_no_changed_entry_makes_the_report_fall(name: str) -> None:
    """In a chain that was made anew around it."""
    events = day.offline_events() if name == OFFLINE else day.online_events(day.timeline_bytes())
    first = next(n for n, (event, _) in enumerate(events) if event == "signed") if name == OFFLINE else len(events)
    files = day.online_files() if name == ONLINE else day.offline_files()
    settled: Counter[str] = Counter()
    for number, (event, data) in enumerate(events):
        if event == "signed" and number > first:
            continue
        for changed in every_nth([*_altered(data)], 11):
            made = day.chain([*events[:number], (event, changed), *events[number + 1 :]])
            settled[_settles(files | {name: made})] += 1
    assert settled["report"] > 20, settled
    assert settled.total() - settled["report"] > 20, settled


@pytest.mark.parametrize("name", ["timeline.jsonl", "screens.json", "signatures.json"])
def test_no_changed_document_of_a_report_makes_it_fall(name: str) -> None:
    files = day.online_files()
    lines = files[name].splitlines() if name.endswith("l") else [files[name]]
    settled: Counter[str] = Counter()
    document = json.loads(lines[0]) if name.endswith("l") else _short(json.loads(lines[0]))
    for changed in every_nth([*_altered(document)], 3):
        settled[_settles(files | {name: b"\n".join([json.dumps(changed).encode(), *lines[1:]])})] += 1
    assert settled.total() > 50, settled
    assert settled.total() > settled["report"], "nothing that was changed is refused"


def _short(document: dict[str, Any]) -> dict[str, Any]:
    last = list(document)[-1]
    return document | {last: document[last][:2]}


def test_a_changed_field_an_artefact_and_the_page_are_refused_by_name() -> None:
    files = day.online_files()
    made = report_of_artefacts(files, judge)
    assert verify_report(made.json, made.html, files, judge).value == made.value
    value = copy.deepcopy(made.value)
    value["steps"][3]["request"]["decided"][0]["raw"] += "0"
    changed, other = json.dumps(value, indent=1).encode() + b"\n", files | {"plan.toml": files["plan.toml"] + b"\n"}
    renamed, at = made.html.replace(b"Mary", b"Mara", 1), made.html.index(b"Mary") + 3
    for report, html, given, check, where in (
        (changed, made.html, files, "REPORT-FIELD", "steps[3].request.decided[0].raw"),
        (json.dumps(made.value).encode(), made.html, files, "REPORT-FIELD", ""),
        (made.json.replace(b"report@1", b"report@2", 1), made.html, files, "REPORT-FIELD", "format"),
        (made.json.replace(b'"complete": false', b'"complete": 0'), made.html, files, "REPORT-FIELD", "complete"),
        (b"[]", made.html, files, "REPORT-ARTEFACT", "artefacts"),
        (made.json, made.html[:-1], files, "REPORT-PAGE", f"byte {len(made.html) - 1}"),
        (made.json, renamed, files, "REPORT-PAGE", f"byte {at}"),
        (made.json, made.html, other, "REPORT-ARTEFACT", "artefacts[0].bytes"),
    ):
        error = error_of(DocumentError, verify_report, report, html, given, judge)
        assert (error.check, error.where, error.exit_code) == (check, where, 4)


def test_every_signature_is_recovered_again_with_the_whole_document() -> None:
    files = day.offline_files()
    made = report_of_artefacts(files, judge)
    assert any("withheld" in sentence for sentence in verify_report(made.json, made.html, files, judge).open)
    found = verify_report(made.json, made.html, files, judge, signatures=day.signatures_bytes())
    assert not any("withheld" in sentence for sentence in found.open)
    document = json.loads(day.signatures_bytes())
    document["header"]["created_ms"] += 1
    with pytest.raises(Refusal, match="not the one that the report was made from"):
        verify_report(made.json, made.html, files, judge, signatures=json.dumps(document).encode())


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda d: d["header"].update(created_ms=1), "REPORT-MATCH"),  # the whole has the fingerprint that it names
        (lambda d: d.update(format="airlock/signatures@1"), "DOC-FORMAT"),
        (lambda d: d.update(more=1), "DOC-FIELD"),
        (lambda d: d["header"].pop("fingerprint"), "DOC-FIELD"),
        (lambda d: d["signatures"][0].pop("signature_sha256"), "DOC-FIELD"),
        (lambda d: d["signatures"][0].update(signature_sha256="F" * 64), "DOC-FIELD"),
        (lambda d: d["signatures"][0].update(signature="0x"), "DOC-FIELD"),
        (lambda d: d["signatures"].append(7), "DOC-FIELD"),
    ],
)
def test_malformed_withheld_signatures_are_refused(change: Any, check: str) -> None:
    document = json.loads(withhold(day.signatures_bytes(), day.digests()))
    change(document)
    assert check_of(parse_withheld, json.dumps(document).encode()) == check


@pytest.mark.parametrize(
    "lines",
    [
        b"7", b"{}", b'{"kind":"other"}', b'{"kind":"event","digest":"0x","type":"a","payload":{}}',
        b'{"kind":"submission","digest":"0x"}', day.timeline_bytes() + day.timeline_bytes(),
    ],
)  # fmt: skip
def test_a_malformed_timeline_is_refused(lines: bytes) -> None:
    assert check_of(parse_timeline, lines) == "DOC-FIELD"


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"}, {"model": "<b>"}, {"requests": "x"}, {"steps": [{"digest": "0x"}]},
        {"steps": [{"pages": [7]}]}, {"steps": [{"pages": [[7]]}]},
    ],
)  # fmt: skip
def test_malformed_screens_are_refused(change: dict[str, Any]) -> None:
    document = json.loads(day.screens_bytes())
    steps = [document["steps"][0] | each for each in change.get("steps", [])] or document["steps"]
    assert error_of(DocumentError, parse_screens, json.dumps(document | change | {"steps": steps}).encode())


def test_the_deployment_of_a_report_is_the_one_that_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another terminal pins another one in its place meanwhile."""
    pinned = tmp_path / f"{plan().deployment}.json"
    pinned.write_text(DEPLOYMENT_TEXT)

    def replaced_after(path: Path, parse: Callable[[bytes], Any]) -> Any:
        found = read_document(path, parse)
        pinned.write_text("of another terminal")
        return found

    monkeypatch.setattr("airlock_shared.cli.report.read_document", replaced_after)
    files = {PLAN_FILE: PLAN_TEXT.encode()}
    add_deployment(files, tmp_path)
    assert files[DEPLOYMENT_FILE] == DEPLOYMENT_TEXT.encode()
