"""Roles and people of a ceremony, and the checkpoints that they confirm: read from the roles file and a transcript."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Container, Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from airlock_shared.ceremony.sections import (
    BY_PAPER,
    BY_WORDS,
    CEREMONY_BEGUN,
    CEREMONY_ENDED,
    CHECKPOINT_CONFIRMED,
    EXCEPTION,
    WORDS_WRONG,
    PlanMark,
    read_entry,
    section_of,
)
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import DocumentError, Refusal, quoted
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.plan.model import APART, Plan
from airlock_shared.text.safe import is_visible, looks_like, safe
from airlock_shared.wire.strict_json import JsonObject, parse_json, read_members, require_format, to_json

NO_PAPER = "no-paper"
NO_KIT = "no kit, so "
"""Stands before what ``NO_PAPER`` says where nobody could have compared it."""
HOW = {
    BY_PAPER: "compared with paper",
    BY_WORDS: "compared with the other screen",
    NO_PAPER: "not compared with paper",
}
"""How a confirmation was made, in words; one that says nothing of it was a ``Yes``."""

# ---- checkpoints ----------------------------------------------------------------------------------------------------
# The checkpoints of a ceremony: what people compare at each, who confirms it at least, and what stands on record there.


Half = Literal["online", "offline"]


def other_half(half: Half) -> Half:
    """Return the other one of the two halves."""
    return "offline" if half == "online" else "online"


_FACILITATOR, _SIGNER = ("facilitator", "witness"), ("signer", "witness")  # who sits at the online, the signing machine
_BOTH: Mapping[Half, tuple[str, ...]] = {"online": _FACILITATOR, "offline": _SIGNER}
ROLES = tuple(dict.fromkeys(_SIGNER + _FACILITATOR))
"""The roles that are asked at checkpoints. A plan may name others: they are held, and nothing more."""


class Checkpoint(NamedTuple):
    """A place of the day at which people compare something.

    ``by`` holds the machines on which it is confirmed, each with the roles that confirm it there at least, if the plan names
    them. ``events`` holds the transcript's events that it is about, each with the member that names what was there, empty
    when the entry as a whole does; ``earlier`` tells that it may have been done before the ceremony began. ``made_on`` is
    the machine from which it comes: nobody has to answer there. ``paper`` tells that each person compares it with words on
    their own paper, from before the ceremony; of any other document that crosses, that machine's screen has the words.
    After the event ``undone`` it is to be done again: nothing stands on record.
    """

    name: str
    by: Mapping[Half, tuple[str, ...]]
    compares: str
    events: Mapping[str, str] = {}
    earlier: bool = False
    made_on: Half | None = None
    paper: bool = False
    undone: str = ""

    def needs(self, half: Half, plan: Plan) -> tuple[str, ...]:
        """Return the roles of a plan that have to confirm it on a machine: none where it was made, else one at least.

        Of a plan that names none of its roles it is the plan's first.
        """
        if half == self.made_on or half not in self.by:
            return ()
        return tuple(role for role in self.by[half] if role in plan.roles) or plan.roles[:1]


CHECKPOINTS = {
    checkpoint.name: checkpoint
    for checkpoint in (
        Checkpoint("plan", _BOTH, "The plan's words are those on your own papers.",
                earlier=True, made_on="online", paper=True),
        Checkpoint("deployment", _BOTH, "The deployment's words are those on your own papers.",
                {"deployment-pinned": "fingerprint"}, earlier=True, made_on="online", paper=True),
        Checkpoint("preflight", {"offline": _FACILITATOR},
                "Read each doubt; compare the watch, and the kit's paper where there is a kit.",
                {"preflight": ""}, paper=True),
        Checkpoint("address", {"offline": _SIGNER}, "The Ledger's address is the plan's, digit by digit.",
                {"address": "address"}),
        Checkpoint("requests", _BOTH, "The requests have the same words on both screens.",
                {"prepared": "requests", "sign-begun": "requests"}, made_on="online"),
        Checkpoint("review", {"offline": _SIGNER},
                "Each step was read against the plan, and on the Ledger.",
                {"signatures-written": "signatures"}),
        Checkpoint("signatures", _BOTH, "The signatures have the same words on both screens.",
                {"signatures-written": "signatures", "submit-begun": "signatures", "exported": "signatures"},
                made_on="offline"),
        Checkpoint("outcome", {"online": _FACILITATOR},
                "Every outcome was read, and the state read back.",
                {"submit-begun": "", "exported": "", "outcome": ""}),
        Checkpoint("seal", {"offline": _SIGNER},
                "The sealed head is the same on Ledger and screen.",
                {"sealed": "head"}, undone="signatures-written"),
    )
}  # fmt: skip
"""The checkpoints in the order of the day."""


def checkpoints_of(half: Half) -> list[Checkpoint]:
    """Return the checkpoints that are confirmed on a machine, in the order of the day."""
    return [checkpoint for checkpoint in CHECKPOINTS.values() if half in checkpoint.by]


def last_on_record(section: Iterable[Entry], plan: Plan, checkpoint: Checkpoint) -> str | None:
    """Return the last of what a checkpoint is about, among a ceremony's entries: what names it, or the entry's own hash.

    Where each signer has a document of its own, the last of each, with blanks between. None when nothing of it happened.
    """
    parts: dict[str, str] = {}  # requests fingerprint -> the signer whose part they are, empty for the whole plan's
    found: dict[str, str] = {"": plan.fingerprint} if checkpoint.name == "plan" else {}
    for entry in section:
        if not _is_about(entry.data, plan):
            continue
        requests = str(entry.data.get("requests"))
        if entry.event in ("prepared", "sign-begun"):
            parts[requests] = str(entry.data.get("signer", ""))
        if entry.event in checkpoint.events and _counts(entry, plan, parts):
            fact = entry.data.get(checkpoint.events[entry.event])
            part = str(entry.data["address"]) if entry.event == "address" else parts.get(requests, "")
            found[part] = fact if type(fact) is str else entry.hash
        if entry.event == checkpoint.undone and _counts(entry, plan, parts):
            found.clear()
    return " ".join(found[part] for part in sorted(found)) or None


def _is_about(data: JsonObject, plan: Plan) -> bool:
    """Tell whether an entry is not about another plan or deployment; many say nothing of these."""
    wanted = {"plan": plan.fingerprint, "name": plan.deployment}
    return all(data.get(member, value) == value for member, value in wanted.items())


def _counts(entry: Entry, plan: Plan, parts: Container[str]) -> bool:
    """Tell whether an entry is this ceremony's where it does not say so: its signatures, and its signers' addresses."""
    if entry.event == "signatures-written":
        return str(entry.data.get("requests")) in parts
    if entry.event == "address":
        planned = [checksum_address(signer.address) for signer in plan.signers.values()]
        return entry.data.get("confirmed") is True and entry.data.get("address") in planned
    return True


# ---- roles ----------------------------------------------------------------------------------------------------------
# Who held which role, what people confirmed at each checkpoint of a ceremony, and what is missing: read from a
# transcript. A ceremony begins on each machine by itself, with the names of its people, and belongs to its id and to
# the fingerprint of its plan. What happened before the beginning does not count for it. A checkpoint is confirmed for
# what stood on record then: when that changes, it has to be confirmed again, but for the page on
# which a signing rested. An exception explains and does not heal.
# Pure; the commands are in :mod:`airlock_shared.cli.ceremony.commands`, the table of checkpoints is below.


MAX_NAME, MAX_REASON = 60, 500


class Confirmation(NamedTuple):
    """A checkpoint confirmed: when (unix milliseconds), by which roles, what stood on record then, whether it still does.

    ``how`` is one of :data:`HOW`, empty for a ``Yes``.
    """

    at_ms: int
    by: tuple[str, ...]
    compared: str
    holds: bool
    how: str = ""


class Deviation(NamedTuple):
    """An exception: when (unix milliseconds), at which checkpoint (empty: at none), said by which role, and why."""

    at_ms: int
    checkpoint: str
    by: str
    reason: str


class Standing(NamedTuple):
    """What one machine's transcript knows of a ceremony.

    ``names`` holds the person of each role, empty where nobody holds it; ``checkpoints`` the confirmations of each of this
    machine's checkpoints; ``is_open`` that it goes on; ``missing`` a sentence for each thing that keeps it incomplete.
    """

    names: dict[str, str]
    begun_ms: int | None
    checkpoints: dict[str, tuple[Confirmation, ...]]
    exceptions: tuple[Deviation, ...]
    ended_ms: int | None
    is_open: bool
    missing: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether it began, nothing is missing, and it ended."""
        return not self.missing

    def confirmed_by(self, checkpoint: str, compared: str) -> set[str]:
        """Return the roles that confirmed a checkpoint of this machine for what is compared there now."""
        return {role for each in self.checkpoints[checkpoint] if each.compared == compared for role in each.by}


