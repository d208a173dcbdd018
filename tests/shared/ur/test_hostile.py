"""Hostile frames and documents: a named refusal or an ignored frame, in bounded time, within 64 MiB."""

import sys
from pathlib import Path

import pytest

from commands import run_command
from shared.ur import hostile

TESTS = Path(__file__).resolve().parents[2]

WHAT_BECAME_OF = {
    "a_milliard_frames": "nothing; 500 bad QR-LIMIT; 500 bad QR-PART",
    "frames_of_ten_thousand_messages": "nothing; 1 useful; 9999 mixed QR-MIXED",
    "random_texts": "nothing; 10000 bad QR-FORM; 10000 foreign a QR code",
    "random_parts": "nothing; 128 bad QR-PART; 19872 bad QR-CBOR",
    "texts_without_end": "nothing; 100 bad QR-LIMIT; 100 foreign a QR code",
    "the_densest_parts": "nothing; 1 bad QR-CRC; 3 mixed QR-MIXED; 528 useful",
    "the_longest_message": "whole; 4096 useful",
    "two_hundred_mib": "QR-INFLATE",
    "empty_lists": "QR-CBOR",
    "lists_in_lists": "QR-CBOR",
    "as_many_items_as_allowed": "airlock/hostile@1",
    "texts_that_grow_as_json": "airlock/hostile@1",
}


@pytest.mark.parametrize("case", WHAT_BECAME_OF)
def test_what_a_hostile_screen_shows_is_ignored_or_refused_within_64_mib(case: str) -> None:
    environment = {"PYTHONPATH": f"{TESTS}:{':'.join(sys.path)}", "PATH": ""}
    done = run_command(sys.executable, hostile.__file__, case, env=environment)
    assert (done.code, done.out.strip()) == (0, WHAT_BECAME_OF[case]), done.err[-2000:]
