"""Alias sampling (Walker's method, as Schwarz describes it): a weighted choice from two random numbers.

Both sides must do the same floating-point operations in the same order, or they mix other fragments than the other thinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from airlock_shared.ur.xoshiro import Xoshiro256


class Sampler:
    """Chooses an index, each as often as its weight says."""

    def __init__(self, weights: Sequence[float]) -> None:
        count = len(weights)
        total = reduce(add, weights, 0.0)  # not sum(): newer Pythons correct its rounding
        scaled = [weight * count / total for weight in weights]
        small = [i for i in reversed(range(count)) if scaled[i] < 1]
        large = [i for i in reversed(range(count)) if scaled[i] >= 1]
        self._chances = [1.0] * count
        self._aliases = [0] * count
        while small and large:
            less, more = small.pop(), large.pop()
            self._chances[less] = scaled[less]
            self._aliases[less] = more
            scaled[more] += scaled[less] - 1
            (small if scaled[more] < 1 else large).append(more)

    def next(self, random: Xoshiro256) -> int:
        """Return the next index; it draws twice."""
        first, second = random.next_double(), random.next_double()
        index = min(int(len(self._chances) * first), len(self._chances) - 1)
        return index if second < self._chances[index] else self._aliases[index]