NOT_BEGUN = "no ceremony was begun with this plan on this machine"
NOT_ENDED = "the ceremony was not ended on this machine"
SUPERSEDED = "it was begun again with another plan before it ended"
NO_ROLES = "the plan names no roles, so nobody was asked to confirm anything"


def standing(
    entries: Iterable[Entry], plan: Plan, half: Half, counted: Mapping[str, Collection[str]] = MappingProxyType({})
) -> Standing:
    """Return how the last ceremony with this id and this plan stands in a transcript whose chain holds.

    ``counted`` holds, for each checkpoint at which certain documents or addresses count, their names there: what was
    confirmed for others does not hold. At the other checkpoints what stands on record last counts.

    Raises ``DocumentError("DOC-FIELD")`` for an entry of a ceremony that has not its form.
    """
    section, is_open = section_of(entries, plan)
    checkpoints = {
        checkpoint.name: _confirmations(section, checkpoint, plan, counted.get(checkpoint.name, ()))
        for checkpoint in checkpoints_of(half)
    }
    if not section:
        return Standing({}, None, checkpoints, (), None, False, (NOT_BEGUN if plan.roles else NO_ROLES,))
    names: dict[str, str] = section[0].data["roles"]
    exceptions = tuple(
        Deviation(entry.at_ms, entry.data["checkpoint"], entry.data["by"], entry.data["reason"])
        for entry in section
        if entry.event == EXCEPTION
    )
    ended_ms = section[-1].at_ms if section[-1].event == CEREMONY_ENDED else None
    missing = [*_without_people(names, plan), *_unconfirmed(checkpoints, plan, half)]
    missing += [] if ended_ms is not None else [NOT_ENDED if is_open else SUPERSEDED]
    return Standing(names, section[0].at_ms, checkpoints, exceptions, ended_ms, is_open, tuple(missing))


