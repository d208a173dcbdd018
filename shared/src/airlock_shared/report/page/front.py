"""The first page is the report: what was asked, for which account, until when, what became of it, who confirmed, one seal.

Everything after it is the evidence for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from airlock_shared.ceremony.sections import HOW
from airlock_shared.report.page.html import Html, bad, element, hexes, joined, listed, pairs, told
from airlock_shared.report.page.labels import label
from airlock_shared.report.rows import Row, headline
from airlock_shared.units import utc_text

OF_HALF = {"online": "the online machine", "offline": "the offline machine"}
KEPT = {True: "as promised", False: "NOT what was promised", None: "not known"}
UNKNOWN = "not known: what came back cannot be read"
_ACCOUNTS = ("trader", "referee", "referrer", "caller")
_TIMES_MS = {"expiry": 1000, "openTimestamp": 1000, "deadlineMs": 1}
_DIGITS_AT_MOST = 15
_BY_CHAIN = ", by the chain"  # how the online half names what a node told it: readback/referral_codes.py
_HASH = re.compile(r"0x[0-9a-f]{64}", re.ASCII)

Fact = tuple[str, object]
"""A label and what stands beside it."""


def front(report: Row) -> Iterator[Html]:
    """Yield the parts of the first page."""
    ceremony, half, steps = report["ceremony"], report["made_by"], report["steps"]
    yield element("p", f"Airlock {report['airlock']}: report of {OF_HALF[half]}")
    yield element("h1", f"{ceremony['title']} ({ceremony['id']})")
    yield from _marks(report)
    yield element("h2", "What was asked, and what became of it")
    for number, step in enumerate(steps, start=1):
        if step["in_part"]:
            facts = [*step_facts(step, report), *_ended(step, half)]
            yield pairs(f"{number} of {len(steps)}: {step['title']} ({step['id']})", facts)
    yield element("p", _alive(report["alive"]))
    yield from _confirmed(report)
    yield pairs("Seal of the offline machine's transcript", _seal(report["transcripts"]), css="facts seal")


def _marks(report: Row) -> Iterator[Html]:
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
        yield _mark("look", f"This is {part['what']}", element("p", told_apart))
    if report["look"]:
        yield _mark("look", "Look at this", listed(report["look"]))


def _mark(css: str, first: str, rest: object) -> Html:
    return element("div", element("strong", first), rest, css=css)


def step_facts(step: Row, report: Row) -> list[Fact]:
    """Return what was asked, for which account, until when and by whom it is signed."""
    asked = [f"{label(row['name'])}: {_readable(row)}" for row in step["planned"] if row["name"] not in _ACCOUNTS]
    signer = next(signer for signer in report["plan"]["signers"] if signer["name"] == step["signer"])
    of = f", as delegate of {signer['delegate_of']}" if signer["delegate_of"] else ""
    return [
        ("asked", listed(asked) if asked else "nothing beside its name"),
        ("for the account", _account(step)),
        ("may be used", _until(step["request"])),
        ("signed by", joined(f"{signer['name']}, {signer['address']}{of}", element("p", _signed(step["signature"])))),
    ]


def _readable(row: Row) -> str:
    """Return a value of the plan; a time that it has as a number, as a date."""
    unit_ms, value = _TIMES_MS.get(row["name"], 0), str(row["value"])
    is_number = value.isascii() and value.isdigit() and len(value) <= _DIGITS_AT_MOST
    return f"{utc_text(int(value) * unit_ms)} ({value})" if unit_ms and is_number else value


def _account(step: Row) -> str:
    """Return the account of what came back; without that, the one that the plan names."""
    if step["request"]:
        return step["request"]["account"] or UNKNOWN
    return next((row["value"] for row in step["planned"] if row["name"] in _ACCOUNTS), "not known: nothing came back")


def _until(request: Row | None) -> str:
    if request is None:
        return "not known: nothing came back"
    if not request["account"]:
        return UNKNOWN
    return f"until {request['until']['utc']}" if request["until"] else "at any time: it has no deadline"


def _signed(signature: Row | None) -> object:
    if signature is None:
        return bad("no signature was given")
    at = f" at {signature['at']['utc']}" if signature["at"] else ", when is not on record here"
    if signature["result"] != "signed":
        return bad(f"{signature['result']}{at}{': ' if signature['why'] else ''}{signature['why']}")
    return f"signed{at}"


def state_of(outcome: Row, *, good: bool) -> object:
    """Return how a submission stands; what is not ``good`` needs attention."""
    state = f"{outcome['state']}: {outcome['meaning']}"
    return state if good else bad(state)


def _ended(step: Row, half: str) -> Iterator[Fact]:
    """Yield what became of a step, what was read of it afterwards and when, and its transaction.

    Where the chain was not read, it says that the builder alone was asked.
    """
    outcome = step["outcome"]
    if half == "offline":
        yield "outcome", "not known here: the online machine's report has it"
        yield "the chain says", "not read: the offline machine reads no chain"
    elif outcome is None:
        yield "outcome", bad("not submitted from this machine")
        yield "the chain says", "not read"
    else:
        yield "outcome", state_of(outcome, good=outcome["done"])
        of_chain = [each for each in outcome["read_back"] if is_of_chain(each)]
        of_builder = [each for each in outcome["read_back"] if not is_of_chain(each)]
        alone = of_builder and not of_chain
        yield "the chain says", "not read: the builder alone was asked" if alone else _read(of_chain, outcome)
        if of_builder:
            yield "the builder says", _read(of_builder, outcome)
        yield "transaction", transaction_of(outcome) or "none is known"


def is_of_chain(promise: Row) -> bool:
    """Tell whether the operator's own node read it; anything else is the builder's word."""
    return str(promise["what"]).endswith(_BY_CHAIN)


def _read(promises: Sequence[Row], outcome: Row) -> object:
    at = outcome["read_back_at"]
    if not promises or at is None:
        return "not read"
    said = f"Read and put on record at {at['utc']}; no later reading is on record."
    return joined(listed(map(_promise, promises)), element("p", said))


def _promise(promise: Row) -> Html:
    kept = f" ({KEPT[promise['kept']]})"
    return joined(told(f"{promise['what']}: {promise['found']}"), kept if promise["kept"] else bad(kept))


def transaction_of(outcome: Row) -> str:
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


def _confirmed(report: Row) -> Iterator[Html]:
    yield element("h2", "Who confirmed")
    said = "A name is what people said at a machine. It does not prove who was there."
    yield element("p", f"Witness: {report['ceremony']['witness']}. {said}")
    roles = report["ceremony"]["roles"]
    if not roles:
        yield element("p", "The plan names no roles.")
        return
    people, names = report["people"], names_of(report["people"])
    rows = [(role, joined(f"{names.get(role) or 'nobody'}: ", _stations(role, people))) for role in roles]
    yield pairs("Roles, names, and what each confirmed", rows)


def _stations(role: str, people: Sequence[Row]) -> object:
    lines = []
    for row in people:
        confirmed = {
            s["station"]: " ".join((s["station"], *(f"({how})" for how in how_of(s))))
            for s in row["stations"]
            if s["holds"] and role in s["by"]
        }
        if confirmed:
            lines.append(f"on {OF_HALF[row['machine']]} {', '.join(confirmed.values())}")
    return "; ".join(lines) or bad("confirmed nothing")


def how_of(station: Row) -> list[str]:
    """Return how a confirmation was made, in words; nothing where it was a ``Yes``."""
    return [HOW[station["how"]]] if station.get("how") in HOW else []


def names_of(people: Sequence[Row]) -> dict[str, str]:
    """Return the name of each role; where the machines have different names, both."""
    found: dict[str, list[str]] = {}
    for row in people:
        for each in row["names"]:
            if each["value"] and each["value"] not in found.setdefault(each["name"], []):
                found[each["name"]].append(each["value"])
    return {role: " / ".join(names) for role, names in found.items()}


def _seal(transcripts: Sequence[Row]) -> list[Fact]:
    """Return the last seal of the plan's ceremony, and no other."""
    offline = next(row for row in transcripts if row["machine"] == "offline")
    if not offline["given"]:
        return [("sealed", bad("not known: the offline machine's transcript was not given"))]
    if not offline["seals"]:
        return [("sealed", bad("by nobody"))]
    seal = offline["seals"][-1]
    by = f"by {seal['signer']}, {seal['by']}, at {seal['at']['utc']}; it holds"
    return [("sealed", by), (f"{seal['entries']} entries, head", hexes(seal["head"]))]
