"""A message as frame texts: one still code, or an endless run of parts of which any sufficient number will do."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.ur.fountain import parts
from airlock_shared.ur.fragments import fragment_length
from airlock_shared.ur.part import Part, part_text

MIN_FRAGMENT = 10  # bytes, as in the reference implementation: below it the part's own numbers outweigh it


def frames(ur_type: str, cbor: bytes, *, fragment_bytes: int, first: int = 1) -> Iterator[str]:
    """Yield the frame texts of a message in lower case, each with at most ``fragment_bytes`` bytes of it.

    A message that fits is yielded once, whole; a longer one without end, from part ``first``: the first
    :func:`frame_count` parts are its fragments, the later ones mixtures. Raises ``ValueError`` for less than ten bytes.
    """
    length = fragment_length(len(cbor), MIN_FRAGMENT, fragment_bytes)
    if length >= len(cbor):
        yield part_text(Part(ur_type, None, None, cbor))
        return
    for part in parts(cbor, length, first=first):
        yield part_text(Part(ur_type, part.seq_num, part.seq_len, part.to_cbor()))


def frame_count(cbor: bytes, fragment_bytes: int) -> int:
    """Return how many frames say a message once; one is a still code."""
    return -(-len(cbor) // fragment_length(len(cbor), MIN_FRAGMENT, fragment_bytes))
