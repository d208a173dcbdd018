"""The first page is the report: how far it came, what was asked and signed, who compared it with what, and one seal.

People sign this page: it has every value that decides, and the fingerprint of this very report. Everything after it is the
evidence for it, and says none of it again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from airlock_shared.ceremony.roles import CHECKPOINTS, HOW, NO_KIT
from airlock_shared.ceremony.sections import BY_PAPER, BY_WORDS
from airlock_shared.report.page.html import (
    Fact,
    Html,
    bad,
    element,
    hexes,
    joined,
    listed,
    pair_table,
    sentence,
    table,
    words,
)
from airlock_shared.report.page.labels import label, leaf_label
from airlock_shared.report.rows import Row, headline, machine_name, report_text
from airlock_shared.text.safe import spoken
from airlock_shared.units import utc_text
from airlock_shared.wire.strict_json import HEX_32

# ---- people ---------------------------------------------------------------------------------------------------------
# The people of a ceremony: on the first page who compared what with what, in the evidence when, and what stood there.


_TICKED = {BY_PAPER: "own paper", BY_WORDS: "other screen", "": "Yes"}
"""With what it was compared, by the record of the answer; a ``Yes`` is to the sentence of the checkpoint."""

_YES_TO = {
    "preflight": "preflight page",
    "address": "address, with the Ledger",
    "review": "review, with plan and Ledger",
    "outcome": "outcome, as it was read back",
    "seal": "seal, with the Ledger",
}
_READ = "date, signature"


def comparisons(report: Row) -> Iterator[Html]:
    """Yield the table of the first page: for each comparison a tick of each role."""
    ceremony, roles = report["ceremony"], _roles(report)
    yield element("h2", "Who compared what, with what, on which machine")
    if not ceremony["roles"]:
        yield element("p", "The plan names no roles.")
    rows = [
        (_YES_TO.get(name, name), *(_ticks(name, role, report["people"]) for role in roles))
        for name in CHECKPOINTS
        if ceremony["roles"]
    ]
    said = "A name is what people said at a machine. It does not prove who was there."
    yield table(f"Witness: {ceremony['witness']}. {said}", ["what was compared", *roles], rows, css="wide people")


def signed_by_hand(report: Row) -> Html:
    """Return where each role signs by hand, beside the fingerprint: above all that may need a second sheet."""
    named = [each for row in report["people"] for each in row["names"] if each["value"]]
    lines = []
    for role in _roles(report):
        names = dict.fromkeys(each["value"] for each in named if each["name"] == role)
        lines.append(f"{role}: {' / '.join(names) or 'nobody'}")
    return element("div", *(element("span", line) for line in lines), css="by-hand")


def heads_by_hand(report: Row) -> Html:
    """Return a line for each machine's transcript head, which people bring on paper: no machine fills it in."""
    rows = [(f"{machine_name(row['machine'])} machine", row.get("entries")) for row in report["transcripts"]]
    lines = [f"{name}, after {count} entries:" if count else f"{name}:" for name, count in rows]
    return element("div", *(element("span", line) for line in lines), css="by-hand ruled")


def _roles(report: Row) -> Sequence[str]:
    return report["ceremony"]["roles"] or ("signer",)


def _ticks(name: str, role: str, people: Sequence[Row]) -> Html:
    """Return the answers of a role at a checkpoint, each once: with what it was compared, or that it was not, and where."""
    found: dict[Html, list[str]] = {}
    answers = [
        (each, machine_name(row["machine"]))
        for row in people
        for each in row["checkpoints"]
        if each["checkpoint"] == name and role in each["by"]
    ]
    again = {machine for each, machine in answers if each["holds"]}
    for checkpoint, machine in answers:
        found.setdefault(_tick(checkpoint, again=machine in again), []).append(machine)
    return joined(*(element("p", said, f", {', '.join(dict.fromkeys(machines))}") for said, machines in found.items()))


def _tick(checkpoint: Row, *, again: bool) -> Html:
    how = checkpoint.get("how", "")  # of the other machine's transcript it is any text
    said = (HOW | _TICKED).get(how, f'answered by "{how}"')
    if not checkpoint["holds"] and again:
        return joined(f"before it was made again: {said}")
    if not checkpoint["holds"]:
        return bad(f"does not count, something else was confirmed: {said}")
    if checkpoint.get("no_kit"):
        return joined(NO_KIT, said)
    return joined(f"\N{CHECK MARK} {said}") if how in _TICKED else bad(said)


