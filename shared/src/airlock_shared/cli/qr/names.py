"""The names of a document that crosses by light, as both screens show them."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.cli.document_lines import fingerprint_lines
from airlock_shared.text.safe import safe


def name_lines(kind: str, ceremony: str, fingerprint: str) -> Iterator[str]:
    """Yield the names that people compare on both screens; what has no fingerprint of ours is named without."""
    yield f"{safe(kind)}, ceremony {safe(ceremony)}" if ceremony else safe(kind)
    if fingerprint:
        yield from fingerprint_lines("document", fingerprint)
