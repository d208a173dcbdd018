"""The steps of a report: planned, decoded, hashed, checked, shown on the device, signed, and what became of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.catalogue.actions import Action
from airlock_shared.catalogue.referral_code import code_rows
from airlock_shared.catalogue.services import AUTHORIZATION
from airlock_shared.checks.case import CallCase, ReadCall, ReadIntent
from airlock_shared.checks.nonces import use_of
from airlock_shared.documents.requests import Request
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.decisions import Decision, shown_value
from airlock_shared.plan.delegate_proofs import is_waived
from airlock_shared.plan.model import Limits, Signer, Step
from airlock_shared.report.evidence.artefacts import Evidence
from airlock_shared.report.judged import Judged
from airlock_shared.report.outcome import outcome_of
from airlock_shared.report.rows import Row, moment, named
from airlock_shared.units import CODE, GWEI, NATIVE, PERCENT, raw_text, span_text, to_human

if TYPE_CHECKING:
    from airlock_shared.checks.case import Case
    from airlock_shared.checks.judge import Examined
    from airlock_shared.checks.verdicts import Verdicts


def limit_rows(limits: Limits) -> list[Row]:
    """Return the plan's limits for what the builder chooses."""
    none = "none: the plan must fix this value"
    slippage, fee, native = limits.slippage_at_most_raw, limits.max_fee_at_most_wei, limits.native_fee_at_most_wei
    return [
        named("deadline at most", _span(limits.deadline_at_most_ms) or none),
        named("remaining at least", _span(limits.remaining_at_least_ms)),
        named("slippage at most", none if slippage is None else f"{to_human(slippage, PERCENT)} %"),
        named("max fee at most", none if fee is None else f"{to_human(fee, GWEI)} gwei"),
        *([] if native is None else [named("native fee at most", f"{to_human(native, NATIVE)} {NATIVE.name}")]),
    ]


def _span(milliseconds: int | None) -> str:
    return "" if milliseconds is None else span_text(milliseconds // 1000)


def signer_row(signer: Signer) -> Row:
    """Return a signer of the plan."""
    of = checksum_address(signer.delegate_of) if signer.delegate_of else ""
    address = checksum_address(signer.address)
    return {"name": signer.name, "address": address, "path": signer.path, "show": signer.show, "delegate_of": of}


def part_signer(evidence: Evidence) -> str:
    """Return whose part of the plan the requests are; empty for the whole plan, and without requests."""
    return evidence.requests.header.signer if evidence.requests else ""


class Earlier(NamedTuple):
    """What is on record of a step from before it was signed: proofs of a delegate key, reads of a referral code."""

    proofs: list[Row]
    reads: list[Row]


def step_rows(evidence: Evidence, judged: Sequence[Judged], earlier: Mapping[str, Earlier]) -> list[Row]:
    """Return a row for every step of the plan, in its order, also for those that are not in this part of it.

    ``earlier`` holds what is on record of each step from before.
    """
    by_step = {each.examined.received.request.step: each for each in judged}
    return [_step(step, by_step, evidence, earlier[step.id]) for step in evidence.plan.steps.values()]


def _step(step: Step, by_step: Mapping[str, Judged], evidence: Evidence, earlier: Earlier) -> Row:
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
        "planned": [named(name, value.text) for name, value in step.values.items()],
        "waived": is_waived(step),
        "proofs": earlier.proofs,
        "reads": earlier.reads,
        "request": _request(judged) if judged else None,
        "device": _device(judged, evidence) if judged else None,
        "signature": _signature(judged) if judged and judged.answer else None,
        "outcome": outcome_of(sent.digest, evidence) if sent and evidence.half == "online" else None,
    }


# ---- what came back -------------------------------------------------------------------------------------------------


def _request(judged: Judged) -> Row:
    examined = judged.examined
    request, case = examined.received.request, examined.case
    return {
        "endpoint": request.endpoint,
        "asked": [named(name, value) for name, value in request.fields.items()],
        "goes_to": request.route,
        "order_type": request.order_type,
        "order_reason": request.order_reason,
        "replaces": request.replaces,
        "kind": request.action if _gives_away(request) else "intent" if request.transaction is None else "transaction",
        "title": _title(examined),
        "account": _account(case),
        "until": _until(case),
        "under": _under(examined),
        "decided": [decided_row(decision) for decision in (case.decisions if case is not None else [])],
        "claims": _claims(request),
        "hashes": _hashes(examined),
        "judged_at": moment(judged.at_ms),
        "checks": _checks(examined.verdicts),
    }