def confirmations(people: Sequence[Row]) -> Iterator[Html]:
    """Yield the evidence: over what each checkpoint was confirmed, and when by whom at which machine."""
    yield element("h2", "What they agreed to, and when")
    said: dict[tuple[str, str, bool], list[str]] = {}
    for row in people:
        begun, ended = (row[name]["utc"] if row[name] else "never" for name in ("begun", "ended"))
        yield element(
            "p", f"On the {machine_name(row['machine'])} machine the ceremony began: {begun}; ended: {ended}."
        )
        for each in row["checkpoints"]:
            key = each["checkpoint"], each["compared"], each["holds"]
            said.setdefault(key, []).append(
                f"{each['at']['utc']} {machine_name(row['machine'])}: {', '.join(each['by'])}"
            )
    rows = [
        (
            joined(
                element("strong", f"{checkpoint}: "),
                CHECKPOINTS[checkpoint].compares,
                *(element("p", line) for line in lines),
            ),
            _compared(compared, holds=holds),
        )
        for (checkpoint, compared, holds), lines in said.items()
    ]
    if rows:
        yield table(
            "Confirmed on record",
            ("checkpoint, and when it was confirmed by whom", "what stood there"),
            rows,
            css="wide when",
        )


def _compared(value: str, *, holds: bool) -> Html:
    shown = hexes(value) if HEX_32.fullmatch(value) else value
    return joined(shown, "" if holds else bad("does not count, this is something else", "p"))


# ---- front ----------------------------------------------------------------------------------------------------------


_KEPT = {True: "as promised", False: "NOT what was promised", None: "not known"}
_UNKNOWN = "not known: what came back cannot be read"
_ACCOUNTS = ("trader", "referee", "referrer", "caller")
_TIMES_MS = {"expiry": 1000, "openTimestamp": 1000, "deadlineMs": 1}
_DIGITS_AT_MOST = 15
_LONGEST = 300
_BY_CHAIN = ", by the chain"  # how the online half names what a node told it: readback/referral_codes.py
_HASH = re.compile(r"0x[0-9a-f]{64}", re.ASCII)


def front(report: Row) -> Iterator[Html]:
    """Yield the parts of the first page."""
    ceremony, half, steps = report["ceremony"], report["made_by"], report["steps"]
    yield element("h1", f"{ceremony['title']} ({ceremony['id']})")
    yield from _banners(report)
    yield _time_line(report)
    stands_on = [
        ("this report", _mark_of(report)),
        ("sealed by", _seal(report["transcripts"])),
        ("heads, from your papers", heads_by_hand(report)),
        (_READ, signed_by_hand(report)),
    ]
    yield pair_table("What this page stands on", stands_on, css="facts seal")
    yield element("h2", "What was asked, and what became of it")
    for number, step in enumerate(steps, start=1):
        if step["in_part"]:
            facts = [*_step_facts(step, report), *_ended(step, half)]
            yield pair_table(f"{number} of {len(steps)}: {step['title']} ({step['id']})", facts)
    yield element("p", _alive(report["alive"]))
    yield from comparisons(report)


def _banners(report: Row) -> Iterator[Html]:
    part, first = report["part"], headline(report)
    if report["rehearsal"]:
        yield _mark("mark rehearsal", "REHEARSAL", "Nothing here is worth anything.")
    if report["complete"]:
        where = " in this part of the plan" if part else ""
        yield _mark("mark done", first, f"Nothing that this report looks for is missing{where}.")
    else:
        rest = [sentence for sentence in report["missing"] if sentence != first]
        yield _mark("mark", first, listed(rest) if rest else "Nothing else that this report looks for is missing.")
    if part:
        apart = ", ".join(part["not_in_it"]) or "none"
        told_apart = f"Steps of the plan that are not in it, and neither done nor missing here: {apart}."
        yield _mark("note", f"This is {part['what']}", element("p", told_apart))
    if report["notes"]:
        yield _mark("note", "Look at this", listed(report["notes"]))


def _mark(css: str, first: str, rest: object) -> Html:
    return element("div", element("strong", first), " ", rest, css=css)


# ---- how far it came ------------------------------------------------------------------------------------------------


