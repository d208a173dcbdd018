"""Receiving: in any order, with losses, repetitions and strangers, and started again at any moment."""

import random
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.errors import DocumentError
from airlock_shared.ur.decode import Decoder, Message, Progress, Taken
from airlock_shared.ur.fountain import frame_count, frames
from draws import repeatable
from shared.ur.messages import bytes_payload

CBOR = bytes_payload(1000)
OTHER = bytes_payload(1000, "Fox")
FRAMES = list(islice(frames("bytes", CBOR, fragment_bytes=100), 200))


def received(texts: list[str], decoder: Decoder | None = None) -> Decoder:
    decoder = decoder or Decoder()
    for text in texts:
        decoder.receive(text)
    return decoder


def test_a_message_that_changes_midway_is_received_after_a_restart() -> None:
    others = list(islice(frames("bytes", OTHER, fragment_bytes=100), 11))
    decoder = received(FRAMES[:7] + others)
    assert decoder.progress == Progress(7, 0, 0, 11, 0, 11, 63)
    decoder.restart()
    assert decoder.progress == Progress(0, 0, 0, 0, 0, 0, 0)
    assert received(others, decoder).result == Message("bytes", OTHER)


@pytest.mark.parametrize("damage", ["ur:bytes/1-11/", "ur:bytes/aeadaolazojendeowf", FRAMES[0][:-2]])
def test_a_damaged_frame_is_named_and_ignored_until_the_next_good_one(damage: str) -> None:
    decoder = received(FRAMES[:5])
    assert decoder.receive(damage) is Taken.BAD
    assert decoder.reason.startswith("QR-")
    assert received(FRAMES[5:11], decoder).result == Message("bytes", CBOR)
    assert decoder.reason == ""


def test_progress_counts_what_is_new_repeated_and_foreign_and_is_100_at_the_end_alone() -> None:
    decoder = Decoder()
    seen = [(decoder.receive(text), decoder.progress.percent) for text in FRAMES[:11]]
    assert seen == [(Taken.USEFUL, percent) for percent in (9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 100)]
    strangers = ["", "https://example.org", "0x" + "00" * 20, "ur", "bytes/aeadaolazmjendeoti"]
    assert received([*FRAMES[:2], *FRAMES[:2], *strangers]).progress == Progress(2, 2, 5, 0, 0, 11, 18)
    mixed = received(FRAMES[:10] + FRAMES[11:60]).progress  # of which all but one say nothing new
    assert (mixed.useful, mixed.repeated) == (11, 48)


def test_a_still_code_is_a_whole_message_or_beyond_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = frames("eth-signature", CBOR, fragment_bytes=2000)
    decoder = received([text.upper()])
    assert decoder.result == Message("eth-signature", CBOR)
    assert decoder.progress == Progress(1, 0, 0, 0, 0, 1, 100)
    assert decoder.receive(text) is Taken.REPEATED
    monkeypatch.setattr("airlock_shared.ur.decode.BYTES_AT_MOST", 999)
    assert received([text]).progress == Progress(0, 0, 0, 0, 1, 0, 0)


def test_frames_whose_two_numbers_differ_are_bad() -> None:
    decoder = Decoder()
    assert decoder.receive(FRAMES[0].replace("/1-11/", "/2-11/")) is Taken.BAD
    assert decoder.receive(FRAMES[0].replace("/1-11/", "/1-12/")) is Taken.BAD
    assert decoder.reason.startswith("QR-PART: a frame has two different numbers")
    assert decoder.progress.expected == 0


@pytest.mark.parametrize("limit", [("FRAMES_AT_MOST", 10), ("BYTES_AT_MOST", 1000)])
def test_a_message_beyond_the_limits_is_ignored(monkeypatch: pytest.MonkeyPatch, limit: tuple[str, int]) -> None:
    monkeypatch.setattr(f"airlock_shared.ur.decode.{limit[0]}", limit[1])
    decoder = received(FRAMES[:30])
    assert decoder.progress == Progress(0, 0, 0, 0, 30, 0, 0)
    assert decoder.reason.startswith("QR-LIMIT: too long for codes")


def test_a_message_of_another_type_than_asked_for_is_refused() -> None:
    assert Message("bytes", b"\x40").expect("bytes") == b"\x40"
    with pytest.raises(DocumentError, match="QR-TYPE") as caught:
        Message("crypto-psbt", b"\x40").expect("bytes", "eth-signature")
    assert (caught.value.got, caught.value.expected) == ("ur:crypto-psbt", "ur:bytes or ur:eth-signature")


@repeatable
@given(st.binary(min_size=1, max_size=1500), st.integers(10, 300), st.integers(1, 10**6), st.randoms())
def test_any_message_comes_through_from_any_part_on_in_any_order(
    data: bytes, fragment_bytes: int, first: int, shuffler: random.Random
) -> None:
    texts = list(islice(frames("bytes", data, fragment_bytes=fragment_bytes, first=first), 600))
    shuffler.shuffle(texts)
    decoder = Decoder()
    for text in texts:
        assert decoder.receive(text) in (Taken.USEFUL, Taken.REPEATED)
        if decoder.result:
            break
    assert decoder.result == Message("bytes", data)
    assert decoder.progress.useful == decoder.progress.expected == frame_count(data, fragment_bytes)


@pytest.mark.parametrize(
    "text",
    [
        next(frames("bytes", OTHER, fragment_bytes=100)),
        next(frames("bytes", CBOR, fragment_bytes=90)),
        next(frames("crypto-psbt", CBOR, fragment_bytes=100)),
        next(frames("bytes", CBOR, fragment_bytes=2000)),
    ],
    ids=["another message", "another density", "another type", "as a still code"],
)
def test_a_frame_of_another_message_is_named_and_ignored(text: str) -> None:
    decoder = received(FRAMES[:5])
    assert decoder.receive(text) is Taken.MIXED
    assert decoder.reason.startswith("QR-MIXED: a frame of another message")
    assert received(FRAMES[5:11], decoder).result == Message("bytes", CBOR)
    assert decoder.receive(text) is Taken.MIXED
