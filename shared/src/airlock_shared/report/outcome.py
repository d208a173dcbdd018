"""What became of a step that was submitted: the journal's state and events, and what was read back, in the order told."""

from __future__ import annotations

import json

from airlock_shared.documents.transcript import Entry
from airlock_shared.report.evidence.artefacts import Evidence
from airlock_shared.report.rows import Row, moment, named
from airlock_shared.units import utc_text

_FACTS = (
    "route", "method", "state", "meaning", "tracking_id", "transaction_hash", "entity_id", "code", "note", "final", "done",
)  # fmt: skip
_PERHAPS_NOT_SENT = frozenset({"PREPARED", "SENDING", "UNKNOWN", "PRESUMED_UNKNOWN", "EXPIRED_UNUSED", "VOIDED"})
_PROMISE = ("what", "promised", "found", "kept")
"""What was promised, what was found, and whether it was kept (None: not to be told)."""


def outcome_of(digest: str, evidence: Evidence) -> Row | None:
    """Return the outcome of what has this digest; None when the journal does not have it."""
    sent = evidence.timeline.sent.get(digest) if evidence.timeline else None
    if sent is None:
        return None
    told = evidence.told("online", "outcome", digest=digest)
    last = next((entry for entry in reversed(told) if entry.data.get("read_back")), None)
    state = sent.row["state"]
    sending = () if state in _PERHAPS_NOT_SENT else evidence.told("online", "sending", digest=digest)
    return {
        **{name: sent.row[name] for name in _FACTS},
        "sent_at": next((moment(entry.at_ms) for entry in sending), None),
        "known_at": next((moment(entry.at_ms) for entry in told if entry.data.get("state") == state), None),
        "events": [_event(event) for event in sent.events],
        "told": [_told(entry) for entry in told],
        "read_back": [{name: promise.get(name) for name in _PROMISE} for promise in last.data["read_back"]]
        if last
        else [],
        "read_back_at": moment(last.at_ms) if last else None,
    }


def _event(event: Row) -> Row:
    at_ms = event.get("at_ms")
    return {
        "kind": event["kind"],
        "seq": event.get("seq"),
        "at": "" if at_ms is None else utc_text(at_ms),
        "type": event["type"],
        "payload": named({name: _text(value) for name, value in event["payload"].items()}),
    }


def _text(value: object) -> str:
    return value if type(value) is str else json.dumps(value, ensure_ascii=False)


def _told(entry: Entry) -> Row:
    return {"at": utc_text(entry.at_ms), **{name: str(entry.data.get(name, "")) for name in ("state", "error")}}
