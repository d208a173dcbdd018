"""The parts of a message that needs several frames (BCR-2024-001, "Part Serialization" and "The Encoder")."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import NamedTuple

from airlock_shared.ur.fragments import choose_fragments, partition
from airlock_shared.wire.cbor import read, write
from airlock_shared.wire.codec import damaged

_NUMBERS = 4
_MAX_ITEMS = 8  # the array and its five, and a little more, so that a longer array is named as what it is
_MOST = (1 << 32) - 1


class FountainPart(NamedTuple):
    """A part: its number (from 1), the number of fragments, the message's length and CRC-32, the mixed fragments."""

    seq_num: int
    seq_len: int
    message_len: int
    checksum: int
    data: bytes

    def to_cbor(self) -> bytes:
        """Return the part's CBOR form, an array of five."""
        return write(list(self))

    @classmethod
    def from_cbor(cls, cbor: bytes) -> FountainPart:
        """Return the part of a CBOR form. Raises ``DocumentError`` with ``QR-CBOR`` or ``QR-PART``."""
        members = read(cbor, max_items=_MAX_ITEMS, max_depth=1)
        if type(members) is not list or len(members) != _NUMBERS + 1 or type(members[-1]) is not bytes:
            raise damaged("QR-PART", "not a part of a message", expected="four numbers and bytes")
        if any(type(number) is not int or not 0 <= number <= _MOST for number in members[:-1]):
            raise damaged("QR-PART", "a part's number is no 32-bit number")
        part = cls(*members)
        if 0 in part[:3] or not part.data or part.seq_len != -(-part.message_len // len(part.data)):
            got = f"{part.seq_len} fragments of {len(part.data)} bytes for {part.message_len} bytes"
            raise damaged("QR-PART", "a part's lengths disagree", got=got)
        return part

    @property
    def message(self) -> tuple[int, int, int, int]:
        """What all parts of one message have in common."""
        return self.seq_len, self.message_len, self.checksum, len(self.data)


def parts(message: bytes, length: int, *, first: int = 1) -> Iterator[FountainPart]:
    """Yield the parts of a message cut into fragments of ``length`` bytes, from part ``first``, for as long as asked."""
    fragments = [int.from_bytes(fragment, "big") for fragment in partition(message, length)]
    checksum = zlib.crc32(message)
    for seq_num in range(first, _MOST + 1):
        mixed = 0
        for index in choose_fragments(seq_num, len(fragments), checksum):
            mixed ^= fragments[index]
        yield FountainPart(seq_num, len(fragments), len(message), checksum, mixed.to_bytes(length, "big"))
