"""What a scan has read, kept in a file: an interrupted scan goes on from there. One frame's text a line, synced as it comes.

A line that a power cut left half written is a frame that is damaged: its checksum says so, and it is ignored. The file may
hold signatures that are not submitted yet: its mode is 0600, and it is taken away when the transfer is complete.
"""

from __future__ import annotations

from pathlib import Path

from airlock_shared.host.files import append_line, read_input
from airlock_shared.ur.frames import MAX_TEXT

MAX_KEPT_BYTES = 32 << 20


class KeptFrames:
    """The useful frames of one transfer, in a file that need not exist; without a path, in memory alone."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    def texts(self) -> list[str]:
        """Return what an earlier scan kept. Raises ``DocumentError`` or ``UsageError`` when the file cannot be read."""
        if self._path is None or not self._path.exists():
            return []
        lines = read_input(self._path, max_bytes=MAX_KEPT_BYTES).decode("ascii", "replace").splitlines()
        return [line for line in lines if 0 < len(line) <= MAX_TEXT]

    def add(self, text: str) -> None:
        """Keep a frame's text. Raises ``UsageError`` when it cannot be written."""
        if self._path is not None:
            append_line(self._path, text.encode("ascii"))

    def forget(self) -> None:
        """Take the file away."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
