"""Artefacts of a whole day without machines: every struct signed, both transcripts, a journal, pages, hostile texts."""

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from eth_account import Account
from eth_account.messages import encode_defunct

from airlock_shared.documents import requests as requests_document
from airlock_shared.documents.requests import parse_signatures
from airlock_shared.documents.transcript import PROVED, next_entry, read_entries
from airlock_shared.plan.delegate_proofs import challenge_of, registrations
from airlock_shared.report.evidence.redaction import withhold
from airlock_shared.report.evidence.timeline import Screens, ShownPages, write_screens
from airlock_shared.report.reexamined import judge
from airlock_shared.report.verify import MadeReport, report_of_artefacts
from airlock_shared.wire.strict_json import JsonObject, read_batch
from shared.make_payloads import KEYS, NOW_MS, signed_item
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXT, deployment, plan, to_bytes, whole

HOSTILE = '<script>document.title="owned"</script><img src=x onerror=alert(1)> " \' & </td></table>'
PLAYED = Path(__file__).parents[2] / "vectors/report/market-close"
HIDDEN = "a\u202eb\u200bc\x1b[31m"
Event = tuple[str, dict[str, Any]]


@cache
def requests_bytes() -> bytes:
    return to_bytes(whole())


@cache
def requests_fingerprint() -> str:
    return read_batch(requests_bytes(), format_name=requests_document.REQUESTS_FORMAT, list_name="requests")[2]


@cache
def signatures_bytes() -> bytes:
    """Return the signatures document: each step signed by its own key."""
    items = [signed_item(item) for item in whole()["requests"]]
    header = {"count": len(items), "ceremony": plan().id, "requests": requests_fingerprint(), "rehearsal": False}
    header |= {"transcript_head": "0" * 64, "created_ms": NOW_MS}
    return to_bytes({"format": requests_document.SIGNATURES_FORMAT, "header": header, "signatures": items})


@cache
def signed() -> tuple[requests_document.Answer, ...]:
    return tuple(parse_signatures(signatures_bytes())[1])


def digests() -> list[str]:
    return [each.digest for each in signed()]


def chain(events: Sequence[Event]) -> bytes:
    """Return a transcript of these events, a second apart, of which the last is at the vectors' time."""
    last = None
    lines = []
    for number, (event, data) in enumerate(events):
        last = next_entry(last, NOW_MS - 1000 * (len(events) - 1 - number), event, data)
        lines.append(last.line() + b"\n")
    return b"".join(lines)


def offline_events() -> list[Event]:
    people = {"signer": HOSTILE[:60], "witness": "Mary Somerville"}
    marks = {"requests": requests_fingerprint(), "signatures": parse_signatures(signatures_bytes())[2]}
    proofs = [(PROVED, challenge_of(plan(), deployment(), step).as_data()) for step in registrations(plan())]
    lines = [{"group": "network", "what": HOSTILE, "found": "x" * 300, "verdict": "LOOK"}]
    return [
        ("deployment-pinned", {"name": deployment().name, "fingerprint": deployment().fingerprint}),
        ("ceremony-begun", {"ceremony": plan().id, "plan": plan().fingerprint, "roles": people}),
        ("preflight", {"airlock": "1", "lines": lines, "refused": [], HOSTILE: {"of": [{"x": HIDDEN}]}}),
        *proofs,
        ("exception", {"ceremony": plan().id, "checkpoint": "", "by": "witness", "reason": HOSTILE}),
        ("sign-begun", {"requests": marks["requests"], "plan": plan().fingerprint, "ceremony": plan().id,
                        "model": "nanosp"}),
        *((event, {"ceremony": "other", "step": signed()[0].step}) for event in ("sign-begun", "declined")),
        *(("signed", {"step": each.step, "digest": each.digest}) for each in signed()),
        ("signatures-written", marks),
    ]  # fmt: skip


def timeline_bytes() -> bytes:
    """Return a journal in which the first step is filled, the second unknown, the third failed; no other was sent."""
    states = (("FILLED", True, True), ("UNKNOWN", False, False), ("FAILED", True, False))
    rows: list[dict[str, Any]] = []
    for item, (state, final, done) in zip(signed(), states, strict=False):
        rows.append({
            "kind": "submission", "digest": item.digest, "step": item.step, "route": "batched", "method": "POST",
            "state": state, "meaning": "it is so", "final": final, "done": done, "tracking_id": HOSTILE,
            "transaction_hash": "0x" + "ab" * 32, "entity_id": "", "code": HIDDEN, "note": HOSTILE, "created_ms": NOW_MS,
            "updated_ms": NOW_MS,
        })  # fmt: skip
        rows.append({"kind": "event", "digest": item.digest, "type": HOSTILE, "seq": 0, "at_ms": NOW_MS,
                     "payload": {HOSTILE: HIDDEN, "long": "0x" + "cd" * 200, "n": {"deep": [1, None, True]}}})  # fmt: skip
        rows.append({"kind": "anomaly", "digest": item.digest, "type": "event-without-seq", "payload": {}})
        rows.append({"kind": "unusable-id", "digest": item.digest, "type": "entityId", "payload": {"given": HOSTILE}})
        rows.append({"kind": "note", "digest": item.digest, "type": "Note", "at_ms": NOW_MS,
                     "payload": {"text": HIDDEN, "by": HOSTILE}})  # fmt: skip
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def referral_read(**changed: Any) -> Event:
    """Return a read of the code of the step ``own-code``: two sources that disagree, one of them hostile."""
    seen = [
        {"source": "the builder", "owner": "", "pending": None, "private": False, "adopted": "0x" + "00" * 32,
         "trouble": ""},
        {"source": f"the chain, by {HIDDEN}", "owner": HOSTILE, "pending": None, "private": None,
         "adopted": "0x" + b"DESK".ljust(32, b"\0").hex(), "trouble": HOSTILE},
    ]  # fmt: skip
    facts = {"ceremony": plan().id, "plan": plan().fingerprint, "step": "own-code", "seen": seen}
    told = {"disagreements": [f"owner: {HOSTILE}"], "warnings": ["somebody else owns the code"]}
    return "referral-read", {**facts, "code": "0x" + b"DESK".ljust(32, b"\0").hex(), **told, **changed}


