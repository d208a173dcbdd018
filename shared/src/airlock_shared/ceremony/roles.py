"""Who held which role, what people confirmed at each station of a ceremony, and what is missing: read from a transcript.

A ceremony begins on each machine by itself, with the names of its people, and belongs to its id and to the fingerprint of
its plan. What happened before the beginning does not count for it. A station is confirmed for what stood on record then:
when that changes, it has to be confirmed again. An exception explains and does not heal. Pure; the commands are in
:mod:`airlock_shared.cli.ceremony.commands`, the table of stations in :mod:`airlock_shared.ceremony.checkpoints`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from airlock_shared.ceremony.checkpoints import STATIONS as STATIONS
from airlock_shared.ceremony.checkpoints import Checkpoint, Half, last_on_record, stations_of
from airlock_shared.ceremony.sections import BEGUN, CONFIRMED, ENDED, EXCEPTION, read_entry, section_of
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import Refusal
from airlock_shared.plan.model import APART, Plan
from airlock_shared.text.confusables import looks_like
from airlock_shared.text.safe import is_visible, safe

MAX_NAME, MAX_REASON = 60, 500


class Confirmation(NamedTuple):
    """A station confirmed: when (unix milliseconds), by which roles, what stood on record then, whether it still does.

    ``how`` is one of ``sections.HOW``, empty for a ``Yes``.
    """

    at_ms: int
    by: tuple[str, ...]
    compared: str
    holds: bool
    how: str = ""


class Deviation(NamedTuple):
    """An exception: when (unix milliseconds), at which station (empty: at none), said by which role, and why."""

    at_ms: int
    station: str
    by: str
    reason: str


class Standing(NamedTuple):
    """What one machine's transcript knows of a ceremony.

    ``names`` holds the person of each role, empty where nobody holds it; ``stations`` the confirmations of each of this
    machine's stations; ``is_open`` that it goes on; ``missing`` a sentence for each thing that keeps it incomplete.
    """

    names: dict[str, str]
    begun_ms: int | None
    stations: dict[str, tuple[Confirmation, ...]]
    exceptions: tuple[Deviation, ...]
    ended_ms: int | None
    is_open: bool
    missing: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether it began, nothing is missing, and it ended."""
        return not self.missing


NOT_BEGUN = "no ceremony was begun with this plan on this machine"
NOT_ENDED = "the ceremony was not ended on this machine"
SUPERSEDED = "it was begun again with another plan before it ended"
NO_ROLES = "the plan names no roles, so nobody was asked to confirm anything"


def standing(entries: Iterable[Entry], plan: Plan, half: Half) -> Standing:
    """Return how the last ceremony with this id and this plan stands in a transcript whose chain holds.

    Raises ``DocumentError("DOC-FIELD")`` for an entry of a ceremony that has not its form.
    """
    section, is_open = section_of(entries, plan)
    stations = {station.name: _confirmations(section, station, plan) for station in stations_of(half)}
    if not section:
        return Standing({}, None, stations, (), None, False, (NOT_BEGUN if plan.roles else NO_ROLES,))
    names: dict[str, str] = section[0].data["roles"]
    exceptions = tuple(
        Deviation(entry.at_ms, entry.data["station"], entry.data["by"], entry.data["reason"])
        for entry in section
        if entry.event == EXCEPTION
    )
    ended_ms = section[-1].at_ms if section[-1].event == ENDED else None
    missing = [*_without_people(names, plan), *_unconfirmed(stations, plan, half)]
    missing += [] if ended_ms is not None else [NOT_ENDED if is_open else SUPERSEDED]
    return Standing(names, section[0].at_ms, stations, exceptions, ended_ms, is_open, tuple(missing))


def on_record(entries: Iterable[Entry], plan: Plan, station: str) -> str | None:
    """Return what stands on record for a station since the ceremony began, None when nothing does."""
    return last_on_record(section_of(entries, plan)[0], plan, STATIONS[station])


def other_plan(entries: Iterable[Entry], plan: Plan) -> str:
    """Return the fingerprint of another plan with which a ceremony of this id is open, empty when none is."""
    found = ""
    for entry in entries:
        if entry.event in (BEGUN, ENDED) and read_entry(entry)["ceremony"] == plan.id:
            found = entry.data["plan"] if entry.event == BEGUN else ""
    return "" if found == plan.fingerprint else found


