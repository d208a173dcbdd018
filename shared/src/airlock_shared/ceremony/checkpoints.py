"""The stations of a ceremony: what people compare at each, who confirms it at least, and what stands on record there."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from airlock_shared.documents.transcript import Entry
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.model import Plan

Half = Literal["online", "offline"]


_FACILITATOR, _SIGNER = ("facilitator", "witness"), ("signer", "witness")  # who sits at the online, the signing machine
_BOTH: Mapping[Half, tuple[str, ...]] = {"online": _FACILITATOR, "offline": _SIGNER}


class Checkpoint(NamedTuple):
    """A place of the day at which people compare something.

    ``by`` holds the machines on which it is confirmed, each with the roles that confirm it there at least, if the plan names
    them. ``events`` holds the transcript's events that it is about, each with the member that names what was there, empty
    when the entry as a whole does; ``earlier`` tells that it may have been done before the ceremony began. ``made_on`` is
    the machine from which it comes: nobody has to answer there. ``paper`` tells that each person compares it with words on
    their own paper, from before the ceremony; of any other document that crosses, that machine's screen has the words.
    """

    name: str
    by: Mapping[Half, tuple[str, ...]]
    compares: str
    events: Mapping[str, str] = {}
    earlier: bool = False
    made_on: Half | None = None
    paper: bool = False

    def needs(self, half: Half, plan: Plan) -> tuple[str, ...]:
        """Return the roles of a plan that confirm it on a machine at least: none where it was made, else somebody."""
        if half == self.made_on or half not in self.by:
            return ()
        return tuple(role for role in self.by[half] if role in plan.roles) or plan.roles[:1]


STATIONS = {
    station.name: station
    for station in (
        Checkpoint("plan", _BOTH, "The plan's words are those on your own papers.",
                earlier=True, made_on="online", paper=True),
        Checkpoint("deployment", _BOTH, "The deployment's words are those on your own papers.",
                {"deployment-pinned": "fingerprint"}, earlier=True, made_on="online", paper=True),
        Checkpoint("preflight", {"offline": _FACILITATOR},
                "Each doubt was read; watch and kit's paper agree.",
                {"preflight": ""}, paper=True),
        Checkpoint("address", {"offline": _SIGNER}, "The Ledger's address is the plan's, digit by digit.",
                {"address": "address"}),
        Checkpoint("requests", _BOTH, "The requests have the same words on both screens.",
                {"prepared": "requests", "sign-begun": "requests"}, made_on="online"),
        Checkpoint("review", {"offline": _SIGNER},
                "Each step was read against the plan, and on the Ledger.",
                {"signatures-written": "requests"}),
        Checkpoint("signatures", _BOTH, "The signatures have the same words on both screens.",
                {"signatures-written": "signatures", "submit-begun": "signatures", "exported": "signatures"},
                made_on="offline"),
        Checkpoint("outcome", {"online": _FACILITATOR},
                "Every outcome was read, and the state read back.",
                {"submit-begun": "", "exported": "", "outcome": ""}),
        Checkpoint("seal", {"offline": _SIGNER},
                "The sealed head is the same on Ledger and screen.",
                {"sealed": "head"}),
    )
}  # fmt: skip
"""The stations in the order of the day."""


def stations_of(half: Half) -> list[Checkpoint]:
    """Return the stations that are confirmed on a machine, in the order of the day."""
    return [station for station in STATIONS.values() if half in station.by]


def last_on_record(section: Iterable[Entry], plan: Plan, station: Checkpoint) -> str | None:
    """Return the last of what a station is about, among the entries of a ceremony: what names it, or the entry's own hash.

    Where each signer has a document of its own, the last of each, with blanks between. None when nothing of it happened.
    """
    parts: dict[str, str] = {}  # requests fingerprint -> the signer whose part they are, empty for the whole plan's
    found: dict[str, str] = {"": plan.fingerprint} if station.name == "plan" else {}
    for entry in section:
        if not _is_about(entry.data, plan):
            continue
        requests = str(entry.data.get("requests"))
        if entry.event in ("prepared", "sign-begun"):
            parts[requests] = str(entry.data.get("signer", ""))
        if entry.event in station.events and _counts(entry, plan, parts):
            fact = entry.data.get(station.events[entry.event])
            part = str(entry.data["address"]) if entry.event == "address" else parts.get(requests, "")
            found[part] = fact if type(fact) is str else entry.hash
    return " ".join(found[part] for part in sorted(found)) or None


def _is_about(data: dict[str, Any], plan: Plan) -> bool:
    """Tell whether an entry is not about another ceremony, plan or deployment; many say nothing of these."""
    wanted = {"ceremony": plan.id, "plan": plan.fingerprint, "name": plan.deployment}
    return all(data.get(member, value) == value for member, value in wanted.items())


def _counts(entry: Entry, plan: Plan, parts: Container[str]) -> bool:
    """Tell whether an entry is this ceremony's where it does not say so: its signatures, and its signers' addresses."""
    if entry.event == "signatures-written":
        return str(entry.data.get("requests")) in parts
    if entry.event == "address":
        planned = [checksum_address(signer.address) for signer in plan.signers.values()]
        return entry.data.get("confirmed") is True and entry.data.get("address") in planned
    return True
