"""Whether the artefacts belong together: each fingerprint and head that one of them names is that of another one.

What cannot be compared, because an artefact was not given, is said; what contradicts is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from airlock_shared.documents.transcript import GENESIS, Entry
from airlock_shared.errors import Refusal
from airlock_shared.report.evidence.artefacts import TIMELINE, Evidence
from airlock_shared.report.evidence.timeline import EXPORTED
from airlock_shared.report.judged import BEGUN, Judged

HOLDS, NOT_GIVEN, NOT_YET, UNTOLD = "holds", "not given", "not yet", "not on record"
ELSEWHERE = "by another wallet"


class Match(NamedTuple):
    """One comparison and its result: ``holds``, ``not given``, ``not yet`` or ``not on record``."""

    what: str
    result: str


def match(evidence: Evidence, judged: Sequence[Judged]) -> list[Match]:
    """Return every comparison. Raises ``Refusal("REPORT-MATCH")`` for the first that does not hold."""
    rows = [*_documents(evidence), *_offline(evidence, judged), *_online(evidence)]
    return [Match(what, _result(what, found)) for what, found in rows]


_Found = bool | str
_Row = tuple[str, _Found]


def _result(what: str, found: _Found) -> str:
    if found is False:
        raise Refusal(
            "REPORT-MATCH",
            "the artefacts are not of one ceremony",
            got=f"does not hold: {what}",
            expected="artefacts that name each other's fingerprints",
        )
    return HOLDS if found is True else str(found)


def _documents(evidence: Evidence) -> Iterator[_Row]:
    requests, answers = evidence.requests, evidence.answers
    yield "the requests are for this plan and this deployment", requests is not None or NOT_GIVEN  # judged already
    yield "the signatures answer these requests, step by step", NOT_GIVEN if answers is None else _answer(evidence)
    screens: _Found = NOT_GIVEN
    if evidence.screens is not None:
        screens = requests is not None and evidence.screens.requests == requests.fingerprint
    yield "the Ledger's pages are for these requests", screens
    yield "the Ledger's pages are of a model that the offline transcript names", _model(evidence)


def models_told(evidence: Evidence) -> list[str]:
    """Return the Ledger's model at each signing of these requests, as the offline transcript tells it; older ones do not."""
    mark = evidence.requests.fingerprint if evidence.requests else ""
    begun = [e.data for e in evidence.transcripts.get("offline", []) if e.event == BEGUN]
    return [str(data["model"]) for data in begun if data.get("requests") == mark and "model" in data]


def _model(evidence: Evidence) -> _Found:
    if evidence.screens is None or "offline" not in evidence.transcripts:
        return NOT_GIVEN
    models = models_told(evidence)
    return evidence.screens.model in models if models else UNTOLD


def _answer(evidence: Evidence) -> bool:
    requests, answers = evidence.requests, evidence.answers
    if requests is None or answers is None:
        return False
    header = answers.header
    told = (header.requests, header.ceremony, header.rehearsal, [answer.signed.step for answer in answers.items])
    steps = [item.step for item in requests.items]
    return told == (requests.fingerprint, evidence.plan.id, requests.header.rehearsal, steps)


