"""The entries of one ceremony in a transcript: from its beginning to its end, and whether it is open.

A ceremony belongs to its id and to the fingerprint of its plan; what happened before the beginning does not count for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import Declined, NotAnswered
from airlock_shared.plan.model import APART, Plan
from airlock_shared.wire.strict_json import JsonObject, read_members

if TYPE_CHECKING:
    from airlock_shared.host.files import TranscriptFile

CEREMONY_BEGUN, CEREMONY_ENDED = "ceremony-begun", "ceremony-ended"
CHECKPOINT_CONFIRMED, EXCEPTION = "checkpoint-confirmed", "exception"
PAGE_CONFIRMED = "page-confirmed"  # a Yes to a page of steps of one form, with the digest of each
WORDS_WRONG = "words-wrong"  # an answer to ``ceremony compare`` that is not on that paper, or that screen
BY_PAPER, BY_WORDS = "paper", "words"
"""How a comparison was proved: by words from one's own paper, or from the other screen, at drawn ``positions`` (1 to 24)."""
_FORMS: dict[str, dict[str, type]] = {
    CEREMONY_BEGUN: {"ceremony": str, "plan": str, "roles": dict},
    CHECKPOINT_CONFIRMED: {"ceremony": str, "checkpoint": str, "by": list, "compared": str},
    WORDS_WRONG: {"ceremony": str, "checkpoint": str, "by": list, "compared": str, "positions": list},
    EXCEPTION: {"ceremony": str, "checkpoint": str, "by": str, "reason": str},
    CEREMONY_ENDED: {"ceremony": str, "complete": bool, "missing": list},
}


class PlanMark(NamedTuple):
    """A plan as documents name it: its id, and its fingerprint (64 hex digits)."""

    id: str
    fingerprint: str


def without_others(entries: Iterable[Entry], ceremony: str) -> list[Entry]:
    """Return the entries that are not of another ceremony than that of this id: a machine may have several at once."""
    return [entry for entry in entries if entry.data.get("ceremony", ceremony) == ceremony]


def section_of(entries: Iterable[Entry], plan: Plan | PlanMark) -> tuple[list[Entry], bool]:
    """Return the entries from the last beginning with this plan to its end or the next beginning, and whether it is open.

    What another ceremony has on record meanwhile is none of them.
    """
    section: list[Entry] = []
    is_open = False
    for entry in without_others(entries, plan.id):
        if entry.event in _FORMS:
            read_entry(entry)
        if entry.event == CEREMONY_BEGUN:
            is_open = entry.data["plan"] == plan.fingerprint
            section = [] if is_open else section
        if is_open:
            section.append(entry)
            is_open = entry.event != CEREMONY_ENDED
    return section, is_open


def read_entry(entry: Entry) -> JsonObject:
    """Return the data of one of a ceremony's own entries. Raises ``DocumentError("DOC-FIELD")`` for another form."""
    where = f"transcript entry {entry.seq}"
    proof = {"how": str, "positions": list} if entry.event == CHECKPOINT_CONFIRMED else {}
    data: JsonObject = read_members(entry.data, where, _FORMS[entry.event], proof)
    for name in ("by", "missing"):
        members = data.get(name)
        for member in members if type(members) is list else ():
            read_members({name: member}, where, {name: str})
    if entry.event == CEREMONY_BEGUN:
        read_members(data["roles"], f"{where}.roles", dict.fromkeys(data["roles"], str))
    return data


def people_of(entries: Iterable[Entry], plan: Plan | PlanMark) -> dict[str, str]:
    """Return the person of each role in a plan's ceremony, while it is open; empty when none is open."""
    section, is_open = section_of(entries, plan)
    return dict(section[0].data["roles"]) if is_open else {}


def proved_by_words(entries: Iterable[Entry], plan: Plan, checkpoint: str, compared: str, how: str) -> bool:
    """Tell whether signer and witness, as far as the plan names them, proved a comparison by words in its open ceremony.

    ``how`` is ``BY_PAPER`` or ``BY_WORDS``: from where the words have to be.
    """
    section, is_open = section_of(entries, plan)
    wanted = (checkpoint, compared, how)
    by = {
        role
        for entry in section
        if entry.event == CHECKPOINT_CONFIRMED
        and (entry.data["checkpoint"], entry.data["compared"], entry.data.get("how")) == wanted
        for role in entry.data["by"]
    }
    needed = {role for role in APART if role in plan.roles}
    return is_open and bool(needed) and needed <= by


def was_begun(entries: Sequence[Entry], plan: Plan, requests: str) -> bool:
    """Tell whether the people of now have compared these requests: their signing was begun here, in the open ceremony.

    ``requests`` is a fingerprint. With a plan that names no roles there is no ceremony, and the whole transcript counts.
    """
    return any(_of_these_people(entries, plan, "sign-begun", requests))


def confirmed_on_pages(entries: Sequence[Entry], plan: Plan, requests: str) -> frozenset[str]:
    """Return the digests (0x-hex) of these requests that the people of now have confirmed on pages of groups.

    Counted as :func:`was_begun`.
    """
    pages = _of_these_people(entries, plan, PAGE_CONFIRMED, requests)
    return frozenset(str(digest) for page in pages for digest in page.data["digests"])


def _of_these_people(entries: Sequence[Entry], plan: Plan, event: str, requests: str) -> Iterator[Entry]:
    section, is_open = section_of(entries, plan)
    wanted = {"requests": requests, "plan": plan.fingerprint}
    for entry in (section if is_open else ()) if plan.roles else entries:
        if entry.event == event and wanted.items() <= entry.data.items():
            yield entry


def begun_note(entries: Sequence[Entry], plan: Plan) -> str:
    """Return what to say before signing under a plan that names roles; empty when all is well.

    No ceremony is open (a witness that is required is no note but a refusal), or nobody has compared the plan with paper.
    """
    if not plan.roles or proved_by_words(entries, plan, "plan", plan.fingerprint, BY_PAPER):
        return ""
    if section_of(entries, plan)[1]:
        return "NOTE: not each of signer and witness has compared this plan with their own paper in this ceremony."
    if plan.requires_witness:
        return ""
    return (
        f"NOTE: the plan names roles ({', '.join(plan.roles)}), but no ceremony is open on this machine. "
        "Nothing you do now is on its record. To begin one: airlock-offline ceremony begin"
    )


@contextmanager
def no_on_record(
    transcript: TranscriptFile, plan: Plan, checkpoint: str, role: str, now_ms: Callable[[], int]
) -> Iterator[None]:
    """Put a No of who holds a role on the record of a plan's open ceremony, and raise it again.

    It is said by a word or on the Ledger, apart from a checkpoint's comparison; ``checkpoint`` may be empty.
    """
    try:
        yield
    except Declined as declined:
        if section_of(transcript.entries(), plan)[1] and not isinstance(declined, NotAnswered):
            by = role if role in plan.roles else plan.roles[0]
            data = {"ceremony": plan.id, "checkpoint": checkpoint, "by": by, "reason": declined.what}
            transcript.record(EXCEPTION, data, now_ms())
        raise
