"""The unmixing of mixed fragments: Gauss and Jordan's elimination over GF(2), one part at a time.

Every part that says anything new raises the rank by one, so as many new parts as fragments are always enough, nothing is
kept that is not needed, and a part that contradicts the others is noticed. Sets and fragments are held as integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Added(Enum):
    """What a part brought."""

    NEW = "new"
    KNOWN = "known"
    CONTRADICTS = "contradicts"


class Solver:
    """Equations over ``count`` unknown fragments, kept so that each solved unknown stands in no other equation."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._rows: dict[int, tuple[int, int]] = {}  # pivot: the set of unknowns, and the XOR of their values

    @property
    def rank(self) -> int:
        """How many parts have said something new."""
        return len(self._rows)

    def add(self, unknowns: Iterable[int], value: int) -> Added:
        """Take one equation: the XOR of these unknowns is ``value``. At most ``2 * rank`` XORs of work."""
        mask = 0
        for index in unknowns:
            mask |= 1 << index
        for pivot in _bits(mask):  # a pivot stands in its own row alone, so one pass over the mask will do
            if pivot in self._rows:
                row, known = self._rows[pivot]
                mask ^= row
                value ^= known
        if not mask:
            return Added.CONTRADICTS if value else Added.KNOWN
        bit = mask & -mask
        for other, (row, known) in self._rows.items():
            if row & bit:
                self._rows[other] = (row ^ mask, known ^ value)
        self._rows[bit.bit_length() - 1] = (mask, value)
        return Added.NEW

    def values(self) -> list[int] | None:
        """Return all unknowns in order, or ``None`` while some are not known."""
        return [self._rows[index][1] for index in range(self.count)] if self.rank == self.count else None


def _bits(mask: int) -> list[int]:
    digits = bin(mask)
    last = len(digits) - 1
    return [last - at for at, digit in enumerate(digits) if digit == "1"]
