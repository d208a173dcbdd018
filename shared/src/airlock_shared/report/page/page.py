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
    element,
    escaped,
    hexes,
    joined,
    listed,
    pair_table,
    table,
    words,
)
from airlock_shared.report.page.labels import label
from airlock_shared.report.page.steps import step_section
from airlock_shared.report.rows import Row, headline, machine_name, value_notes
from airlock_shared.text.safe import spoken


def report_page(report: Row) -> bytes:
    """Return the page, UTF-8, of a report's value."""
    count, half = len(report["steps"]), report["made_by"]
    foot = [report["ceremony"]["id"], *(["REHEARSAL"] if report["rehearsal"] else [])]
    foot += ["PART OF THE PLAN"] if report["part"] else []
    foot += [] if report["complete"] else [headline(report)]
    body = [
        element("section", *front(report), css="front"),
        *_fingerprints(report),
        *plan_tables(report["plan"], report["deployment"]),
        *confirmations(report["people"]),
        joined(*_preflight(report["preflight"])),
        *(step_section(step, n, count) for n, step in enumerate(report["steps"], start=1)),
        _alive(report["alive"]),
        *_transcripts(report),
        _artefacts(report),
    ]
    return document(f"{report['ceremony']['id']}: report of {half}", foot, body)


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


def _fingerprints(report: Row) -> Iterator[Html]:
    yield element("h2", "Fingerprints")
    rows = [(row["of"], _fingerprint(row["hex"], row["words"], row["of"])) for row in report["fingerprints"]]
    yield pair_table("SHA-256 of each document: compare it, read the words aloud", rows, css="facts marks")


def _fingerprint(digits: str, spoken: str, of: str) -> Html:
    """Return a fingerprint to compare: its QR code, hex and words; that it was not given when it is empty."""
    return joined(code(digits, of), hexes(digits), words(spoken)) if digits else joined("not given")


def plan_tables(plan: Row, deployment: Row | None) -> Iterator[Html]:
    """Yield where a plan is for, its limits, and its signers; ``deployment`` where it is known."""
    about = f", chain {deployment['chain_id']}, fetched at {deployment['fetched_at']}" if deployment else ""
    yield element("h2", "Limits and signers")
    limits = [(row["name"], row["value"]) for row in plan["limits"]]
    yield pair_table("Limits for what the builder chooses", [("deployment", f"{plan['deployment']}{about}"), *limits])
    names = {"path": "", "show": ", the device shows ", "delegate_of": ", as delegate of "}
    signers = [
        (
            s["name"],
            joined(s["address"], element("p", "".join(f"{text}{s[name]}" for name, text in names.items() if s[name]))),
        )
        for s in plan["signers"]
    ]
    yield pair_table("Signers", signers)


def _preflight(found: Row | None) -> Iterator[Html]:
    yield element("h2", "The air-gapped machine before the signing")
    if found is None:
        yield bad("No preflight is on record here.", "p")
        return
    caption, heads = f"Preflight at {found['at']['utc']}", ("group", "what", "found", "verdict")
    lines = [[line[name] for name in heads] for line in found["lines"]]
    if doubts := [line for line in lines if line[-1] != "ok"]:
        yield table(f"{caption}: refused, or to look at", heads, doubts, css="wide lines")
    good = (joined(f"{group}, {what}: ", seen) for group, what, seen, verdict in lines if verdict == "ok")
    yield from (element("p", f"{caption}: ok"), listed(good, css="dense"))
    said, named = {"true": "yes", "false": "no"}, ((label(row["name"]), row["value"]) for row in found["rest"])
    rest = (joined(f"{name}: ", said.get(value, value)) for name, value in named if value)
    yield from (element("p", "What else was recorded:"), listed(rest, css="dense"))


