"""Whether the artefacts belong together, and what stays alive after the ceremony."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from airlock_shared.checks.nonces import SIGNED_LATE, Use, spent_by, use_of
from airlock_shared.documents.transcript import GENESIS, Entry
from airlock_shared.errors import Refusal
from airlock_shared.report.evidence.artefacts import TIMELINE, Evidence
from airlock_shared.report.evidence.timeline import EXPORTED, is_contradicted, stated_uncertainty_ms
from airlock_shared.report.rows import SIGN_BEGUN, Judged, Row, moment
from airlock_shared.units import utc_text

# ---- consistency ----------------------------------------------------------------------------------------------------
# Whether the artefacts belong together: each fingerprint and head that one of them names is that of another one.
# What cannot be compared, because an artefact was not given, is said; what contradicts is refused.


HOLDS, NOT_GIVEN, NOT_YET, _UNTOLD = "holds", "not given", "not yet", "not on record"
ELSEWHERE = "by another wallet"
_Result = bool | str


def compare_evidence(evidence: Evidence, judged: Sequence[Judged]) -> list[Row]:
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


def _when(given: object, found: _Result, yet: object = True) -> _Result:
    """Return what was found; without what has to be ``given``, or has to be made ``yet``, the word for it."""
    if not given:
        return NOT_GIVEN
    return found if yet else NOT_YET


def _documents(evidence: Evidence) -> Iterator[tuple[str, _Result]]:
    fingerprints, screens = evidence.fingerprints(), evidence.screens
    # judged already: else there would be no report
    yield "the requests are for this plan and this deployment", _when(fingerprints["requests"], found=True)
    yield "the signatures answer these requests, step by step", _when(fingerprints["signatures"], _answer(evidence))
    own = screens.requests == fingerprints["requests"]
    yield "the Ledger's pages are for these requests", _when(screens.requests, own)
    models, given = models_named(evidence), screens.requests and "offline" in evidence.transcripts
    told = _when(given, screens.model in models if models else _UNTOLD)
    yield "the Ledger's pages are of a model that the air-gapped machine's transcript names", told


def models_named(evidence: Evidence) -> list[str]:
    """Return the Ledger's model at each signing of these requests, as the air-gapped machine's transcript tells it.

    A signing for which no Ledger was needed has none.
    """
    begun = evidence.events("offline", SIGN_BEGUN, requests=evidence.requests.fingerprint)
    return [str(entry.data["model"]) for entry in begun if "model" in entry.data]


def _answer(evidence: Evidence) -> bool:
    requests, header = evidence.requests, evidence.answers.header
    told = (header.requests, header.ceremony, header.rehearsal, [item.step for item in evidence.answers.items])
    steps = [item.step for item in requests.items]
    return told == (requests.fingerprint, evidence.plan.id, requests.header.rehearsal, steps)


def _offline(evidence: Evidence, judged: Sequence[Judged]) -> Iterator[tuple[str, _Result]]:
    given, fingerprints, header = "offline" in evidence.transcripts, evidence.fingerprints(), evidence.answers.header
    requests, signed = fingerprints["requests"], fingerprints["signatures"]

    def has(event: str, **members: str) -> bool:
        return bool(evidence.events("offline", event, **members))

    pinned = has("deployment-pinned", name=evidence.deployment.name, fingerprint=fingerprints["deployment"])
    yield "the air-gapped machine's transcript pinned this deployment", _when(given, pinned)
    if signed_elsewhere(evidence):
        yield "the air-gapped machine's transcript has the signing", f"signed {ELSEWHERE}"
        return
    begun = _when(given and requests, has(SIGN_BEGUN, requests=requests, plan=fingerprints["plan"]), signed)
    yield "the air-gapped machine's transcript began to sign these requests under this plan", begun
    written = has("signatures-written", requests=header.requests, signatures=signed)
    yield "the air-gapped machine's transcript wrote these signatures", _when(given, written, signed)
    told = all(map(_on_record, judged))
    yield "the air-gapped machine's transcript has every answer, with its digest", _when(given, told, signed)
    head = _has_head(evidence, "offline", header.transcript_head)
    yield "the signatures name a head of the air-gapped machine's transcript", _when(given, head, signed)


def signed_elsewhere(evidence: Evidence) -> bool:
    """Tell whether another wallet made every signature, as their document says of each."""
    return {item.shown for item in evidence.answers.items if item.result == "signed"} == {ELSEWHERE}


def _on_record(judged: Judged) -> bool:
    entry = judged.entry
    return entry is not None and (not judged.signed or entry.data.get("digest") == judged.digest)


def _online(evidence: Evidence) -> Iterator[tuple[str, _Result]]:
    given, fingerprints, header = "online" in evidence.transcripts, evidence.fingerprints(), evidence.answers.header
    requests, signed = fingerprints["requests"], fingerprints["signatures"]
    prepared = bool(evidence.events("online", "prepared", plan=fingerprints["plan"], requests=requests))
    yield "the online transcript prepared these requests for this plan", _when(given, prepared, requests)
    head = _has_head(evidence, "online", evidence.requests.header.transcript_head)
    yield "the requests name a head of the online transcript", _when(given, head, requests)
    begun = evidence.events("online", "submit-begun", signatures=signed)
    submitted = _submitted(evidence, begun, header.requests)
    yield "the online transcript submitted these signatures", _when(given, submitted, signed)
    heads = all(entry.data.get("offline_transcript_head") == header.transcript_head for entry in begun)
    found = _when(given and "offline" in evidence.transcripts, heads, signed and begun)
    yield "what was submitted names the head that the signatures name", found
    sha256 = hashlib.sha256(evidence.files.get(TIMELINE, b"")).hexdigest()
    exported = bool(evidence.events("online", EXPORTED, requests=requests, sha256=sha256))
    yield "the online transcript has the SHA-256 of the timeline", _when(evidence.half == "online", exported)


def _submitted(evidence: Evidence, begun: Sequence[Entry], requests: str) -> _Result:
    """Tell whether these signatures, and no others for the same requests, were submitted, as the journal says."""
    if begun:
        return all(entry.data.get("requests") == requests for entry in begun)
    others = evidence.events("online", "submit-begun", requests=requests)
    sent = any(each.row["method"] != "export" for each in evidence.timeline.values())
    return False if others or sent else NOT_YET


def _has_head(evidence: Evidence, half: str, head: str) -> bool:
    return head in (GENESIS, *(entry.hash for entry in evidence.transcripts.get(half, ())))


# ---- alive ----------------------------------------------------------------------------------------------------------
# Which signatures could still execute: all that were made and of which no end is known, whatever became of the paper.
# An end is one of these: a deadline that is surely past; a proof by the operator's own node; another signature that has
# spent the same nonce by such a proof, which is how a plan withdraws one. What a service says ends nothing. A
# transaction and a price trigger have no deadline.


MARGIN_MS = 120_000
"""For how long after a deadline the chain's clock may still be before ours."""

