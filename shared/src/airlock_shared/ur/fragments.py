"""How a message is cut, and which of its fragments a part mixes (BCR-2024-001, "The Consensus Stack").

Sender and receiver derive the choice from the part's number and the message's checksum alone, so nothing of it is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from airlock_shared.ur.sampler import Sampler
from airlock_shared.ur.xoshiro import Xoshiro256

_T = TypeVar("_T")


def fragment_length(message_bytes: int, at_least: int, at_most: int) -> int:
    """Return the length that gives the fewest fragments of ``at_least`` to ``at_most`` bytes.

    Raises ``ValueError`` for bounds that no length can keep, or an empty message.
    """
    if not 0 < at_least <= at_most or message_bytes < 1:
        message = f"no fragment of {message_bytes} bytes is {at_least} to {at_most} bytes long"
        raise ValueError(message)
    most = max(message_bytes // at_least, 1)
    count = min(_pieces(message_bytes, at_most), most)
    return _pieces(message_bytes, count)


def _pieces(whole: int, piece: int) -> int:
    return -(-whole // piece)


def partition(message: bytes, length: int) -> list[bytes]:
    """Return the message in fragments of one length; the last is filled with zeros."""
    return [message[at : at + length].ljust(length, b"\0") for at in range(0, len(message), length)]


def choose_fragments(seq_num: int, seq_len: int, checksum: int) -> list[int]:
    """Return the indexes of the fragments that part ``seq_num`` (from 1) of ``seq_len`` fragments mixes.

    The first ``seq_len`` parts are the fragments themselves; each later one mixes a drawn number of drawn fragments.
    """
    if seq_num <= seq_len:
        return [seq_num - 1]
    random = Xoshiro256(seq_num.to_bytes(4, "big") + checksum.to_bytes(4, "big"))
    degree = choose_degree(seq_len, random)
    return shuffled(range(seq_len), random, degree)


def choose_degree(seq_len: int, random: Xoshiro256) -> int:
    """Return how many fragments a part mixes: 1 to ``seq_len``, ``n`` with a weight of 1/n."""
    return _degrees(seq_len).next(random) + 1


@lru_cache(maxsize=8)  # a transfer has one length; a foreign frame may bring another
def _degrees(seq_len: int) -> Sampler:
    return Sampler([1 / degree for degree in range(1, seq_len + 1)])


def shuffled(items: Sequence[_T], random: Xoshiro256, count: int) -> list[_T]:
    """Return ``count`` items in a drawn order (Fisher and Yates)."""
    remaining = list(items)
    return [remaining.pop(random.next_int(0, len(remaining) - 1)) for _ in range(count)]
