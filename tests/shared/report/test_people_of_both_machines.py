"""A report compares the people of both machines, says what the plan says of a witness, and is not Complete without roles."""

from __future__ import annotations

import pytest

from airlock_shared.documents.signatures import parse_signatures
from airlock_shared.documents.transcript import next_entry, read_entries
from airlock_shared.report.reexamined import judge
from airlock_shared.report.rows import UNWITNESSED, headline
from airlock_shared.report.verify import report_of_artefacts
from shared.report.day import (
    HOSTILE,
    Event,
    chain,
    offline_events,
    offline_files,
    online_events,
    online_files,
    played,
    requests_fingerprint,
    signatures_bytes,
    signed,
    timeline_bytes,
)
from shared.world import deployment, plan, whole

OFFLINE, ONLINE = "offline-transcript.jsonl", "online-transcript.jsonl"


def missing(offline: dict[str, str], online: dict[str, str]) -> list[str]:
    """Return what a report misses in which each machine's ceremony was begun with these people."""

    def begun(people: dict[str, str]) -> Event:
        return "ceremony-begun", {"ceremony": plan().id, "plan": plan().fingerprint, "roles": people}

    files = online_files()
    here = [begun(offline) if event == "ceremony-begun" else (event, data) for event, data in offline_events()]
    there = [begun(online), *online_events(timeline_bytes())]
    found: list[str] = report_of_artefacts(files | {OFFLINE: chain(here), ONLINE: chain(there)}, judge).value["missing"]
    return found


ADA, MARY = "Ada Lovelace", "Mary Somerville"


def test_one_person_in_two_roles_on_two_machines_is_not_complete() -> None:
    told = missing({"signer": ADA, "witness": MARY}, {"signer": MARY, "witness": ADA})
    assert f"{ADA} is signer on the air-gapped machine, and witness on the online machine" in told
    assert f"{MARY} is witness on the air-gapped machine, and signer on the online machine" in told


@pytest.mark.parametrize("checkpoint", ["deployment", "address", "requests", "review", "signatures"])
def test_what_was_confirmed_for_other_documents_does_not_hold_for_these(checkpoint: str) -> None:
    """Requests that were prepared again, another attempt's document, another signer's address: none is this report's."""
    signers = {item["signer"]["address"] for item in whole()["requests"]}
    mark = parse_signatures(signatures_bytes())[2]
    right = {"deployment": deployment().fingerprint, "address": " ".join(signers), "requests": requests_fingerprint(),
             "review": mark, "signatures": mark}[checkpoint]  # fmt: skip
    later: list[Event] = [
        ("address", {"address": signed()[0].signer, "confirmed": True}),
        ("sign-begun", {"requests": "ee" * 32, "plan": plan().fingerprint, "ceremony": plan().id}),
        ("signatures-written", {"requests": "ee" * 32, "signatures": "ee" * 32}),
    ]
    last = signed()[0].signer if checkpoint == "address" else "ee" * 32
    for compared, holds in ((right, True), (last, False)):
        data = {"ceremony": plan().id, "checkpoint": checkpoint, "by": ["signer", "witness"], "compared": compared}
        events = [*offline_events(), *later, ("checkpoint-confirmed", data)]
        value = report_of_artefacts(online_files() | {OFFLINE: chain(events)}, judge).value
        [row] = [each for row in value["people"] for each in row["checkpoints"]]
        assert row["holds"] is holds
        told = "is not confirmed by signer and witness, because something else was confirmed"
        wrong = f"air-gapped machine: checkpoint {checkpoint} {told}" in value["missing"]
        assert wrong is (not holds and checkpoint != "signatures")


def test_an_earlier_beginning_is_told_for_what_was_said_then_counts_no_more() -> None:
    def at(seq: int) -> Event:
        return "ceremony-begun", {"ceremony": plan().id, "plan": "ee" * 32, "roles": {"signer": f"{ADA} {seq}"}}

    other: Event = ("ceremony-begun", {"ceremony": "other", "plan": plan().fingerprint, "roles": {}})
    no: Event = ("exception", {"ceremony": plan().id, "checkpoint": "review", "by": "signer", "reason": "not so"})
    events = [at(1), other, no, *offline_events(), at(2)]
    value = report_of_artefacts(online_files() | {OFFLINE: chain(events)}, judge).value
    told = [line for line in value["notes"] if line.startswith("begun before on the air-gapped machine, 20")]
    assert len(told) == 1
    assert not [line for line in report_of_artefacts(online_files(), judge).value["notes"] if "begun before" in line]


def test_what_was_confirmed_after_the_seal_is_told_for_the_seal_does_not_cover_it() -> None:
    """Whoever gets a sealed transcript can add entries behind the seal, and no key is needed for that."""
    files = played()
    assert report_of_artefacts(files, judge).value["notes"] == []
    entries = read_entries(files[OFFLINE].splitlines())
    [review] = [entry for entry in entries if entry.data.get("checkpoint") == "review"]
    at = [entry.event for entry in entries].index("sealed") + 1
    made = entries[:at]
    for entry in (review, *entries[at:]):
        made.append(next_entry(made[-1], entry.at_ms, entry.event, entry.data))
    added = b"".join(entry.line() + b"\n" for entry in made)
    value = report_of_artefacts(files | {OFFLINE: added}, judge).value
    told = "checkpoint review on the air-gapped machine: confirmed after the seal, which does not cover it"
    assert (value["complete"], value["notes"]) == (True, [told])


