"""What a signature would take the place of, beside it: the earlier signatures that have its nonce."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.checks.case import Case
from airlock_shared.checks.nonces import Use, UsedNonces, use_of
from airlock_shared.plan.model import EITHER
from airlock_shared.text.fingerprint_words import grouped
from airlock_shared.text.safe import safe
from airlock_shared.units import utc_text


def replacement_rows(case: Case, used: UsedNonces) -> Iterator[str]:
    """Yield the old beside the new, and what may execute; nothing for a step that replaces nothing."""
    if not case.step.replaced_digest or not case.digest:
        return
    use = use_of(case)
    old = [other for other in used.holders(use) if other.shares_nonce(use)]
    yield "REPLACES (named by the plan; old and new have the same nonce)"
    for label, each in (*(("old", other) for other in old), ("new", use)):
        yield from _signature(label, each)
    yield EITHER if len(old) < 2 else f"Any one of these {len(old) + 1} may execute; the online machine chooses."


def _signature(label: str, use: Use) -> Iterator[str]:
    until = "no deadline" if use.deadline_ms is None else f"until {utc_text(use.deadline_ms)}"
    yield f"  {label:<18}step {safe(use.step)} of ceremony {safe(use.ceremony)}"
    yield f"  {'':<18}nonce {use.nonce}, {until}"
    yield f"  {'':<18}{grouped(use.digest[2:34])}"
    yield f"  {'':<18}{grouped(use.digest[34:])}"
