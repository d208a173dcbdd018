"""What sender and receiver must agree on, against the values of the reference implementation and of BCR-2024-001."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.ur.fountain import (
    Sampler,
    Xoshiro256,
    fragment_length,
)
from shared.ur.messages import vectors

CONSENSUS = vectors("consensus")


@pytest.mark.parametrize("case", CONSENSUS["random"], ids=["text", "checksum"])
def test_the_random_numbers_are_the_published_ones(case: dict[str, Any]) -> None:
    seed = bytes.fromhex(case["seed_hex"]) if "seed_hex" in case else case["seed"].encode()
    random = Xoshiro256(seed)
    assert [random.next() % case["modulo"] for _ in case["numbers"]] == case["numbers"]


def test_the_random_numbers_of_a_range_are_the_published_ones() -> None:
    case = CONSENSUS["random_1_to_10"]
    random = Xoshiro256(case["seed"].encode())
    assert [random.next_int(1, 10) for _ in case["numbers"]] == case["numbers"]


@pytest.mark.parametrize(("whole", "least", "most"), [(0, 10, 100), (100, 0, 100), (100, 20, 10), (100, -1, -1)])
def test_fragments_that_cannot_be_are_refused(whole: int, least: int, most: int) -> None:
    with pytest.raises(ValueError, match="no fragment"):
        fragment_length(whole, least, most)


class _AlwaysTheEnd(Xoshiro256):
    """The one number in 2**53 that rounds up to the end of the range."""

    def next(self) -> int:
        return (1 << 64) - 1


def test_a_random_number_that_rounds_up_to_the_end_stays_in_range() -> None:
    random = _AlwaysTheEnd(b"")
    assert random.next_double() == 1.0
    assert random.next_int(0, 9) == 9
    assert Sampler([1, 2, 4, 8]).next(random) in range(4)