# ---- stations and people ---------------------------------------------------------------------------------------------


def _confirmations(section: list[Entry], station: Checkpoint, plan: Plan) -> tuple[Confirmation, ...]:
    """Return a station's confirmations. Without a record, only what is done before the ceremony can be confirmed."""
    record = last_on_record(section, plan, station)
    return tuple(
        Confirmation(
            entry.at_ms,
            tuple(data["by"]),
            data["compared"],
            data["compared"] == record if record else station.earlier,
            data.get("how", ""),
        )
        for entry in section
        if entry.event == CONFIRMED and (data := entry.data)["station"] == station.name
    )


def _without_people(names: dict[str, str], plan: Plan) -> list[str]:
    lines = [f"the plan names a {role}, and nobody holds that role" for role in plan.roles if not names.get(role)]
    return lines + (["one person is both signer and witness"] if _is_one_person(names) else [])


def _unconfirmed(stations: dict[str, tuple[Confirmation, ...]], plan: Plan, half: Half) -> list[str]:
    """Return a sentence for each station at which a role is missing that has to confirm it, or that changed since."""
    lines = []
    for name, confirmations in stations.items():
        if half == STATIONS[name].made_on:
            continue
        by = {role for each in confirmations if each.holds for role in each.by}
        needed = [role for role in STATIONS[name].by[half] if role in plan.roles]
        lacking = [role for role in needed if role not in by] if needed or by else ["anybody"]
        if lacking:
            changed = ", because its record changed" if any(not each.holds for each in confirmations) else ""
            lines.append(f"station {name} is not confirmed by {' and '.join(lacking)}{changed}")
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
        raise Refusal("ROLE-SAME", "one person is both signer and witness", got=safe(names[APART[0]]),
                      expected="two people")  # fmt: skip


def check_role(role: str, plan: Plan) -> None:
    """Raise ``Refusal("ROLE-KNOWN")`` unless the plan names this role."""
    if role not in plan.roles:
        got, expected = repr(role)[:80], ", ".join(plan.roles) or "the plan names no roles"
        raise Refusal("ROLE-KNOWN", "the plan names no such role", got=got, expected=expected)


def check_holder(role: str, names: Mapping[str, str], plan: Plan) -> None:
    """Raise ``Refusal("ROLE-KNOWN")`` unless the plan names this role and somebody holds it."""
    check_role(role, plan)
    if not names.get(role):
        raise Refusal("ROLE-KNOWN", f"nobody holds the role of {role} in this ceremony", got=role,
                      expected=", ".join(name for name in names if names[name]))  # fmt: skip


def require_open(stands: Standing) -> None:
    """Raise ``Refusal("ROLE-OPEN")`` unless the ceremony began and did not end."""
    if not stands.is_open:
        state = "never begun" if stands.begun_ms is None else SUPERSEDED if stands.ended_ms is None else "ended"
        raise Refusal("ROLE-OPEN", "no ceremony with this plan is open on this machine", got=state,
                      expected="begun and not ended")  # fmt: skip


def check_text(text: str, what: str, limit: int) -> None:
    """Raise ``Refusal("ROLE-TEXT")`` unless 1 to ``limit`` characters all show, without blanks at the ends."""
    if not 0 < len(text) <= limit or text != text.strip() or not all(map(is_visible, text)):
        expected = f"1 to {limit} visible characters in one line"
        raise Refusal("ROLE-TEXT", f"{what} is empty, too long or not readable on every screen",
                      got=safe(text, limit=2 * limit) or "nothing", expected=expected)  # fmt: skip


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
        f"the {role} is {safe(offline.get(role, '')) or 'nobody'} on the offline machine, "
        f"and {safe(online.get(role, '')) or 'nobody'} on the online machine"
        for role in dict.fromkeys((*offline, *online))
        if _folded(offline.get(role, "")) != _folded(online.get(role, ""))
    ]
    for here, there in (APART, APART[::-1]):
        if _folded(offline.get(here, "")) and _folded(offline.get(here, "")) == _folded(online.get(there, "")):
            lines.append(f"{safe(offline[here])} is {here} on the offline machine, and {there} on the online machine")
    return lines


def _folded(name: str) -> str:
    """Return a name as it is compared: without case, blanks and characters that only look different."""
    return looks_like("".join(unicodedata.normalize("NFKC", name).casefold().split()))
