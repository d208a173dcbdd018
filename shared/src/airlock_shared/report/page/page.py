"""The report as one HTML page: it needs no other file, runs nothing, loads nothing, and prints on A4 and Letter.

Made from the report's value alone, so that the same value gives the same bytes.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from importlib.resources import files

from airlock_shared.report.page.front import OF_HALF, front, how_of
from airlock_shared.report.page.html import bad, code, element, escaped, hexes, pairs, table, text
from airlock_shared.report.page.labels import label
from airlock_shared.report.page.signing import signing_page
from airlock_shared.report.page.steps import step_section
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


def _fingerprints(report: Row) -> Iterator[str]:
    yield element("h2", text("Fingerprints"))
    yield table("SHA-256 of each document: compare it, read the words aloud", ("of", "fingerprint", "words"), [
        (text(row["of"]), hexes(row["hex"]), element("span", text(row["words"] or "not given"), css="words"))
        for row in report["fingerprints"]
    ], css="wide marks")  # fmt: skip
    figures = [
        element(
            "figure", code(row["hex"], row["of"]), element("figcaption", text(f"{row['of']}: the hex as a QR code"))
        )
        for row in report["fingerprints"]
        if row["hex"]
    ]
    yield element("div", *figures, css="codes")


def _plan(report: Row) -> str:
    plan, deployment = report["plan"], report["deployment"]
    about = f"{plan['deployment']}, chain {deployment['chain_id']}, fetched at {deployment['fetched_at']}"
    return (
        element("h2", text("Plan"))
        + pairs(
            "Where, and limits for what the builder chooses", [("deployment", text(about)), *_limits(plan["limits"])]
        )
        + "".join(_signer(signer) for signer in plan["signers"])
    )


def _limits(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(row["name"], text(row["value"])) for row in rows]


def _signer(signer: Row) -> str:
    facts = [("address", text(signer["address"])), ("path", text(signer["path"]))]
    facts.append(("the device shows", text(signer["show"])))
    facts += [("as delegate of", text(signer["delegate_of"]))] if signer["delegate_of"] else []
    return pairs(f"Signer {signer['name']}", facts)


def _people(report: Row) -> Iterator[str]:
    yield element("h2", text("People"))
    roles = ", ".join(report["ceremony"]["roles"])
    yield element("p", text(f"The plan names these roles: {roles}." if roles else "The plan names no roles."))
    for row in report["people"]:
        begun = row["begun"]["utc"] if row["begun"] else "not begun"
        ended = row["ended"]["utc"] if row["ended"] else "not ended"
        names = [(each["name"], text(each["value"] or "nobody")) for each in row["names"]]
        yield pairs(f"On {OF_HALF[row['machine']]}", [("begun", text(begun)), *names, ("ended", text(ended))])
        if row["stations"]:
            rows = [(text(s["at"]["utc"]), text(s["station"]), text(", ".join((*s["by"], *how_of(s)))), _compared(s))
                    for s in row["stations"]]  # fmt: skip
            yield table(f"Stations confirmed on {OF_HALF[row['machine']]}", ("when", "station", "by", "compared"), rows,
                        css="wide moments")  # fmt: skip
        if row["exceptions"]:
            said = [(text(e["at"]["utc"]), text(e["station"] or "none"), text(e["by"]), text(e["reason"]))
                    for e in row["exceptions"]]  # fmt: skip
            yield table("Exceptions", ("when", "station", "by", "reason"), said, css="wide moments")


def _named(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(label(row["name"]), text(row["value"])) for row in rows]


def _compared(station: Row) -> str:
    value = station["compared"]
    is_hex = len(value) == 64 and all(digit in "0123456789abcdef" for digit in value)
    shown = hexes(value) if is_hex else text(value)
    return shown + ("" if station["holds"] else bad("its record changed since", "p"))


def _preflight(report: Row) -> str:
    found = report["preflight"]
    heading = element("h2", text("The offline machine before the signing"))
    if found is None:
        return heading + bad(text("No preflight is on record here."), "p")
    lines = [tuple(text(line[name]) for name in ("group", "what", "found", "verdict")) for line in found["lines"]]
    heads = ("group", "what", "found", "verdict")
    caption = f"Preflight at {found['at']['utc']}"
    shown = table(caption, heads, lines, css="wide lines") if lines else ""
    return heading + shown + pairs(f"{caption}: what else was recorded", _named(found["rest"]))


def _alive(alive: Row) -> str:
    """Return the signatures that could still execute: whoever has one can use it."""
    heading = element("h2", text("Signatures that could still execute"))
    at = alive["as_of"]["utc"] if alive["as_of"] else "an unknown time"
    which = (
        "of every ceremony on the signing machine's record" if alive["of_all_ceremonies"] else "of this ceremony alone"
    )
    told = element(
        "p", text(f"As of {at}, {which}. A signature is over when its deadline is past or its nonce is spent.")
    )
    if not alive["signatures"]:
        return heading + told + element("p", text("None is known."))
    return heading + told + "".join(
        pairs(f"{each['step']} of {each['ceremony']}: whoever has it can use it", [
            ("what", text(f"{each['kind']}, nonce {each['nonce']}")),
            ("by", text(each["signer"])),
            ("may execute", text(each["may_execute"])),
            ("known", text(each["known"])),
            ("digest", hexes(each["digest"])),
        ])
        for each in alive["signatures"]
    )  # fmt: skip


def _transcripts(report: Row) -> Iterator[str]:
    yield element("h2", text("Transcripts"))
    for row in report["transcripts"]:
        name = f"Transcript of {OF_HALF[row['machine']]}"
        if not row["given"]:
            yield pairs(name, [("given", bad(text("not given")))])
            continue
        facts = [("entries", text(f"{row['entries']}, the chain holds")), ("head", hexes(row["head"]))]
        facts.append(("words", element("span", text(row["words"]), css="words")))
        for seal in row["seals"]:
            over = text(f"{seal['entries']} entries, by {seal['signer']} {seal['by']}, {seal['at']['utc']}; it holds: ")
            facts.append(("sealed", over + hexes(seal["head"])))
        if row["machine"] == "offline" and not row["seals"]:
            facts.append(("sealed", bad(text("by nobody"))))
        yield pairs(name, facts)
    matches = [(row["what"], text(row["result"])) for row in report["matches"]]
    yield pairs("The artefacts name each other", matches, css="sentences")


def _artefacts(report: Row) -> str:
    rows = [
        (text(row["name"]), text(row["what"]), text(f"{row['bytes']} bytes"), hexes(row["sha256"]))
        for row in report["artefacts"]
    ]
    told = (
        "`airlock-online report verify` or `airlock-offline report verify` computes this page again from these files."
    )
    return (
        element("h2", text("Artefacts"))
        + element("p", text(told))
        + table("Files beside this page", ("file", "what it is", "size", "SHA-256"), rows, css="wide moments")
    )