def _alive(alive: Row) -> Html:
    """Return the signatures that could still execute: whoever has one can use it."""
    at = alive["as_of"]["utc"] if alive["as_of"] else "an unknown time"
    every = alive["of_all_ceremonies"]
    which = "of every ceremony on the signing machine's record" if every else "of this ceremony alone"
    about = f"As of {at}, {which}. A signature is over when its deadline is past or its nonce is spent."
    shown = [
        pair_table(f"{each['step']} of {each['ceremony']}: whoever has it can use it", [
            ("what", f"{each['kind']}, nonce {each['nonce']}"),
            ("by", each["signer"]),
            ("may execute", each["may_execute"]),
            ("known", each["known"]),
            ("digest", hexes(each["digest"])),
        ])
        for each in alive["signatures"]
    ]  # fmt: skip
    heading = element("h2", "Signatures that could still execute")
    return joined(heading, element("p", about), *(shown or [element("p", "None is known.")]))


def _transcripts(report: Row) -> Iterator[Html]:
    yield element("h2", "Transcripts")
    for row in report["transcripts"]:
        name = f"Transcript of the {machine_name(row['machine'])} machine"
        if not row["given"]:
            yield pair_table(name, [("given", bad("not given"))])
            continue
        seals = [("sealed before", _seal(seal)) for seal in row["seals"][:-1]]
        entries = f"{row['entries']}, the chain holds"
        yield pair_table(
            name, [("entries", entries), ("head", hexes(row["head"])), ("words", words(row["words"])), *seals]
        )
    results = dict.fromkeys(row["result"] for row in report["matches"])
    for result in results:
        whats = "; ".join(row["what"] for row in report["matches"] if row["result"] == result)
        yield element("p", element("strong", f"{result}: "), f"{whats}.")


def _seal(seal: Row) -> Html:
    over = f"{seal['entries']} entries, by {seal['signer']} {seal['by']}, {seal['at']['utc']}; it holds: "
    return joined(over, hexes(seal["head"]))


def _artefacts(report: Row) -> Html:
    about = (
        "`airlock-online report verify` or `airlock-offline report verify` computes this page again from these files."
    )
    rows = [(f"{r['name']}, {r['bytes']} bytes: {r['what']}", hexes(r["sha256"])) for r in report["artefacts"]]
    return joined(
        element("h2", "Artefacts"),
        element("p", about),
        table("Files beside this page", ("file", "SHA-256"), rows, css="wide keep"),
    )


# ---- plan page ------------------------------------------------------------------------------------------------------
# A plan as one page, drawn as the report draws it: for the people who agree on it, days before, each on their own
# paper.


def plan_page(plan: Plan) -> bytes:
    """Return the page, UTF-8; all that ``plan show`` tells stands on it."""
    words = _fingerprint(plan.fingerprint, spoken(plan.fingerprint), "plan")
    about = [("roles", ", ".join(plan.roles) or "none named"), ("witness", plan.witness_text), ("fingerprint", words)]
    write = "Write these 24 words on your own paper, each from a machine of your own. On the day you are asked for two."
    body = [
        element("h1", f"{plan.title} ({plan.id})"),
        element("p", write),
        pair_table("Plan of a ceremony, not signed yet", about, css="facts marks"),
        element("h2", "What is asked"),
        *(_step(step, number, plan) for number, step in enumerate(plan.steps.values(), start=1)),
        *plan_tables(plan_row(plan), None),
    ]
    return document(f"{plan.id}: plan", [plan.id, "PLAN"], body)


def _step(step: Step, number: int, plan: Plan) -> Html:
    signer = step.signer
    of = f", as delegate of {checksum_address(step.delegate_of)}" if step.delegate_of else ""
    by = f"{signer.name}, {checksum_address(signer.address)}{of}"
    caption = f"{number} of {len(plan.steps)}: {step.action.title} ({step.id}, {step.action.name})"
    return pair_table(caption, [("signed by", by), *_values(step, plan), *_notes(step)])


def _values(step: Step, plan: Plan) -> Iterator[Fact]:
    for name, value in step.values.items():
        notes = [bad(note) if note.startswith("WARNING") else note for note in value_notes(step, name, plan.limits)]
        yield label(name), joined(value.text, listed(notes)) if notes else value.text


def _notes(step: Step) -> Iterator[Fact]:
    if step.replaced_digest:
        yield "REPLACES an earlier signature, digest", joined(hexes(step.replaced_digest), element("p", EITHER))
    said = [*directions(step), *(bad(f"WARNING: {text}") for text in odd_directions(step))]
    if said:
        yield "that is", listed(said)
