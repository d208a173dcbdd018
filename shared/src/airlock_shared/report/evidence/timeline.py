"""What the online machine's journal says of a ceremony, as JSON lines: a line a submission, then a line an event of it.

The online half writes it; the transcript of that machine has its SHA-256. Times are unix ms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.wire.codec import parse_json
from airlock_shared.wire.members import read_members

EXPORTED = "timeline-exported"
"""The transcript's event: ``{"ceremony", "requests", "sha256"}``."""

UNUSABLE_ID, NOTE = "unusable-id", "note"
KINDS = ("event", "anomaly", "rejected", UNUSABLE_ID, NOTE)
"""What a service told, what was wrong with it, its refusals, an id that cannot be asked for, and what a person said."""

_MAX_LINE_BYTES = 1 << 20
_SUBMISSION = {
    "kind": str, "digest": str, "step": str, "route": str, "method": str, "state": str, "meaning": str, "final": bool,
    "done": bool, "tracking_id": str, "transaction_hash": str, "entity_id": str, "code": str, "note": str,
    "created_ms": int, "updated_ms": int,
}  # fmt: skip
_EVENT = {"kind": str, "digest": str, "type": str, "payload": dict}
_NUMBERS = {"seq": int, "at_ms": int}


class Sent(NamedTuple):
    """A submission, and its events in the order in which they came; both as they were written."""

    row: dict[str, Any]
    events: tuple[dict[str, Any], ...]


class Timeline(NamedTuple):
    """What was submitted, by digest, oldest first."""

    sent: dict[str, Sent]


def parse_timeline(data: bytes) -> Timeline:
    """Read the lines. Raises ``DocumentError``: an event belongs to a submission before it."""
    rows: dict[str, dict[str, Any]] = {}
    events: dict[str, list[dict[str, Any]]] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        value = parse_json(line, max_bytes=_MAX_LINE_BYTES)
        where = f"line {number}"
        kind = value.get("kind") if type(value) is dict else None
        if kind == "submission":
            read_members(value, where, _SUBMISSION)
            if value["digest"] in rows:
                raise DocumentError("DOC-FIELD", f"{where} of the timeline is about a submission that is there already")
            rows[value["digest"]], events[value["digest"]] = value, []
        elif kind in KINDS:
            read_members(value, where, _EVENT, _NUMBERS)
            if value["digest"] not in rows:
                raise DocumentError("DOC-FIELD", f"{where} of the timeline is about nothing before it")
            events[value["digest"]].append(value)
        else:
            raise DocumentError("DOC-FIELD", f"{where} of the timeline is of no known kind", got=repr(kind)[:60])
    return Timeline({digest: Sent(row, tuple(events[digest])) for digest, row in rows.items()})
