"""The review screen: what is about to be signed, in human terms and raw, beside what the plan says.

Pure text, 80 columns, no colour: every line can be read aloud. What the builder chose stands apart from what the plan
decided; what is only claimed (``meta``) is marked as such and escaped.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from airlock_shared.addresses import checksum_address
from airlock_shared.checks.case import Case, Verdict
from airlock_shared.decide import Decision, raw_value, shown_value
from airlock_shared.text import safe
from airlock_shared.units import TEXT, UNIX_MS, UNIX_S, span_text
from airlock_shared.words import grouped

WIDTH = 80
_INDENT = 20
_GROUPS = (
    ("plan", "DECIDED BY THE PLAN"),
    ("fixed", "FIXED (zero, because the plan asks for nothing here)"),
    ("builder", "CHOSEN BY THE BUILDER, within the plan's limits"),
    ("nobody", "DECIDED BY NOBODY"),
)


def review_lines(case: Case, position: int, count: int) -> Iterator[str]:
    """Yield the lines that show an examined item; the screens of the device are not part of them."""
    yield "=" * WIDTH
    yield f"STEP {position} of {count}: {safe(case.request.step)}"
    if not hasattr(case, "message") or not hasattr(case, "step"):
        yield "The payload cannot be shown in human terms; see what was refused below."
        return
    intent, signer = case.intent, case.step.signer
    yield f"{intent.title} ({case.step.action.name}, {intent.name})"
    yield "=" * WIDTH
    yield from _row("signer", checksum_address(signer.address))
    yield from _row("", f"{signer.name} in the plan, {signer.path}")
    if signer.delegate_of is not None:
        yield from _row("", f"as delegate of {checksum_address(signer.delegate_of)}")
    domain = case.situation.deployment.domains[intent.domain]
    yield from _row("domain", f"{domain.name}, version {domain.version}, chain {domain.chain_id}")
    yield from _row("", f"contract {checksum_address(domain.contract)}")
    yield from _row("goes to", _route(case))
    for decided_by, heading in _GROUPS:
        decisions = [d for d in getattr(case, "decisions", []) if d.decided_by == decided_by]
        if decisions:
            yield ""
            yield heading
            for decision in decisions:
                yield from _decision(decision, case.situation.now_ms)
    yield from _claims(case)
    yield from _warnings(case)


def _route(case: Case) -> str:
    request = case.request
    order = (
        f", order type {request.order_type} ({safe(request.order_reason)})" if request.order_type is not None else ""
    )
    return f"{safe(request.route)}{order}"


def _row(label: str, text: str) -> Iterator[str]:
    for line in textwrap.wrap(text, WIDTH - _INDENT - 2, drop_whitespace=True) or [""]:
        yield f"  {label:<{_INDENT - 2}}  {line}".rstrip()
        label = ""


def _decision(decision: Decision, now_ms: int) -> Iterator[str]:
    field, raw = decision.field, decision.raw
    name = field.path.rsplit(".", 1)[-1]
    shown = safe(shown_value(field, raw), limit=20_000)
    if field.unit in (UNIX_MS, UNIX_S) and type(raw) is int:
        seconds = (raw if field.unit is UNIX_MS else raw * 1000) - now_ms
        shown += f" ({'in ' if seconds >= 0 else ''}{span_text(abs(seconds) // 1000)}{'' if seconds >= 0 else ' ago'})"
    yield from _row(name, shown)
    raw_text = raw_value(raw)
    if field.unit is not TEXT and raw_text != shown and raw_text.lower() != shown.lower():
        yield from _row("", f"raw {raw_text}" + (f" ({field.unit.name})" if field.unit in (UNIX_MS, UNIX_S) else ""))
    if decision.decided_by == "plan":
        yield from _row("", f"plan {safe(decision.expected)}: {'equal' if decision.ok else 'NOT WHAT THE PLAN SAYS'}")
    elif decision.decided_by == "builder":
        yield from _row("", f"limit {decision.expected}: {'kept' if decision.ok else 'EXCEEDED'}")
    elif not decision.ok:
        yield from _row("", f"expected {decision.expected}")


def _claims(case: Case) -> Iterator[str]:
    meta = case.request.payload.get("meta")
    if meta:
        yield ""
        yield "THE BUILDER SAYS (not signed, decides nothing)"
        for name, value in meta.items():
            yield from _row(safe(name, limit=40), safe(json.dumps(value, ensure_ascii=False), limit=400))


def _warnings(case: Case) -> Iterator[str]:
    warnings = []
    if not case.intent.deadline:
        warnings.append("This intent has no deadline: it stays valid until its nonce is used.")
    if case.step.signer.show == "hashes":
        warnings.append("The device will show two hashes only, not the fields: compare them digit by digit.")
    if case.situation.deployment.rehearsal:
        warnings.append("REHEARSAL: nothing here is worth anything.")
    for warning in warnings:
        yield ""
        yield from textwrap.wrap(f"NOTE: {warning}", WIDTH)


def hash_lines(case: Case) -> Iterator[str]:
    """Yield the three hashes of an examined item, grouped, in the order in which they are compared."""
    yield ""
    for label, value in (
        ("domain hash", case.hashes.domain_separator),
        ("struct hash", case.hashes.struct_hash),
        ("digest", case.hashes.digest),
    ):
        digits = value.hex()
        yield f"  {label:<{_INDENT - 2}}  {grouped(digits[:32])}"
        yield f"  {'':<{_INDENT - 2}}  {grouped(digits[32:])}"


def verdict_lines(verdicts: list[Verdict]) -> Iterator[str]:
    """Yield a line of counts, then what was refused: id, place, got, expected."""
    passed = sum(v.result == "pass" for v in verdicts)
    wrong = [v for v in verdicts if v.result == "refused"]
    unreached = sum(v.result == "not-reached" for v in verdicts)
    yield ""
    yield f"CHECKS: {passed} passed, {len(wrong)} refused" + (f", {unreached} not reached" if unreached else "")
    for verdict in wrong:
        place = f" at {verdict.where}" if verdict.where else ""
        yield from textwrap.wrap(f"REFUSED  {verdict.check}{place}: {verdict.what}", WIDTH, subsequent_indent="  ")
        yield from _row("got", safe(str(verdict.got), limit=600))
        yield from _row("expected", safe(str(verdict.expected), limit=600))


def screen_lines(screens: list[list[str]], model: str) -> Iterator[str]:
    """Yield the pages that the device will show, numbered, each page's lines joined."""
    yield ""
    yield f"THE LEDGER WILL SHOW ({model}, {len(screens)} pages)"
    for number, page in enumerate(screens, start=1):
        text = " | ".join(safe(line.strip()) for line in page)
        yield from textwrap.wrap(f"{number:>3}  {text}", WIDTH, subsequent_indent=" " * 5)
