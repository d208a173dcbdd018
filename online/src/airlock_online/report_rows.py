"""The journal of a ceremony as the timeline of its report: a line a submission, then a line an event of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator

from airlock_online.delivery.resolution import is_proved
from airlock_online.journal.events import OF_ORDER, REJECTED
from airlock_online.journal.journal import Journal, Record, Submission
from airlock_online.journal.order_states import DONE, FINAL, STATE_MEANINGS, OrderEvent
from airlock_online.speech.sections import OF_TRANSACTIONS
from airlock_shared.checks.nonces import Use
from airlock_shared.ethereum.signatures import in_eip55
from airlock_shared.host.files import TranscriptFile
from airlock_shared.report.evidence.timeline import EXPORTED, NOTE_KIND, UNUSABLE_ID
from airlock_shared.report.facts import Liveness, standings
from airlock_shared.venue.structs import CORE_API
from airlock_shared.wire.strict_json import JsonObject

_OF_RECORD = ("digest", "step", "route", "method", "transaction_hash")
_OF_SUBMISSION = ("tracking_id", "entity_id", "code", "note", "created_ms", "updated_ms")


def timeline_of(journal: Journal, ceremony: str, digests: Collection[str], now_ms: int) -> tuple[bytes, set[str]]:
    """Return the lines of a ceremony's submissions, oldest first, and the digests that have ended and can execute no more.

    Only these ``digests`` (0x-hex) are looked at; the time is unix ms. Raises ``JournalError``.
    """
    known = [submission for submission in journal.submissions(ceremony) if submission.record.digest in digests]
    lines = [json.dumps(row, separators=(",", ":")) for submission in known for row in _rows(submission, journal)]
    over = {each.use.digest for each in standings_of(journal, now_ms) if each.over}
    ended = {submission.record.digest for submission in known if submission.state in FINAL} & over
    return "".join(f"{line}\n" for line in lines).encode(), ended


def standings_of(journal: Journal, now_ms: int) -> list[Liveness]:
    """Return how every signature that the journal has stands, oldest first. Raises ``JournalError``."""
    known = journal.submissions()
    states = {submission.record.digest: submission.state.value for submission in known}
    proved = {digest for digest in states if is_proved(digest, journal)}
    return standings([_use_of(submission.record) for submission in known], states, proved, now_ms)


def _use_of(record: Record) -> Use:
    """Return what a submission spends; a transaction's nonce is its sender's count, on whatever contract it calls."""
    contract = "" if record.route in OF_TRANSACTIONS else in_eip55(record.contract)
    signer = in_eip55(record.signer)
    trader = in_eip55(record.trader) if contract else signer
    return Use(
        record.digest,
        record.chain_id,
        contract,
        signer,
        trader,
        int(record.nonce),
        record.ceremony,
        record.step,
        record.deadline_ms,
    )


def _rows(submission: Submission, journal: Journal) -> Iterator[JsonObject]:
    state, digest = submission.state, submission.record.digest
    yield {
        "kind": "submission",
        **{name: getattr(submission.record, name) for name in _OF_RECORD},
        "state": state.value,
        "meaning": _meaning(submission),
        "final": state in FINAL,
        "done": state in DONE,
        **{name: getattr(submission, name) for name in _OF_SUBMISSION},
    }
    for kind in (REJECTED, OF_ORDER):
        for event, came_ms in journal.came(digest, kind):
            yield _event(kind, digest, event) | {"received_ms": came_ms}
    for anomaly in journal.anomalies(digest):
        yield _event("anomaly", digest, OrderEvent(None, anomaly, {}))
    for given in submission.unusable_ids:
        name, _, value = given.partition(": ")
        yield _event(UNUSABLE_ID, digest, OrderEvent(None, name, {"given": value}))
    for note in journal.notes(digest):
        yield _event(NOTE_KIND, digest, note)


def _meaning(submission: Submission) -> str:
    """Return what its state means for what it is: the journal's sentence is for an order that is stored, and all else."""
    other, _, stored = STATE_MEANINGS[submission.state].partition("; of an order: ")
    return f"done: {stored}" if stored and submission.record.route == CORE_API else other


def _event(kind: str, digest: str, event: OrderEvent) -> JsonObject:
    row = {"kind": kind, "digest": digest, "type": event.type, "payload": dict(event.payload)}
    numbers = {"seq": event.seq, "at_ms": event.at_ms}
    return row | {name: number for name, number in numbers.items() if number is not None}


def record_timeline(transcript: TranscriptFile, ceremony: str, requests: str, timeline: bytes, at_ms: int) -> None:
    """Record the SHA-256 of a timeline, unless it is the last that was recorded for these requests."""
    data = {"ceremony": ceremony, "requests": requests, "sha256": hashlib.sha256(timeline).hexdigest()}
    told = [e.data for e in transcript.entries() if e.event == EXPORTED and e.data.get("requests") == requests]
    if not told or told[-1] != data:
        transcript.record(EXPORTED, data, at_ms)
