"""A plan as one page, drawn as the report draws it: for the people who agree on it, days before, each on their own paper."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.catalogue.referral_code import code_flags, code_rows
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.directions import directions, odd_directions
from airlock_shared.plan.model import EITHER, Exact, Plan, Step
from airlock_shared.report.model import plan_row
from airlock_shared.report.page.html import Fact, Html, bad, element, hexes, joined, listed, pairs
from airlock_shared.report.page.labels import label
from airlock_shared.report.page.page import document, fingerprint, plan_tables
from airlock_shared.text.fingerprint_words import spoken
from airlock_shared.units import CODE, utc_text


def plan_page(plan: Plan) -> bytes:
    """Return the page, UTF-8; all that ``plan show`` tells stands on it."""
    words = fingerprint(plan.fingerprint, spoken(plan.fingerprint), "plan")
    about = [("roles", ", ".join(plan.roles) or "none named"), ("witness", plan.witness_text), ("fingerprint", words)]
    write = "Write these 24 words on your own paper, each from a machine of your own. On the day you are asked for two."
    body = [
        element("h1", f"{plan.title} ({plan.id})"),
        element("p", write),
        pairs("Plan of a ceremony, not signed yet", about, css="facts marks"),
        element("h2", "What is asked"),
        *(_step(step, number, plan) for number, step in enumerate(plan.steps.values(), start=1)),
        *plan_tables(plan_row(plan), None),
    ]
    return document(f"{plan.id}: plan", [plan.id, "PLAN"], body)


def _step(step: Step, number: int, plan: Plan) -> Html:
    signer = step.signer
    of = f", as delegate of {checksum_address(signer.delegate_of)}" if signer.delegate_of else ""
    by = f"{signer.name}, {checksum_address(signer.address)}{of}"
    caption = f"{number} of {len(plan.steps)}: {step.action.title} ({step.id}, {step.action.name})"
    return pairs(caption, [("signed by", by), *_values(step, plan), *_notes(step)])


def _values(step: Step, plan: Plan) -> Iterator[Fact]:
    for name, value in step.values.items():
        parameter, most_ms = step.action.parameter(name), plan.limits.deadline_at_most_ms
        raw = value.raw if isinstance(value, Exact) else None
        notes: list[object] = []
        if name == "deadlineMs" and isinstance(raw, int) and most_ms is not None:
            notes.append(f"within the limit from {utc_text(raw - most_ms)} on")
        if parameter and parameter.unit is CODE and isinstance(raw, bytes):
            notes += [*code_rows(raw), *(bad(f"WARNING: {flag}") for flag in code_flags(raw))]
        yield label(name), joined(value.text, listed(notes)) if notes else value.text


def _notes(step: Step) -> Iterator[Fact]:
    if step.replaced_digest:
        yield "REPLACES an earlier signature, digest", joined(hexes(step.replaced_digest), element("p", EITHER))
    said = [*directions(step), *(bad(f"WARNING: {text}") for text in odd_directions(step))]
    if said:
        yield "that is", listed(said)
