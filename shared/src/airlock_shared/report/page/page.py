"""The report as one HTML page: it needs no other file, runs nothing, loads nothing, and prints on A4.

Made from the report's value alone, so that the same value gives the same bytes.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files

from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.plan.decisions import directions, odd_directions
from airlock_shared.plan.model import EITHER, Plan, Step
from airlock_shared.report.model import plan_row
from airlock_shared.report.page.front import confirmations, front
from airlock_shared.report.page.html import (
    Fact,
    Html,
    bad,
    code,
    dense,
    element,
    escaped,
    heading,
    hexes,
    joined,
    listed,
    pair_table,
    paragraph,
    strong,
    table,
    words,
)
from airlock_shared.report.page.labels import label
from airlock_shared.report.page.steps import step_section
from airlock_shared.report.rows import PageRow, Row, headline, machine_name, page_row, report_text, value_notes
from airlock_shared.text.safe import spoken


def report_page(value: Row) -> bytes:
    """Return the page, UTF-8, of a report's value."""
    text = report_text(value)
    report, fingerprint = page_row(text), hashlib.sha256(text).hexdigest()
    foot = [report.ceremony.id]
    foot += ["REHEARSAL"] if report.rehearsal else []
    foot += ["PART OF THE PLAN"] if report.part else []
    foot += [] if report.complete else [headline(report.missing)]
    body = [
        element("section", *front(report, fingerprint), css="front"),
        *_fingerprints(report),
        *plan_tables(report.plan, report.deployment),
        *confirmations(report.people),
        joined(*_preflight(report.preflight)),
        *(step_section(step, n, len(report.steps)) for n, step in enumerate(report.steps, start=1)),
        joined(*_alive(report.alive)),
        *_transcripts(report),
        joined(*_artefacts(report)),
    ]
    return document(f"{report.ceremony.id}: report of {report.made_by}", foot, body)


def document(title: str, foot: Sequence[str], body: Iterable[Html]) -> bytes:
    """Return a page that needs no other file, UTF-8; ``foot``, in words of ours and ids, stands below each printed page."""
    sheet = (files("airlock_shared.report.page") / "parts" / "report.css").read_text(encoding="utf-8")
    style = sheet.replace("@FOOT@", ", ".join(foot), 1)  # a plan's id is letters, digits and hyphens
    policy = f"default-src 'none'; style-src '{_source_hash(style)}'; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n"
    ).encode()


def _source_hash(style: str) -> str:
    """Return a hash-source of the Content Security Policy, level 3, section 2.3.1."""
    return "sha256-" + b64encode(hashlib.sha256(style.encode()).digest()).decode()


def _fingerprints(report: PageRow) -> Iterator[Html]:
    yield heading("Fingerprints")
    rows = [(row.of, _fingerprint(row.hex, row.of)) for row in report.fingerprints]
    yield pair_table("SHA-256 of each document: compare it, read the words aloud", rows, css="facts marks")


def _fingerprint(digits: str, of: str) -> Html | str:
    """Return a fingerprint to compare: its QR code, hex and words; that it was not given when it is empty."""
    return joined(code(digits, of), hexes(digits), words(spoken(digits))) if digits else "not given"


def plan_tables(plan: PageRow, deployment: PageRow | None) -> Iterator[Html]:
    """Yield where a plan is for, its limits, and its signers; ``deployment`` where it is known."""
    about = f", chain {deployment.chain_id}, fetched at {deployment.fetched_at}" if deployment else ""
    yield heading("Limits and signers")
    limits = ((row.name, row.value) for row in plan.limits)
    yield pair_table("Limits for what the builder chooses", [("deployment", f"{plan.deployment}{about}"), *limits])
    signers = []
    for each in plan.signers:
        of = f", as delegate of {each.delegate_of}" if each.delegate_of else ""
        about = paragraph(f"{each.path}, the device shows {each.show}{of}")
        signers.append((each.name, joined(each.address, about)))
    yield pair_table("Signers", signers)


def _preflight(found: PageRow | None) -> Iterator[Html]:
    yield heading("The air-gapped machine before the signing")
    if found is None:
        yield bad("No preflight is on record here.", "p")
        return
    caption, heads = f"Preflight at {found.at.utc}", ("group", "what", "found", "verdict")
    if doubts := [line for line in found.lines if line.verdict != "ok"]:
        rows = [(line.group, line.what, line.found, line.verdict) for line in doubts]
        yield table(f"{caption}: refused, or to look at", heads, rows, css="wide lines")
    yield paragraph(f"{caption}: ok")
    yield dense(f"{line.group}, {line.what}: {line.found}" for line in found.lines if line.verdict == "ok")
    yield paragraph("What else was recorded:")
    said = {"true": "yes", "false": "no"}
    yield dense(f"{label(row.name)}: {said.get(row.value, row.value)}" for row in found.rest if row.value)


