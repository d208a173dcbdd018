"""What sender and receiver must agree on, against the values of the reference implementation and of BCR-2024-001."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.ur.fountain import (
    Sampler,
    Xoshiro256,
    choose_degree,
    choose_fragments,
    fragment_length,
    partition,
    shuffled,
)
from shared.ur.messages import message, next_bytes, vectors

CONSENSUS = vectors("consensus")
MESSAGE = vectors("fountain")["message_of_1024"]


@pytest.mark.parametrize("case", CONSENSUS["random"], ids=["text", "checksum"])
def test_the_random_numbers_are_the_published_ones(case: dict[str, Any]) -> None:
    seed = bytes.fromhex(case["seed_hex"]) if "seed_hex" in case else case["seed"].encode()
    random = Xoshiro256(seed)
    assert [random.next() % case["modulo"] for _ in case["numbers"]] == case["numbers"]


def test_the_random_numbers_of_a_range_are_the_published_ones() -> None:
    case = CONSENSUS["random_1_to_10"]
    random = Xoshiro256(case["seed"].encode())
    assert [random.next_int(1, 10) for _ in case["numbers"]] == case["numbers"]


def test_the_random_bytes_are_the_published_ones() -> None:
    case = CONSENSUS["bytes"]
    random = Xoshiro256(case["seed"].encode())
    first, then = next_bytes(random, 10), next_bytes(random, 10)
    assert (first.hex(), then.hex()) == (case["first"], case["then"])
    assert bytes(a ^ b for a, b in zip(first, then, strict=True)).hex() == case["xor"]


def test_the_message_of_the_published_tests_is_made_here_too() -> None:
    assert message(1024, MESSAGE["seed"]).hex() == MESSAGE["hex"]


def test_alias_sampling_draws_the_published_samples() -> None:
    case = CONSENSUS["sampler"]
    random, sampler = Xoshiro256(case["seed"].encode()), Sampler(case["weights"])
    assert [sampler.next(random) for _ in case["samples"]] == case["samples"]


def test_shuffling_gives_the_published_orders() -> None:
    case = CONSENSUS["shuffle"]
    random = Xoshiro256(case["seed"].encode())
    assert [shuffled(case["items"], random, 10) for _ in case["ten_times"]] == case["ten_times"]
    partly = [shuffled(case["items"], Xoshiro256(case["seed"].encode()), count) for count in range(1, 11)]
    assert partly == case["partly"]


@pytest.mark.parametrize("case", CONSENSUS["fragment_length"], ids=lambda case: str(case["at_most"]))
def test_the_length_of_fragments_is_the_published_one(case: dict[str, int]) -> None:
    assert fragment_length(case["message"], case["at_least"], case["at_most"]) == case["length"]


@pytest.mark.parametrize(("whole", "least", "most"), [(0, 10, 100), (100, 0, 100), (100, 20, 10), (100, -1, -1)])
def test_fragments_that_cannot_be_are_refused(whole: int, least: int, most: int) -> None:
    with pytest.raises(ValueError, match="no fragment"):
        fragment_length(whole, least, most)


def test_a_message_is_cut_as_published_and_joins_again() -> None:
    case = CONSENSUS["partition"]
    whole = message(case["message"], case["seed"])
    fragments = partition(whole, fragment_length(len(whole), case["at_least"], case["at_most"]))
    assert [fragment.hex() for fragment in fragments] == case["fragments"]
    assert b"".join(fragments)[: len(whole)] == whole


def test_the_degrees_are_the_published_ones() -> None:
    case = CONSENSUS["degrees"]
    drawn = [choose_degree(case["seq_len"], Xoshiro256(f"Wolf-{nonce}".encode())) for nonce in range(1, 201)]
    assert drawn == case["degrees"]


def test_the_degrees_of_one_generator_are_the_published_ones() -> None:
    case = CONSENSUS["degrees_of_one_generator"]
    random = Xoshiro256(case["seed"].encode())
    assert [choose_degree(case["seq_len"], random) for _ in case["degrees"]] == case["degrees"]


def test_the_chosen_fragments_are_the_published_ones() -> None:
    case = CONSENSUS["fragments"]
    chosen = [choose_fragments(number, case["seq_len"], int(MESSAGE["crc32"], 16)) for number in range(1, 51)]
    assert [sorted(indexes) for indexes in chosen] == case["chosen"]
    assert all(len(set(indexes)) == len(indexes) for indexes in chosen)


class _AlwaysTheEnd(Xoshiro256):
    """The one number in 2**53 that rounds up to the end of the range."""

    def next(self) -> int:
        return (1 << 64) - 1


def test_a_random_number_that_rounds_up_to_the_end_stays_in_range() -> None:
    random = _AlwaysTheEnd(b"")
    assert random.next_double() == 1.0
    assert random.next_int(0, 9) == 9
    assert Sampler([1, 2, 4, 8]).next(random) in range(4)