def _gives_away(request: Request) -> bool:
    return request.transaction is None and request.action == AUTHORIZATION


def _account(case: Case | None) -> str:
    """Return the account for which it is signed, read off what is signed; empty for what cannot be read."""
    if case is None:
        return ""
    if isinstance(case, CallCase) and case.call.delegated_for is not None:
        return checksum_address(case.call.delegated_for)
    return checksum_address(use_of(case).trader)


def _until(case: Case | None) -> Row | None:
    """Return the deadline of what is signed; None where it has none, or cannot be read."""
    deadline_ms = None if case is None else use_of(case).deadline_ms
    return None if deadline_ms is None else moment(deadline_ms)


def _title(examined: Examined) -> str:
    if examined.named is not None:
        return examined.named.intent.title
    return examined.read.call.call.title if isinstance(examined.read, ReadCall) else ""


def _under(examined: Examined) -> list[Row]:
    """Return the domain of an intent; of a transaction what it calls and what it may cost."""
    request, situation = examined.received
    payload, filled = request.payload, request.transaction
    if _gives_away(request):
        given = named("gives the account to", f"{payload['address']}, on chain {payload['chainId']}")
        return [given, named("with the order", request.fields.get("order", ""))]
    if filled is None:
        if examined.named is None:
            return []
        domain = situation.deployment.domains[examined.named.intent.domain]
        contract = named("contract", checksum_address(domain.contract))
        return [named("domain", f"{domain.name}, version {domain.version}, chain {domain.chain_id}"), contract]
    calls = examined.read.call.call.name if isinstance(examined.read, ReadCall) else "unknown"
    fees = f"{to_human(filled.maxFeePerGas, GWEI)} gwei, priority {to_human(filled.maxPriorityFeePerGas, GWEI)} gwei"
    most = f"{to_human(filled.gas * filled.maxFeePerGas, NATIVE)} {NATIVE.name}"
    rows = [named("calls", f"{calls} on chain {payload['chainId']}"), named("contract", payload["to"])]
    rows += [
        named("from", payload["from"]),
        named("value", payload["value"]),
        named("account nonce", str(filled.nonce)),
    ]
    return [*rows, named("fee per gas at most", fees), named("gas limit", f"{filled.gas}: at most {most}")]


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


def _claims(request: Request) -> list[Row]:
    payload = request.payload
    claims = {"description": payload.get("description"), "meta": payload.get("meta")}
    return [named(name, json.dumps(value, ensure_ascii=False)) for name, value in claims.items() if value]


def _hashes(examined: Examined) -> list[Row]:
    if isinstance(examined.read, ReadIntent):
        hashes = examined.read.hashes
        domain, struct = hashes.domain_separator.hex(), hashes.struct_hash.hex()
        return [named("domain hash", domain), named("struct hash", struct), named("digest", hashes.digest.hex())]
    what = "hash" if _gives_away(examined.received.request) else "transaction hash"
    return [named(f"{what}, which is signed", examined.digest.hex())] if examined.digest else []


def _checks(verdicts: Verdicts) -> Row:
    wrong = [
        {"check": v.check, "where": v.where, "what": v.what, "got": str(v.got), "expected": str(v.expected)}
        for v in verdicts.refused()
    ]
    return {"passed": verdicts.passed(), "not_reached": verdicts.unreached(), "refused": wrong}


# ---- the device and the signature -----------------------------------------------------------------------------------


def _device(judged: Judged, evidence: Evidence) -> Row | None:
    """Return how the device showed it; pages are there when the offline half has computed them."""
    signed = judged.answer.signed if judged.answer else None
    if signed is None or signed.result != "signed":
        return None
    screens = evidence.screens
    pages = screens.of(judged.digest) if screens else []
    return {"shown": signed.shown, "app": signed.app, "model": screens.model if screens else "", "pages": pages}


def _signature(judged: Judged) -> Row:
    assert judged.answer is not None  # noqa: S101 (the caller has looked)
    signed, sha256 = judged.answer
    row: Row = {"result": signed.result, "why": signed.why, "at": moment(judged.entry.at_ms) if judged.entry else None}
    if signed.result != "signed":
        return row
    return row | {
        "digest": signed.digest,
        "signer": signed.signer,
        "sha256": sha256,
        "bytes": signed.signature,
    }