PROVING_EVENTS = frozenset({"FoundOnChain", "TransactionConfirmed", "TransactionReverted"})
"""The events that spend a nonce where they have a ``confirmedBlock``: the operator's own node alone gives that."""
_STORED = "CONFIRMED"  # of what has no deadline: the venue has stored it, and executes it one day
PROVED_STATES = frozenset({"EXPIRED_UNUSED", "VOIDED"})
"""By the operator's own node it was not executed and can no longer be: its deadline is past, or its nonce is spent."""
_BY_WORD = frozenset({"FILLED", "MARKET_DECLINED", "CONFIRMED", "FAILED"})
NO_END = "this machine does not know its outcome"


class Liveness(NamedTuple):
    """A signature, why it can no longer execute (empty while it may), and what else is known of it."""

    use: Use
    over: str
    known: str


def proves(event: str, payload: Mapping[str, object]) -> bool:
    """Tell whether an event of a submission proves, by the operator's own node, that its nonce is spent."""
    return event in PROVING_EVENTS and "confirmedBlock" in payload


def standings(
    uses: Sequence[Use], states: Mapping[str, str], proved: Container[str], now_ms: int | None, uncertainty_ms: int = 0
) -> list[Liveness]:
    """Return how each signature stands; ``states`` are the outcomes that are known, by digest, as the journal names them.

    ``proved`` are the digests of which the operator's own node has shown that the nonce is spent.
    ``now_ms`` is unix milliseconds and may be wrong by ``uncertainty_ms``; None where nobody vouches for a clock, and no
    deadline is past then.
    """
    found = [(use, states.get(use.digest, "")) for use in uses]
    spent = [use for use in uses if use.digest in proved]
    surely_ms = None if now_ms is None else now_ms - max(uncertainty_ms, MARGIN_MS)
    return [Liveness(use, _over(use, state, spent, surely_ms), _known(use, state, proved)) for use, state in found]


