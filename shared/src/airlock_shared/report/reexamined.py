"""The requests examined again, as at the moment when they were signed: every check, by the clock of the transcript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airlock_shared.ceremony.sections import without_others
from airlock_shared.checks.judge import (
    Examined,
    Known,
    check_signature,
    judge_header,
    judge_item,
    judge_steps,
    require_none,
)
from airlock_shared.checks.model import Situation
from airlock_shared.checks.nonces import UsedNonces, nonces_of
from airlock_shared.documents.requests import Answer
from airlock_shared.documents.transcript import Entry, proved
from airlock_shared.errors import Refusal
from airlock_shared.report.evidence.artefacts import Evidence, Requests
from airlock_shared.report.evidence.redaction import ReportedAnswer
from airlock_shared.report.evidence.timeline import stated_uncertainty_ms
from airlock_shared.report.rows import SIGN_BEGUN, Judged

_DECIDED = ("signed", "refused", "declined")  # both an answer's result and the event


def judge(evidence: Evidence) -> list[Judged]:
    """Examine every request. Without the offline transcript, the time is that of the requests document.

    Raises ``Refusal`` with the check's id when the document is not the plan's, or when a signature is not its signer's.
    """
    requests = evidence.requests
    if requests is None:
        return []
    entries = evidence.transcripts.get("offline", [])
    begun = [entry.seq for entry in evidence.events("offline", SIGN_BEGUN, requests=requests.fingerprint)]
    situation = Situation(evidence.plan, evidence.deployment, requests.header.created_ms)
    steps = judge_steps([item.step for item in requests.items], situation, requests.header.signer)
    require_none([*judge_header(requests.header, situation, Known()).refused(), *steps.refused()], 400)
    answers = {a.item.step: a for a in evidence.answers.items} if evidence.answers else {}
    used = nonces_of(entries[: begun[0]]) if begun else UsedNonces()
    return list(_each(requests, situation, entries, answers, Known(used=used)))


def _each(
    requests: Requests, situation: Situation, entries: Sequence[Entry], answers: dict[str, ReportedAnswer], known: Known
) -> Iterator[Judged]:
    found: list[Entry] = []
    current = False
    for each in without_others(entries, situation.plan.id):
        if each.event == SIGN_BEGUN:
            current = each.data.get("requests") == requests.fingerprint
        elif current and each.event in _DECIDED:
            found.append(each)
    ends = found[::-1]
    for request in requests.items:
        answer = answers.get(request.step)
        result = answer.item.result if answer else ""
        entry = next((e for e in ends if str(e.data.get("step")) == request.step and result in ("", e.event)), None)
        until = entry.seq if entry else 0
        at_ms = entries[until - 1].at_ms if until else situation.now_ms
        then = situation._replace(now_ms=at_ms, clock_uncertainty_ms=stated_uncertainty_ms(entries[:until]))
        proofs = proved(entries[:until]) if until else None
        judged = Judged(judge_item(request, then, known._replace(proofs=proofs)), answer, at_ms, entry)
        if judged.signed:
            _require_signature(judged.examined, judged.signed)
        yield judged


def _require_signature(examined: Examined, signed: Answer) -> None:
    """Refuse an answer over another digest or by another key; a withheld one by what it says of itself alone."""
    step, case = examined.received.request.step, examined.case
    if case is None or not case.digest:
        raise Refusal("REPORT-MATCH", f"step {step} is signed, and its payload cannot be hashed", got=signed.digest)
    if signed.signature:
        check_signature(case, signed)
    digest, signer = "0x" + case.digest.hex(), case.request.signer
    if (signed.digest, signed.signer) != (digest, signer):
        raise Refusal(
            "REPORT-MATCH",
            f"the signature of step {step} is over something else, or by another key",
            got=f"{signed.digest} by {signed.signer}",
            expected=f"{digest} by {signer}",
        )
