"""What the transcripts say of a step from before it was signed: proofs of a delegate key, reads of a referral code."""

from __future__ import annotations

from airlock_shared.catalogue.referral_code import code_rows, code_text
from airlock_shared.documents.transcript import PROVED, Entry
from airlock_shared.report.evidence.artefacts import Evidence
from airlock_shared.report.evidence.transcript_entries import READ
from airlock_shared.report.rows import Row, moment, plain

_NOT_TOLD = {None: "not told", "": "nobody", True: "yes", False: "no"}
_FACTS = ("owner", "pending", "private")


def proofs_of(evidence: Evidence, step: str) -> list[Row]:
    """Return the proofs that a delegate has its key, as the offline machine checked them for this ceremony."""
    return [
        {"at": moment(entry.at_ms), **{name: plain(entry.data.get(name, "")) for name in ("delegate", "challenge")}}
        for entry in evidence.told("offline", PROVED, ceremony=evidence.plan.id, step=step)
    ]


def reads_of(evidence: Evidence, step: str) -> list[Row]:
    """Return what the online machine read of a step's referral code, oldest first, for this plan and no other."""
    plan = evidence.plan
    return [_read(entry) for entry in evidence.told("online", READ, ceremony=plan.id, step=step, plan=plan.fingerprint)]


def _read(entry: Entry) -> Row:
    data = entry.data
    code = _bytes(data["code"])
    return {
        "at": moment(entry.at_ms),
        "code": data["code"] if code is None else code_text(code),
        "code_rows": [] if code is None else list(code_rows(code)),
        "seen": [_seen(row) for row in data["seen"]],
        "disagreements": list(map(plain, data["disagreements"])),
        "warnings": list(map(plain, data["warnings"])),
    }


def _seen(row: Row) -> Row:
    adopted = row.get("adopted")
    code = _bytes(adopted)
    if code is not None:
        adopted = code_text(code) if any(code) else "no code"
    facts = {name: _fact(row.get(name)) for name in _FACTS}
    return {"source": row["source"], **facts, "adopted": _fact(adopted), "trouble": plain(row.get("trouble", ""))}


def _fact(value: object) -> str:
    return _NOT_TOLD[value] if value is None or value == "" or isinstance(value, bool) else plain(value)


def _bytes(text: object) -> bytes | None:
    """Return the 32 bytes of 0x-hex, or None for anything else."""
    digits = text.removeprefix("0x") if isinstance(text, str) else ""
    return bytes.fromhex(digits) if len(digits) == 64 and set(digits) <= set("0123456789abcdef") else None
