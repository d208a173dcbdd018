"""The journal of a ceremony as the timeline of its report: a line a submission, then a line an event of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from typing import Any

from airlock_online.journal.journal import Journal, Submission
from airlock_online.journal.order_states import FINAL, MEANINGS, OrderEvent, OrderState
from airlock_shared.host.transcript_file import TranscriptFile
from airlock_shared.report.evidence.timeline import EXPORTED

_DONE = frozenset({OrderState.FILLED, OrderState.CONFIRMED})
_OF_RECORD = ("digest", "step", "route", "method", "transaction_hash")
_OF_SUBMISSION = ("tracking_id", "entity_id", "code", "note", "created_ms", "updated_ms")


def timeline_of(journal: Journal, ceremony: str, digests: Collection[str]) -> tuple[bytes, set[str]]:
    """Return the lines of a ceremony's submissions, oldest first, and the digests that have ended.

    Only these ``digests`` (0x-hex) are looked at. Raises ``JournalError``.
    """
    known = [submission for submission in journal.submissions(ceremony) if submission.record.digest in digests]
    lines = [json.dumps(row, separators=(",", ":")) for submission in known for row in _rows(submission, journal)]
    ended = {submission.record.digest for submission in known if submission.state in FINAL}
    return "".join(f"{line}\n" for line in lines).encode(), ended


def _rows(submission: Submission, journal: Journal) -> Iterator[dict[str, Any]]:
    state, digest = submission.state, submission.record.digest
    yield {
        "kind": "submission",
        **{name: getattr(submission.record, name) for name in _OF_RECORD},
        "state": state.value,
        "meaning": MEANINGS[state],
        "final": state in FINAL,
        "done": state in _DONE,
        **{name: getattr(submission, name) for name in _OF_SUBMISSION},
    }
    events = [("rejected", event) for event in journal.rejections(digest)]
    events += [("event", event) for event in journal.events(digest)]
    yield from (_event(kind, digest, event) for kind, event in events)
    for anomaly in journal.anomalies(digest):
        yield _event("anomaly", digest, OrderEvent(None, anomaly, {}))


def _event(kind: str, digest: str, event: OrderEvent) -> dict[str, Any]:
    row = {"kind": kind, "digest": digest, "type": event.type, "payload": dict(event.payload)}
    numbers = {"seq": event.seq, "at_ms": event.at_ms}
    return row | {name: number for name, number in numbers.items() if number is not None}


def record_timeline(transcript: TranscriptFile, ceremony: str, requests: str, timeline: bytes, at_ms: int) -> None:
    """Record the SHA-256 of a timeline, unless it is the last that was recorded for these requests."""
    data = {"ceremony": ceremony, "requests": requests, "sha256": hashlib.sha256(timeline).hexdigest()}
    told = [e.data for e in transcript.entries() if e.event == EXPORTED and e.data.get("requests") == requests]
    if not told or told[-1] != data:
        transcript.record(EXPORTED, data, at_ms)
