"""A step of the report as HTML: planned, decoded, hashed, shown, signed, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from airlock_shared.errors import AirlockError
from airlock_shared.report.evidence.timeline import UNUSABLE_ID
from airlock_shared.report.page.front import Fact, state_of
from airlock_shared.report.page.html import Html, bad, element, hexes, joined, listed, pairs, table, told
from airlock_shared.report.page.labels import label
from airlock_shared.report.rows import Row, plain, warnings_of
from airlock_shared.wire.codec import parse_json

GROUPS = {
    "plan": "Decided by the plan",
    "fixed": "Fixed: zero, because the plan asks for nothing here",
    "builder": "Chosen by the builder, within the plan's limits",
    "nobody": "Not decided by any rule",
}
KEPT = {True: "yes", False: "NO: this is not what was promised", None: "not known"}


def step_section(step: Row, number: int, count: int, half: str) -> Html:
    """Return the section of a step; ``half`` made the report."""
    parts = [
        element("h2", f"Step {number} of {count}: {step['id']}"),
        element("p", f"{step['title']} ({step['action']})"),
        pairs("What the plan says", [*labelled(step["planned"]), ("signed by", step["signer"])]),
        *_before(step),
    ]
    if not step["in_part"]:
        apart = (f"Not in this part of the plan: {step['signer']} signs it. It is neither done nor missing here; the report "
                 "of that part has it.")  # fmt: skip
        return element("section", *parts, element("p", apart), css="step apart")
    for key, heading, why, drawn in _PARTS:
        if step[key]:
            parts += drawn(step[key])
        elif key != "outcome" or half == "online":
            parts.append(element("div", element("h3", heading), bad(why, "p"), css="none"))
    return element("section", *parts, css="step")


def labelled(rows: Sequence[Row]) -> list[Fact]:
    """Return rows of a name and a value, each name under its label."""
    return [(label(row["name"]), row["value"]) for row in rows]


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
    return listed(_said(key, plain(member)) for key, member in found.items()) if found and type(found) is dict else None


def _before(step: Row) -> Iterator[Html]:
    if step["waived"]:
        yield bad("The plan waives the proof that anybody holds this delegate key.", "p")
    for row in step["proofs"]:
        facts = [("when", row["at"]["utc"]), ("delegate", row["delegate"])]
        yield pairs(
            "The delegate has its key: a proof checked offline",
            [*facts, ("challenge, SHA-256", hexes(row["challenge"]))],
        )
    for read in step["reads"]:
        yield element("p", f"Read at {read['at']['utc']}: what is known of the code {read['code']}")
        for seen in read["seen"]:
            heads = {"owner": "owner", "pending": "pending owner", "private": "private", "adopted": "the trader's code"}
            facts = [(head, seen[name]) for name, head in heads.items()]
            yield pairs(f"What {seen['source']} says", [*facts, ("trouble", told(seen["trouble"] or "none"))])
        yield listed(read["code_rows"])
        yield from (bad(told(warning), "p") for warning in warnings_of(read))


def _request(request: Row) -> Iterator[Html]:
    yield element("h3", f"What came back: {request['title']}")
    where = request["goes_to"]
    if request["order_type"] is not None:
        where += f", order type {request['order_type']} ({request['order_reason']})"
    where += f", in place of trigger {request['replaces']}" if request["replaces"] else ""
    asked = listed(_said(row["name"], row["value"]) for row in request["asked"])
    yield pairs("Asked and under what it is signed", [
        ("asked of the builder, in raw units", joined(element("p", request["endpoint"]), asked)),
        ("goes to", where),
        *((row["name"], row["value"]) for row in request["under"]),
    ])  # fmt: skip
    for by, heading in GROUPS.items():
        rows = [_decided(row) for row in request["decided"] if row["by"] == by]
        if rows:
            yield table(heading, ("field", "value, as it is signed, and what was expected"), rows, css="wide fields")
    if request["claims"]:
        said = [(label(row["name"]), _members(row["value"]) or row["value"]) for row in request["claims"]]
        yield pairs("The builder says (not signed, decides nothing)", said)
    yield pairs("Hashes, computed from the payload", [(row["name"], hexes(row["value"])) for row in request["hashes"]])
    checks = request["checks"]
    counted = f"{checks['passed']} checks passed, {len(checks['refused'])} refused, {checks['not_reached']} not reached"
    yield element("p", f"Checked as at {request['judged_at']['utc']}: {counted}.")
    for each in checks["refused"]:
        facts = [
            ("what", f"{each['what']} {each['where']}".strip()),
            ("got", each["got"]),
            ("expected", each["expected"]),
        ]
        yield pairs(f"Refused: {each['check']}", facts, css="facts bad")


def _decided(row: Row) -> tuple[Html, Html]:
    """Return a field under its label and the name that the Ledger shows; its value, the raw value, and the verdict."""
    verdict = f"expected: {row['expected']}", ": kept" if row["ok"] else bad(": NOT KEPT")
    return joined(label(row["field"]), element("p", row["field"], css="raw")), joined(
        element("strong", row["value"]),
        *(element("p", note) for note in row["notes"]),
        element("p", f"signed as {row['raw']} ({row['unit']})", css="raw"),
        element("p", *verdict),
    )


def _device(device: Row) -> Iterator[Html]:
    yield element("h3", "On the Ledger")
    yield pairs("How it was signed", [("signed", device["shown"]), ("app version", device["app"])])
    lines = [" | ".join(line.strip() for line in page) for page in device["pages"]]
    if not lines:
        yield element("p", "Its pages are in the report of the offline machine.")
        return
    yield element(
        "p", f"The {len(lines)} pages that the model {device['model']} shows for this, up to the one that signs:"
    )
    yield element("ol", *(element("li", line) for line in lines), css="pages")


def _signature(row: Row) -> Iterator[Html]:
    when = row["at"]["utc"] if row["at"] else "not on record here"
    yield element("h3", "Signature")
    if row["result"] != "signed":
        yield pairs("Not signed", [("result", bad(row["result"])), ("why", row["why"]), ("when", when)])
        return
    withheld = "withheld: it was not submitted and ended, so it is a secret"
    yield pairs("Signed, and recovered over the digest above", [
        ("recovered signer", row["signer"]),
        ("over the digest", hexes(row["digest"])),
        ("when", when),
        ("signature", hexes(row["bytes"]) if row["bytes"] else withheld),
        ("its SHA-256", hexes(row["sha256"])),
    ])  # fmt: skip


def _outcome(outcome: Row) -> Iterator[Html]:
    yield element("h3", "Outcome")
    good = outcome["done"] and all(promise["kept"] is not False for promise in outcome["read_back"])
    names = ("route", "method", "tracking_id", "transaction_hash", "entity_id", "code", "note")
    facts = [(label(name, "event"), outcome[name]) for name in names if outcome[name]]
    yield pairs("Outcome", [("state", state_of(outcome, good=good)), *facts])
    if outcome["events"]:
        yield table("Timeline, as the services and people told it, in raw units", ("when", "what", "said"),
                    map(_event, outcome["events"]), css="wide moments")  # fmt: skip
    if outcome["told"]:
        rows = [(row["at"], row["state"] or "error", told(row["error"])) for row in outcome["told"]]
        yield table("What this machine recorded", ("when", "state", "error"), rows, css="wide moments")
    for promise in outcome["read_back"]:
        facts = [("promised", told(promise["promised"])), ("found", told(promise["found"]))]
        facts += [("kept", KEPT[promise["kept"]]), ("read and recorded", outcome["read_back_at"]["utc"])]
        yield pairs(f"Read back: {promise['what']}", facts)


def _event(event: Row) -> tuple[object, ...]:
    seq = "" if event["seq"] is None else f" (seq {event['seq']})"
    kind = "" if event["kind"] in ("event", "note") else f"{label(event['kind'])}: "
    what = label(event["type"]) if event["kind"] == UNUSABLE_ID else event["type"]
    said = listed(_said(row["name"], row["value"], "event") for row in event["payload"])
    return event["at"] or "no time told", f"{kind}{what}{seq}", said


_PARTS: tuple[tuple[str, str, str, Callable[[Row], Iterator[Html]]], ...] = (
    ("request", "What came back", "not given", _request),
    ("device", "On the Ledger", "nothing on record", _device),
    ("signature", "Signature", "not given", _signature),
    ("outcome", "Outcome", "not submitted from this machine", _outcome),
)
"""Where a part stands in a step, its heading and a sentence for when there is none, and what draws it."""