def _alive(alive: PageRow) -> Iterator[Html]:
    """Yield the signatures that could still execute: whoever has one can use it."""
    yield heading("Signatures that could still execute")
    at = alive.as_of.utc if alive.as_of else "an unknown time"
    every = alive.of_all_ceremonies
    which = "of every ceremony on the signing machine's record" if every else "of this ceremony alone"
    yield paragraph(f"As of {at}, {which}. A signature is over when its deadline is past or its nonce is spent.")
    for each in alive.signatures:
        yield pair_table(f"{each.step} of {each.ceremony}: whoever has it can use it", [
            ("what", f"{each.kind}, nonce {each.nonce}"),
            ("by", each.signer),
            ("may execute", each.may_execute),
            ("known", each.known),
            ("digest", hexes(each.digest)),
        ])  # fmt: skip
    if not alive.signatures:
        yield paragraph("None is known.")


def _transcripts(report: PageRow) -> Iterator[Html]:
    yield heading("Transcripts")
    for row in report.transcripts:
        facts: list[Fact] = [("given", bad("not given"))]
        if row.given:
            entries = f"{row.entries}, the chain holds"
            seals = [("sealed before", _seal(seal)) for seal in row.seals[:-1]]
            facts = [("entries", entries), ("head", hexes(row.head)), ("words", words(row.words)), *seals]
        yield pair_table(f"Transcript of the {machine_name(row.machine)} machine", facts)
    found: dict[str, list[str]] = {}
    for match in report.matches:
        found.setdefault(match.result, []).append(match.what)
    for result, whats in found.items():
        yield paragraph(strong(f"{result}: "), f"{'; '.join(whats)}.")


def _seal(seal: PageRow) -> Html:
    over = f"{seal.entries} entries, by {seal.signer} {seal.by}, {seal.at.utc}; it holds: "
    return joined(over, hexes(seal.head))


def _artefacts(report: PageRow) -> Iterator[Html]:
    yield heading("Artefacts")
    verify = "`airlock-online report verify` or `airlock-offline report verify`"
    yield paragraph(f"{verify} computes this page again from these files.")
    rows = [(f"{row.name}, {row.bytes} bytes: {row.what}", hexes(row.sha256)) for row in report.artefacts]
    yield table("Files beside this page", ("file", "SHA-256"), rows, css="wide keep")


# ---- plan page ------------------------------------------------------------------------------------------------------
# A plan as one page, drawn as the report draws it: for the people who agree on it, days before, each on their own
# paper.


def plan_page(plan: Plan) -> bytes:
    """Return the page, UTF-8; all that ``plan show`` tells stands on it."""
    words = _fingerprint(plan.fingerprint, "plan")
    about = [("roles", ", ".join(plan.roles) or "none named"), ("witness", plan.witness_text), ("fingerprint", words)]
    write = "Write these 24 words on your own paper, each from a machine of your own. On the day you are asked for two."
    body = [
        element("h1", f"{plan.title} ({plan.id})"),
        paragraph(write),
        pair_table("Plan of a ceremony, not signed yet", about, css="facts marks"),
        heading("What is asked"),
        *(_step(step, number, plan) for number, step in enumerate(plan.steps.values(), start=1)),
        *plan_tables(page_row(report_text(plan_row(plan))), None),
    ]
    return document(f"{plan.id}: plan", [plan.id, "PLAN"], body)


def _step(step: Step, number: int, plan: Plan) -> Html:
    signer = step.signer
    of = f", as delegate of {checksum_address(step.delegate_of)}" if step.delegate_of else ""
    by = f"{signer.name}, {signer.account}{of}"
    caption = f"{number} of {len(plan.steps)}: {step.action.title} ({step.id}, {step.action.name})"
    return pair_table(caption, [("signed by", by), *_values(step, plan), *_notes(step)])


def _values(step: Step, plan: Plan) -> Iterator[Fact]:
    for name, value in step.values.items():
        notes = [bad(note) if note.startswith("WARNING") else note for note in value_notes(step, name, plan.limits)]
        yield label(name), joined(value.text, listed(notes)) if notes else value.text


def _notes(step: Step) -> Iterator[Fact]:
    if step.replaced_digest:
        yield "REPLACES an earlier signature, digest", joined(hexes(step.replaced_digest), paragraph(EITHER))
    said = [*directions(step), *(bad(f"WARNING: {text}") for text in odd_directions(step))]
    if said:
        yield "that is", listed(said)
