"""The transcript on the disk of one machine: read whole with its chain verified, and only ever appended to."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from airlock_shared.documents.transcript import GENESIS, Entry, next_entry, read_entries
from airlock_shared.host.files import append_line, locked, make_folder, read_input, told
from airlock_shared.text.secrets import redact

MAX_BYTES = 256 << 20


def read_transcript(path: Path) -> list[Entry]:
    """Return the entries of a transcript file. Raises ``DocumentError("DOC-CHAIN")`` when the chain breaks."""
    return read_entries(read_input(path, max_bytes=MAX_BYTES).splitlines())


class TranscriptFile:
    """A machine's own transcript."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last: Entry | None = None  # and the mark of the file that it ends
        self._mark = (0, 0, 0)

    def entries(self) -> list[Entry]:
        """Return the entries so far; none when the file is not there yet. Raises as :func:`read_transcript`."""
        return read_transcript(self.path) if self.path.exists() else []

    def head(self) -> str:
        """Return the hash of the last entry, or 64 zeros."""
        entries = self.entries()
        return entries[-1].hash if entries else GENESIS

    def record(self, event: str, data: dict[str, Any], at_ms: int) -> Entry:
        """Append an entry, on the disk before this returns; ``at_ms`` is unix milliseconds.

        Another process that appends waits for its turn, so that the chain stays one. What this object has appended itself
        is not read again while the file is as it was left.
        """
        with _alone(make_folder(self.path.parent)):
            return self._append(event, data, at_ms)

    def record_after(self, head: str, event: str, data: dict[str, Any], at_ms: int) -> Entry | None:
        """Append an entry as :meth:`record` does, but only while ``head`` is the last entry's hash; otherwise None.

        What is said about a transcript as a whole is true of the one that was looked at, and of no later one.
        """
        with _alone(make_folder(self.path.parent)):
            self._look()
            if head != (self._last.hash if self._last else GENESIS):
                return None
            return self._append(event, data, at_ms)

    def _look(self) -> None:
        """Read the file again when somebody else has written to it."""
        if self._last is None or _mark(self.path) != self._mark:
            entries = self.entries()
            self._last = entries[-1] if entries else None

    def _append(self, event: str, data: dict[str, Any], at_ms: int) -> Entry:
        self._look()
        entry = next_entry(self._last, at_ms, event, json.loads(redact(json.dumps(data))))
        append_line(self.path, entry.line())
        self._last, self._mark = entry, _mark(self.path)
        return entry


def _mark(path: Path) -> tuple[int, int, int]:
    """Return what changes when somebody else writes to a file, or takes it away."""
    if not path.exists():
        return 0, 0, 0
    status = path.lstat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _alone(folder: Path) -> AbstractContextManager[None]:
    """Keep other processes out that do the same with this folder. Raises ``UsageError`` when it cannot be locked."""
    with told(f"{folder} cannot be opened", "check its permissions"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return locked(descriptor, folder)
