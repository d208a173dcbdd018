"""Bytewords and CRC-32 against the published values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.errors import DocumentError
from airlock_shared.ur.fountain import checksum, decode_bytewords, encode_bytewords
from draws import repeatable
from shared.ur.messages import vectors

GOOD: list[dict[str, Any]] = vectors("bytewords")["good"]
BAD: list[dict[str, str]] = vectors("bytewords")["bad"]


@pytest.mark.parametrize("case", vectors("bytewords")["crc32"], ids=lambda case: case["text"])
def test_the_checksum_is_the_published_one(case: dict[str, str]) -> None:
    assert checksum(case["text"].encode()).hex() == case["crc32"]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case["minimal"][:12])
def test_bytes_become_the_published_words_and_back(case: dict[str, str]) -> None:
    data = bytes.fromhex(case["hex"])
    assert encode_bytewords(data) == case["minimal"]
    assert decode_bytewords(case["minimal"]) == data


@pytest.mark.parametrize("case", BAD, ids=lambda case: case["why"])
def test_words_that_are_not_right_are_refused(case: dict[str, str]) -> None:
    with pytest.raises(DocumentError) as caught:
        decode_bytewords(case["text"])
    assert caught.value.check == case["refusal"]


@repeatable
@given(st.binary(min_size=1, max_size=40), st.data())
def test_any_one_changed_letter_is_noticed(data: bytes, drawn: st.DataObject) -> None:
    text = encode_bytewords(data)
    place = drawn.draw(st.integers(0, len(text) - 1))
    letter = drawn.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz").filter(lambda letter: letter != text[place]))
    with pytest.raises(DocumentError, match=r"QR-FORM|QR-CRC"):
        decode_bytewords(text[:place] + letter + text[place + 1 :])
