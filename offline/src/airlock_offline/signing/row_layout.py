"""How the review is laid out: a mark in the margin, labels in a column of their own, and texts beside them, 80 columns.

Below it the rows that what is signed and what is refused have in common: signer, domain, values, sentences of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from airlock_shared.catalogue.referral_code import code_rows
from airlock_shared.checks.case import Case, IntentCase
from airlock_shared.documents.requests import Request
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.decisions import Decision, shown_value
from airlock_shared.text.safe import WIDTH, beside, columns, hanging, safe
from airlock_shared.units import CODE, UNIX_MS, UNIX_S, raw_text, span_text

INDENT = 20
KEPT, NOT_KEPT, CHOSEN = "✓", "✗", "·"
"""In the margin: as the plan and the pins say, not so, or chosen by the builder. The first column is ours alone."""


def row(label: str, text: str) -> Iterator[str]:
    """Yield a label and a text beside it; a label that is too long stands on lines of its own."""
    if columns(label) > INDENT - 2:  # only a claim of the builder has such a name
        yield from beside("  ", label)
        label = ""
    label = f"  {label}{' ' * (INDENT - columns(label))}"
    yield from (line.rstrip() for line in beside(label, text, width=WIDTH - 1))  # a terminal may draw a mark wide


def marked(mark: str, rows: Iterable[str]) -> Iterator[str]:
    """Yield rows with a mark in their margin, on every line: a text can be long, and its mark must not be looked for."""
    for line in rows:
        yield f"{mark} {line[2:]}" if line else mark


# ---- rows of a case -------------------------------------------------------------------------------------------------


def signer_rows(case: Case, label: str) -> Iterator[str]:
    """Yield who signs, as the plan says."""
    signer = case.step.signer
    yield from row(label, checksum_address(signer.address))
    yield from row("", f"{signer.name} in the plan, {signer.path}")
    if signer.delegate_of is not None:
        yield from row("", f"as delegate of {checksum_address(signer.delegate_of)}")


def under_domain(case: IntentCase) -> Iterator[str]:
    """Yield the pinned domain under which an intent is signed."""
    domain = case.situation.deployment.domains[case.intent.domain]
    yield from row("domain", f"{domain.name}, version {domain.version}, chain {domain.chain_id}")
    yield from row("", f"contract {checksum_address(domain.contract)}")


def route_of(request: Request) -> str:
    """Return where a signature goes, as the request says."""
    order = f", order type {request.order_type}" if request.order_type is not None else ""
    return f"{safe(request.route, limit=200)}{order}"


def value_rows(decision: Decision, now_ms: int, limit: int | None) -> Iterator[str]:
    """Yield a value in people's units, and as it is signed; ``limit`` is in characters."""
    field, raw = decision.field, decision.raw
    name, text = name_of(decision), shown_value(field, raw)
    shown = safe(text, limit=len(text) if limit is None else limit)
    if field.unit in (UNIX_MS, UNIX_S) and type(raw) is int:
        left_ms = (raw if field.unit is UNIX_MS else raw * 1000) - now_ms
        span = span_text(abs(left_ms) // 1000)
        shown += f" (in {span})" if left_ms >= 0 else f" ({span} ago)"
    yield from row(name, shown)
    if field.label:
        yield from row("", f'the profile calls it "{safe(field.label)}"')
    if field.unit is CODE and type(raw) is bytes:
        for text in code_rows(raw):
            yield from row("", text)
    signed = raw_text(raw)
    if type(raw) is not str and field.unit is not CODE and signed.lower() != shown.lower():
        yield from row("", f"raw {signed}" + (f" ({field.unit.name})" if field.unit in (UNIX_MS, UNIX_S) else ""))


def noted(kind: str, text: str) -> Iterator[str]:
    """Yield a sentence of ours; what it quotes never begins a line."""
    yield ""
    yield from hanging(f"{kind}: {text}")


def name_of(decision: Decision) -> str:
    """Return a field's name, without what it is in."""
    return decision.field.path.rsplit(".", 1)[-1]


def so(decision: Decision) -> str:
    """Return how a value that is kept stands to the plan's."""
    return "within" if decision.in_bounds else "equal"


def mark_of(decision: Decision) -> str:
    """Return the mark of a value in the margin."""
    return NOT_KEPT if not decision.ok else CHOSEN if decision.decided_by == "builder" else KEPT
