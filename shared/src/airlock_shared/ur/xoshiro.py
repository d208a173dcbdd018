"""xoshiro256** as BCR-2024-001 seeds and reads it: both sides draw the same numbers from the same seed."""

from __future__ import annotations

import hashlib

_MASK = (1 << 64) - 1
_TWO_64 = 2.0**64


class Xoshiro256:
    """The generator; its state is the SHA-256 of the seed, as four big-endian words."""

    def __init__(self, seed: bytes) -> None:
        digest = hashlib.sha256(seed).digest()
        self._state = tuple(int.from_bytes(digest[i : i + 8], "big") for i in (0, 8, 16, 24))

    def next(self) -> int:
        """Return the next 64 bits."""
        a, b, c, d = self._state
        product = b * 5 & _MASK
        result = (product << 7 & _MASK | product >> 57) * 9 & _MASK
        shifted = b << 17 & _MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        self._state = (a, b, c, d << 45 & _MASK | d >> 19)
        return result

    def next_double(self) -> float:
        """Return the next number of [0, 1], as C++ divides a 64-bit integer by 2**64: the ends are both possible."""
        return self.next() / _TWO_64

    def next_int(self, low: int, high: int) -> int:
        """Return the next integer of ``low`` to ``high``, both included."""
        return low + min(int(self.next_double() * (high - low + 1)), high - low)
