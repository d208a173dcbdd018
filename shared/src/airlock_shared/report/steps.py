"""The steps of a report: planned, decoded, hashed, checked, shown on the device, signed, and what became of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from airlock_shared.ceremony.sections import section_of
from airlock_shared.checks.model import CallCase, Case, ReadCall, ReadIntent
from airlock_shared.checks.nonces import use_of
from airlock_shared.documents.requests import Answer
from airlock_shared.documents.transcript import PROVED
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.plan.decisions import Decision
from airlock_shared.plan.delegate_proofs import is_waived
from airlock_shared.plan.model import Signer, Step
from airlock_shared.report.evidence.artefacts import Evidence
from airlock_shared.report.evidence.timeline import REFERRAL_READ, Screens, begun_recorded
from airlock_shared.report.rows import Judged, Row, moment, named_rows, plain_text
from airlock_shared.units import GWEI, NATIVE, code_rows, code_text, raw_text, to_human, utc_text
from airlock_shared.venue.actions import Action
from airlock_shared.venue.structs import AUTHORIZATION

if TYPE_CHECKING:
    from airlock_shared.checks.judge import Examined
    from airlock_shared.report.evidence.redaction import Answers


# ---- before signing -------------------------------------------------------------------------------------------------
# What the transcripts say of a step from before it was signed: proofs of a delegate key, reads of a referral code.


_NOT_TOLD = {None: "not told", "": "nobody", True: "yes", False: "no"}


def proofs_of(evidence: Evidence, step: str) -> list[Row]:
    """Return the proofs that a delegate has its key, as the air-gapped machine checked them for this ceremony."""
    return [
        {
            "at": moment(entry.at_ms),
            **{name: plain_text(entry.data.get(name, "")) for name in ("delegate", "challenge")},
        }
        for entry in evidence.events("offline", PROVED, ceremony=evidence.plan.id, step=step)
    ]


def reviews_of(evidence: Evidence, step: str, digest: str) -> list[Row]:
    """Return when what has this digest was reviewed on that machine: the sections opened, or where it was declined.

    Also where what was prepared for the step before it, in this ceremony, was declined.
    """
    rows = []
    entries = evidence.transcripts.get("offline", ())
    here = {entry.seq for entry in section_of(entries, evidence.plan)[0]}
    for entry in entries:
        data, declined = entry.data, entry.event == "declined"
        before = declined and entry.seq in here and data.get("step") == step
        if entry.event in ("reviewed", "declined") and (before or data.get("digest") == digest):
            why = plain_text(data.get("why", "declined")) if declined else ""
            rows.append({"at": moment(entry.at_ms), "declined": why, "opened": plain_text(data.get("opened", ""))})
    return rows


def reads_of(evidence: Evidence, step: str) -> list[Row]:
    """Return what the online machine read of a step's referral code, oldest first, for this plan and no other."""
    plan, rows = evidence.plan, []
    for entry in evidence.events("online", REFERRAL_READ, ceremony=plan.id, step=step, plan=plan.fingerprint):
        code = _bytes(entry.data["code"])
        rows.append(
            {
                "at": moment(entry.at_ms),
                "code": code_text(code),
                "code_rows": list(code_rows(code)),
                "seen": list(map(_seen, entry.data["seen"])),
                **{name: list(map(plain_text, entry.data[name])) for name in ("disagreements", "warnings")},
            }
        )
    return rows


def _seen(told: Row) -> Row:
    adopted = told.get("adopted")
    if adopted is not None:
        code = _bytes(adopted)
        adopted = code_text(code) if any(code) else "no code"
    facts = told | {"adopted": adopted}
    shown = {name: _fact(facts.get(name)) for name in ("owner", "pending", "private", "adopted")}
    return {"source": told["source"], **shown, "trouble": plain_text(told.get("trouble", ""))}


def _fact(value: object) -> str:
    return _NOT_TOLD[value] if value is None or value == "" or isinstance(value, bool) else plain_text(value)


def _bytes(code: str) -> bytes:
    return bytes.fromhex(code.removeprefix("0x"))


# ---- outcome --------------------------------------------------------------------------------------------------------
# What became of a step that was submitted: the journal's state and events, and what was read back, in the order told.


