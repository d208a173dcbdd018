"""The review screen: what is about to be signed, in human terms and raw, beside what the plan says.

Pure text, 80 columns, no colour: every line can be read aloud. What the builder chose stands apart from what the plan
decided; what is only claimed (``meta``) is marked as such and escaped.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from airlock_offline.signing.row_layout import INDENT, hanging, row
from airlock_offline.signing.text_suspicions import text_suspicions
from airlock_shared.catalogue.actions import DELEGATE_ACTIONS
from airlock_shared.catalogue.intents import is_custom
from airlock_shared.checks.case import CallCase, Case, IntentCase
from airlock_shared.checks.judge import Examined
from airlock_shared.checks.verdicts import Verdicts
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.decisions import Decision, shown_value
from airlock_shared.text.fingerprint_words import grouped
from airlock_shared.text.safe import WIDTH, safe, safe_again
from airlock_shared.units import CODE, TEXT, UNIX_MS, UNIX_S, raw_text, span_text

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
    yield from row("signer", checksum_address(signer.address))
    yield from row("", f"{signer.name} in the plan, {signer.path}")
    if signer.delegate_of is not None:
        yield from row("", f"as delegate of {checksum_address(signer.delegate_of)}")
    yield from _under_domain(case) if isinstance(case, IntentCase) else _transaction_rows(case)
    yield from row("goes to", _route(case))
    for decided_by, heading in _GROUPS:
        decisions = [d for d in case.decisions if d.decided_by == decided_by]
        if decisions:
            yield ""
            yield heading
            for decision in decisions:
                yield from _decision(decision, case.situation.now_ms)
    if case.step.action.name in DELEGATE_ACTIONS:
        yield from _delegate_lines(case)
    yield from _claims(case)
    yield from _warnings(case)


def _under_domain(case: IntentCase) -> Iterator[str]:
    domain = case.situation.deployment.domains[case.intent.domain]
    yield from row("domain", f"{domain.name}, version {domain.version}, chain {domain.chain_id}")
    yield from row("", f"contract {checksum_address(domain.contract)}")


def _transaction_rows(case: CallCase) -> Iterator[str]:
    from airlock_offline.signing.transaction_rows import transaction_rows

    return transaction_rows(case)


def _route(case: Case) -> str:
    request = case.request
    order = (
        f", order type {request.order_type} ({safe(request.order_reason)})" if request.order_type is not None else ""
    )
    return f"{safe(request.route)}{order}"


def _decision(decision: Decision, now_ms: int) -> Iterator[str]:
    field, raw = decision.field, decision.raw
    name = field.path.rsplit(".", 1)[-1]
    shown = safe(shown_value(field, raw), limit=20_000)
    if field.unit in (UNIX_MS, UNIX_S) and type(raw) is int:
        seconds = (raw if field.unit is UNIX_MS else raw * 1000) - now_ms
        shown += f" ({'in ' if seconds >= 0 else ''}{span_text(abs(seconds) // 1000)}{'' if seconds >= 0 else ' ago'})"
    yield from row(name, shown)
    if field.unit is CODE and type(raw) is bytes:
        from airlock_shared.catalogue.referral_code import code_rows

        for text in code_rows(raw):
            yield from row("", text)
    signed = raw_text(raw)
    if field.unit not in (TEXT, CODE) and signed.lower() != shown.lower():
        yield from row("", f"raw {signed}" + (f" ({field.unit.name})" if field.unit in (UNIX_MS, UNIX_S) else ""))
    if decision.decided_by == "plan":
        yield from row("", f"plan {safe(decision.expected)}: {'equal' if decision.ok else 'NOT WHAT THE PLAN SAYS'}")
    elif decision.decided_by == "builder":
        yield from row("", f"limit {decision.expected}: {'kept' if decision.ok else 'EXCEEDED'}")
    elif not decision.ok:
        yield from row("", f"expected {decision.expected}")


def _delegate_lines(case: Case) -> Iterator[str]:
    from airlock_offline.signing.delegate_rows import delegate_heading, delegate_rows

    if heading := delegate_heading(case):
        yield from ("", heading)
        for label, text in delegate_rows(case):
            yield from row(label, text)


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
            yield from row(safe(name, limit=40), safe(json.dumps(value, ensure_ascii=False), limit=400))


def _warnings(case: Case) -> Iterator[str]:
    suspicions = list(text_suspicions(case))
    notes: list[str] = []
    if isinstance(case, IntentCase):
        notes += _intent_warnings(case)
    else:
        from airlock_offline.signing.transaction_rows import transaction_warnings

        notes += transaction_warnings(case)
    if case.step.action.name in DELEGATE_ACTIONS:
        from airlock_offline.signing.delegate_rows import delegate_warnings

        suspicions += delegate_warnings(case)
    if case.step.signer.show == "hashes":
        notes.append("The device will show two hashes only, not the fields: compare them digit by digit.")
    if case.situation.deployment.rehearsal:
        notes.append("REHEARSAL: nothing here is worth anything.")
    for suspicion in suspicions:
        yield ""
        yield from textwrap.wrap(f"WARNING: {suspicion}", WIDTH)
    for note in notes:
        yield ""
        yield from textwrap.wrap(f"NOTE: {note}", WIDTH)


def _intent_warnings(case: IntentCase) -> Iterator[str]:
    if is_custom(case.intent):
        yield "CUSTOM STRUCT, pinned on this machine: its values are shown raw, nobody here knows their meaning."
    if not case.intent.deadline:
        yield "This intent has no deadline: it stays valid until its nonce is used."


def hash_lines(case: Case) -> Iterator[str]:
    """Yield the hashes of an examined item, grouped, in the order in which they are compared."""
    yield ""
    hashes = [("transaction hash", case.digest)]
    if isinstance(case, IntentCase):
        hashes = [("domain hash", case.hashes.domain_separator), ("struct hash", case.hashes.struct_hash)]
        hashes += [("digest", case.digest)]
    for label, value in hashes:
        digits = value.hex()
        yield f"  {label:<{INDENT - 2}}  {grouped(digits[:32])}"
        yield f"  {'':<{INDENT - 2}}  {grouped(digits[32:])}"


def verdict_lines(verdicts: Verdicts) -> Iterator[str]:
    """Yield a line of counts, then what was refused: id, place, got, expected, and what to do."""
    wrong, unreached = verdicts.refused(), verdicts.unreached()
    yield ""
    yield f"CHECKS: {verdicts.passed()} passed, {len(wrong)} refused" + (
        f", {unreached} not reached" if unreached else ""
    )
    for verdict in wrong:
        place = f" at {verdict.where}" if verdict.where else ""
        yield from hanging("REFUSED  ", safe_again(f"{verdict.check}{place}: {verdict.what}", limit=600))
        yield from row("got", safe(str(verdict.got), limit=600))
        yield from row("expected", safe(str(verdict.expected), limit=600))
        yield from row("do", verdict.do)
    for verdict in verdicts.not_judged():
        yield from hanging("NOT JUDGED  ", safe_again(f"{verdict.check}: {verdict.what}", limit=600))


def screen_lines(screens: list[list[str]], model: str) -> Iterator[str]:
    """Yield the pages that the device will show, numbered, each page's lines joined."""
    yield ""
    yield f"THE LEDGER WILL SHOW ({model}, {len(screens)} pages)"
    for number, page in enumerate(screens, start=1):
        text = " | ".join(safe(line.strip()) for line in page)
        yield from hanging(f"{number:>3}  ", text)


def note_lines(notes: list[str]) -> Iterator[str]:
    """Yield the notes on what the device does not show in full."""
    for note in notes:
        yield ""
        yield from textwrap.wrap(f"NOTE: {safe(note, limit=400)}", WIDTH)