def online_events(timeline: bytes) -> list[Event]:
    first = signed()[0]
    promise = {"what": HOSTILE, "promised": "this", "found": "that", "kept": False}
    facts = {"ceremony": plan().id, "requests": requests_fingerprint()}
    signatures = parse_signatures(signatures_bytes())[2]
    return [
        referral_read(),
        ("prepared", {**facts, "plan": plan().fingerprint}),
        ("submit-begun", {**facts, "signatures": signatures, "offline_transcript_head": "0" * 64}),
        ("outcome", {"step": first.step, "digest": first.digest, "state": "FILLED", "code": "",
                     "read_back": [promise]}),
        ("outcome", {"step": signed()[1].step, "digest": signed()[1].digest, "error": HOSTILE}),
        ("timeline-exported", {**facts, "sha256": hashlib.sha256(timeline).hexdigest()}),
    ]  # fmt: skip


def reported(offline: Sequence[Event] | None = None, online: Sequence[Event] | None = None) -> MadeReport:
    """Return the online machine's report with these entries in the transcripts, or those of the day."""
    files = online_files()
    if offline is not None:
        files |= {"offline-transcript.jsonl": chain(offline)}
    if online is not None:
        files |= {"online-transcript.jsonl": chain(online)}
    return report_of_artefacts(files, judge)


def after(event: str, *more: Event) -> list[Event]:
    """Return the air-gapped machine's day with more entries after its first one of an event."""
    events = offline_events()
    at = 1 + [name for name, _ in events].index(event)
    return [*events[:at], *more, *events[at:]]


def seal_of(key: str, ceremony: str, count: int, head: str) -> JsonObject:
    """Return a seal over ``count`` entries by a private key, as a transcript has it."""
    text = f"Airlock transcript of {ceremony}, {count} entries, head {head}"
    signature = "0x" + Account.sign_message(encode_defunct(text=text), key).signature.hex()
    by = Account.from_key(key).address
    return {"ceremony": ceremony, "entries": count, "head": head, "address": by, "signature": signature}


def sealed(key: str, ceremony: str = "", **altered: Any) -> bytes:
    """Return the offline transcript sealed by the published key of an address, over all its entries.

    For the plan's ceremony, or another one; the members ``altered`` are put in after it was signed.
    """
    lines = chain(offline_events()).splitlines()
    entries = read_entries(lines)
    count, head = len(entries), entries[-1].hash
    seal = next_entry(entries[-1], NOW_MS, "sealed", seal_of(KEYS[key], ceremony or plan().id, count, head) | altered)
    return b"".join(line + b"\n" for line in [*lines, seal.line()])


def screens_bytes() -> bytes:
    pages = [["Review typed ", "message"], [HOSTILE, "0x" + "EF" * 60], ["Sign message"]]
    shown = tuple(ShownPages(each.step, each.digest, pages) for each in signed())
    return write_screens(Screens("nanosp", requests_fingerprint(), shown))


def offline_files() -> dict[str, bytes]:
    return {
        "plan.toml": PLAN_TEXT.encode(),
        "deployment.json": DEPLOYMENT_TEXT.encode(),
        "requests.json": requests_bytes(),
        "signatures.json": withhold(signatures_bytes(), ()),
        "screens.json": screens_bytes(),
        "offline-transcript.jsonl": chain(offline_events()),
    }


def part_files(signer: str) -> dict[str, bytes]:
    """Return plan, deployment and the requests of one signer's part of the plan, before anything was signed."""
    document = whole()
    mine = [step.id for step in plan().steps.values() if step.signer.name == signer]
    document["requests"] = [item for item in document["requests"] if item["step"] in mine]
    document["header"] |= {"count": len(mine), "signer": signer}
    files = {name: data for name, data in offline_files().items() if name in ("plan.toml", "deployment.json")}
    return files | {"requests.json": to_bytes(document)}


def played() -> dict[str, bytes]:
    """Return the artefacts of a ceremony that was played in a rehearsal, of the online machine's report."""
    return {path.name: path.read_bytes() for path in PLAYED.iterdir()}


def online_files() -> dict[str, bytes]:
    """Return the artefacts of the online machine's report; the first and the third step have ended."""
    timeline = timeline_bytes()
    ended = {digests()[0], digests()[2]}
    return offline_files() | {
        "signatures.json": withhold(signatures_bytes(), ended),
        "online-transcript.jsonl": chain(online_events(timeline)),
        "timeline.jsonl": timeline,
    }