def other_plan(entries: Iterable[Entry], plan: Plan) -> str:
    """Return the fingerprint of another plan with which a ceremony of this id is open, empty when none is."""
    found = ""
    for entry in entries:
        if entry.event in (CEREMONY_BEGUN, CEREMONY_ENDED) and read_entry(entry)["ceremony"] == plan.id:
            found = entry.data["plan"] if entry.event == CEREMONY_BEGUN else ""
    return "" if found == plan.fingerprint else found


# ---- checkpoints and people ---------------------------------------------------------------------------------------------


def _confirmations(
    section: list[Entry], checkpoint: Checkpoint, plan: Plan, counted: Collection[str]
) -> tuple[Confirmation, ...]:
    """Return a checkpoint's confirmations. Without a record, only what is done before the ceremony can be confirmed.

    A preflight page that stood when it was signed holds: another ceremony on this machine may make later ones.
    """
    begun = [
        place for place, entry in enumerate(section) if entry.event == "sign-begun" and checkpoint.name == "preflight"
    ]
    records = [last_on_record(section[:place], plan, checkpoint) for place in (len(section), *begun[-1:])]
    return tuple(
        Confirmation(
            entry.at_ms,
            tuple(data["by"]),
            data["compared"],
            set(counted) <= set(data["compared"].split(" "))
            if counted
            else (data["compared"] in records if records[0] else checkpoint.earlier),
            data.get("how", ""),
        )
        for entry in section
        if entry.event == CHECKPOINT_CONFIRMED and (data := entry.data)["checkpoint"] == checkpoint.name
    )


def _without_people(names: dict[str, str], plan: Plan) -> list[str]:
    lines = [f"the plan names a {role}, and nobody holds that role" for role in plan.roles if not names.get(role)]
    return lines + (["one person is both signer and witness"] if _is_one_person(names) else [])


def _unconfirmed(checkpoints: dict[str, tuple[Confirmation, ...]], plan: Plan, half: Half) -> list[str]:
    """Return a sentence for each checkpoint at which a role is missing that has to confirm it, or that changed since."""
    lines = []
    for name, confirmations in checkpoints.items():
        by = {role for each in confirmations if each.holds for role in each.by}
        if lacking := [role for role in CHECKPOINTS[name].needs(half, plan) if role not in by]:
            changed = ", because something else was confirmed" if any(not each.holds for each in confirmations) else ""
            lines.append(f"checkpoint {name} is not confirmed by {' and '.join(lacking)}{changed}")
    return lines


# ---- names and reasons ----------------------------------------------------------------------------------------------


def check_people(names: Mapping[str, str], plan: Plan) -> None:
    """Check the people of a ceremony: a name for each role, empty where nobody holds it and the plan allows that.

    Raises ``Refusal`` with ``ROLE-KNOWN``, ``ROLE-TEXT`` or ``ROLE-SAME``.
    """
    for role, name in names.items():
        check_role(role, plan)
        if name or (plan.requires_witness and role in APART):
            check_text(name, f"the name of the {role}", MAX_NAME)
    if _is_one_person(names):
        raise Refusal(
            "ROLE-SAME", "one person is both signer and witness", got=safe(names[APART[0]]), expected="two people"
        )


def check_role(role: str, plan: Plan) -> None:
    """Raise ``Refusal("ROLE-KNOWN")`` unless the plan names this role."""
    if role not in plan.roles:
        got, expected = quoted(role), ", ".join(plan.roles) or "the plan names no roles"
        raise Refusal("ROLE-KNOWN", "the plan names no such role", got=got, expected=expected)


