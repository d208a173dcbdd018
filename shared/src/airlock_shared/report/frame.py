"""The frame of a report: the people, the machine before the ceremony, both transcripts and their seals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from airlock_shared.ceremony.roles import standing
from airlock_shared.ceremony.seals import check_seals, signer_of
from airlock_shared.ceremony.sections import wrong_words
from airlock_shared.documents.transcript import GENESIS, Entry
from airlock_shared.plan.model import Plan
from airlock_shared.report.evidence.artefacts import Evidence
from airlock_shared.report.judged import BEGUN
from airlock_shared.report.rows import Row, moment, named, plain
from airlock_shared.text.fingerprint_words import spoken

Half = Literal["offline", "online"]
HALVES: tuple[Half, ...] = ("offline", "online")
_ROWS_AT_MOST = 400


def people_row(half: Half, entries: Sequence[Entry], plan: Plan) -> Row:
    """Return what a machine's transcript says of the people: names, confirmations, exceptions, and what is missing."""
    found = standing(entries, plan, half)
    wrong = Counter((entry.data["station"], *entry.data["by"]) for entry in wrong_words(entries, plan))
    row: Row = {
        "machine": half,
        "names": named(found.names),
        "begun": moment(found.begun_ms),
        "ended": moment(found.ended_ms),
        "stations": [
            {"station": station, "at": moment(at_ms), "by": list(by), "compared": compared, "holds": holds}
            | ({"how": how} if how else {})
            for station, confirmations in found.stations.items()
            for at_ms, by, compared, holds, how in confirmations
        ],
        "exceptions": [
            {"at": moment(at_ms), "station": station, "by": by, "reason": reason}
            for at_ms, station, by, reason in found.exceptions
        ],
        "missing": list(found.missing) if plan.roles else [],
    }
    return row | {"wrong_words": [[*key, count] for key, count in wrong.items()]} if wrong else row


def preflight_row(entries: Sequence[Entry], requests: str) -> Row | None:
    """Return the last preflight before these requests were signed for the first time; before the end when they were not."""
    begun = next((e.seq for e in entries if e.event == BEGUN and e.data.get("requests") == requests), len(entries))
    last = next((e for e in reversed(entries[:begun]) if e.event == "preflight"), None)
    if last is None:
        return None
    rest = dict(last.data)
    lines, refused = (found if type(found := rest.pop(name, None)) is list else [] for name in ("lines", "refused"))
    return {
        "at": moment(last.at_ms),
        "refused": list(map(str, refused)),
        "lines": [{name: str(line.get(name, "")) for name in _LINE} for line in lines if type(line) is dict],
        "rest": list(_flat(rest, ""))[:_ROWS_AT_MOST],
    }


_LINE = ("group", "what", "found", "verdict")


def _flat(value: Any, where: str) -> Iterator[Row]:
    """Yield every value within the result, with its place."""
    if type(value) is dict and value:
        for name, member in value.items():
            yield from _flat(member, f"{where}.{name}" if where else name)
    elif type(value) is list and any(type(member) in (dict, list) for member in value):
        for position, member in enumerate(value):
            yield from _flat(member, f"{where}[{position}]")
    else:
        yield from named({where: plain(value)})


def transcript_rows(evidence: Evidence) -> list[Row]:
    """Return a row for each machine's transcript, also for the one that was not given."""
    return [_transcript(half, evidence.transcripts.get(half), evidence.plan) for half in HALVES]


def _transcript(half: Half, entries: Sequence[Entry] | None, plan: Plan) -> Row:
    """Return a row with the seals that were made for the plan's ceremony, oldest first.

    Raises ``DocumentError("DOC-SEAL")``.
    """
    if entries is None:
        return {"machine": half, "given": False}
    head = entries[-1].hash if entries else GENESIS
    seals = [
        {"entries": count, "head": sealed, "by": by, "signer": signer_of(by, plan), "at": moment(at_ms)}
        for (ceremony, count, sealed), by, at_ms in check_seals(entries)
        if ceremony == plan.id
    ]
    facts = {"entries": len(entries), "head": head, "words": spoken(head), "seals": seals}
    return {"machine": half, "given": True, **facts}
