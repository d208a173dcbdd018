"""The report as one JSON value: a pure function of the artefacts, without the moment at which it is made.

``missing`` holds a sentence for each thing that keeps the ceremony incomplete; ``notes`` one for each that is done and is
not as it was hoped. Both are on the first page.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import chain, pairwise
from typing import Any

from airlock_shared.ceremony.roles import HOW, NO_KIT, NO_PAPER, Half, differences, standing, wrong_words
from airlock_shared.ceremony.seals import SEALED, check_seals, signer_of
from airlock_shared.ceremony.sections import (
    CEREMONY_BEGUN,
    CHECKPOINT_CONFIRMED,
    PAGE_CONFIRMED,
    section_of,
)
from airlock_shared.checks.nonces import NOT_SIGNED, SIGNED, SIGNED_LATE, SIGNING
from airlock_shared.checks.times import CONTRADICTED, GAP_MS
from airlock_shared.documents.transcript import GENESIS, Entry
from airlock_shared.plan.delegate_proofs import is_waived, registrations
from airlock_shared.plan.model import Plan
from airlock_shared.report.evidence.artefacts import FILES, Evidence
from airlock_shared.report.facts import alive_row, compare_evidence, signed_elsewhere
from airlock_shared.report.rows import (
    SIGN_BEGUN,
    UNWITNESSED,
    Judged,
    Row,
    limit_rows,
    machine_name,
    moment,
    named_rows,
    plain_text,
    read_warnings,
)
from airlock_shared.report.steps import signer_row, step_rows
from airlock_shared.text.safe import spoken

# ---- frame ----------------------------------------------------------------------------------------------------------
# The frame of a report: the people, the machine before the ceremony, both transcripts and their seals.


HALVES: tuple[Half, ...] = ("offline", "online")
_ROWS_AT_MOST = 400


def people_row(half: Half, evidence: Evidence) -> Row:
    """Return what a machine's transcript says of the people: names, confirmations, exceptions, and what is missing."""
    entries, plan = evidence.transcripts[half], evidence.plan
    found = standing(entries, plan, half, _reported(evidence))
    wrong = Counter((entry.data["checkpoint"], by) for entry in wrong_words(entries, plan) for by in entry.data["by"])
    kitless = {entry.hash for entry in entries if entry.event == "preflight" and _KITLESS in _rest(entry)}
    row: Row = {
        "machine": half,
        "names": named_rows(found.names),
        "begun": moment(found.begun_ms),
        "ended": moment(found.ended_ms),
        "checkpoints": [
            {"checkpoint": checkpoint, "at": moment(at_ms), "by": list(by), "compared": compared, "holds": holds}
            | ({"how": how} if how else {})
            | ({"no_kit": True} if how == NO_PAPER and compared in kitless else {})
            for checkpoint, confirmations in found.checkpoints.items()
            for at_ms, by, compared, holds, how in confirmations
        ],
        "exceptions": [
            {"at": moment(at_ms), "checkpoint": checkpoint, "by": by, "reason": reason}
            for at_ms, checkpoint, by, reason in found.exceptions
        ],
        "missing": list(found.missing) if plan.roles else [],
    }
    section = section_of(entries, plan)[0]
    before = entries[: section[0].seq] if section else []
    sealed = max((place for place, entry in enumerate(section) if entry.event == SEALED), default=len(section))
    unsealed = dict.fromkeys(e.data["checkpoint"] for e in section[sealed:] if e.event == CHECKPOINT_CONFIRMED)
    unsealed.pop("seal", None)
    seldom = {
        "begun_before": [
            moment(entry.at_ms)
            for entry in before
            if entry.event == CEREMONY_BEGUN and entry.data["ceremony"] == plan.id
        ],
        "unsealed": list(unsealed),
        "wrong_words": [[*key, count] for key, count in wrong.items()],
        "times": [
            {"at": moment(entry.at_ms), "watch": moment(entry.data["stated_ms"])}
            for entry in section
            if entry.event == CONTRADICTED
        ],
        "set_back": [
            {"from": moment(before.at_ms), "to": moment(entry.at_ms)}
            for before, entry in pairwise(section)
            if before.at_ms - entry.at_ms > GAP_MS
        ],
    }
    return row | {name: told for name, told in seldom.items() if told}


def _reported(evidence: Evidence) -> dict[str, set[str]]:
    """Return what people have to have confirmed at each checkpoint for this report: its documents, and its signers."""
    fingerprints = evidence.fingerprints()
    found = {name: {fingerprints[name]} - {""} for name in ("deployment", "requests", "signatures")}
    signers = {item.signer for item in evidence.requests.items}
    return found | {"review": found["signatures"], "address": signers}


