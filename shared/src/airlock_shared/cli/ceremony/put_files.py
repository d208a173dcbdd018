"""A document that came or goes, put into a folder: whole, and never over another."""

from __future__ import annotations

from pathlib import Path

from airlock_shared.cli.console import led, say
from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input, write_new
from airlock_shared.host.transcript_file import MAX_BYTES
from airlock_shared.text.safe import safe


def put(path: Path, data: bytes) -> None:
    """Write a file and tell of it; one that is the same stays. Raises ``UsageError`` for one that is not."""
    if path.exists() and read_input(path, max_bytes=MAX_BYTES) == data:
        if not led():
            say(f"{safe(path.name)} is there already, and the same.")
        return
    if path.exists():
        raise UsageError(
            f"{path} is there already, and it is another document",
            do="find out which is right; move the other one away, or use an empty folder",
        )
    write_new(path, data)
    if not led():
        say(f"Wrote {safe(path.name)}")
