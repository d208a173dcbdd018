"""The evidence of a step: what was asked and read, every field beside the Ledger's screen, the signature, the services."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.errors import AirlockError
from airlock_shared.report.evidence.timeline import UNUSABLE_ID
from airlock_shared.report.page.html import (
    Html,
    bad,
    dense,
    drawn,
    element,
    heading,
    hexes,
    joined,
    listed,
    pair_table,
    paragraph,
    screens_of_fields,
    sentence,
    strong,
    table,
)
from airlock_shared.report.page.labels import label, leaf_label
from airlock_shared.report.rows import PageRow, plain_text, read_warnings
from airlock_shared.wire.strict_json import parse_json

DECIDERS = {
    "plan": "decided by the plan",
    "fixed": "fixed: zero, because the plan asks for nothing here",
    "builder": "chosen by the builder, within the plan's limits",
    "nobody": "not decided by any rule",
}


def step_section(step: PageRow, number: int, count: int) -> Html:
    """Return the section of a step."""
    parts = _evidence(step) if step.in_part else _apart(step)
    return element("section", heading(f"Step {number} of {count}: {step.id}"), *parts, css="step")


def _apart(step: PageRow) -> Iterator[Html]:
    values = ((label(row.name), row.value) for row in step.planned)
    yield pair_table(f"{step.title} ({step.action}): what the plan says", values)
    done = "It is neither done nor missing here; the report of that part has it."
    yield paragraph(f"Not in this part of the plan: {step.signer} signs it. {done}")


def _evidence(step: PageRow) -> Iterator[Html]:
    yield from _before(step)
    if step.request:
        yield from _request(step.request, step.device)
    else:
        yield bad("Nothing came back.", "p")
    if step.reviews:
        yield paragraph(strong("Reviewed on the air-gapped machine, and which sections were opened there:"))
        yield listed(
            joined(f"{row.at.utc}: ", bad(row.declined) if row.declined else row.opened) for row in step.reviews
        )
    if step.signature and step.signature.result == "signed":
        yield _signature(step.signature)
    if step.outcome:
        yield from _outcome(step.outcome)


def _said(row: PageRow, of: str = "") -> Html:
    """Return a value under its label; the members of one that is a JSON object each under its own."""
    name, members = label(row.name, of), _members(row.value)
    return joined(f"{name}:", dense(map(_said, members))) if members else joined(f"{name}: {row.value}")


def _members(value: str) -> list[PageRow]:
    """Return the members of a value that is a JSON object; none of anything else."""
    try:
        members = parse_json(value.encode()) if value.startswith("{") else {}
    except (AirlockError, UnicodeEncodeError):
        return []
    return [PageRow(name=name, value=plain_text(member)) for name, member in members.items()]


def _before(step: PageRow) -> Iterator[Html]:
    if step.waived:
        yield bad("The plan waives the proof that anybody holds this delegate key.", "p")
    for row in step.proofs:
        yield pair_table(
            "The delegate has its key: a proof checked offline",
            [("when", row.at.utc), ("delegate", row.delegate), ("challenge, SHA-256", hexes(row.challenge))],
        )
    for read in step.reads:
        yield table(
            f"Read at {read.at.utc}: what is known of the code {read.code}",
            ("source", "owner", "pending owner", "private", "the trader's code", "trouble"),
            [
                (row.source, row.owner, row.pending, row.private, row.adopted, sentence(row.trouble or "none"))
                for row in read.seen
            ],
        )
        yield dense(read.code_rows)
        yield from (bad(sentence(warning), "p") for warning in read_warnings(read.disagreements, read.warnings))


def _request(request: PageRow, device: PageRow | None) -> Iterator[Html]:
    where = request.goes_to
    if request.order_type is not None:
        where += f", order type {request.order_type} ({request.order_reason})"
    if request.replaces:
        where += f", in place of trigger {request.replaces}"
    asked = joined(paragraph(request.endpoint), dense(map(_said, request.asked)))
    facts = [("in raw units", asked), ("goes to", where)]
    if request.claims:
        facts.append(("said", listed(map(_said, request.claims))))
    yield pair_table("As a request, and what came beside the payload (not signed, decides nothing)", facts)
    under = (joined(strong(row.name), paragraph(row.value)) for row in request.under)
    (before, _), *groups = screens_of_fields(device.pages if device else [], request.decided)
    rows = [(drawn(before), joined(*under))]
    rows += [(drawn(screens), joined(*map(_decided, fields))) for screens, fields in groups]
    caption = f"What is signed: {request.title}; {_of_device(device)}"
    yield table(caption, ("the Ledger's screen", "the same, decoded"), rows, css="wide screens")
    yield pair_table("Hashes, computed from the payload", [(row.name, hexes(row.value)) for row in request.hashes])
    checks = request.checks
    counted = f"{checks.passed} checks passed, {len(checks.refused)} refused, {checks.not_reached} not reached"
    yield paragraph(f"Checked as at {request.judged_at.utc}: {counted}.")
    for each in checks.refused:
        facts = [("what", f"{each.what} {each.where}".strip()), ("got", each.got), ("expected", each.expected)]
        yield pair_table(f"Refused: {each.check}", facts, css="facts bad")


def _of_device(device: PageRow | None) -> str:
    """Return how it was signed, and of which Ledger the pages are or where they can be found."""
    if device is None:
        return "nothing of a Ledger is on record"
    if not device.app:
        return f"signed {device.shown}"
    how = f"signed {device.shown}, app {device.app}"
    if not device.pages:
        return f"{how}; the Ledger's pages are in the report of the air-gapped machine"
    return f"{how}; as a Ledger {device.model} shows it up to the page that signs, without its buttons"


def _decided(row: PageRow) -> Html:
    """Return a field under its label and the name that the Ledger shows; its value, the raw value, who decided it."""
    raw = "" if row.raw.lower() == row.value.lower() else f", signed as {row.raw} ({row.unit})"
    expected = "" if row.expected == row.value else f"; expected: {row.expected}"
    kept = ": kept" if row.ok else bad(": NOT KEPT")
    return joined(
        paragraph(leaf_label(row), ": ", strong(row.value)),
        *map(paragraph, row.notes),
        paragraph(element("span", row.field, raw, css="raw"), f"; {DECIDERS[row.by]}{expected}", kept),
    )


def _signature(row: PageRow) -> Html:
    withheld = "withheld: it was not submitted and ended, so it is a secret"
    signature = hexes(row.bytes) if row.bytes else withheld
    facts = [("recovered signer", row.signer), ("signature", signature), ("its SHA-256", hexes(row.sha256))]
    return pair_table("Signature, recovered over the digest above", facts)


def _outcome(outcome: PageRow) -> Iterator[Html]:
    submitted = {
        name: getattr(outcome, name) for name in ("route", "method", "tracking_id", "entity_id", "code", "note")
    }
    yield pair_table("Submitted", [(label(name, "event"), value) for name, value in submitted.items() if value])
    told_here = [(row.at, "put on record", sentence(row.error or row.state)) for row in outcome.told]
    caption = "Timeline, as services, people and this machine told it, in raw units"
    moments = [*map(_event, outcome.events), *told_here]
    yield table(caption, ("when", "what", "said"), moments, css="wide moments")


def _event(event: PageRow) -> tuple[object, ...]:
    seq = "" if event.seq is None else f" (seq {event.seq})"
    kind = "" if event.kind in ("event", "note") else f"{label(event.kind)}: "
    what = label(event.type) if event.kind == UNUSABLE_ID else event.type
    said = dense(_said(row, "event") for row in event.payload)
    return event.at or "no time told", f"{kind}{what}{seq}", said