def preflight_row(evidence: Evidence) -> Row | None:
    """Return the last preflight before the requests were signed for the first time; before the end when they were not."""
    begun = evidence.events("offline", SIGN_BEGUN, requests=evidence.requests.fingerprint)
    before = [e for e in evidence.events("offline", "preflight") if not begun or e.seq < begun[0].seq]
    if not before:
        return None
    last = before[-1]
    lines, refused = (found if type(found := last.data.get(name)) is list else [] for name in ("lines", "refused"))
    return {
        "at": moment(last.at_ms),
        "refused": list(map(str, refused)),
        "lines": [{name: str(line.get(name, "")) for name in _LINE} for line in lines if type(line) is dict],
        "rest": _rest(last)[:_ROWS_AT_MOST],
    }


def _rest(preflight: Entry) -> list[Row]:
    said = {name: value for name, value in preflight.data.items() if name not in ("lines", "refused")}
    return list(_flat(said, ""))


_KITLESS = {"name": "installed.fingerprint", "value": ""}
_LINE = ("group", "what", "found", "verdict")


def _flat(value: Any, where: str) -> Iterator[Row]:
    """Yield every value within the result, with its place."""
    if type(value) is dict and value:
        for name, member in value.items():
            yield from _flat(member, f"{where}.{name}" if where else name)
    elif type(value) is list and any(type(member) in (dict, list) for member in value):
        for position, member in enumerate(value):
            yield from _flat(member, f"{where}[{position}]")
    else:
        yield from named_rows({where: plain_text(value)})


def _transcript(half: Half, entries: Sequence[Entry] | None, plan: Plan) -> Row:
    """Return a row for a machine's transcript, with the seals that were made for the plan's ceremony, oldest first.

    One from before the ceremony began with this plan is none of them: it is by a signer of an earlier plan.
    Raises ``DocumentError("DOC-SEAL")``.
    """
    if entries is None:
        return {"machine": half, "given": False}
    head, section = entries[-1].hash if entries else GENESIS, section_of(entries, plan)[0]
    begun = section[0].seq if section else 0
    seals = [
        {"entries": count, "head": sealed, "by": by, "signer": signer_of(by, plan), "at": moment(at_ms)}
        for (ceremony, count, sealed), by, at_ms in check_seals(entries)
        if ceremony == plan.id and count >= begun
    ]
    facts = {"entries": len(entries), "head": head, "words": spoken(head), "seals": seals}
    return {"machine": half, "given": True, **facts}


# ---- model ----------------------------------------------------------------------------------------------------------


_FORMAT = "airlock/report@1"


def report_of(evidence: Evidence, judged: Sequence[Judged]) -> Row:
    """Return the report of artefacts whose requests have been judged again.

    Raises ``Refusal("REPORT-MATCH")`` for artefacts that contradict each other, ``DocumentError("DOC-SEAL")`` for a seal
    that does not hold.
    """
    plan, deployment = evidence.plan, evidence.deployment
    matches, steps = compare_evidence(evidence, judged), step_rows(evidence, judged)
    report: Row = {
        "format": _FORMAT,
        "airlock": version("airlock-shared"),
        "made_by": evidence.half,
        "rehearsal": deployment.rehearsal,
        "complete": False,
        "missing": [],
        "notes": [],
        "part": _part(evidence, steps),
        "prepared_at": moment(evidence.requests.header.created_ms) if evidence.requests.fingerprint else None,
        "ceremony": {"id": plan.id, "title": plan.title, "roles": list(plan.roles), "witness": plan.witness_text},
        "fingerprints": [
            {"of": of, "hex": mark, "words": mark and spoken(mark)} for of, mark in evidence.fingerprints().items()
        ],
        "plan": plan_row(plan),
        "deployment": {"name": deployment.name, "chain_id": deployment.chain_id, "fetched_at": deployment.fetched_at},
        "people": [people_row(half, evidence) for half in HALVES if half in evidence.transcripts],
        "preflight": preflight_row(evidence),
        "steps": steps,
        "alive": alive_row(evidence, judged),
        "transcripts": [_transcript(half, evidence.transcripts.get(half), plan) for half in HALVES],
        "matches": matches,
        "artefacts": artefact_rows(evidence.files),
    }
    if found := list(_interrupted(evidence)):
        report["interrupted"] = found
    missing = list(_missing(evidence, report))
    notes = [*filter(None, [deployment.test_mark]), *_notes(plan, report)]
    return report | {"complete": not missing, "missing": missing, "notes": notes}


