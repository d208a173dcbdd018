"""The steps of a report: planned, decoded, hashed, checked, shown on the device, signed, and what became of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from airlock_shared.catalogue.actions import Action
from airlock_shared.catalogue.referral_code import code_rows
from airlock_shared.catalogue.services import AUTHORIZATION
from airlock_shared.checks.case import CallCase, ReadCall, ReadIntent
from airlock_shared.checks.nonces import use_of
from airlock_shared.documents.requests import Request
from airlock_shared.documents.signatures import Signed
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.decisions import Decision, shown_value
from airlock_shared.plan.delegate_proofs import is_waived
from airlock_shared.plan.model import Signer, Step
from airlock_shared.report.before_signing import proofs_of, reads_of
from airlock_shared.report.evidence.artefacts import Evidence
from airlock_shared.report.evidence.screens import Screens
from airlock_shared.report.judged import Judged
from airlock_shared.report.outcome import outcome_of
from airlock_shared.report.rows import Row, moment, named
from airlock_shared.units import CODE, GWEI, NATIVE, raw_text, to_human

if TYPE_CHECKING:
    from airlock_shared.checks.case import Case
    from airlock_shared.checks.judge import Examined


def signer_row(signer: Signer) -> Row:
    """Return a signer of the plan."""
    of = checksum_address(signer.delegate_of) if signer.delegate_of else ""
    return signer._asdict() | {"address": checksum_address(signer.address), "delegate_of": of}


def part_signer(evidence: Evidence) -> str:
    """Return whose part of the plan the requests are; empty for the whole plan, and without requests."""
    return evidence.requests.header.signer if evidence.requests else ""


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
        "in_part": part_signer(evidence) in ("", step.signer.name),
        "planned": named({name: value.text for name, value in step.values.items()}),
        "waived": is_waived(step),
        "proofs": proofs_of(evidence, step.id),
        "reads": reads_of(evidence, step.id),
        "request": _request(judged) if judged else None,
        "device": _device(judged, evidence.screens) if judged else None,
        "signature": _signature(judged, *judged.answer) if judged and judged.answer else None,
        "outcome": outcome_of(sent.digest, evidence) if sent and evidence.half == "online" else None,
    }


# ---- what came back -------------------------------------------------------------------------------------------------


def _request(judged: Judged) -> Row:
    examined = judged.examined
    request, case, verdicts = examined.received.request, examined.case, examined.verdicts
    return {
        "endpoint": request.endpoint,
        "asked": named(request.fields),
        "goes_to": request.route,
        "order_type": request.order_type,
        "order_reason": request.order_reason,
        "replaces": request.replaces,
        "kind": "transaction" if request.transaction else request.action if _gives_away(request) else "intent",
        "title": _title(examined),
        "account": _account(case),
        "until": moment(None if case is None else use_of(case).deadline_ms),
        "under": named(_under(examined)),
        "decided": [] if case is None else list(map(decided_row, case.decisions)),
        "claims": named(_claims(request)),
        "hashes": named(_hashes(examined)),
        "judged_at": moment(judged.at_ms),
        "checks": {
            "passed": verdicts.passed(),
            "not_reached": verdicts.unreached(),
            "refused": [{name: str(getattr(verdict, name)) for name in _OF_REFUSED} for verdict in verdicts.refused()],
        },
    }


_OF_REFUSED = ("check", "where", "what", "got", "expected")


def _gives_away(request: Request) -> bool:
    return request.transaction is None and request.action == AUTHORIZATION


def _account(case: Case | None) -> str:
    """Return the account for which it is signed, read off what is signed; empty for what cannot be read."""
    if case is None:
        return ""
    if isinstance(case, CallCase) and case.call.delegated_for is not None:
        return checksum_address(case.call.delegated_for)
    return checksum_address(use_of(case).trader)


def _title(examined: Examined) -> str:
    if examined.named is not None:
        return examined.named.intent.title
    return examined.read.call.call.title if isinstance(examined.read, ReadCall) else ""


def _under(examined: Examined) -> dict[str, str]:
    """Return the domain of an intent; of a transaction what it calls and what it may cost."""
    request, situation = examined.received
    payload, filled = request.payload, request.transaction
    if _gives_away(request):
        given = f"{payload['address']}, on chain {payload['chainId']}"
        return {"gives the account to": given, "with the order": request.fields.get("order", "")}
    if filled is None:
        if examined.named is None:
            return {}
        domain = situation.deployment.domains[examined.named.intent.domain]
        about = f"{domain.name}, version {domain.version}, chain {domain.chain_id}"
        return {"domain": about, "contract": checksum_address(domain.contract)}
    calls = examined.read.call.call.name if isinstance(examined.read, ReadCall) else "unknown"
    fees = f"{to_human(filled.maxFeePerGas, GWEI)} gwei, priority {to_human(filled.maxPriorityFeePerGas, GWEI)} gwei"
    most = f"{to_human(filled.gas * filled.maxFeePerGas, NATIVE)} {NATIVE.name}"
    return {
        "calls": f"{calls} on chain {payload['chainId']}",
        "contract": payload["to"],
        "from": payload["from"],
        "value": payload["value"],
        "account nonce": str(filled.nonce),
        "fee per gas at most": fees,
        "gas limit": f"{filled.gas}: at most {most}",
    }


def decided_row(decision: Decision) -> Row:
    """Return a value with its raw form, who decided it, and what is noted beside it."""
    field, raw = decision.field, decision.raw
    notes = [f'the profile calls it "{field.label}"'] if field.label else []
    notes += code_rows(raw) if field.unit is CODE and type(raw) is bytes else []
    return {
        "field": field.path,
        "value": shown_value(field, raw),
        "raw": raw_text(raw),
        "unit": field.unit.name,
        "notes": notes,
        "by": decision.decided_by,
        "expected": decision.expected,
        "ok": decision.ok,
    }


def _claims(request: Request) -> dict[str, str]:
    said = {name: request.payload.get(name) for name in ("description", "meta")}
    return {name: json.dumps(value, ensure_ascii=False) for name, value in said.items() if value}


def _hashes(examined: Examined) -> dict[str, str]:
    digest = examined.digest.hex()
    if isinstance(examined.read, ReadIntent):
        domain, struct, digest = (each.hex() for each in examined.read.hashes)
        return {"domain hash": domain, "struct hash": struct, "digest": digest}
    what = "hash" if _gives_away(examined.received.request) else "transaction hash"
    return {f"{what}, which is signed": digest} if digest else {}


# ---- the device and the signature -----------------------------------------------------------------------------------


def _device(judged: Judged, screens: Screens | None) -> Row | None:
    """Return how the device showed it; pages are there when the offline half has computed them."""
    signed = judged.signed
    if signed is None:
        return None
    model, pages = (screens.model, screens.of(judged.digest)) if screens else ("", [])
    return {"shown": signed.shown, "app": signed.app, "model": model, "pages": pages}


def _signature(judged: Judged, signed: Signed, sha256: str) -> Row:
    row: Row = {"result": signed.result, "why": signed.why, "at": moment(judged.entry.at_ms) if judged.entry else None}
    if not judged.signed:
        return row
    return row | {"digest": signed.digest, "signer": signed.signer, "sha256": sha256, "bytes": signed.signature}
