"""The evidence of a step: what was asked and read, every field beside the Ledger's screen, the signature, the services."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.errors import AirlockError
from airlock_shared.report.evidence.timeline import UNUSABLE_ID
from airlock_shared.report.page.html import (
    Html,
    bad,
    drawn,
    element,
    hexes,
    joined,
    listed,
    pair_table,
    screens_of_fields,
    sentence,
    table,
)
from airlock_shared.report.page.labels import label, leaf_label
from airlock_shared.report.rows import Row, plain_text, read_warnings
from airlock_shared.wire.strict_json import parse_json

DECIDERS = {
    "plan": "decided by the plan",
    "fixed": "fixed: zero, because the plan asks for nothing here",
    "builder": "chosen by the builder, within the plan's limits",
    "nobody": "not decided by any rule",
}


def step_section(step: Row, number: int, count: int) -> Html:
    """Return the section of a step."""
    heading = element("h2", f"Step {number} of {count}: {step['id']}")
    if not step["in_part"]:
        apart = (
            f"Not in this part of the plan: {step['signer']} signs it. It is neither done nor missing here; the report "
            "of that part has it."
        )
        values = [(label(row["name"]), row["value"]) for row in step["planned"]]
        planned = pair_table(f"{step['title']} ({step['action']}): what the plan says", values)
        return element("section", heading, planned, element("p", apart), css="step")
    parts = [*_before(step)]
    parts += _request(step["request"], step["device"]) if step["request"] else [bad("Nothing came back.", "p")]
    if step["reviews"]:
        reviews = (
            (row["at"]["utc"], bad(row["declined"]) if row["declined"] else row["opened"]) for row in step["reviews"]
        )
        about = "Reviewed on the air-gapped machine, and which sections were opened there:"
        parts += [element("p", element("strong", about)), listed(joined(at, ": ", said) for at, said in reviews)]
    parts += _signature(step["signature"]) if step["signature"] and step["signature"]["result"] == "signed" else []
    parts += _outcome(step["outcome"]) if step["outcome"] else []
    return element("section", heading, *parts, css="step")


def _said(name: str, value: str, of: str = "") -> Html:
    """Return a value under its label; the members of an object each under its own."""
    members = _members(value)
    return joined(f"{label(name, of)}:", members) if members else joined(f"{label(name, of)}: {value}")


def _members(value: str) -> Html | None:
    """Return the members of a value that is a JSON object, each under its label; None for anything else."""
    try:
        found = parse_json(value.encode()) if value.startswith("{") else None
    except (AirlockError, UnicodeEncodeError):
        return None
    if not found or type(found) is not dict:
        return None
    return listed((_said(key, plain_text(member)) for key, member in found.items()), css="dense")


def _before(step: Row) -> Iterator[Html]:
    if step["waived"]:
        yield bad("The plan waives the proof that anybody holds this delegate key.", "p")
    for row in step["proofs"]:
        facts = [("when", row["at"]["utc"]), ("delegate", row["delegate"])]
        yield pair_table(
            "The delegate has its key: a proof checked offline",
            [*facts, ("challenge, SHA-256", hexes(row["challenge"]))],
        )
    for read in step["reads"]:
        heads = {
            "source": "source",
            "owner": "owner",
            "pending": "pending owner",
            "private": "private",
            "adopted": "the trader's code",
        }
        seen = [[row[name] for name in heads] + [sentence(row["trouble"] or "none")] for row in read["seen"]]
        caption = f"Read at {read['at']['utc']}: what is known of the code {read['code']}"
        yield table(caption, (*heads.values(), "trouble"), seen)
        yield listed(read["code_rows"], css="dense")
        yield from (bad(sentence(warning), "p") for warning in read_warnings(read))


def _request(request: Row, device: Row | None) -> Iterator[Html]:
    where = request["goes_to"]
    if request["order_type"] is not None:
        where += f", order type {request['order_type']} ({request['order_reason']})"
    where += f", in place of trigger {request['replaces']}" if request["replaces"] else ""
    asked = listed((_said(row["name"], row["value"]) for row in request["asked"]), css="dense")
    claims = [_said(row["name"], row["value"]) for row in request["claims"]]
    yield pair_table(
        "As a request, and what came beside the payload (not signed, decides nothing)",
        [
            ("in raw units", joined(element("p", request["endpoint"]), asked)),
            ("goes to", where),
            *([("said", listed(claims))] if claims else []),
        ],
    )
    under = [joined(element("strong", row["name"]), element("p", row["value"])) for row in request["under"]]
    pages = device["pages"] if device else []
    first, *groups = screens_of_fields(pages, request["decided"])
    rows = [(drawn(first[0]), joined(*under, *map(_decided, first[1])))]
    rows += [(drawn(screens), joined(*map(_decided, fields))) for screens, fields in groups]
    caption = f"What is signed: {request['title']}; {_of_device(device)}"
    yield table(caption, ("the Ledger's screen", "the same, decoded"), rows, css="wide screens")
    yield pair_table(
        "Hashes, computed from the payload", [(row["name"], hexes(row["value"])) for row in request["hashes"]]
    )
    checks = request["checks"]
    counted = f"{checks['passed']} checks passed, {len(checks['refused'])} refused, {checks['not_reached']} not reached"
    yield element("p", f"Checked as at {request['judged_at']['utc']}: {counted}.")
    for each in checks["refused"]:
        facts = [
            ("what", f"{each['what']} {each['where']}".strip()),
            ("got", each["got"]),
            ("expected", each["expected"]),
        ]
        yield pair_table(f"Refused: {each['check']}", facts, css="facts bad")


def _of_device(device: Row | None) -> str:
    """Return how it was signed, and of which Ledger the pages are or where they can be found."""
    if device is None:
        return "nothing of a Ledger is on record"
    if not device["app"]:
        return f"signed {device['shown']}"
    how = f"signed {device['shown']}, app {device['app']}"
    if not device["pages"]:
        return f"{how}; the Ledger's pages are in the report of the air-gapped machine"
    return f"{how}; as a Ledger {device['model']} shows it up to the page that signs, without its buttons"


def _decided(row: Row) -> Html:
    """Return a field under its label and the name that the Ledger shows; its value, the raw value, who decided it."""
    raw = "" if row["raw"].lower() == row["value"].lower() else f", signed as {row['raw']} ({row['unit']})"
    expected = "" if row["expected"] == row["value"] else f"; expected: {row['expected']}"
    verdict = f"; {DECIDERS[row['by']]}{expected}", ": kept" if row["ok"] else bad(": NOT KEPT")
    value = element("p", leaf_label(row), ": ", element("strong", row["value"]))
    signed = element("p", element("span", row["field"], raw, css="raw"), *verdict)
    return joined(value, *(element("p", note) for note in row["notes"]), signed)


def _signature(row: Row) -> Iterator[Html]:
    withheld = "withheld: it was not submitted and ended, so it is a secret"
    yield pair_table(
        "Signature, recovered over the digest above",
        [
            ("recovered signer", row["signer"]),
            ("signature", hexes(row["bytes"]) if row["bytes"] else withheld),
            ("its SHA-256", hexes(row["sha256"])),
        ],
    )


def _outcome(outcome: Row) -> Iterator[Html]:
    names = ("route", "method", "tracking_id", "entity_id", "code", "note")
    yield pair_table("Submitted", [(label(name, "event"), outcome[name]) for name in names if outcome[name]])
    told_here = [(row["at"], "put on record", sentence(row["error"] or row["state"])) for row in outcome["told"]]
    yield table(
        "Timeline, as services, people and this machine told it, in raw units",
        ("when", "what", "said"),
        [*map(_event, outcome["events"]), *told_here],
        css="wide moments",
    )


def _event(event: Row) -> tuple[object, ...]:
    seq = "" if event["seq"] is None else f" (seq {event['seq']})"
    kind = "" if event["kind"] in ("event", "note") else f"{label(event['kind'])}: "
    what = label(event["type"]) if event["kind"] == UNUSABLE_ID else event["type"]
    said = listed((_said(row["name"], row["value"], "event") for row in event["payload"]), css="dense")
    return event["at"] or "no time told", f"{kind}{what}{seq}", said