def plan_row(plan: Plan) -> Row:
    """Return where a plan is for, its limits, and its signers."""
    return {
        "deployment": plan.deployment,
        "limits": named_rows(dict(limit_rows(plan))),
        "signers": [signer_row(signer) for signer in plan.signers.values()],
    }


def _part(evidence: Evidence, steps: Sequence[Row]) -> Row | None:
    """Return which part of the plan the requests are; None for the whole plan."""
    signer = evidence.requests.header.signer
    if not signer:
        return None
    apart = [step["id"] for step in steps if not step["in_part"]]
    return {"signer": signer, "what": f"part of the plan: the steps that {signer} signs", "not_in_it": apart}


def artefact_rows(files: Mapping[str, bytes]) -> list[Row]:
    """Return what is in the folder ``artefacts``, in the order of ``FILES``: name, size and SHA-256."""
    return [
        {
            "name": name,
            "bytes": len(files[name]),
            "sha256": hashlib.sha256(files[name]).hexdigest(),
            "what": FILES[name],
        }
        for name in FILES
        if name in files
    ]


# ---- what is missing, and what to look at ---------------------------------------------------------------------------


def _missing(evidence: Evidence, report: Row) -> Iterator[str]:
    people = report["people"]
    if not evidence.plan.roles:
        yield UNWITNESSED
    for row in people:
        for sentence in row["missing"]:
            yield f"{machine_name(row['machine'])} machine: {sentence}"
    names = {row["machine"]: {each["name"]: each["value"] for each in row["names"]} for row in people}
    yield from differences(names.get("offline", {}), names.get("online", {}))
    if not evidence.requests.fingerprint:
        yield "the requests were not given"
    if not evidence.answers.fingerprint:
        yield "the signatures were not given"
        yield from _not_signed(evidence)
    for step in report["steps"]:
        yield from (f"step {step['id']}: {sentence}" for sentence in _missing_in(step, evidence.half))
    if "offline" in evidence.transcripts:
        yield from _unsealed(evidence, report["transcripts"])
        yield from _unready(evidence.plan, report)
    elif evidence.half == "online" and (evidence.plan.roles or not signed_elsewhere(evidence)):
        yield "the air-gapped machine's transcript was not given"


def _not_signed(evidence: Evidence) -> Iterator[str]:
    """Yield which steps the last signing of these requests did not sign, and why: where none was signed there is no file.

    Where the requests were not given either, each signing under this plan counts.
    """
    if requests := evidence.requests.fingerprint:
        signings = evidence.signings(requests=requests)[-1:]
    else:
        signings = evidence.signings(plan=evidence.plan.fingerprint)
    whys: dict[str, str] = {}
    for entry in chain.from_iterable(signings):
        if entry.event in ("declined", "refused", "signed"):
            named = plain_text(entry.data.get("checks") or entry.data.get("why", ""))
            whys[str(entry.data.get("step"))] = f"{entry.event} ({named})" if named else entry.event
    for step in evidence.plan.steps:
        if whys.get(step, "signed") != "signed":
            yield f"step {step}: {whys[step]}"


def _unready(plan: Plan, report: Row) -> Iterator[str]:
    preflight = report["preflight"]
    if preflight is None:
        yield "no preflight is on record before the signing"
    elif preflight["refused"]:
        yield f"the preflight before the signing was refused: {', '.join(preflight['refused'])}"
    needed = {step.id for step in registrations(plan) if not is_waived(step)}
    for step in report["steps"]:
        if step["signature"] and step["id"] in needed and not step["proofs"]:
            yield f"step {step['id']}: no proof is on record that anybody holds the delegate key"


def _missing_in(step: Row, half: str) -> Iterator[str]:
    signature, outcome = step["signature"], step["outcome"]
    if step["request"] and step["request"]["checks"]["refused"]:
        yield "a check refuses what came back"
    if signature and signature["result"] != "signed":
        yield f"{signature['result']} ({signature['why']})" if signature["why"] else signature["result"]
    elif signature and half == "online":
        if outcome is None:
            yield "signed, and not submitted from this machine"
        elif not outcome["final"]:
            yield f"its outcome is not known yet ({outcome['state']})"


def _unsealed(evidence: Evidence, transcripts: Sequence[Row]) -> Iterator[str]:
    seals = transcripts[0]["seals"]
    written = evidence.events("offline", "signatures-written", signatures=evidence.answers.fingerprint)
    if not seals:
        yield "the air-gapped machine's transcript is not sealed by a signer of the plan"
    elif written and seals[-1]["entries"] <= written[-1].seq:
        yield "the air-gapped machine's transcript was sealed before these signatures were written"