def _time_line(report: Row) -> Html:
    """Return when it was prepared, signed, sent, confirmed and sealed: each by the record of the machine that did it.

    What has a time stands in the order of the times, and what has none after it. Of several steps their number is told.
    """
    steps = [step for step in report["steps"] if step["in_part"]]
    signed = [
        step["signature"]["at"] for step in steps if step["signature"] and step["signature"]["result"] == "signed"
    ]
    outcomes = [step["outcome"] for step in steps if step["outcome"]]
    seals = [row["seals"][-1]["at"] for row in report["transcripts"] if row["given"] and row["seals"]]
    stages = [
        ("prepared", [report["prepared_at"]] if report["prepared_at"] else [], 1),
        ("signed", signed, len(steps)),
        ("sent", [each["sent_at"] for each in outcomes if each["sent_at"]], len(steps)),
        ("confirmed", [each["known_at"] for each in outcomes if each["done"]], len(steps)),
        ("sealed", seals, 1),
    ]
    stages.sort(key=lambda stage: max((at["ms"] for at in stage[1] if at), default=float("inf")))
    return element("ol", *(_stage(*stage) for stage in stages), css="line")


def _stage(name: str, found: Sequence[Row | None], of: int) -> Html:
    times = sorted({at["utc"] for at in found if at})
    shown = " to ".join(dict.fromkeys((*times[:1], *times[-1:]))) or (
        "at a time that is not on record here" if found else ""
    )
    count = "" if of == 1 or not found else f"{len(found)} of {of}: "
    said = element("span", f"{count}{shown}") if len(found) >= of else bad(f"{count}{shown}" or "not on record here")
    return element("li", element("strong", name), " ", said, css="" if found else "open")


# ---- a step ---------------------------------------------------------------------------------------------------------


def _step_facts(step: Row, report: Row) -> list[Fact]:
    """Return what was asked, as it is signed, for which account, until when and by whom."""
    signer = next(signer for signer in report["plan"]["signers"] if signer["name"] == step["signer"])
    of = f", as delegate of {signer['delegate_of']}" if signer["delegate_of"] == _account(step) else ""
    return [
        ("asked", _asked(step["planned"], step["request"])),
        ("for the account", _account(step)),
        ("may be used", _until(step["request"])),
        ("signed by", joined(f"{signer['name']}, {signer['address']}{of}: ", _signed(step["signature"]))),
    ]


def _readable(row: Row) -> str:
    """Return a value of the plan; a time that it has as a number, as a date."""
    unit_ms, value = _TIMES_MS.get(row["name"], 0), str(row["value"])
    is_number = value.isascii() and value.isdigit() and len(value) <= _DIGITS_AT_MOST
    return f"{utc_text(int(value) * unit_ms)} ({value})" if unit_ms and is_number else value


def _asked(planned: Sequence[Row], request: Row | None) -> object:
    """Return what the plan and the builder decided, as it is signed, without nonces and fixed zeros.

    What the plan says is beside it where it has other words; what has another name there, or did not come back, as the plan
    has it.
    """
    rows: list[Row] = []
    if request:
        apart = request["account"], request["until"] and request["until"]["utc"]
        decided = (row for row in request["decided"] if row["by"] != "fixed" and row["unit"] != "nonce")
        rows = [row for row in decided if row["value"] not in apart or not row["ok"]]
    same = {(label(row["kind"]), row[word]) for row in rows for word in ("value", "expected")}
    named = [(label(row["name"]), row) for row in planned if row["name"] not in _ACCOUNTS]
    other = [f"{name}: {_readable(row)}" for name, row in named if (name, row["value"]) not in same]
    lines = [*other, *map(_value, rows)]
    return listed(lines, css="dense") if lines else "nothing beside its name"


def _value(row: Row) -> str:
    long = len(row["value"]) > _LONGEST
    value = f"{len(row['value'])} characters, which are in the evidence" if long else row["value"]
    plan = f" (plan: {row['expected']})" if row["by"] == "plan" and row["expected"] != row["value"] else ""
    return f"{leaf_label(row)}: {value}{plan}" + ("" if row["ok"] else " NOT KEPT")


def _account(step: Row) -> str:
    """Return the account of what came back; without that, the one that the plan names."""
    if step["request"]:
        return step["request"]["account"] or _UNKNOWN
    return next((row["value"] for row in step["planned"] if row["name"] in _ACCOUNTS), "not known: nothing came back")