def check_holder(role: str, names: Mapping[str, str], plan: Plan) -> None:
    """Raise ``Refusal("ROLE-KNOWN")`` unless the plan names this role and somebody holds it."""
    check_role(role, plan)
    if not names.get(role):
        raise Refusal(
            "ROLE-KNOWN",
            f"nobody holds the role of {role} in this ceremony",
            got=role,
            expected=", ".join(name for name in names if names[name]),
        )


def require_same_people(stands: Standing, names: Mapping[str, str]) -> None:
    """Raise ``Refusal("ROLE-OPEN")`` where a ceremony is open with other people than these."""
    if stands.is_open and stands.names != names:
        got, expected = (
            ", ".join(f"{role} {name or 'nobody'}" for role, name in each.items()) for each in (names, stands.names)
        )
        raise Refusal(
            "ROLE-OPEN",
            "this ceremony is open, with other people",
            got=got,
            expected=expected,
            do="is this another day's stick? If not, end it, and begin again with the new people",
        )


def require_open(stands: Standing) -> None:
    """Raise ``Refusal("ROLE-OPEN")`` unless the ceremony began and did not end."""
    if not stands.is_open:
        state = "never begun" if stands.begun_ms is None else SUPERSEDED if stands.ended_ms is None else "ended"
        raise Refusal(
            "ROLE-OPEN", "no ceremony with this plan is open on this machine", got=state, expected="begun and not ended"
        )


def check_text(text: str, what: str, limit: int) -> None:
    """Raise ``Refusal("ROLE-TEXT")`` unless 1 to ``limit`` characters all show, without blanks at the ends."""
    if not 0 < len(text) <= limit or text != text.strip() or not all(map(is_visible, text)):
        raise Refusal(
            "ROLE-TEXT",
            f"{what} is empty, too long or not readable on every screen",
            got=safe(text, limit=2 * limit) or "nothing",
            expected=f"1 to {limit} visible characters in one line",
        )


def _is_one_person(names: Mapping[str, str]) -> bool:
    first, second = (_folded(names.get(role, "")) for role in APART)
    return bool(first) and first == second


def differences(offline: Mapping[str, str], online: Mapping[str, str]) -> list[str]:
    """Return a sentence for each way in which the people of two machines differ, or one person is in two roles.

    Names are compared without case, blanks and look-alikes. A machine without people is not compared.
    """
    if not offline or not online:
        return []
    lines = [
        f"the {role} is {safe(offline.get(role, '')) or 'nobody'} on the air-gapped machine, "
        f"and {safe(online.get(role, '')) or 'nobody'} on the online machine"
        for role in dict.fromkeys((*offline, *online))
        if _folded(offline.get(role, "")) != _folded(online.get(role, ""))
    ]
    for here, there in (APART, APART[::-1]):
        if _is_one_person({here: offline.get(here, ""), there: online.get(there, "")}):
            lines.append(
                f"{safe(offline[here])} is {here} on the air-gapped machine, and {there} on the online machine"
            )
    return lines


def _folded(name: str) -> str:
    """Return a name as it is compared: without case, blanks and characters that only look different."""
    return looks_like("".join(unicodedata.normalize("NFKC", name).casefold().split()))


# ---- people ---------------------------------------------------------------------------------------------------------
# The document that carries the names of a ceremony's people to the other machine, ``airlock/people@1``.
# A name that came so is shown beside a question and answers none: each person still answers on each machine.


_FORMAT = "airlock/people@1"
MAX_PEOPLE_BYTES = 16 << 10


def write_people(plan: Plan, names: Mapping[str, str]) -> bytes:
    """Return the document: who holds each role of a plan, empty where nobody does."""
    return to_json({"format": _FORMAT, "ceremony": plan.id, "plan": plan.fingerprint, "roles": dict(names)})


def parse_people(data: bytes, plan: Plan) -> dict[str, str]:
    """Return the names of a plan's people. Raises ``DocumentError``, also when they are of another plan."""
    value = parse_json(data, max_bytes=MAX_PEOPLE_BYTES)
    require_format(value, _FORMAT, "not the names of a ceremony's people")
    read_members(value, "people", {"format": str, "ceremony": str, "plan": str, "roles": dict})
    if (value["ceremony"], value["plan"]) != (plan.id, plan.fingerprint):
        raise DocumentError(
            "DOC-FORMAT",
            "the names of another ceremony, or of another plan",
            got=value["plan"][:64],
            expected=plan.fingerprint,
            do="bring the names that belong to this plan",
        )
    names: dict[str, str] = read_members(value["roles"], "people.roles", dict.fromkeys(plan.roles, str))
    return names


def wrong_words(entries: Iterable[Entry], plan: Plan | PlanMark) -> list[Entry]:
    """Return the answers to comparisons that were wrong, in the last ceremony of this plan."""
    return [entry for entry in section_of(entries, plan)[0] if entry.event == WORDS_WRONG]
