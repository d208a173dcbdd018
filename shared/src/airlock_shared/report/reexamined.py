"""The requests examined again, as at the moment when they were signed: every check, by the clock of the transcript."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.checks.judge import (
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
from airlock_shared.documents.transcript import proved
from airlock_shared.errors import Refusal
from airlock_shared.report.evidence.artefacts import Evidence, Requests
from airlock_shared.report.evidence.timeline import stated_uncertainty_ms
from airlock_shared.report.rows import Judged

_DECIDED = ("signed", "refused", "declined")  # both an answer's result and the event


def judge(evidence: Evidence) -> list[Judged]:
    """Examine every request. Without the offline transcript, the time is that of the requests document.

    Raises ``Refusal`` with the check's id when the document is not the plan's, or when a signature is not its signer's.
    """
    requests = evidence.requests
    if not requests.fingerprint:
        return []
    situation = Situation(evidence.plan, evidence.deployment, requests.header.created_ms)
    steps = judge_steps([item.step for item in requests.items], situation, requests.header.signer)
    require_none([*judge_header(requests.header, situation, Known()).refused(), *steps.refused()], 400)
    return list(_each(evidence, requests, situation))


def _each(evidence: Evidence, requests: Requests, situation: Situation) -> Iterator[Judged]:
    entries = evidence.transcripts.get("offline", [])
    signings = evidence.signings(requests=requests.fingerprint)
    ends = [entry for signing in signings for entry in signing if entry.event in _DECIDED][::-1]
    answers = {answer.step: answer for answer in evidence.answers.items}
    known = Known(used=nonces_of(entries[: signings[0][0].seq]) if signings else UsedNonces())
    for request in requests.items:
        answer = answers.get(request.step)
        result = answer.result if answer else ""
        entry = next((e for e in ends if str(e.data.get("step")) == request.step and result in ("", e.event)), None)
        then, proofs, before = situation, None, entries[: entry.seq] if entry else []
        if before:
            then = then._replace(now_ms=before[-1].at_ms, clock_uncertainty_ms=stated_uncertainty_ms(before))
            proofs = proved(before)
        judged = Judged(judge_item(request, then, known._replace(proofs=proofs)), answer, entry)
        if judged.signed:
            _require_signature(judged, judged.signed)
        yield judged


def _require_signature(judged: Judged, signed: Answer) -> None:
    """Refuse an answer over another digest or by another key; a withheld one by what it says of itself alone."""
    case = judged.examined.case
    if case is None or not case.digest:
        what = f"step {signed.step} is signed, and its payload cannot be hashed"
        raise Refusal("REPORT-MATCH", what, got=signed.digest)
    if signed.signature:
        check_signature(case, signed)
    digest, signer = judged.digest, case.request.signer
    if (signed.digest, signed.signer) != (digest, signer):
        raise Refusal(
            "REPORT-MATCH",
            f"the signature of step {signed.step} is over something else, or by another key",
            got=f"{signed.digest} by {signed.signer}",
            expected=f"{digest} by {signer}",
        )
