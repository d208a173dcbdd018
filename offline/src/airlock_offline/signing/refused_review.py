"""What is shown of a refused item: only what its checks have established, and why it is not signed.

Where it is another payload than the step's, or goes to another contract, values stand as they came.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from airlock_offline.signing.row_layout import (
    NOT_KEPT,
    REHEARSAL,
    mark_of,
    marked,
    name_of,
    noted,
    route_of,
    row,
    signer_rows,
    so,
    under_domain,
    value_rows,
)
from airlock_offline.signing.text_suspicions import text_suspicions
from airlock_shared.checks.case import CallCase, Case, IntentCase
from airlock_shared.checks.verdicts import Verdicts
from airlock_shared.plan.decisions import Decision, shown_value
from airlock_shared.text.safe import WIDTH, beside, safe, safe_again
from airlock_shared.units import raw_text

_GROUPS_REFUSED = (
    ("plan", "RECEIVED, beside what the plan decides"),
    ("fixed", "RECEIVED WHERE ZERO IS EXPECTED, because the plan asks for nothing here"),
    ("builder", "WHAT THE BUILDER CHOSE, beside the plan's limits"),
    ("nobody", "NOT DECIDED BY ANY RULE"),
)
_AS_CAME = "RECEIVED, not compared with anything"
_READ_BY = ("PLAN-STEP", "PLAN-ACTION", "TX-TO", "TX-CHAIN")
"""What gives a payload's values their meaning: it is the step's kind, at the pinned contract of the pinned chain."""

_MEANT = {"plan": "the plan {}", "fixed": "expected is {}", "builder": "allowed is {}", "nobody": "undecided is {}"}
_REASONS = 5
"""Sentences that say at the beginning why an item is refused."""
_MOST_REFUSED = 2000
"""Characters of a value that nobody will sign."""


def refused_sections(head: list[str], case: Case, verdicts: Verdicts) -> Iterator[list[str]]:
    """Yield what came for a step and is not signed: said of it is only what its checks have established."""
    failed = {verdict.check for verdict in verdicts.stopping()}
    known = failed.isdisjoint(_READ_BY)
    title = f"REFUSED: it is not signed. The step is {case.step.action.name} ({case.step.action.result})"
    why = chain(*(beside("  ", sentence) for sentence in _why(case, verdicts, known=known)))
    about = under_domain(case) if isinstance(case, IntentCase) else _call_rows(case, failed)
    rows = chain(row("came", case.title), signer_rows(case, "the plan's signer"), about)
    route = row("route as received", route_of(case.request))
    yield [*head, title, "=" * WIDTH, *marked(NOT_KEPT, why), *rows, *route]
    for decided_by, heading in _GROUPS_REFUSED if known else (("", _AS_CAME),):
        decisions = [d for d in case.decisions if d.decided_by == decided_by or not known]
        shown = (_refused_decision(d, case.situation.now_ms) if known else _raw_value(d) for d in decisions)
        yield [heading, *chain(*shown)] if decisions else []


def refused_warnings(case: Case) -> Iterator[str]:
    """Yield the warnings and notes that a refused item has."""
    for suspicion in text_suspicions(case):
        yield from noted("WARNING", suspicion)
    if case.situation.deployment.rehearsal:
        yield from noted("NOTE", REHEARSAL)


def _call_rows(case: CallCase, failed: set[str]) -> Iterator[str]:
    from airlock_offline.signing.transaction_rows import transaction_rows

    return transaction_rows(case, failed)


def _why(case: Case, verdicts: Verdicts, *, known: bool) -> Iterator[str]:
    """Yield in people's words what is wrong: values that are not the plan's, or else what the checks found."""
    wrong = [decision for decision in case.decisions if known and not decision.ok]
    for decision in wrong[:_REASONS]:
        came = safe(shown_value(decision.field, decision.raw), limit=100)
        meant = _MEANT[decision.decided_by].format(safe(decision.expected, limit=100))
        yield f"{name_of(decision).strip('_')}: the payload says {came}, {meant}"
    if not wrong:
        yield from (safe_again(verdict.what, limit=200) for verdict in verdicts.refused()[:_REASONS])
    if len(wrong) > _REASONS:
        yield f"and {len(wrong) - _REASONS} more values, below"


def _refused_decision(decision: Decision, now_ms: int) -> Iterator[str]:
    """Yield a value beside what was expected of it; whether a limit of time or nonces is kept, the checks below say."""
    lines = [*value_rows(decision, now_ms, limit=_MOST_REFUSED)]
    if decision.decided_by == "plan":
        lines += row("", f"plan {safe(decision.expected)}: {so(decision) if decision.ok else 'NOT WHAT THE PLAN SAYS'}")
    elif decision.decided_by == "builder":
        lines += row("", f"limit {decision.expected}{'' if decision.ok else ': EXCEEDED'}")
    elif not decision.ok:
        lines += row("", f"expected {decision.expected}")
    return marked(mark_of(decision), lines)


def _raw_value(decision: Decision) -> Iterator[str]:
    """Yield a value whose unit and meaning nobody has established, as it came."""
    yield from row(name_of(decision), safe(raw_text(decision.raw), limit=_MOST_REFUSED))
