"""Whether the artefacts belong together: each fingerprint and head that one of them names is that of another one.

What cannot be compared, because an artefact was not given, is said; what contradicts is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from airlock_shared.documents.signatures import SignaturesHeader
from airlock_shared.documents.transcript import GENESIS, Entry
from airlock_shared.errors import Refusal
from airlock_shared.report.evidence.artefacts import TIMELINE, Evidence
from airlock_shared.report.evidence.timeline import EXPORTED
from airlock_shared.report.judged import BEGUN, Judged
from airlock_shared.report.rows import Row

HOLDS, NOT_GIVEN, NOT_YET, UNTOLD = "holds", "not given", "not yet", "not on record"
ELSEWHERE = "by another wallet"
_NOTHING = SignaturesHeader("", "", False, "", 0)
_Found = bool | str


def match(evidence: Evidence, judged: Sequence[Judged]) -> list[Row]:
    """Return every comparison and its result: ``holds``, ``not given``, ``not yet`` or ``not on record``.

    Raises ``Refusal("REPORT-MATCH")`` for the first that does not hold.
    """
    rows = []
    for what, found in (*_documents(evidence), *_offline(evidence, judged), *_online(evidence)):
        if found is False:
            raise Refusal(
                "REPORT-MATCH",
                "the artefacts are not of one ceremony",
                got=f"does not hold: {what}",
                expected="artefacts that name each other's fingerprints",
            )
        rows.append({"what": what, "result": HOLDS if found is True else found})
    return rows


def _when(given: object, found: _Found, yet: object = True) -> _Found:
    """Return what was found; where that is None which has to be ``given``, or has to be made ``yet``, the word for it."""
    return NOT_GIVEN if given is None else NOT_YET if yet is None else found


def _documents(evidence: Evidence) -> Iterator[tuple[str, _Found]]:
    requests, answers, screens = evidence.requests, evidence.answers, evidence.screens
    yield "the requests are for this plan and this deployment", _when(requests, found=True)  # judged already
    yield "the signatures answer these requests, step by step", _when(answers, _answer(evidence))
    own, model = ("", "") if screens is None else (screens.requests, screens.model)
    yield "the Ledger's pages are for these requests", _when(screens, own == evidence.marks()["requests"])
    models = models_told(evidence)
    given = screens if "offline" in evidence.transcripts else None
    told = _when(given, model in models if models else UNTOLD)
    yield "the Ledger's pages are of a model that the offline transcript names", told


def models_told(evidence: Evidence) -> list[str]:
    """Return the Ledger's model at each signing of these requests, as the offline transcript tells it.

    A signing for which no Ledger was needed has none.
    """
    begun = evidence.told("offline", BEGUN, requests=evidence.marks()["requests"])
    return [str(entry.data["model"]) for entry in begun if "model" in entry.data]


def _answer(evidence: Evidence) -> bool:
    requests, answers = evidence.requests, evidence.answers
    if requests is None or answers is None:
        return False
    header = answers.header
    told = (header.requests, header.ceremony, header.rehearsal, [answer.signed.step for answer in answers.items])
    steps = [item.step for item in requests.items]
    return told == (requests.fingerprint, evidence.plan.id, requests.header.rehearsal, steps)


def _offline(evidence: Evidence, judged: Sequence[Judged]) -> Iterator[tuple[str, _Found]]:
    entries, answers, marks = evidence.transcripts.get("offline"), evidence.answers, evidence.marks()

    def has(event: str, **members: str) -> bool:
        return bool(evidence.told("offline", event, **members))

    pinned = has("deployment-pinned", name=evidence.deployment.name, fingerprint=marks["deployment"])
    yield "the offline transcript pinned this deployment", _when(entries, pinned)
    if answers is not None and any(answer.signed.shown == ELSEWHERE for answer in answers.items):
        yield "the offline transcript has the signing", f"signed {ELSEWHERE}"
        return
    header = answers.header if answers else _NOTHING
    begun = has(BEGUN, requests=marks["requests"], plan=marks["plan"])
    given = entries if evidence.requests else None
    yield "the offline transcript began to sign these requests under this plan", _when(given, begun, answers)
    written = has("signatures-written", requests=header.requests, signatures=marks["signatures"])
    yield "the offline transcript wrote these signatures", _when(entries, written, answers)
    told = all(map(_is_told, judged))
    yield "the offline transcript has every answer, with its digest", _when(entries, told, answers)
    head = _has_head(entries, header.transcript_head)
    yield "the signatures name a head of the offline transcript", _when(entries, head, answers)


def _is_told(judged: Judged) -> bool:
    entry = judged.entry
    return entry is not None and (not judged.signed or entry.data.get("digest") == judged.digest)


def _online(evidence: Evidence) -> Iterator[tuple[str, _Found]]:
    entries, offline = evidence.transcripts.get("online"), evidence.transcripts.get("offline")
    requests, answers, marks = evidence.requests, evidence.answers, evidence.marks()
    prepared = evidence.told("online", "prepared", plan=marks["plan"], requests=marks["requests"])
    yield "the online transcript prepared these requests for this plan", _when(entries, bool(prepared), requests)
    head = _has_head(entries, requests.header.transcript_head if requests else "")
    yield "the requests name a head of the online transcript", _when(entries, head, requests)
    header = answers.header if answers else _NOTHING
    begun = evidence.told("online", "submit-begun", signatures=marks["signatures"])
    submitted = _submitted(evidence, begun, header.requests)
    yield "the online transcript submitted these signatures", _when(entries, submitted, answers)
    heads = all(entry.data.get("offline_transcript_head") == header.transcript_head for entry in begun)
    found = _when(offline if entries is not None else None, heads, answers if begun else None)
    yield "what was submitted names the head that the signatures name", found
    sha256 = hashlib.sha256(evidence.files.get(TIMELINE, b"")).hexdigest()
    exported = bool(evidence.told("online", EXPORTED, requests=marks["requests"], sha256=sha256))
    yield "the online transcript has the SHA-256 of the timeline", _when(evidence.timeline, exported)


def _submitted(evidence: Evidence, begun: Sequence[Entry], requests: str) -> _Found:
    """Tell whether these signatures, and no others for the same requests, were submitted, as the journal says."""
    if begun:
        return all(entry.data.get("requests") == requests for entry in begun)
    sent = evidence.timeline.sent.values() if evidence.timeline else ()
    others = evidence.told("online", "submit-begun", requests=requests)
    return False if others or any(each.row["method"] != "export" for each in sent) else NOT_YET


def _has_head(entries: Iterable[Entry] | None, head: str) -> bool:
    return head == GENESIS or any(entry.hash == head for entry in entries or ())