def _offline(evidence: Evidence, judged: Sequence[Judged]) -> Iterator[_Row]:
    entries = evidence.transcripts.get("offline")
    plan, requests, answers = evidence.plan, evidence.requests, evidence.answers
    elsewhere = answers is not None and any(a.signed.shown == ELSEWHERE for a in answers.items)

    def told(look: Callable[[list[Entry]], _Found]) -> _Found:
        return NOT_GIVEN if entries is None else look(entries)

    pinned = {"name": evidence.deployment.name, "fingerprint": evidence.deployment.fingerprint}
    yield "the offline transcript pinned this deployment", told(lambda e: _names(e, "deployment-pinned", pinned))
    if elsewhere:
        yield "the offline transcript has the signing", f"signed {ELSEWHERE}"
        return
    begun = {"requests": requests.fingerprint, "plan": plan.fingerprint} if requests else {}
    yield (
        "the offline transcript began to sign these requests under this plan",
        told(lambda e: _names(e, BEGUN, begun) if answers else NOT_YET if requests else NOT_GIVEN),
    )
    written = {"requests": answers.header.requests, "signatures": answers.fingerprint} if answers else {}
    yield (
        "the offline transcript wrote these signatures",
        told(lambda e: _names(e, "signatures-written", written) if answers else NOT_YET),
    )
    yield (
        "the offline transcript has every answer, with its digest",
        told(lambda _: all(_is_told(each) for each in judged) if answers else NOT_YET),
    )
    yield (
        "the signatures name a head of the offline transcript",
        told(lambda e: _has_head(e, answers.header.transcript_head) if answers else NOT_YET),
    )


def _is_told(judged: Judged) -> bool:
    entry = judged.entry
    if entry is None:
        return False
    return judged.answer is None or judged.answer.signed.result != "signed" or entry.data.get("digest") == judged.digest


def _online(evidence: Evidence) -> Iterator[_Row]:
    entries = evidence.transcripts.get("online")
    plan, requests, answers = evidence.plan, evidence.requests, evidence.answers

    def told(look: Callable[[list[Entry]], _Found]) -> _Found:
        return NOT_GIVEN if entries is None else look(entries)

    prepared = {"plan": plan.fingerprint, "requests": requests.fingerprint} if requests else {}
    yield (
        "the online transcript prepared these requests for this plan",
        told(lambda e: _names(e, "prepared", prepared) if requests else NOT_YET),
    )
    yield (
        "the requests name a head of the online transcript",
        told(lambda e: _has_head(e, requests.header.transcript_head) if requests else NOT_YET),
    )
    yield "the online transcript submitted these signatures", told(lambda e: _submitted(e, evidence))
    heads = [entry.data.get("offline_transcript_head") for entry in _submissions(entries or [], evidence)]
    offline = evidence.transcripts.get("offline")
    found: _Found = NOT_GIVEN if entries is None or offline is None else NOT_YET
    if offline is not None and heads and answers is not None:
        found = all(head == answers.header.transcript_head for head in heads)
    yield "what was submitted names the head that the signatures name", found
    timeline: _Found = NOT_GIVEN
    if evidence.timeline is not None:
        told_of = requests.fingerprint if requests else ""
        sha256 = {"requests": told_of, "sha256": hashlib.sha256(evidence.files[TIMELINE]).hexdigest()}
        timeline = entries is not None and _names(entries, EXPORTED, sha256)
    yield "the online transcript has the SHA-256 of the timeline", timeline


def _submissions(entries: Sequence[Entry], evidence: Evidence) -> list[Entry]:
    mark = evidence.answers.fingerprint if evidence.answers else ""
    return [e for e in entries if e.event == "submit-begun" and e.data.get("signatures") == mark]


def _submitted(entries: Sequence[Entry], evidence: Evidence) -> _Found:
    """Tell whether these signatures, and no others for the same requests, were submitted, as the journal says."""
    if evidence.answers is None:
        return NOT_YET
    requests, begun = evidence.answers.header.requests, _submissions(entries, evidence)
    if begun:
        return all(entry.data.get("requests") == requests for entry in begun)
    sent = evidence.timeline.sent.values() if evidence.timeline else ()
    others = _names(entries, "submit-begun", {"requests": requests})
    return False if others or any(each.row["method"] != "export" for each in sent) else NOT_YET


def _names(entries: Sequence[Entry], event: str, data: dict[str, str]) -> bool:
    """Tell whether a transcript has an event with these members."""
    return any(e.event == event and all(e.data.get(k) == v for k, v in data.items()) for e in entries)


def _has_head(entries: Sequence[Entry], head: str) -> bool:
    return head == GENESIS or any(entry.hash == head for entry in entries)
