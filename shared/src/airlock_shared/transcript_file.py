"""The transcript on the disk of one machine: read whole with its chain verified, and only ever appended to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airlock_shared.files import append_line, make_folder, read_input
from airlock_shared.transcript import GENESIS, Entry, next_entry, read_entries

MAX_BYTES = 256 << 20


def read_transcript(path: Path) -> list[Entry]:
    """Return the entries of a transcript file. Raises ``DocumentError("DOC-CHAIN")`` when the chain breaks."""
    return read_entries(read_input(path, max_bytes=MAX_BYTES).splitlines())


class TranscriptFile:
    """A machine's own transcript."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self) -> list[Entry]:
        """Return the entries so far; none when the file is not there yet. Raises as :func:`read_transcript`."""
        return read_transcript(self.path) if self.path.exists() else []

    def head(self) -> str:
        """Return the hash of the last entry, or 64 zeros."""
        entries = self.entries()
        return entries[-1].hash if entries else GENESIS

    def record(self, event: str, data: dict[str, Any], at_ms: int) -> Entry:
        """Append an entry, on the disk before this returns; ``at_ms`` is unix milliseconds."""
        make_folder(self.path.parent)
        entries = self.entries()
        entry = next_entry(entries[-1] if entries else None, at_ms, event, data)
        append_line(self.path, entry.line())
        return entry