def _until(request: Row | None) -> str:
    if request is None:
        return "not known: nothing came back"
    if not request["account"]:
        return _UNKNOWN
    return f"until {request['until']['utc']}" if request["until"] else "at any time: it has no deadline"


def _signed(signature: Row | None) -> object:
    if signature is None:
        return bad("no signature was given")
    at = f" at {signature['at']['utc']}" if signature["at"] else ", when is not on record here"
    if signature["result"] != "signed":
        return bad(f"{signature['result']}{at}{': ' if signature['why'] else ''}{signature['why']}")
    return f"signed{at}"


def _ended(step: Row, half: str) -> Iterator[Fact]:
    """Yield what became of a step, what was read of it afterwards and when, and its transaction.

    Where the chain was not read, it says that the builder alone was asked.
    """
    outcome = step["outcome"]
    if half == "offline":
        yield "outcome", "not known here: the online machine's report has it"
        yield "the chain says", "not read: the air-gapped machine reads no chain"
    elif outcome is None:
        yield "outcome", bad("not submitted from this machine")
        yield "the chain says", "not read"
    else:
        state = f"{outcome['state']}: {outcome['meaning']}"
        yield "outcome", state if outcome["done"] else bad(state)
        of_chain = [each for each in outcome["read_back"] if is_of_chain(each)]
        of_builder = [each for each in outcome["read_back"] if not is_of_chain(each)]
        alone = of_builder and not of_chain
        yield "the chain says", "not read: the builder alone was asked" if alone else _read(of_chain, outcome)
        if of_builder:
            yield "the builder says", _read(of_builder, outcome)
        yield "transaction", outcome_transaction(outcome) or "none is known"


def is_of_chain(promise: Row) -> bool:
    """Tell whether the operator's own node read it; anything else is the builder's word."""
    return str(promise["what"]).endswith(_BY_CHAIN)


def _read(promises: Sequence[Row], outcome: Row) -> object:
    at = outcome["read_back_at"]
    if not promises:
        return "not read"
    said = f"Read and put on record at {at['utc']}; no later reading is on record."
    found: dict[str, Html] = {}
    for promise in promises:
        before = f"{found[what]}; " if (what := promise["what"]) in found else sentence(f"{what}: ")
        found[what] = joined(Html(before), _promise(promise))
    return joined(listed(found.values()), element("p", said))


def _promise(promise: Row) -> Html:
    kept = f" ({_KEPT[promise['kept']]})"
    promised = "" if promise["promised"] == promise["found"] else f"; promised: {promise['promised']}"
    return joined(sentence(f"{promise['found']}{promised}"), kept if promise["kept"] else bad(kept))


def outcome_transaction(outcome: Row) -> str:
    """Return the transaction's hash: of the journal, or the last that a service told; empty when there is none."""
    if outcome["transaction_hash"]:
        return str(outcome["transaction_hash"])
    said = [row["value"] for event in outcome["events"] for row in event["payload"] if row["name"] == "transactionHash"]
    hashes = [value for value in said if _HASH.fullmatch(value)]
    return f"{hashes[-1]}, as the service told it" if hashes else ""


def _alive(alive: Row) -> str:
    count = len(alive["signatures"])
    if not count:
        return "No signature that is known could still execute."
    return f"Signatures that could still execute, of this or another ceremony: {count}. The evidence lists each."


# ---- what this page stands on ---------------------------------------------------------------------------------------


def _mark_of(report: Row) -> Html:
    """Return the report's fingerprint: of ``report.json`` as it is written, which covers every artefact."""
    mark = hashlib.sha256(report_text(report)).hexdigest()
    by = f"SHA-256 of report.json, of the {report['made_by']} machine, by Airlock {report['airlock']}"
    return joined(_side_by_side(mark, by), words(spoken(mark)))


def _seal(transcripts: Sequence[Row]) -> Html:
    """Return the last seal of the plan's ceremony over the air-gapped machine's transcript, and no other."""
    offline = next(row for row in transcripts if row["machine"] == "offline")
    if not offline["given"]:
        return bad("not known: the air-gapped machine's transcript was not given")
    if not offline["seals"]:
        return bad("nobody")
    seal = offline["seals"][-1]
    return _side_by_side(
        seal["head"],
        f"{seal['by']}, {seal['signer']}: {seal['entries']} entries, air-gapped; it holds",
    )


def _side_by_side(digits: str, said: str) -> Html:
    return element("div", hexes(digits), element("p", said), css="side-by-side")
