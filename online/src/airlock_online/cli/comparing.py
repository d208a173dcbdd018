"""What ``submit`` asks before it sends, and ``export`` before it writes: two words of the signatures, from the other screen.

It is asked once for a document. That it was is read in the transcript, and nowhere else: what each role of an open ceremony
typed (in ``ceremony compare``, or here), or what somebody typed where no ceremony is open.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_online.cli.signed_documents import MatchedSignatures
from airlock_online.clock import now_ms
from airlock_online.home import COLLECTED, OnlineHome
from airlock_shared.ceremony.roles import CHECKPOINTS
from airlock_shared.ceremony.sections import (
    BY_WORDS,
    CHECKPOINT_CONFIRMED,
    WORDS_WRONG,
    PlanMark,
    people_of,
    section_of,
)
from airlock_shared.cli.ceremony.by_screens import FIND_THEM, SIGN_AGAIN, Asked, type_words
from airlock_shared.cli.terminal import say
from airlock_shared.documents.transcript import Entry
from airlock_shared.text.safe import safe
from airlock_shared.wire.strict_json import JsonObject

COMPARED, COMPARED_WRONG = "signatures-compared", "signatures-compared-wrong"
"""The transcript's events where no ceremony is open."""
_CHECKPOINT = "signatures"


class _Typist(NamedTuple):
    """Somebody who types words: as the question calls them, the events of a right and a wrong answer, and their data."""

    who: str
    right: str
    wrong: str
    data: JsonObject


def prove_compared(home: OnlineHome, whole: MatchedSignatures) -> None:
    """Have two words of these signatures typed by everybody who has not done so yet.

    Raises ``Refusal("ROLE-WORDS")`` after wrong answers, and ``Declined`` where nobody can answer.
    """
    plan, signatures = PlanMark(whole.header.ceremony, whole.header.plan), whole.signatures
    entries = home.transcript.entries()
    if any(entry.event == COLLECTED and entry.data.get("signatures") == signatures for entry in entries):
        say("These signatures were put together on this machine: no other screen has their words.")
        return
    people = {role: name for role, name in people_of(entries, plan).items() if name}
    counted = section_of(entries, plan)[0] if people else entries
    proofs = [entry.data for entry in counted if _proves(entry, signatures)]
    if people:
        typists = _roles(people, proofs, {"ceremony": plan.id, "checkpoint": _CHECKPOINT, "compared": signatures})
    else:
        data = {"ceremony": plan.id, "signatures": signatures}
        typists = [] if proofs else [_Typist("Whoever submits", COMPARED, COMPARED_WRONG, data)]
    if typists:
        say(FIND_THEM)
    used = {at for entry in entries if _proves(entry, signatures) for at in entry.data["positions"]}
    for each in typists:
        wrong = [entry.data for entry in counted if entry.event == each.wrong and _is_about(entry, signatures)]
        asked = Asked(each.who, _CHECKPOINT, signatures, used, wrong, each.data.get("by"), SIGN_AGAIN)

        def tell_wrong(positions: list[int], each: _Typist = each) -> None:
            home.transcript.record(each.wrong, {**each.data, "positions": positions}, now_ms())

        proof = type_words(asked, tell_wrong, {}, piped=home.all_worth_nothing())
        used.update(proof["positions"])
        home.transcript.record(each.right, {**each.data, **proof}, now_ms())


def _roles(people: dict[str, str], proofs: list[JsonObject], data: JsonObject) -> list[_Typist]:
    """Return the roles that answer on this machine, as far as somebody holds them, and have not proved it yet."""
    needed = [role for role in CHECKPOINTS[_CHECKPOINT].by["online"] if role in people] or list(people)[:1]
    proved = {role for proof in proofs for role in proof.get("by", ())}
    return [
        _Typist(f"{safe(people[role])} ({role})", CHECKPOINT_CONFIRMED, WORDS_WRONG, {**data, "by": [role]})
        for role in needed
        if role not in proved
    ]


def _proves(entry: Entry, signatures: str) -> bool:
    """Tell whether an entry says that somebody typed the words of these signatures, at positions that were drawn."""
    return (
        entry.event in (CHECKPOINT_CONFIRMED, COMPARED)
        and entry.data.get("how") == BY_WORDS
        and _is_about(entry, signatures)
    )


def _is_about(entry: Entry, signatures: str) -> bool:
    of_checkpoint = {"checkpoint": _CHECKPOINT, "compared": signatures}
    return of_checkpoint.items() <= entry.data.items() or entry.data.get("signatures") == signatures
