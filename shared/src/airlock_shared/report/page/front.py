"""The first page is the report: what was asked, for which account, until when, what became of it, who confirmed, one seal.

Everything after it is the evidence for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from airlock_shared.ceremony.sections import HOW
from airlock_shared.report.page.html import bad, element, hexes, items, listed, pairs, text, told
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


def front(report: Row) -> Iterator[str]:
    """Yield the parts of the first page."""
    ceremony, half, steps = report["ceremony"], report["made_by"], report["steps"]
    yield element("p", text(f"Airlock {report['airlock']}: report of {OF_HALF[half]}"))
    yield element("h1", text(f"{ceremony['title']} ({ceremony['id']})"))
    yield from _marks(report)
    yield element("h2", text("What was asked, and what became of it"))
    signers = {signer["name"]: signer for signer in report["plan"]["signers"]}
    for number, step in enumerate(steps, start=1):
        if step["in_part"]:
            facts = [*step_facts(step, signers), *_ended(step, half)]
            yield pairs(f"{number} of {len(steps)}: {step['title']} ({step['id']})", facts)
    yield element("p", text(_alive(report["alive"])))
    yield from _confirmed(report)
    yield pairs("Seal of the offline machine's transcript", _seal(report["transcripts"]), css="facts seal")


def _marks(report: Row) -> Iterator[str]:
    if report["rehearsal"]:
        yield element("div", "<strong>REHEARSAL</strong>", "Nothing here is worth anything.", css="mark rehearsal")
    part = report["part"]
    if report["complete"]:
        where = " in this part of the plan" if part else ""
        yield element("div", "<strong>Complete</strong>", text(f"Nothing that this report looks for is missing{where}."),
                      css="mark done")  # fmt: skip
    else:
        first = headline(report)
        missing = [sentence for sentence in report["missing"] if sentence != first]
        rest = items(missing) if missing else text("Nothing else that this report looks for is missing.")
        yield element("div", element("strong", text(first)), rest, css="mark")
    if part:
        apart = ", ".join(part["not_in_it"]) or "none"
        rest = f"Steps of the plan that are not in it, and neither done nor missing here: {apart}."
        yield element("div", element("strong", text(f"This is {part['what']}")), element("p", text(rest)), css="look")
    if report["look"]:
        yield element("div", "<strong>Look at this</strong>", items(report["look"]), css="look")


def step_facts(step: Row, signers: dict[str, Row]) -> list[tuple[str, str]]:
    """Return what was asked, for which account, until when and by whom it is signed."""
    asked = [f"{label(row['name'])}: {_readable(row)}" for row in step["planned"] if row["name"] not in _ACCOUNTS]
    return [
        ("asked", items(asked) if asked else text("nothing beside its name")),
        ("for the account", text(_account(step))),
        ("may be used", text(_until(step["request"]))),
        ("signed by", text(_signer(signers[step["signer"]])) + _signed(step["signature"])),
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


def _signer(signer: Row) -> str:
    of = f", as delegate of {signer['delegate_of']}" if signer["delegate_of"] else ""
    return f"{signer['name']}, {signer['address']}{of}"


def _signed(signature: Row | None) -> str:
    if signature is None:
        return element("p", bad(text("no signature was given")))
    at = f" at {signature['at']['utc']}" if signature["at"] else ", when is not on record here"
    if signature["result"] != "signed":
        why = f": {signature['why']}" if signature["why"] else ""
        return element("p", bad(text(f"{signature['result']}{at}{why}")))
    return element("p", text(f"signed{at}"))


def _ended(step: Row, half: str) -> Iterator[tuple[str, str]]:
    """Yield what became of a step, what was read of it afterwards and when, and its transaction.

    Where the chain was not read, it says that the builder alone was asked.
    """
    outcome = step["outcome"]
    if half == "offline":
        yield "outcome", text("not known here: the online machine's report has it")
        yield "the chain says", text("not read: the offline machine reads no chain")
    elif outcome is None:
        yield "outcome", bad(text("not submitted from this machine"))
        yield "the chain says", text("not read")
    else:
        state = text(f"{outcome['state']}: {outcome['meaning']}")
        yield "outcome", state if outcome["done"] else bad(state)
        found = {
            of_chain: [each for each in outcome["read_back"] if is_of_chain(each) is of_chain]
            for of_chain in (True, False)
        }
        if found[False] and not found[True]:
            yield "the chain says", text("not read: the builder alone was asked")
        else:
            yield "the chain says", _read(found[True], outcome["read_back_at"])
        if found[False]:
            yield "the builder says", _read(found[False], outcome["read_back_at"])
        yield "transaction", text(transaction_of(outcome) or "none is known")


def is_of_chain(promise: Row) -> bool:
    """Tell whether the operator's own node read it; anything else is the builder's word."""
    return str(promise["what"]).endswith(_BY_CHAIN)


def _read(promises: Sequence[Row], at: Row | None) -> str:
    if not promises or at is None:
        return text("not read")
    return listed(map(_promise, promises)) + element(
        "p", text(f"Read and put on record at {at['utc']}; no later reading is on record.")
    )


def _promise(promise: Row) -> str:
    shown = told(f"{promise['what']}: {promise['found']}")
    kept = text(f" ({KEPT[promise['kept']]})")
    return shown + (kept if promise["kept"] else bad(kept))


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


def _confirmed(report: Row) -> Iterator[str]:
    yield element("h2", text("Who confirmed"))
    said = "A name is what people said at a machine. It does not prove who was there."
    yield element("p", text(f"Witness: {report['ceremony']['witness']}. {said}"))
    roles = report["ceremony"]["roles"]
    if not roles:
        yield element("p", text("The plan names no roles."))
        return
    people, names = report["people"], names_of(report["people"])
    rows = [(role, text(f"{names.get(role) or 'nobody'}: ") + _stations(role, people)) for role in roles]
    yield pairs("Roles, names, and what each confirmed", rows)


def _stations(role: str, people: Sequence[Row]) -> str:
    lines = []
    for row in people:
        confirmed = {
            s["station"]: " ".join((s["station"], *(f"({how})" for how in how_of(s))))
            for s in row["stations"]
            if s["holds"] and role in s["by"]
        }
        if confirmed:
            lines.append(f"on {OF_HALF[row['machine']]} {', '.join(confirmed.values())}")
    return text("; ".join(lines)) if lines else bad(text("confirmed nothing"))


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


def _seal(transcripts: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the last seal of the plan's ceremony, and no other."""
    offline = next(row for row in transcripts if row["machine"] == "offline")
    if not offline["given"]:
        return [("sealed", bad(text("not known: the offline machine's transcript was not given")))]
    if not offline["seals"]:
        return [("sealed", bad(text("by nobody")))]
    seal = offline["seals"][-1]
    by = f"by {seal['signer']}, {seal['by']}, at {seal['at']['utc']}; it holds"
    return [("sealed", text(by)), (f"{seal['entries']} entries, head", hexes(seal["head"]))]
