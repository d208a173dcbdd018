"""A step of the report as HTML: planned, decoded, hashed, shown, signed, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airlock_shared.errors import AirlockError
from airlock_shared.report.evidence.timeline import UNUSABLE_ID
from airlock_shared.report.page.html import bad, element, hexes, items, listed, pairs, table, text, told
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


def step_section(step: Row, number: int, count: int, half: str) -> str:
    """Return the section of a step; ``half`` made the report."""
    heading = f"Step {number} of {count}: {step['id']}"
    parts = [element("h2", text(heading)), element("p", text(f"{step['title']} ({step['action']})"))]
    parts.append(pairs("What the plan says", [*_planned(step["planned"]), ("signed by", text(step["signer"]))]))
    parts += _before(step)
    if not step["in_part"]:
        parts.append(element("p", text(f"Not in this part of the plan: {step['signer']} signs it. It is neither done nor "
                                       "missing here; the report of that part has it.")))  # fmt: skip
        return element("section", *parts, css="step apart")
    parts.append("".join(_request(step["request"])) if step["request"] else _none("What came back", "not given"))
    parts.append(_device(step["device"]) if step["device"] else _none("On the Ledger", "nothing on record"))
    parts.append(_signature(step["signature"]) if step["signature"] else _none("Signature", "not given"))
    if half == "online":
        absent = "not submitted from this machine"
        parts.append("".join(_outcome(step["outcome"])) if step["outcome"] else _none("Outcome", absent))
    return element("section", *parts, css="step")


def _planned(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(label(row["name"]), text(row["value"])) for row in rows]


def _said(name: str, value: str, of: str = "") -> str:
    """Return a value under its label; the members of an object each under its own."""
    members = _members(value)
    if not members:
        return text(f"{label(name, of)}: {value}")
    return text(f"{label(name, of)}:") + listed(_said(key, plain(member)) for key, member in members.items())


def _members(value: str) -> Row:
    """Return the members of a value that is a JSON object; none of anything else."""
    if not value.startswith("{"):
        return {}
    try:
        found = parse_json(value.encode())
    except (AirlockError, UnicodeEncodeError):
        return {}
    return found if type(found) is dict else {}


def _none(heading: str, why: str) -> str:
    return element("div", element("h3", text(heading)), bad(text(why), "p"), css="none")


def _before(step: Row) -> Iterator[str]:
    if step["waived"]:
        yield bad(text("The plan waives the proof that anybody holds this delegate key."), "p")
    if step["proofs"]:
        yield _proofs(step["proofs"])
    for read in step["reads"]:
        yield element("p", text(f"Read at {read['at']['utc']}: what is known of the code {read['code']}"))
        for seen in read["seen"]:
            heads = {"owner": "owner", "pending": "pending owner", "private": "private", "adopted": "the trader's code"}
            facts = [(head, text(seen[name])) for name, head in heads.items()]
            yield pairs(f"What {seen['source']} says", [*facts, ("trouble", told(seen["trouble"] or "none"))])
        yield items(read["code_rows"])
        yield "".join(bad(told(warning), "p") for warning in warnings_of(read))


def _proofs(proofs: Sequence[Row]) -> str:
    return "".join(
        pairs("The delegate has its key: a proof checked offline", [
            ("when", text(row["at"]["utc"])),
            ("delegate", text(row["delegate"])),
            ("challenge, SHA-256", hexes(row["challenge"])),
        ])
        for row in proofs
    )  # fmt: skip


def _request(request: Row) -> Iterator[str]:
    yield element("h3", text(f"What came back: {request['title']}"))
    where = request["goes_to"]
    if request["order_type"] is not None:
        where += f", order type {request['order_type']} ({request['order_reason']})"
    where += f", in place of trigger {request['replaces']}" if request["replaces"] else ""
    asked = element("p", text(request["endpoint"])) + listed(
        _said(row["name"], row["value"]) for row in request["asked"]
    )
    facts = [("asked of the builder, in raw units", asked), ("goes to", text(where))]
    yield pairs(
        "Asked and under what it is signed", [*facts, *((row["name"], text(row["value"])) for row in request["under"])]
    )
    for by, heading in GROUPS.items():
        rows = [_decided(row) for row in request["decided"] if row["by"] == by]
        if rows:
            yield table(heading, ("field", "value, as it is signed, and what was expected"), rows, css="wide fields")
    if request["claims"]:
        said = [(label(row["name"]), _claimed(row["value"])) for row in request["claims"]]
        yield pairs("The builder says (not signed, decides nothing)", said)
    yield pairs("Hashes, computed from the payload", [(row["name"], hexes(row["value"])) for row in request["hashes"]])
    yield from _checks(request)


def _claimed(value: str) -> str:
    members = _members(value)
    return listed(_said(key, plain(member)) for key, member in members.items()) if members else text(value)


def _decided(row: Row) -> tuple[str, str]:
    """Return a field under its label and the name that the Ledger shows; its value, the raw value, and the verdict."""
    name = text(label(row["field"])) + element("p", text(row["field"]), css="raw")
    notes = "".join(element("p", text(note)) for note in row["notes"])
    verdict = text(f"expected: {row['expected']}") + (": kept" if row["ok"] else bad(": NOT KEPT"))
    raw = element("p", text(f"signed as {row['raw']} ({row['unit']})"), css="raw")
    return name, element("strong", text(row["value"])) + notes + raw + element("p", verdict)


def _checks(request: Row) -> Iterator[str]:
    checks = request["checks"]
    counted = f"{checks['passed']} checks passed, {len(checks['refused'])} refused, {checks['not_reached']} not reached"
    yield element("p", text(f"Checked as at {request['judged_at']['utc']}: {counted}."))
    if checks["refused"]:
        for each in checks["refused"]:
            facts = [("what", text(f"{each['what']} {each['where']}".strip()))]
            facts += [("got", text(each["got"])), ("expected", text(each["expected"]))]
            yield pairs(f"Refused: {each['check']}", facts, css="facts bad")


def _device(device: Row) -> str:
    facts = [("signed", text(device["shown"])), ("app version", text(device["app"]))]
    head = element("h3", text("On the Ledger")) + pairs("How it was signed", facts)
    if not device["pages"]:
        return head + element("p", text("Its pages are in the report of the offline machine."))
    lines = [" | ".join(line.strip() for line in page) for page in device["pages"]]
    shown = element("ol", *(element("li", text(line)) for line in lines), css="pages")
    caption = f"The {len(lines)} pages that the model {device['model']} shows for this, up to the one that signs:"
    return head + element("p", text(caption)) + shown


def _signature(row: Row) -> str:
    when = text(row["at"]["utc"]) if row["at"] else text("not on record here")
    head = element("h3", text("Signature"))
    if row["result"] != "signed":
        facts = [("result", bad(text(row["result"]))), ("why", text(row["why"])), ("when", when)]
        return head + pairs("Not signed", facts)
    shown = hexes(row["bytes"]) if row["bytes"] else text("withheld: it was not submitted and ended, so it is a secret")
    facts = [
        ("recovered signer", text(row["signer"])),
        ("over the digest", hexes(row["digest"])),
        ("when", when),
        ("signature", shown),
        ("its SHA-256", hexes(row["sha256"])),
    ]
    return head + pairs("Signed, and recovered over the digest above", facts)


def _outcome(outcome: Row) -> Iterator[str]:
    yield element("h3", text("Outcome"))
    good = outcome["done"] and all(promise["kept"] is not False for promise in outcome["read_back"])
    state = text(f"{outcome['state']}: {outcome['meaning']}")
    facts = [("state", state if good else bad(state))]
    names = ("route", "method", "tracking_id", "transaction_hash", "entity_id", "code", "note")
    facts += [(label(name, "event"), text(outcome[name])) for name in names if outcome[name]]
    yield pairs("Outcome", facts)
    if outcome["events"]:
        yield table("Timeline, as the services and people told it, in raw units", ("when", "what", "said"),
                    map(_event, outcome["events"]), css="wide moments")  # fmt: skip
    if outcome["told"]:
        rows = [(text(row["at"]), text(row["state"] or "error"), told(row["error"])) for row in outcome["told"]]
        yield table("What this machine recorded", ("when", "state", "error"), rows, css="wide moments")
    for promise in outcome["read_back"]:
        facts = [("promised", told(promise["promised"])), ("found", told(promise["found"]))]
        facts += [("kept", text(KEPT[promise["kept"]])), ("read and recorded", text(outcome["read_back_at"]["utc"]))]
        yield pairs(f"Read back: {promise['what']}", facts)


def _event(event: Row) -> tuple[str, str, str]:
    seq = "" if event["seq"] is None else f" (seq {event['seq']})"
    kind = "" if event["kind"] in ("event", "note") else f"{label(event['kind'])}: "
    what = label(event["type"]) if event["kind"] == UNUSABLE_ID else event["type"]
    said = listed(_said(row["name"], row["value"], "event") for row in event["payload"])
    return text(event["at"] or "no time told"), text(f"{kind}{what}{seq}"), said