_IN_A_SIGNING = (SIGN_BEGUN, "reviewed", PAGE_CONFIRMED, SIGNING, NOT_SIGNED, SIGNED, SIGNED_LATE, "sign-stopped")
_SIGNING_ENDED = ("declined", "refused", "signatures-written")


def _interrupted(evidence: Evidence) -> Iterator[Row]:
    """Yield each signing of the plan without an end before the next, and for which step the Ledger was asked then."""
    for begun, *after in evidence.signings()[:-1]:
        last = [begun, *(entry for entry in after if entry.event in (*_IN_A_SIGNING, *_SIGNING_ENDED))][-1]
        if begun.data.get("plan") == evidence.plan.fingerprint and last.event in _IN_A_SIGNING:
            yield {"begun": moment(begun.at_ms), "step": str(last.data.get("step")) if last.event == SIGNING else ""}


def _notes(plan: Plan, report: Row) -> Iterator[str]:
    yield from waivers(plan)
    for each in report.get("interrupted", ()):
        asked = f", while the Ledger was asked for step {each['step']}" if each["step"] else ""
        yield f"a signing that began at {each['begun']['utc']} was interrupted{asked}"
    for row in report["people"]:
        here = machine_name(row["machine"])
        for each in row.get("begun_before", ()):
            yield f"begun before on the {here} machine, {each['utc']}: what was said then counts no more"
        for checkpoint in row.get("unsealed", ()):
            yield f"checkpoint {checkpoint} on the {here} machine: confirmed after the seal, which does not cover it"
        without: dict[tuple[str, str], list[str]] = {}
        for each in row["checkpoints"]:
            if each["holds"] and each.get("how") == NO_PAPER:
                without.setdefault((each["checkpoint"], NO_KIT if "no_kit" in each else ""), []).extend(each["by"])
        for (checkpoint, kit), roles in without.items():
            by = "" if kit else f" by the {' and the '.join(dict.fromkeys(roles))}"
            yield f"checkpoint {checkpoint} on the {here} machine: {kit}{HOW[NO_PAPER]}{by}"
        if wrong := [f"{checkpoint}, {role}: {count}" for checkpoint, role, count in row.get("wrong_words", ())]:
            yield f"wrong words typed on the {here} machine: {'; '.join(wrong)}"
        for each in row.get("times", ()):
            yield f"{each['watch']['utc']} on a watch DIFFERS from the {here} machine's clock: {each['at']['utc']}"
        for each in row.get("set_back", ()):
            yield f"the {here} machine's clock was set back: from {each['from']['utc']} to {each['to']['utc']}"
        for each in row["exceptions"]:
            checkpoint = f" at checkpoint {each['checkpoint']}" if each["checkpoint"] else ""
            said = f"{checkpoint}, said by the {each['by']} at {each['at']['utc']}"
            yield f"exception on the {here} machine{said}: {each['reason']}"
    sealed_ms = max(
        (row["seals"][-1]["at"]["ms"] for row in report["transcripts"] if row["given"] and row["seals"]), default=0
    )
    for step in report["steps"]:
        for each in step["reviews"]:
            if each["declined"]:
                yield f"step {step['id']}: {each['declined']}, {each['at']['utc']}"
        for read in step["reads"][-1:]:
            for warning in read_warnings(read["disagreements"], read["warnings"]):
                yield f"step {step['id']}, read before it was prepared: {warning}"
        outcome = step["outcome"]
        if not outcome:
            continue
        if outcome["sent_at"] and 0 < sealed_ms < outcome["sent_at"]["ms"]:
            yield f"step {step['id']}: sent after the transcript was sealed, by the clocks of the two machines"
        odd = [event["type"] for event in outcome["events"] if event["kind"] == "anomaly"]
        if odd:
            yield f"step {step['id']}: what was told of it was not in order: {', '.join(dict.fromkeys(odd))}"
        if outcome["done"] and not outcome["read_back"]:
            yield f"step {step['id']}: {outcome['state']}, but what was promised was not read back"
        if outcome["final"] and not outcome["done"]:
            yield f"step {step['id']} ended as {outcome['state']}: {outcome['meaning']}"
        for promise in outcome["read_back"]:
            if promise["kept"] is not True:
                found = "is not what was promised" if promise["kept"] is False else "is not known"
                yield f"step {step['id']}: {promise['what']} {found}: {promise['found']}"


def waivers(plan: Plan) -> list[str]:
    """Return a sentence for each step whose delegate key nobody has to prove: an exception that a report names."""
    return [
        f"step {step.id}: the plan waives the proof that anybody holds the delegate key {step.address('delegate')}"
        for step in registrations(plan)
        if is_waived(step)
    ]
