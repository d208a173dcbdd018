"""A transcript as a report reads it: the chain holds, and every entry that the report looks into has its form.

The transcript of the other machine is input like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airlock_shared.documents.transcript import Entry, read_entries
from airlock_shared.errors import DocumentError
from airlock_shared.wire.members import read_list, read_members, read_some

READ = "referral-read"
"""The online transcript's event: ``ceremony``, ``plan``, ``step``, ``code`` (0x-hex), ``seen``, and two lists of texts."""

_ENTRY = {"seq": int, "at_ms": int, "event": str, "data": dict, "hash": str}
_FORMS: dict[str, dict[str, type]] = {
    "clock-stated": {"uncertainty_s": int},
    "outcome": {"digest": str},
    "struct-pinned": {"deployment": str},
    **{event: {"step": str, "digest": str} for event in ("signing", "signed", "signed-late", "not-signed")},
    READ: {"code": str, "seen": list, "disagreements": list, "warnings": list},
}
_PROMISE = {"what": str, "promised": str, "found": str}
_SOURCES_AT_MOST = 20


def read_transcript(data: bytes) -> list[Entry]:
    """Return the entries. Raises ``DocumentError``: ``DOC-CHAIN`` where the chain breaks, ``DOC-FIELD`` and the like."""
    entries = read_entries(data.splitlines())
    for entry in entries:
        where = f"transcript entry {entry.seq}"
        read_members(entry._asdict(), where, _ENTRY)
        read_some(entry.data, where, _FORMS.get(entry.event, {}))
        if entry.event == "outcome":
            _check_read_back(entry.data.get("read_back", []), where)
        if entry.event == READ:
            for seen in read_list(entry.data["seen"], where, _SOURCES_AT_MOST):
                read_some(seen, f"{where}.seen", {"source": str})
    return entries


def _check_read_back(value: Any, where: str) -> None:
    read_members({"read_back": value}, where, {"read_back": list})
    for promise in value:
        read_some(promise, f"{where}.read_back", _PROMISE)
        if type(promise.get("kept")) not in (bool, type(None)):
            raise DocumentError("DOC-FIELD", f"{where}.read_back does not say whether a promise was kept")


def stated_uncertainty_ms(entries: Sequence[Entry]) -> int:
    """Return by how much a clock may be wrong, as a person stated it last; 0 where nobody did."""
    stated = [int(entry.data["uncertainty_s"]) for entry in entries if entry.event == "clock-stated"]
    return 1000 * stated[-1] if stated else 0
