"""The people of a ceremony: on the first page who compared what with what, in the evidence when, and what stood there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airlock_shared.ceremony.checkpoints import STATIONS
from airlock_shared.ceremony.sections import BY_PAPER, BY_WORDS, HOW
from airlock_shared.report.page.html import Html, bad, element, hexes, joined, listed, table
from airlock_shared.report.rows import Row

_WITHOUT_ROLES = ("signer",)
_TICKED = {BY_PAPER: "own paper", BY_WORDS: "other screen", "": "Yes"}
"""With what it was compared, by the record of the answer; a ``Yes`` is to the sentence of the station."""

_YES_TO = {
    "preflight": "preflight page",
    "address": "address, with the Ledger",
    "review": "review, with plan and Ledger",
    "outcome": "outcome, as it was read back",
    "seal": "seal, with Ledger and paper",
}
_READ = "I have read this page: date, signature"


def comparisons(report: Row) -> Iterator[Html]:
    """Yield the table of the first page: for each comparison a tick of each role, and where each role signs by hand."""
    ceremony, people = report["ceremony"], report["people"]
    roles: Sequence[str] = ceremony["roles"] or _WITHOUT_ROLES
    names = _names_of(people)
    yield element("h2", "Who compared what, with what, on which machine")
    if not ceremony["roles"]:
        yield element("p", "The plan names no roles.")
    rows = [
        (_YES_TO.get(name, name), *(_ticks(name, role, people) for role in roles))
        for name in STATIONS
        if ceremony["roles"]
    ]
    heads = ["what was compared", *(f"{role}: {names.get(role) or 'nobody'}" for role in roles)]
    said = "A name is what people said at a machine. It does not prove who was there."
    yield table(
        f"Witness: {ceremony['witness']}. {said}", heads, [*rows, (_READ, *([""] * len(roles)))], css="wide people"
    )


def _ticks(name: str, role: str, people: Sequence[Row]) -> Html:
    """Return the answers of a role at a station, each once: with what it was compared, or that it was not, and where."""
    found: dict[Html, list[str]] = {}
    for row in people:
        for station in row["stations"]:
            if station["station"] == name and role in station["by"]:
                found.setdefault(_tick(station), []).append(row["machine"])
    return joined(*(element("p", said, f", {', '.join(dict.fromkeys(machines))}") for said, machines in found.items()))


def _tick(station: Row) -> Html:
    how = station.get("how", "")  # of the other machine's transcript it is any text
    said = (HOW | _TICKED).get(how, f'answered by "{how}"')
    if not station["holds"]:
        return bad(f"does not count, its record changed: {said}")
    return joined(f"\N{CHECK MARK} {said}") if how in _TICKED else bad(said)


def _names_of(people: Sequence[Row]) -> dict[str, str]:
    """Return the name of each role; where the machines have different names, both."""
    found: dict[str, list[str]] = {}
    for row in people:
        for each in row["names"]:
            if each["value"] and each["value"] not in found.setdefault(each["name"], []):
                found[each["name"]].append(each["value"])
    return {role: " / ".join(names) for role, names in found.items()}


def confirmations(people: Sequence[Row]) -> Iterator[Html]:
    """Yield the evidence: over what each station was confirmed, and when by whom at which machine."""
    yield element("h2", "What they agreed to, and when")
    said: dict[tuple[str, str, bool], list[str]] = {}
    for row in people:
        begun, ended = (row[name]["utc"] if row[name] else "never" for name in ("begun", "ended"))
        yield element("p", f"On the {row['machine']} machine the ceremony began: {begun}; ended: {ended}.")
        for each in row["stations"]:
            key = each["station"], each["compared"], each["holds"]
            said.setdefault(key, []).append(f"{each['at']['utc']} {row['machine']}: {', '.join(each['by'])}")
    rows = [
        (joined(element("strong", f"{station}: "), STATIONS[station].compares, listed(lines, css="dense")),
         _compared(compared, holds=holds))
        for (station, compared, holds), lines in said.items()
    ]  # fmt: skip
    if rows:
        yield table(
            "Confirmed on record",
            ("station, and when it was confirmed by whom", "what stood there"),
            rows,
            css="wide when",
        )


def _compared(value: str, *, holds: bool) -> Html:
    is_hex = len(value) == 64 and all(digit in "0123456789abcdef" for digit in value)
    return joined(hexes(value) if is_hex else value, "" if holds else bad("its record changed since", "p"))