_OUTCOME_FACTS = (
    "route", "method", "state", "meaning", "tracking_id", "transaction_hash", "entity_id", "code", "note", "final", "done",
)  # fmt: skip
_PERHAPS_NOT_SENT = frozenset({"PREPARED", "SENDING", "UNKNOWN", "PRESUMED_UNKNOWN", "EXPIRED_UNUSED", "VOIDED"})
_PROMISE = ("what", "promised", "found", "kept")
"""What was promised, what was found, and whether it was kept (None: not to be told)."""


_FORGOTTEN = dict.fromkeys(_OUTCOME_FACTS, "") | {
    "state": "UNKNOWN",
    "meaning": "the transcript has it as sent or exported, and the journal does not know it",
    "final": False,
    "done": False,
}


def outcome_of(digest: str, evidence: Evidence) -> Row | None:
    """Return the outcome of what has this digest; None when neither the journal nor the transcript has it as sent."""
    told = evidence.events("online", "outcome", digest=digest)
    sent = evidence.timeline.get(digest)
    begun = begun_recorded(evidence.transcripts.get("online", ())).get(digest)
    if not sent and begun is None:
        return None
    facts, events = sent or (_FORGOTTEN, [])
    state = facts["state"]
    known = [entry for entry in told if entry.data.get("state") == state]
    last = next((entry for entry in reversed(told) if entry.data.get("read_back")), None)
    promises = last.data["read_back"] if last else []
    return {
        **{name: facts[name] for name in _OUTCOME_FACTS},
        "sent_at": moment(begun.at_ms) if begun and state not in _PERHAPS_NOT_SENT else None,
        "known_at": moment(known[0].at_ms) if known else None,
        "events": list(map(_event, events)),
        "told": [
            {"at": utc_text(entry.at_ms), **{name: str(entry.data.get(name, "")) for name in ("state", "error")}}
            for entry in told
        ],
        "read_back": [{name: promise.get(name) for name in _PROMISE} for promise in promises],
        "read_back_at": moment(last.at_ms) if last else None,
    }


_TOLD_AT = {"at_ms": "", "received_ms": ", received"}


def _event(event: Row) -> Row:
    payload = {
        name: value if type(value) is str else json.dumps(value, ensure_ascii=False)
        for name, value in event["payload"].items()
    }
    return {
        "kind": event["kind"],
        "seq": event.get("seq"),
        "at": next((f"{utc_text(event[name])}{said}" for name, said in _TOLD_AT.items() if name in event), ""),
        "type": event["type"],
        "payload": named_rows(payload),
    }


# ---- steps ----------------------------------------------------------------------------------------------------------


def signer_row(signer: Signer) -> Row:
    """Return a signer of the plan."""
    of = checksum_address(signer.delegate_of) if signer.delegate_of else ""
    return signer._asdict() | {"address": signer.account, "delegate_of": of}


def step_rows(evidence: Evidence, judged: Sequence[Judged]) -> list[Row]:
    """Return a row for every step of the plan, in its order, also for those that are not in this part of it."""
    by_step = {each.examined.received.request.step: each for each in judged}
    return [_step(step, by_step, evidence) for step in evidence.plan.steps.values()]


def _step(step: Step, by_step: Mapping[str, Judged], evidence: Evidence) -> Row:
    action: Action = step.action
    judged = sent = by_step.get(step.id)
    if judged and action.name == AUTHORIZATION:  # it is sent within its order's request, and has no outcome of its own
        sent = by_step.get(step.values["order"].text)
    return {
        "id": step.id,
        "title": action.title,
        "action": action.name,
        "signer": step.signer.name,
        "in_part": evidence.requests.header.signer in ("", step.signer.name),
        "planned": named_rows({name: value.text for name, value in step.values.items()}),
        "waived": is_waived(step),
        "proofs": proofs_of(evidence, step.id),
        "reads": reads_of(evidence, step.id),
        "request": _request(judged) if judged else None,
        "reviews": reviews_of(evidence, step.id, judged.digest) if judged else [],
        "device": _device(judged, evidence.screens) if judged else None,
        "signature": _signature(judged, judged.answer, evidence.answers) if judged and judged.answer else None,
        "outcome": outcome_of(sent.digest, evidence) if sent and evidence.half == "online" else None,
    }


# ---- what came back -------------------------------------------------------------------------------------------------


