"""A step on the page of ``airlock/report@1``, as it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airlock_shared.report.page.earlier.html import element, hexes, items, pairs, table, text, told
from airlock_shared.report.rows import Row, warnings_of

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
    parts.append(pairs("What the plan says", [*_named(step["planned"]), ("signed by", text(step["signer"]))]))
    parts += _before(step)
    if not step["in_part"]:
        parts.append(element("p", text(f"Not in this part of the plan: {step['signer']} signs it. It is neither done nor "
                                       "missing here; the report of that part has it.")))  # fmt: skip
        return element("section", *parts, css="step")
    parts.append("".join(_request(step["request"])) if step["request"] else _none("What came back", "not given"))
    parts.append(_device(step["device"]) if step["device"] else _none("On the Ledger", "nothing on record"))
    parts.append(_signature(step["signature"]) if step["signature"] else _none("Signature", "not given"))
    if half == "online":
        absent = "not submitted from this machine"
        parts.append("".join(_outcome(step["outcome"])) if step["outcome"] else _none("Outcome", absent))
    return element("section", *parts, css="step")


def _named(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(row["name"], text(row["value"])) for row in rows]


def _none(heading: str, why: str) -> str:
    return element("h3", text(heading)) + element("p", text(why), css="bad")


def _before(step: Row) -> Iterator[str]:
    if step["waived"]:
        yield element("p", text("The plan waives the proof that anybody holds this delegate key."), css="bad")
    if step["proofs"]:
        yield _proofs(step["proofs"])
    for read in step["reads"]:
        names = ("source", "owner", "pending", "private", "adopted")
        rows = [(*(text(seen[name]) for name in names), told(seen["trouble"] or "none")) for seen in read["seen"]]
        heads = ("source", "owner", "pending owner", "private", "the trader's code", "trouble")
        yield table(
            f"Read at {read['at']['utc']}: what is known of the code {read['code']}", heads, rows, css="wide sources"
        )
        yield items(read["code_rows"])
        yield "".join(element("p", told(warning), css="bad") for warning in warnings_of(read))


def _proofs(proofs: Sequence[Row]) -> str:
    rows = [(text(row["at"]["utc"]), text(row["delegate"]), hexes(row["challenge"])) for row in proofs]
    return table("The delegate has its key: proofs checked offline", ("when", "delegate", "challenge, SHA-256"), rows,
                 css="wide moments")  # fmt: skip


def _request(request: Row) -> Iterator[str]:
    yield element("h3", text(f"What came back: {request['title']}"))
    where = request["goes_to"]
    if request["order_type"] is not None:
        where += f", order type {request['order_type']} ({request['order_reason']})"
    where += f", in place of trigger {request['replaces']}" if request["replaces"] else ""
    asked = "; ".join(f"{row['name']} = {row['value']}" for row in request["asked"])
    facts = [("asked of the builder", text(f"{request['endpoint']}: {asked}")), ("goes to", text(where))]
    yield pairs("Asked and under what it is signed", [*facts, *_named(request["under"])])
    for by, heading in GROUPS.items():
        rows = [_decided(row) for row in request["decided"] if row["by"] == by]
        if rows:
            yield table(heading, ("field", "value", "raw", "expected"), rows, css="wide fields")
    if request["claims"]:
        yield pairs("The builder says (not signed, decides nothing)", _named(request["claims"]))
    yield pairs("Hashes, computed from the payload", [(row["name"], hexes(row["value"])) for row in request["hashes"]])
    yield from _checks(request)


def _decided(row: Row) -> tuple[str, str, str, str]:
    notes = "".join(element("p", text(note)) for note in row["notes"])
    verdict = text(row["expected"]) + (": kept" if row["ok"] else element("span", ": NOT KEPT", css="bad"))
    return text(row["field"]), text(row["value"]) + notes, text(f"{row['raw']} ({row['unit']})"), verdict


def _checks(request: Row) -> Iterator[str]:
    checks = request["checks"]
    counted = f"{checks['passed']} checks passed, {len(checks['refused'])} refused, {checks['not_reached']} not reached"
    yield element("p", text(f"Checked as at {request['judged_at']['utc']}: {counted}."))
    if checks["refused"]:
        rows = [
            (text(r["check"]), text(f"{r['what']} {r['where']}".strip()), text(r["got"]), text(r["expected"]))
            for r in checks["refused"]
        ]
        yield table("Refused", ("check", "what", "got", "expected"), rows, css="wide bad")


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
        facts = [("result", element("span", text(row["result"]), css="bad")), ("why", text(row["why"])), ("when", when)]
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
    facts = [("state", state if good else element("span", state, css="bad"))]
    names = ("route", "method", "tracking_id", "transaction_hash", "entity_id", "code", "note")
    facts += [(name.replace("_", " "), text(outcome[name])) for name in names if outcome[name]]
    yield pairs("Outcome", facts)
    if outcome["events"]:
        yield table("Timeline, as the services and people told it, in raw units", ("when", "what", "said"),
                    map(_event, outcome["events"]), css="wide moments")  # fmt: skip
    if outcome["told"]:
        rows = [(text(row["at"]), text(row["state"] or "error"), told(row["error"])) for row in outcome["told"]]
        yield table("What this machine recorded", ("when", "state", "error"), rows)
    if outcome["read_back"]:
        rows3 = [
            (told(row["what"]), told(row["promised"]), told(row["found"]), text(KEPT[row["kept"]]))
            for row in outcome["read_back"]
        ]
        yield table("Read back", ("what", "promised", "found", "kept"), rows3)


def _event(event: Row) -> tuple[str, str, str]:
    seq = "" if event["seq"] is None else f" (seq {event['seq']})"
    kind = "" if event["kind"] in ("event", "note") else f"{event['kind']}: "
    said = items(f"{row['name']}: {row['value']}" for row in event["payload"])
    return text(event["at"] or "no time told"), text(f"{kind}{event['type']}{seq}"), said
