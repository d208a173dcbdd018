"""What is shown: one UR message, the names that people compare, and its frames as upper-case texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple
from zlib import crc32

from airlock_shared.errors import UsageError
from airlock_shared.qr.symbol import DENSITIES, fragment_bytes_for
from airlock_shared.ur.decode import TransferLimits
from airlock_shared.ur.envelope import UR_TYPE
from airlock_shared.ur.fountain import choose_fragments, frame_count, frames

DEFAULT_PAUSE_MS = 200  # loses the fewest captures between two frames; shorter brings nothing

ROUNDS = 3  # how many times the ideal number of fountain parts are made before a finite picture begins again
_LAST_NUMBER = 99_999  # of a part: its text and its CBOR stay within what the symbol has room for
_DENSE_UP_TO = 128  # parts of a message: beyond it large mixtures take long to make, and bring less


class Transfer(NamedTuple):
    """A message to show. ``kind`` is a document's format or a UR type; ``fingerprint`` is 64 hex digits or empty."""

    ur_type: str
    cbor: bytes
    kind: str
    ceremony: str
    fingerprint: str


def ideal_count(transfer: Transfer, version: int) -> int:
    """Return how many frames carry the message when none is lost; 1 is a single still code."""
    return frame_count(transfer.cbor, fragment_bytes_for(version, transfer.ur_type))


def densities_of(transfer: Transfer) -> list[int]:
    """Return the versions to choose from: those whose number of frames a receiver accepts, and one alone for a still code.

    Raises ``UsageError`` when there is none.
    """
    counts = {version: ideal_count(transfer, version) for version in DENSITIES}
    still = [version for version, count in counts.items() if count == 1][1:]  # the smallest carries it all
    versions = [
        version for version, count in counts.items() if count <= TransferLimits().seq_len and version not in still
    ]
    if not versions or len(transfer.cbor) > TransferLimits().message_bytes:
        raise UsageError(f"{len(transfer.cbor)} bytes are too many for codes", do="carry it as a file")
    return versions


def endless_texts(transfer: Transfer, version: int) -> Iterator[str]:
    """Yield frame texts for symbols of up to ``version``: the plain parts in turn, then mixtures without end.

    Of our own documents, up to 128 parts long, only the mixtures of at least a third of the fragments are shown: a receiver
    that solves for all fragments at once, as ours does, then needs about 1.1 times the ideal instead of 1.25.
    Every part shown is one of BCR-2024-001. Other wallets' messages get all of them: their receivers may need small ones.
    """
    fragment_bytes = fragment_bytes_for(version, transfer.ur_type)
    count, checksum = frame_count(transfer.cbor, fragment_bytes), crc32(transfer.cbor)
    least = count / 3 if transfer.ur_type == UR_TYPE and count <= _DENSE_UP_TO else 0
    while True:
        texts = frames(transfer.ur_type, transfer.cbor, fragment_bytes=fragment_bytes)
        for number, text in enumerate(islice(texts, _LAST_NUMBER), start=1):
            if number <= count or len(choose_fragments(number, count, checksum)) >= least:
                yield text.upper()


def cycle_texts(transfer: Transfer, version: int) -> list[str]:
    """Return the texts of a finite picture that is played over and over: one, or :data:`ROUNDS` times the ideal number."""
    count = ideal_count(transfer, version)
    return list(islice(endless_texts(transfer, version), 1 if count == 1 else ROUNDS * count))
