"""The report as one HTML page: it needs no other file, runs nothing, loads nothing, and prints on A4 and Letter.

Made from the report's value alone, so that the same value gives the same bytes.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from importlib.resources import files

from airlock_shared.report.page.front import OF_HALF, front, how_of
from airlock_shared.report.page.html import Html, bad, code, element, escaped, hexes, joined, pairs, table, words
from airlock_shared.report.page.signing import signing_page
from airlock_shared.report.page.steps import labelled, step_section
from airlock_shared.report.rows import Row, headline


def page(report: Row) -> bytes:
    """Return the page, UTF-8, of a report's value."""
    style = _style(report)
    policy = f"default-src 'none'; style-src '{_source_hash(style)}'; base-uri 'none'; form-action 'none'"
    count, half = len(report["steps"]), report["made_by"]
    body = [
        element("section", *front(report), css="front"),
        *_fingerprints(report),
        _plan(report),
        *_people(report),
        _preflight(report),
        *(step_section(step, n, count, half) for n, step in enumerate(report["steps"], start=1)),
        _alive(report["alive"]),
        *_transcripts(report),
        _artefacts(report),
        signing_page(report),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(report['ceremony']['id'])}: report of {escaped(half)}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n"
    ).encode()


def _style(report: Row) -> str:
    """Return the style sheet; the foot of every printed page repeats what must not be overlooked."""
    words = [report["ceremony"]["id"], *(["REHEARSAL"] if report["rehearsal"] else [])]
    words += ["PART OF THE PLAN"] if report["part"] else []
    words += [] if report["complete"] else [headline(report)]
    sheet = (files("airlock_shared.report.page") / "parts" / "report.css").read_text(encoding="utf-8")
    return sheet.replace("@FOOT@", ", ".join(words), 1)  # a plan's id is letters, digits and hyphens


def _source_hash(style: str) -> str:
    """Return a hash-source of the Content Security Policy, level 3, section 2.3.1."""
    return "sha256-" + b64encode(hashlib.sha256(style.encode()).digest()).decode()


def _fingerprints(report: Row) -> Iterator[Html]:
    marks = report["fingerprints"]
    yield element("h2", "Fingerprints")
    yield table("SHA-256 of each document: compare it, read the words aloud", ("of", "fingerprint", "words"), [
        (row["of"], hexes(row["hex"]), words(row["words"] or "not given")) for row in marks
    ], css="wide marks")  # fmt: skip
    yield element("div", *(
        element("figure", code(row["hex"], row["of"]), element("figcaption", f"{row['of']}: the hex as a QR code"))
        for row in marks if row["hex"]
    ), css="codes")  # fmt: skip


def _plan(report: Row) -> Html:
    plan, deployment = report["plan"], report["deployment"]
    about = f"{plan['deployment']}, chain {deployment['chain_id']}, fetched at {deployment['fetched_at']}"
    limits = [(row["name"], row["value"]) for row in plan["limits"]]
    return joined(
        element("h2", "Plan"),
        pairs("Where, and limits for what the builder chooses", [("deployment", about), *limits]),
        *map(_signer, plan["signers"]),
    )


def _signer(signer: Row) -> Html:
    names = {"address": "address", "path": "path", "show": "the device shows", "delegate_of": "as delegate of"}
    return pairs(f"Signer {signer['name']}", [(head, signer[name]) for name, head in names.items() if signer[name]])


def _people(report: Row) -> Iterator[Html]:
    yield element("h2", "People")
    roles = ", ".join(report["ceremony"]["roles"])
    yield element("p", f"The plan names these roles: {roles}." if roles else "The plan names no roles.")
    for row in report["people"]:
        half = f"on {OF_HALF[row['machine']]}"
        begun = row["begun"]["utc"] if row["begun"] else "not begun"
        ended = row["ended"]["utc"] if row["ended"] else "not ended"
        names = [(each["name"], each["value"] or "nobody") for each in row["names"]]
        yield pairs(half.capitalize(), [("begun", begun), *names, ("ended", ended)])
        if row["stations"]:
            rows = [
                (s["at"]["utc"], s["station"], ", ".join((*s["by"], *how_of(s))), _compared(s)) for s in row["stations"]
            ]
            heads = ("when", "station", "by", "compared")
            yield table(f"Stations confirmed {half}", heads, rows, css="wide moments")
        if row["exceptions"]:
            said = [(e["at"]["utc"], e["station"] or "none", e["by"], e["reason"]) for e in row["exceptions"]]
            yield table("Exceptions", ("when", "station", "by", "reason"), said, css="wide moments")


def _compared(station: Row) -> Html:
    value = station["compared"]
    is_hex = len(value) == 64 and all(digit in "0123456789abcdef" for digit in value)
    changed = "" if station["holds"] else bad("its record changed since", "p")
    return joined(hexes(value) if is_hex else value, changed)


def _preflight(report: Row) -> Html:
    found, heads = report["preflight"], ("group", "what", "found", "verdict")
    parts = [element("h2", "The offline machine before the signing")]
    if found is None:
        parts.append(bad("No preflight is on record here.", "p"))
    else:
        caption = f"Preflight at {found['at']['utc']}"
        lines = [[line[name] for name in heads] for line in found["lines"]]
        parts += [table(caption, heads, lines, css="wide lines")] if lines else []
        parts.append(pairs(f"{caption}: what else was recorded", labelled(found["rest"])))
    return joined(*parts)


def _alive(alive: Row) -> Html:
    """Return the signatures that could still execute: whoever has one can use it."""
    at = alive["as_of"]["utc"] if alive["as_of"] else "an unknown time"
    every = alive["of_all_ceremonies"]
    which = "of every ceremony on the signing machine's record" if every else "of this ceremony alone"
    about = f"As of {at}, {which}. A signature is over when its deadline is past or its nonce is spent."
    shown = [
        pairs(f"{each['step']} of {each['ceremony']}: whoever has it can use it", [
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
        name = f"Transcript of {OF_HALF[row['machine']]}"
        if not row["given"]:
            yield pairs(name, [("given", bad("not given"))])
            continue
        seals = [("sealed", _seal(seal)) for seal in row["seals"]]
        if row["machine"] == "offline" and not seals:
            seals.append(("sealed", bad("by nobody")))
        entries = f"{row['entries']}, the chain holds"
        yield pairs(name, [("entries", entries), ("head", hexes(row["head"])), ("words", words(row["words"])), *seals])
    matches = [(row["what"], row["result"]) for row in report["matches"]]
    yield pairs("The artefacts name each other", matches, css="sentences")


def _seal(seal: Row) -> Html:
    over = f"{seal['entries']} entries, by {seal['signer']} {seal['by']}, {seal['at']['utc']}; it holds: "
    return joined(over, hexes(seal["head"]))


def _artefacts(report: Row) -> Html:
    told = (
        "`airlock-online report verify` or `airlock-offline report verify` computes this page again from these files."
    )
    rows = [(r["name"], r["what"], f"{r['bytes']} bytes", hexes(r["sha256"])) for r in report["artefacts"]]
    heads = ("file", "what it is", "size", "SHA-256")
    return joined(
        element("h2", "Artefacts"),
        element("p", told),
        table("Files beside this page", heads, rows, css="wide moments"),
    )
