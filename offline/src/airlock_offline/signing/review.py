"""The review screen: what is about to be signed, in human terms and raw, beside what the plan says.

Pure text, 80 columns, no colour: every line can be read aloud. What the builder chose stands apart from what the plan
decided; what is only claimed (``meta``) is marked as such and escaped.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from airlock_offline.signing.delegate_rows import delegate_heading, delegate_rows, delegate_warnings
from airlock_offline.signing.text_suspicions import suspicions
from airlock_shared.catalogue.pinned_structs import is_custom
from airlock_shared.catalogue.referral_code import code_rows
from airlock_shared.checks.case import CallCase, Case, IntentCase
from airlock_shared.checks.judge import Examined
from airlock_shared.checks.verdicts import Verdicts
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.decisions import Decision, shown_value
from airlock_shared.text.fingerprint_words import grouped
from airlock_shared.text.safe import columns, safe, safe_again, wrapped
from airlock_shared.units import CODE, GWEI, TEXT, UNIX_MS, UNIX_S, Unit, raw_text, span_text, to_human

WIDTH = 80
_INDENT = 20
_GROUPS = (
    ("plan", "DECIDED BY THE PLAN"),
    ("fixed", "FIXED (zero, because the plan asks for nothing here)"),
    ("builder", "CHOSEN BY THE BUILDER, within the plan's limits"),
    ("nobody", "DECIDED BY NOBODY"),
)


def review_lines(examined: Examined, position: int, count: int) -> Iterator[str]:
    """Yield the lines that show an examined item, the step of this number of so many in the plan.

    The screens of the device are not part of them.
    """
    yield "=" * WIDTH
    yield f"STEP {position} of {count} of the plan: {safe(examined.received.request.step)}"
    case = examined.case
    if case is None:
        yield "The payload cannot be shown in human terms; see what was refused below."
        return
    signer = case.step.signer
    yield f"{case.title} ({case.step.action.name}, {case.step.action.result})"
    yield "=" * WIDTH
    yield from _row("signer", checksum_address(signer.address))
    yield from _row("", f"{signer.name} in the plan, {signer.path}")
    if signer.delegate_of is not None:
        yield from _row("", f"as delegate of {checksum_address(signer.delegate_of)}")
    yield from _under_domain(case) if isinstance(case, IntentCase) else transaction_rows(case)
    yield from _row("goes to", _route(case))
    for decided_by, heading in _GROUPS:
        decisions = [d for d in case.decisions if d.decided_by == decided_by]
        if decisions:
            yield ""
            yield heading
            for decision in decisions:
                yield from _decision(decision, case.situation.now_ms)
    if heading := delegate_heading(case):
        yield from ("", heading)
        for label, text in delegate_rows(case):
            yield from _row(label, text)
    yield from _claims(case)
    yield from _warnings(case)


def _under_domain(case: IntentCase) -> Iterator[str]:
    domain = case.situation.deployment.domains[case.intent.domain]
    yield from _row("domain", f"{domain.name}, version {domain.version}, chain {domain.chain_id}")
    yield from _row("", f"contract {checksum_address(domain.contract)}")


def transaction_rows(case: CallCase) -> Iterator[str]:
    """Yield where a transaction goes, for whom, and what it can cost at most."""
    payload, filled = case.request.payload, case.request.transaction
    if filled is None:
        return
    yield from _row("calls", f"{case.call.call.name} on chain {payload['chainId']}")
    yield from _row("", f"contract {safe(payload['to'])}, pinned as {case.call.call.contract}")
    if case.call.delegated_for is not None:
        yield from _row("", f"by delegatedAction, for {checksum_address(case.call.delegated_for)}")
    yield from _row("value", "0 (no native currency goes along)")
    fee = f"{to_human(filled.maxFeePerGas, GWEI)} gwei, priority {to_human(filled.maxPriorityFeePerGas, GWEI)} gwei"
    yield from _row("fee per gas", f"at most {fee}")
    most = to_human(filled.gas * filled.maxFeePerGas, Unit("ether", 18))
    yield from _row("gas limit", f"{filled.gas}: at most {most} of the native currency in all")
    yield from _row("account nonce", str(filled.nonce))


def _route(case: Case) -> str:
    request = case.request
    order = (
        f", order type {request.order_type} ({safe(request.order_reason)})" if request.order_type is not None else ""
    )
    return f"{safe(request.route)}{order}"


def _row(label: str, text: str) -> Iterator[str]:
    if columns(label) > _INDENT - 2:  # only a claim of the builder has such a name
        yield from (f"  {line}" for line in wrapped(label, WIDTH - 2))
        label = ""
    for line in wrapped(text, WIDTH - _INDENT - 2):
        yield f"  {label}{' ' * (_INDENT - columns(label))}{line}".rstrip()
        label = ""


def _decision(decision: Decision, now_ms: int) -> Iterator[str]:
    field, raw = decision.field, decision.raw
    name = field.path.rsplit(".", 1)[-1]
    shown = safe(shown_value(field, raw), limit=20_000)
    if field.unit in (UNIX_MS, UNIX_S) and type(raw) is int:
        seconds = (raw if field.unit is UNIX_MS else raw * 1000) - now_ms
        shown += f" ({'in ' if seconds >= 0 else ''}{span_text(abs(seconds) // 1000)}{'' if seconds >= 0 else ' ago'})"
    yield from _row(name, shown)
    if field.unit is CODE and type(raw) is bytes:
        for row in code_rows(raw):
            yield from _row("", row)
    signed = raw_text(raw)
    if field.unit not in (TEXT, CODE) and signed.lower() != shown.lower():
        yield from _row("", f"raw {signed}" + (f" ({field.unit.name})" if field.unit in (UNIX_MS, UNIX_S) else ""))
    if decision.decided_by == "plan":
        yield from _row("", f"plan {safe(decision.expected)}: {'equal' if decision.ok else 'NOT WHAT THE PLAN SAYS'}")
    elif decision.decided_by == "builder":
        yield from _row("", f"limit {decision.expected}: {'kept' if decision.ok else 'EXCEEDED'}")
    elif not decision.ok:
        yield from _row("", f"expected {decision.expected}")


def _claims(case: Case) -> Iterator[str]:
    payload = case.request.payload
    description, meta = payload.get("description"), payload.get("meta")
    claims = ({"description": description} if description else {}) | (
        meta if isinstance(meta, dict) else {"meta": meta}
    )
    if description or meta:
        yield ""
        yield "THE BUILDER SAYS (not signed, decides nothing)"
        for name, value in claims.items():
            yield from _row(safe(name, limit=40), safe(json.dumps(value, ensure_ascii=False), limit=400))


def _warnings(case: Case) -> Iterator[str]:
    warnings: list[str] = []
    warnings += _intent_warnings(case) if isinstance(case, IntentCase) else _transaction_warnings(case)
    if case.step.signer.show == "hashes":
        warnings.append("The device will show two hashes only, not the fields: compare them digit by digit.")
    if case.situation.deployment.rehearsal:
        warnings.append("REHEARSAL: nothing here is worth anything.")
    for suspicion in (*suspicions(case), *delegate_warnings(case)):
        yield ""
        yield from textwrap.wrap(f"WARNING: {suspicion}", WIDTH)
    for warning in warnings:
        yield ""
        yield from textwrap.wrap(f"NOTE: {warning}", WIDTH)


def _intent_warnings(case: IntentCase) -> Iterator[str]:
    if is_custom(case.intent):
        yield "CUSTOM STRUCT, pinned on this machine: its values are shown raw, nobody here knows their meaning."
    if not case.intent.deadline:
        yield "This intent has no deadline: it stays valid until its nonce is used."


def _transaction_warnings(case: CallCase) -> Iterator[str]:
    yield "The Ledger needs Blind signing on for a transaction with calldata: switch it off again afterwards."
    if case.call.call.name == "approve":
        yield "The Ledger shows neither spender nor amount of an approval of an unknown token: read them here."
        if case.step.values["amountUsdc"].text == "unlimited":
            yield "UNLIMITED approval: the spender may take everything, for ever. The plan asks for it."
    if case.call.call.pending:
        yield "This stores an order: a confirmed transaction is not a filled trade."


def hash_lines(case: Case) -> Iterator[str]:
    """Yield the hashes of an examined item, grouped, in the order in which they are compared."""
    yield ""
    hashes = [("transaction hash", case.digest)]
    if isinstance(case, IntentCase):
        hashes = [("domain hash", case.hashes.domain_separator), ("struct hash", case.hashes.struct_hash)]
        hashes += [("digest", case.digest)]
    for label, value in hashes:
        digits = value.hex()
        yield f"  {label:<{_INDENT - 2}}  {grouped(digits[:32])}"
        yield f"  {'':<{_INDENT - 2}}  {grouped(digits[32:])}"


def verdict_lines(verdicts: Verdicts) -> Iterator[str]:
    """Yield a line of counts, then what was refused: id, place, got, expected, and what to do."""
    wrong, unreached = verdicts.refused(), verdicts.unreached()
    yield ""
    yield f"CHECKS: {verdicts.passed()} passed, {len(wrong)} refused" + (
        f", {unreached} not reached" if unreached else ""
    )
    for verdict in wrong:
        place = f" at {verdict.where}" if verdict.where else ""
        yield from _hanging("REFUSED  ", safe_again(f"{verdict.check}{place}: {verdict.what}", limit=600))
        yield from _row("got", safe(str(verdict.got), limit=600))
        yield from _row("expected", safe(str(verdict.expected), limit=600))
        yield from _row("do", verdict.do)
    for verdict in verdicts.not_judged():
        yield from _hanging("NOT JUDGED  ", safe_again(f"{verdict.check}: {verdict.what}", limit=600))


def screen_lines(screens: list[list[str]], model: str) -> Iterator[str]:
    """Yield the pages that the device will show, numbered, each page's lines joined."""
    yield ""
    yield f"THE LEDGER WILL SHOW ({model}, {len(screens)} pages)"
    for number, page in enumerate(screens, start=1):
        text = " | ".join(safe(line.strip()) for line in page)
        yield from _hanging(f"{number:>3}  ", text)


def _hanging(label: str, text: str) -> Iterator[str]:
    """Yield a safe text in lines of 80 columns beside its label."""
    for line in wrapped(text, WIDTH - len(label)):
        yield f"{label}{line}"
        label = " " * len(label)


def note_lines(notes: list[str]) -> Iterator[str]:
    """Yield the notes on what the device does not show in full."""
    for note in notes:
        yield ""
        yield from textwrap.wrap(f"NOTE: {safe(note, limit=400)}", WIDTH)