def _request(judged: Judged) -> Row:
    examined = judged.examined
    (request, situation), case, verdicts = examined.received, examined.case, examined.verdicts
    kind, title, under, hashes = _what_is_signed(examined)
    claims = {name: request.payload[name] for name in ("description", "meta") if request.payload.get(name)}
    return {
        "endpoint": request.endpoint,
        "asked": named_rows(request.fields),
        "goes_to": request.route,
        "order_type": request.order_type,
        "order_reason": request.order_reason,
        "replaces": request.replaces,
        "kind": kind,
        "title": title,
        "account": _account(case) if case else "",
        "until": moment(use_of(case).deadline_ms) if case else None,
        "under": named_rows(under),
        "decided": list(map(decided_row, case.decisions)) if case else [],
        "claims": named_rows({name: json.dumps(value, ensure_ascii=False) for name, value in claims.items()}),
        "hashes": named_rows({name: value for name, value in hashes.items() if value}),
        "judged_at": moment(situation.now_ms),
        "checks": {
            "passed": verdicts.passed(),
            "not_reached": verdicts.unreached(),
            "refused": [{name: str(getattr(each, name)) for name in _OF_REFUSED} for each in verdicts.refused()],
        },
    }


_OF_REFUSED = ("check", "where", "what", "got", "expected")


def _account(case: Case) -> str:
    """Return the account for which it is signed, read off what is signed."""
    if isinstance(case, CallCase) and case.delegated_for is not None:
        return checksum_address(case.delegated_for)
    return use_of(case).trader


def _what_is_signed(examined: Examined) -> tuple[str, str, dict[str, str], dict[str, str]]:
    """Return the kind and the title of what is signed, the domain it is under or what it calls and may cost, its hashes."""
    request, situation = examined.received
    payload, filled, digest = request.payload, request.transaction, examined.digest.hex()
    call = examined.read.call if isinstance(examined.read, ReadCall) else None
    title = call.title if call else ""
    if filled:
        fees = (
            f"{to_human(filled.maxFeePerGas, GWEI)} gwei, priority {to_human(filled.maxPriorityFeePerGas, GWEI)} gwei"
        )
        most = f"{to_human(filled.gas * filled.maxFeePerGas, NATIVE)} {NATIVE.name}"
        under = {
            "calls": f"{call.function if call else 'unknown'} on chain {payload['chainId']}",
            "contract": payload["to"],
            "from": payload["from"],
            "value": payload["value"],
            "account nonce": str(filled.nonce),
            "fee per gas at most": fees,
            "gas limit": f"{filled.gas}: at most {most}",
        }
        return "transaction", title, under, {"transaction hash, which is signed": digest}
    if request.action == AUTHORIZATION:
        given = f"{payload['address']}, on chain {payload['chainId']}"
        under = {"gives the account to": given, "with the order": request.fields.get("order", "")}
        return request.action, title, under, {"hash, which is signed": digest}
    if examined.named is None:
        return "intent", title, {}, {}
    intent = examined.named.intent
    domain = situation.deployment.domains[intent.domain]
    about = f"{domain.name}, version {domain.version}, chain {domain.chain_id}"
    read = examined.read
    hashes = [each.hex() for each in read.hashes] if isinstance(read, ReadIntent) else ["", "", ""]
    under = {"domain": about, "contract": checksum_address(domain.contract)}
    return "intent", intent.title, under, dict(zip(("domain hash", "struct hash", "digest"), hashes, strict=True))


def decided_row(decision: Decision) -> Row:
    """Return a value with its raw form, who decided it, and what is noted beside it."""
    field = decision.field
    return {
        "field": field.path,
        "kind": field.kind,
        "value": decision.value,
        "raw": raw_text(decision.raw),
        "unit": field.unit.name,
        "notes": decision.notes,
        "by": decision.decided_by,
        "expected": decision.expected,
        "ok": decision.ok,
    }


# ---- the device and the signature -----------------------------------------------------------------------------------


def _device(judged: Judged, screens: Screens) -> Row | None:
    """Return how the device showed it; pages are there when the offline half has computed them."""
    signed = judged.signed
    if signed is None:
        return None
    pages = screens.of(judged.digest)
    return {"shown": signed.shown, "app": signed.app, "model": screens.model, "pages": pages}


def _signature(judged: Judged, answer: Answer, answers: Answers) -> Row:
    row: Row = {"result": answer.result, "why": answer.why, "at": moment(judged.entry.at_ms) if judged.entry else None}
    if not judged.signed:
        return row
    sha256 = answers.sha256[answer.step]
    return row | {"digest": answer.digest, "signer": answer.signer, "sha256": sha256, "bytes": answer.signature}
