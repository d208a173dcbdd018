"""The requests examined again, as at the moment when they were signed: every check, by the clock of the transcript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from airlock_shared.catalogue.pinned_structs import with_pins
from airlock_shared.checks.case import Situation
from airlock_shared.checks.judge import Examined, Known, judge_header, judge_item, judge_steps
from airlock_shared.checks.nonces import UsedNonces, nonces_of
from airlock_shared.checks.signature import check_signature
from airlock_shared.checks.verdicts import refusal_of
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import Refusal
from airlock_shared.report.evidence.artefacts import Evidence, Requests
from airlock_shared.report.evidence.redaction import Answer
from airlock_shared.report.judged import BEGUN, Judged

_DECIDED = ("signed", "refused", "declined")  # both an answer's result and the event


def judge(evidence: Evidence) -> list[Judged]:
    """Examine every request. Without the offline transcript, the time is that of the requests document.

    Raises ``Refusal`` with the check's id when the document is not the plan's, or when a signature is not its signer's.
    """
    requests = evidence.requests
    if requests is None:
        return []
    entries = evidence.transcripts.get("offline", [])
    begun = [e.seq for e in entries if e.event == BEGUN and e.data.get("requests") == requests.fingerprint]
    pins = [
        _pin(e.data)
        for e in (entries[: begun[-1]] if begun else entries)  # what was pinned later was not signed under
        if e.event == "struct-pinned" and e.data.get("deployment") == evidence.deployment.name
    ]
    deployment = evidence.deployment._replace(structs=with_pins(evidence.deployment.structs, pins))
    situation = Situation(evidence.plan, deployment, requests.header.created_ms)
    _require_document(requests, situation)
    answers = {a.signed.step: a for a in evidence.answers.items} if evidence.answers else {}
    used = nonces_of(entries[: begun[0]]) if begun else UsedNonces()
    return list(_each(requests, situation, entries, answers, Known(used=used)))


def _pin(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in ("deployment", "replaced")}


def _require_document(requests: Requests, situation: Situation) -> None:
    steps = judge_steps([item.step for item in requests.items], situation, requests.header.signer)
    for verdict in (*judge_header(requests.header, situation, Known()).refused(), *steps.refused()):
        raise refusal_of(verdict, 400)


def _each(
    requests: Requests, situation: Situation, entries: Sequence[Entry], answers: dict[str, Answer], known: Known
) -> Iterator[Judged]:
    ends = _ends(entries, requests.fingerprint)
    for request in requests.items:
        answer = answers.get(request.step)
        entry = _ended(ends, request.step, answer.signed.result if answer else "")
        at_ms = entries[entry.seq - 1].at_ms if entry is not None and entry.seq else situation.now_ms
        then = situation._replace(now_ms=at_ms, clock_uncertainty_ms=_uncertainty_ms(entries, entry))
        examined = judge_item(request, then, known)
        if answer is not None and answer.signed.result == "signed":
            _require_signature(examined, answer)
        yield Judged(examined, answer, at_ms, entry)


def _ends(entries: Sequence[Entry], requests: str) -> dict[tuple[str, str], Entry]:
    """Return the entries with which steps of this document were signed, refused or declined, by step and event: the last."""
    found, current = {}, False
    for entry in entries:
        if entry.event == BEGUN:
            current = entry.data.get("requests") == requests
        elif current and entry.event in _DECIDED:
            found[str(entry.data.get("step")), entry.event] = entry
    return found


def _ended(ends: dict[tuple[str, str], Entry], step: str, result: str) -> Entry | None:
    """Return the entry that ended a step with this result; without one, the last that ended it."""
    wanted = [ends[step, event] for event in _DECIDED if (step, event) in ends and result in ("", event)]
    return max(wanted, key=lambda entry: entry.seq, default=None)


def _uncertainty_ms(entries: Sequence[Entry], until: Entry | None) -> int:
    """Return by how much the clock may have been wrong, as a person had stated it before."""
    stated = [e for e in entries[: until.seq if until else 0] if e.event == "clock-stated"]
    return int(stated[-1].data["uncertainty_s"]) * 1000 if stated else 0


def _require_signature(examined: Examined, answer: Answer) -> None:
    """Refuse an answer over another digest or by another key; a withheld one by what it says of itself alone."""
    signed, case = answer.signed, examined.case
    step = examined.received.request.step
    if case is None or not case.digest:
        raise Refusal("REPORT-MATCH", f"step {step} is signed, and its payload cannot be hashed", got=signed.digest)
    if signed.signature:
        check_signature(case, signed)
    digest, signer = "0x" + case.digest.hex(), case.request.signer
    if (signed.digest, signed.signer) != (digest, signer):
        raise Refusal("REPORT-MATCH", f"the signature of step {step} is over something else, or by another key",
                      got=f"{signed.digest} by {signed.signer}", expected=f"{digest} by {signer}")  # fmt: skip