def test_wrong_words_are_told_on_the_first_page() -> None:
    def with_wrong(events: list[Event]) -> list[Event]:
        at = 1 + [event for event, _ in events].index("ceremony-begun")
        wrong = {"ceremony": plan().id, "checkpoint": "plan", "by": ["witness"], "compared": plan().fingerprint,
                 "positions": [1, 2]}  # fmt: skip
        return [*events[:at], ("words-wrong", wrong), ("words-wrong", wrong), *events[at:]]

    told = report_of_artefacts(online_files() | {OFFLINE: chain(with_wrong(offline_events()))}, judge).value["notes"]
    assert "wrong words typed on the air-gapped machine: plan, witness: 2" in told
    assert not [line for line in report_of_artefacts(online_files(), judge).value["notes"] if "wrong words" in line]


def test_a_time_that_the_clock_contradicted_is_told_on_the_first_page_and_not_one_that_agreed() -> None:
    day = offline_events()
    at = 1 + [event for event, _ in day].index("ceremony-begun")
    stated = {"stated_ms": 1_790_000_000_000, "uncertainty_s": 60}
    events: list[Event] = [("clock-contradicted", stated), ("clock-stated", stated)]
    look = report_of_artefacts(online_files() | {OFFLINE: chain([*day[:at], *events, *day[at:]])}, judge).value["notes"]
    told = [line.partition(" the air-gapped machine's")[0] for line in look if "on a watch" in line]
    assert told == ["2026-09-21 14:13:20 UTC on a watch DIFFERS from"]


def test_what_was_not_compared_with_paper_is_told_and_never_shown_as_compared() -> None:
    def confirmed(role: str, how: dict[str, object]) -> Event:
        data = {"ceremony": plan().id, "checkpoint": "plan", "by": [role], "compared": plan().fingerprint}
        return "checkpoint-confirmed", data | how

    events = offline_events()
    at = 1 + [event for event, _ in events].index("ceremony-begun")
    answers = [confirmed("signer", {"how": "no-paper"}), confirmed("witness", {"how": "paper", "positions": [6, 23]})]
    made = report_of_artefacts(online_files() | {OFFLINE: chain([*events[:at], *answers, *events[at:]])}, judge)
    told = "checkpoint plan on the air-gapped machine: not compared with paper by the signer"
    assert [line for line in made.value["notes"] if "paper" in line] == [told]
    checkpoints = next(row["checkpoints"] for row in made.value["people"] if row["machine"] == "offline")
    assert [each["how"] for each in checkpoints if "how" in each] == ["no-paper", "paper"]
    html = made.html.decode()
    said = ('<span class="bad">not compared with paper</span>, air-gapped', "\N{CHECK MARK} own paper, air-gapped")
    assert list(map(html.count, said)) == [1, 1]


@pytest.mark.parametrize(("kit", "calm"), [("", True), ("cd" * 32, False)])
def test_without_a_kit_nobody_could_compare_it_and_the_page_says_that(kit: str, calm: bool) -> None:
    entries = read_entries(chain([*offline_events(), ("preflight", {"installed": {"fingerprint": kit}})]).splitlines())
    data = {"ceremony": plan().id, "checkpoint": "preflight", "by": ["witness"], "compared": entries[-1].hash}
    entries.append(next_entry(entries[-1], entries[-1].at_ms, "checkpoint-confirmed", data | {"how": "no-paper"}))
    made = report_of_artefacts(online_files() | {OFFLINE: b"".join(e.line() + b"\n" for e in entries)}, judge)
    said = "not compared with paper"
    told = f"no kit, so {said}" if calm else f"{said} by the witness"
    assert f"checkpoint preflight on the air-gapped machine: {told}" in made.value["notes"]
    shown = f"<p>no kit, so {said}" if calm else f'<span class="bad">{said}</span>'
    assert made.html.decode().count(f"{shown}, air-gapped") == 1


def test_a_declined_review_and_the_sections_that_were_opened_are_in_the_report() -> None:
    events, step = offline_events(), signed()[0]
    about = {"step": step.step, "digest": step.digest}
    reviews: list[Event] = [
        ("declined", about | {"digest": f"0x{'0d' * 32}"}),  # as it was prepared before
        ("reviewed", about | {"action": "x", "decides": [], "opened": []}),
        ("declined", about),
        ("reviewed", about | {"action": "x", "decides": [], "opened": ["the hashes", HOSTILE]}),
        ("not-signed", about | {"why": "RefusedOnDevice"}),
        ("declined", about),
    ]
    at = [event for event, _ in events].index("signed")
    made = report_of_artefacts(online_files() | {OFFLINE: chain([*events[:at], *reviews, *events[at:]])}, judge)
    [row] = [each for each in made.value["steps"] if each["id"] == step.step]
    assert [(each["declined"], each["opened"]) for each in row["reviews"]] == [
        ("declined at its review", ""), ("", "none"), ("declined at its review", ""), ("", f"the hashes, {HOSTILE}"),
        ("refused on the Ledger", ""),
    ]  # fmt: skip
    html = made.html.decode()
    assert html.count("Reviewed on the air-gapped machine, and which sections were opened there") == 1
    for each in ("declined at its review", "refused on the Ledger"):
        assert f'<span class="bad">{each}</span>' in html
        assert [line for line in made.value["notes"] if line.startswith(f"step {step.step}: {each}, 20")]
    assert HOSTILE not in html


def test_a_plan_without_roles_misses_them() -> None:
    files = offline_files()
    bare = files["plan.toml"].decode().replace('roles = ["signer", "facilitator", "witness"]', "roles = []")
    assert bare != files["plan.toml"].decode()
    told = report_of_artefacts({"plan.toml": bare.encode(), "deployment.json": files["deployment.json"]}, judge).value
    assert UNWITNESSED in told["missing"]
    assert told["complete"] is False
    assert headline(told) == "INCOMPLETE"  # there is more that is missing
    assert UNWITNESSED not in report_of_artefacts(files, judge).value["missing"]
