"""What became of a step that was submitted: the journal's state and events, and what was read back, in the order told."""

from __future__ import annotations

import json
from typing import Any

from airlock_shared.documents.transcript import Entry
from airlock_shared.report.evidence.artefacts import Evidence
from airlock_shared.report.rows import moment
from airlock_shared.units import utc_text

_FACTS = ("route", "method", "state", "meaning", "tracking_id", "transaction_hash", "entity_id", "code", "note")


def outcome_of(digest: str, evidence: Evidence) -> dict[str, Any] | None:
    """Return the outcome of what has this digest; None when the journal does not have it."""
    sent = evidence.timeline.sent.get(digest) if evidence.timeline else None
    if sent is None:
        return None
    told = [
        e for e in evidence.transcripts.get("online", []) if e.event == "outcome" and e.data.get("digest") == digest
    ]
    return {
        **{name: sent.row[name] for name in _FACTS},
        "final": sent.row["final"],
        "done": sent.row["done"],
        "events": [_event(event) for event in sent.events],
        "told": [_told(entry) for entry in told],
        "read_back": _read_back(told),
        "read_back_at": _read_back_at(told),
    }


def _event(event: dict[str, Any]) -> dict[str, Any]:
    at_ms = event.get("at_ms")
    return {
        "kind": event["kind"],
        "seq": event.get("seq"),
        "at": "" if at_ms is None else utc_text(at_ms),
        "type": event["type"],
        "payload": [{"name": name, "value": _text(value)} for name, value in event["payload"].items()],
    }


def _text(value: object) -> str:
    return value if type(value) is str else json.dumps(value, ensure_ascii=False)


def _told(entry: Entry) -> dict[str, Any]:
    data = entry.data
    return {"at": utc_text(entry.at_ms), "state": str(data.get("state", "")), "error": str(data.get("error", ""))}


def _last_read(told: list[Entry]) -> Entry | None:
    return next((entry for entry in reversed(told) if entry.data.get("read_back")), None)


def _read_back(told: list[Entry]) -> list[dict[str, Any]]:
    """Return the last reading back: what was promised, what was found, and whether it was kept (None: not to be told)."""
    last = _last_read(told)
    promises = last.data["read_back"] if last else []
    return [{name: promise.get(name) for name in ("what", "promised", "found", "kept")} for promise in promises]


def _read_back_at(told: list[Entry]) -> dict[str, Any] | None:
    """Return when the last reading back was put on record; None when nothing was read."""
    last = _last_read(told)
    return moment(last.at_ms) if last else None