def _over(use: Use, state: str, spent: Collection[Use], surely_ms: int | None) -> str:
    if use in spent or state in PROVED_STATES:
        return f"it is {state}, and the operator's node shows that it can execute no more"
    for other in spent:
        if other.digest != use.digest and other.shares_nonce(use):
            return f"its nonce is spent by {other.digest}, step {other.step} of ceremony {other.ceremony}"
    if use.deadline_ms is not None and surely_ms is not None and use.deadline_ms < surely_ms:
        return f"its deadline was {utc_text(use.deadline_ms)}"
    return ""


def _known(use: Use, state: str, proved: Container[str]) -> str:
    if use.contract and use.deadline_ms is None and state == _STORED:
        return "the venue has stored it"
    by_word = ", which the operator's node has not proved" if state in _BY_WORD and use.digest not in proved else ""
    return f"the online machine has it as {state}{by_word}" if state else NO_END


def until_text(use: Use) -> str:
    """Return until when a signature may execute."""
    if use.deadline_ms is not None:
        return f"until {utc_text(use.deadline_ms)}"
    return "at any time: it has no deadline"


def outcomes_recorded(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the outcomes that an online transcript tells, by digest: the last of each."""
    told = [entry.data for entry in entries if entry.event == "outcome" and entry.data.get("state")]
    return {str(data.get("digest")): str(data["state"]) for data in told}


def proved_recorded(entries: Iterable[Entry]) -> set[str]:
    """Return the digests whose nonce is spent, as an online transcript tells it of the operator's node."""
    told = [entry.data for entry in entries if entry.event == "outcome"]
    return {str(data.get("digest")) for data in told if data.get("proved") is True}


def alive_row(evidence: Evidence, judged: Sequence[Judged]) -> Row:
    """Return the signatures that could still execute, of every ceremony that the air-gapped machine's transcript knows.

    Without it they are those of this ceremony. By a clock that a watch has contradicted no deadline is past. Raises
    ``DocumentError`` or ``Refusal`` for an entry of another form.
    """
    offline = evidence.transcripts.get("offline", [])
    online = evidence.transcripts.get("online", [])
    own = evidence.transcripts.get(evidence.half) or offline or online
    uses, begun = spent_by(offline)
    cases = [each.examined.case for each in judged if each.signed]
    answered = [use_of(case) for case in cases if case and case.digest]
    known = {use.digest: use for use in [*uses, *answered]}
    late = {str(entry.data.get("digest")) for entry in evidence.events("offline", SIGNED_LATE)}
    states, proved = outcomes_recorded(online), proved_recorded(online)
    for digest, (row, events) in evidence.timeline.items():
        states[digest] = str(row["state"])
        if any(event["kind"] == "event" and proves(event["type"], event["payload"]) for event in events):
            proved.add(digest)
    now_ms = own[-1].at_ms if own and not is_contradicted(own) else None
    found = standings([*known.values()], states, proved, now_ms, stated_uncertainty_ms(offline))
    return {
        "as_of": moment(now_ms),
        "of_all_ceremonies": "offline" in evidence.transcripts,
        "signatures": [_row(each, begun, late) for each in found if not each.over],
    }


def _row(standing: Liveness, begun: Mapping[str, int], late: Iterable[str]) -> Row:
    use, known = standing.use, standing.known
    if use.digest in begun:
        known = f"begun at {utc_text(begun[use.digest])}; whether the Ledger made it is not known"
    elif use.digest in late:
        known = "signed after its time, and kept nowhere"
    return {
        "digest": use.digest,
        "ceremony": use.ceremony,
        "step": use.step,
        "kind": "intent" if use.contract else "transaction",
        "signer": use.signer,
        "nonce": str(use.nonce),
        "may_execute": until_text(use),
        "known": known,
    }
