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
from airlock_shared.report.evidence.redaction import Answers
from airlock_shared.report.judged import BEGUN
from airlock_shared.report.rows import Row, moment, named, plain
from airlock_shared.text.fingerprint_words import spoken

Half = Literal["offline", "online"]
HALVES: tuple[Half, ...] = ("offline", "online")
_ROWS_AT_MOST = 400


def people_row(half: Half, entries: Sequence[Entry], plan: Plan) -> Row:
    """Return what a machine's transcript says of the people: names, confirmations, exceptions, and what is missing."""
    found = standing(entries, plan, half)
    confirmed = [
        {
            "station": station,
            "at": moment(each.at_ms),
            "by": list(each.by),
            "compared": each.compared,
            "holds": each.holds,
        }
        | ({"how": each.how} if each.how else {})
        for station, confirmations in found.stations.items()
        for each in confirmations
    ]
    exceptions = [
        {"at": moment(each.at_ms), "station": each.station, "by": each.by, "reason": each.reason}
        for each in found.exceptions
    ]
    wrong = Counter((entry.data["station"], *entry.data["by"]) for entry in wrong_words(entries, plan))
    return {
        "machine": half,
        "names": [named(role, name) for role, name in found.names.items()],
        "begun": moment(found.begun_ms) if found.begun_ms is not None else None,
        "ended": moment(found.ended_ms) if found.ended_ms is not None else None,
        "stations": confirmed,
        "exceptions": exceptions,
        "missing": list(found.missing) if plan.roles else [],
    } | ({"wrong_words": [[*key, count] for key, count in wrong.items()]} if wrong else {})


def preflight_row(entries: Sequence[Entry], requests: str) -> Row | None:
    """Return the last preflight before these requests were signed for the first time; before the end when they were not."""
    begun = next((e.seq for e in entries if e.event == BEGUN and e.data.get("requests") == requests), len(entries))
    last = next((e for e in reversed(entries[:begun]) if e.event == "preflight"), None)
    if last is None:
        return None
    lines, refused = last.data.get("lines"), last.data.get("refused")
    rest = {name: value for name, value in last.data.items() if name not in ("lines", "refused")}
    return {
        "at": moment(last.at_ms),
        "refused": list(map(str, refused)) if type(refused) is list else [],
        "lines": [_line(line) for line in lines if type(line) is dict] if type(lines) is list else [],
        "rest": list(_flat(rest, ""))[:_ROWS_AT_MOST],
    }


def _line(line: dict[str, Any]) -> Row:
    return {name: str(line.get(name, "")) for name in ("group", "what", "found", "verdict")}


def _flat(value: Any, where: str) -> Iterator[Row]:
    """Yield every value within the result, with its place."""
    if type(value) is dict and value:
        for name, member in value.items():
            yield from _flat(member, f"{where}.{name}" if where else name)
    elif type(value) is list and any(type(member) in (dict, list) for member in value):
        for position, member in enumerate(value):
            yield from _flat(member, f"{where}[{position}]")
    else:
        yield named(where, plain(value))


def transcript_rows(evidence: Evidence) -> list[Row]:
    """Return a row for each machine's transcript, also for the one that was not given."""
    rows: list[Row] = []
    for half in HALVES:
        entries = evidence.transcripts.get(half)
        if entries is None:
            rows.append({"machine": half, "given": False})
            continue
        head = entries[-1].hash if entries else GENESIS
        seals = list(_seal_rows(entries, evidence.plan))
        facts = {"given": True, "entries": len(entries), "head": head, "words": spoken(head), "seals": seals}
        rows.append({"machine": half, **facts})
    return rows


def _seal_rows(entries: Sequence[Entry], plan: Plan) -> Iterator[Row]:
    """Yield the seals that were made for the plan's ceremony, oldest first; raises ``DocumentError("DOC-SEAL")``."""
    for (ceremony, count, head), by, at_ms in check_seals(entries):
        if ceremony == plan.id:
            yield {"entries": count, "head": head, "by": by, "signer": signer_of(by, plan), "at": moment(at_ms)}


def last_signing(entries: Sequence[Entry], answers: Answers | None) -> int:
    """Return after how many entries these signatures were written; 0 when they were not."""
    mark = answers.fingerprint if answers else ""
    written = [e for e in entries if e.event == "signatures-written" and e.data.get("signatures") == mark]
    return written[-1].seq + 1 if written else 0
