"""What people compare of a document that crosses the gap: its fingerprint, and which part of the plan it is."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.plan.model import Plan
from airlock_shared.text.safe import safe
from airlock_shared.text.words import grouped, spoken_rows


def fingerprint_lines(label: str, fingerprint: str) -> Iterator[str]:
    """Yield a fingerprint for comparing: hex in groups of four over two lines, then words to read aloud over three."""
    yield f"{label} fingerprint"
    yield f"  {grouped(fingerprint[:32])}"
    yield f"  {grouped(fingerprint[32:])}"
    for row in spoken_rows(fingerprint):
        yield f"  {row}"


def part_lines(plan: Plan, signer: str) -> Iterator[str]:
    """Yield which part of a plan a document is, and which steps are not in it; nothing for the whole plan."""
    if not signer:
        return
    inside = [step.signer.name == signer for step in plan.steps.values()]
    yield f"PART OF THE PLAN: {sum(inside)} of {len(inside)} steps, those that {safe(signer)} signs"
    for heading, wanted in (("in this document:", True), ("NOT in this document:", False)):
        yield f"  {heading}"
        for number, (step, there) in enumerate(zip(plan.steps.values(), inside, strict=True), start=1):
            if there is wanted:
                yield f"    step {number}: {step.id} ({step.action.name}), signed by {step.signer.name}"


# ---- names ----------------------------------------------------------------------------------------------------------
# The names of a document that crosses by QR codes, as both screens show them.


def name_lines(kind: str, ceremony: str, fingerprint: str) -> Iterator[str]:
    """Yield the names that people compare on both screens; what has no fingerprint of ours is named without."""
    yield f"{safe(kind)}, ceremony {safe(ceremony)}" if ceremony else safe(kind)
    if fingerprint:
        yield from fingerprint_lines("document", fingerprint)
