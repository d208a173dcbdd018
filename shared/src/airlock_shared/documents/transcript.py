"""The hash-chained record of a ceremony: one JSON line an entry, each sealing all before it.

``hash = SHA-256(previous hash || deterministic CBOR of {seq, at_ms, event, data})``; the first ``previous`` is 32 zero
bytes. Changing, dropping or moving a line breaks every hash after it; the head is compared with the other machine's paper.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.wire.strict_json import JsonObject, parse_json, read_members, to_cbor

GENESIS = "0" * 64
MAX_LINE_BYTES = 1 << 20
_ENTRY = {"seq": int, "at_ms": int, "event": str, "data": dict, "hash": str}


class Entry(NamedTuple):
    """One entry: its place, its unix time in milliseconds, what happened, and the hash that seals it."""

    seq: int
    at_ms: int
    event: str
    data: JsonObject
    hash: str

    def line(self) -> bytes:
        """Return the entry as its JSON line, UTF-8, without the newline."""
        return json.dumps(self._asdict(), ensure_ascii=False, separators=(",", ":")).encode()


def next_entry(last: Entry | None, at_ms: int, event: str, data: JsonObject) -> Entry:
    """Return the entry that follows ``last`` (None: the first one), of unix ms ``at_ms``.

    It belongs into the file before anything else happens.
    """
    seq, previous = (last.seq + 1, last.hash) if last else (0, GENESIS)
    body = to_cbor({"seq": seq, "at_ms": at_ms, "event": event, "data": data})
    return Entry(seq, at_ms, event, data, hashlib.sha256(bytes.fromhex(previous) + body).hexdigest())


def read_entries(lines: Iterable[bytes]) -> list[Entry]:
    """Return the entries of a transcript whose chain holds.

    Raises ``DocumentError("DOC-CHAIN")`` naming the first line at which it does not, or another ``DOC`` error.
    """
    entries: list[Entry] = []
    for number, line in enumerate(lines, start=1):
        try:
            value = read_members(parse_json(line, max_bytes=MAX_LINE_BYTES), f"line {number}", _ENTRY)
        except DocumentError as error:
            if number == 1:  # perhaps no transcript at all: the reader's own words say more
                raise
            raise _broken(number, f"it was cut short or changed ({error.check})") from error
        entry = Entry(**value)
        expected = next_entry(entries[-1] if entries else None, entry.at_ms, entry.event, entry.data)
        if entry.seq != expected.seq:
            raise _broken(number, f"entry {expected.seq} is missing or out of place")
        if entry.hash != expected.hash:
            raise _broken(number, "it, or a line before it, was changed")
        entries.append(entry)
    return entries


def machine_of(entries: Sequence[Entry]) -> str:
    """Return the id of the machine that keeps a transcript, 64 hex digits: its first entry's hash; empty before that.

    A copy of the machine has the same id for as long as it has that entry.
    """
    return entries[0].hash if entries else ""


SENDING = "sending"
"""The online machine's event before each sending: ``digest`` (0x-hex) of what was signed, ``step``, ``route``."""
TOO_LATE = "too_late"
"""A member of that machine's event ``outcome``, true where a signature was not sent, because its deadline had passed."""
PROVED = "delegate-proved"
"""The event: ``ceremony``, ``step``, ``delegate`` (EIP-55), ``challenge`` (SHA-256 of the text signed, hex)."""


def proved(entries: Iterable[Entry]) -> frozenset[str]:
    """Return the challenges (SHA-256, hex) whose proofs this machine's transcript says that it has checked."""
    return frozenset(str(entry.data.get("challenge")) for entry in entries if entry.event == PROVED)


def _broken(line: int, why: str) -> DocumentError:
    return DocumentError(
        "DOC-CHAIN",
        f"the transcript's chain breaks at line {line}: {why}",
        do="do not go on; keep the file as evidence and tell the facilitator",
    )
