"""Parts, URs and bytewords as published; a blend that no checksum notices."""

from __future__ import annotations

import zlib
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.errors import DocumentError
from airlock_shared.ur.decode import Decoder, Taken
from airlock_shared.ur.envelope import unwrap
from airlock_shared.ur.fountain import (
    MAX_TEXT,
    FountainPart,
    Part,
    checksum,
    decode_bytewords,
    encode_bytewords,
    fragment_length,
    frame_count,
    frames,
    parse_part,
    part_text,
    parts,
)
from airlock_shared.wire.cbor import write
from airlock_shared.wire.strict_json import fingerprint, parse_json, to_cbor
from draws import repeatable
from shared.ur.messages import bytes_payload, message, vectors

# ---- parts and URs, byte for byte as the reference implementation writes them ---------------------------------------


FOUNTAIN = vectors("fountain")


def test_the_parts_of_a_message_are_the_published_ones() -> None:
    case = FOUNTAIN["parts"]
    whole = message(case["message"], case["seed"])
    made = list(islice(parts(whole, fragment_length(len(whole), 10, case["at_most"])), len(case["parts"])))
    assert [{**part._asdict(), "data": part.data.hex()} for part in made] == case["parts"]
    assert [part.to_cbor().hex() for part in made] == case["cbor"]
    assert [FountainPart.from_cbor(bytes.fromhex(cbor)) for cbor in case["cbor"]] == made


BAD_TEXTS = {
    "nothing": "",
    "a scheme alone": "ur:",
    "no payload": "ur:bytes/",
    "no type": "ur:/aeadaolazmjendeoti",
    "a type with an underscore": "ur:by_tes/aeadaolazmjendeoti",
    "a type of 65 letters": f"ur:{'a' * 65}/aeadaolazmjendeoti",
    "number zero": "ur:bytes/0-9/aeadaolazmjendeoti",
    "length zero": "ur:bytes/1-0/aeadaolazmjendeoti",
    "a leading zero": "ur:bytes/01-9/aeadaolazmjendeoti",
    "four components": "ur:bytes/1-9/aeadaolazmjendeoti/aeadaolazmjendeoti",
    "digits of another script": "ur:bytes/١-9/aeadaolazmjendeoti",
    "a letter that becomes ASCII in lower case": part_text(Part("bytes", None, None, bytes([128, 130]))).replace(
        "k", "\u212a"
    ),
    "a line break at its end": "ur:bytes/aeadaolazmjendeoti\n",
    "words that are none": "ur:bytes/aeadaolazmjendeotq",
    "an odd letter": "ur:bytes/aeadaolazmjendeot",
}


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_a_text_that_is_no_frame_is_refused(text: str) -> None:
    with pytest.raises(DocumentError, match="QR-FORM"):
        parse_part(text)


@pytest.mark.parametrize(
    "rest", ["ae" * MAX_TEXT, "4294967296-9/aeadaolazmjendeoti", "1-4294967296/aeadaolazmjendeoti"]
)
def test_a_frame_beyond_all_measure_is_refused(rest: str) -> None:
    with pytest.raises(DocumentError, match="QR-LIMIT"):
        parse_part(f"ur:bytes/{rest}")


BAD_PARTS: dict[str, Any] = {
    "a number alone": 7,
    "four members": [1, 9, 256, 1],
    "a text as data": [1, 9, 256, 1, "x" * 29],
    "data that is missing": [1, 9, 256, 1, 2],
    "no data": [1, 9, 256, 1, b""],
    "part zero": [0, 9, 256, 1, bytes(29)],
    "a number that is true": [True, 9, 256, 1, bytes(29)],
    "a checksum of 33 bits": [1, 9, 256, 1 << 32, bytes(29)],
    "too many fragments for the message": [1, 10, 256, 1, bytes(29)],
    "no fragments": [1, 0, 0, 1, bytes(29)],
    "a message of nothing": [1, 1, 0, 1, bytes(29)],
    "a milliard fragments": [1, 10**9, 256, 1, bytes(29)],
}


@pytest.mark.parametrize("members", BAD_PARTS.values(), ids=BAD_PARTS.keys())
def test_a_part_that_does_not_fit_together_is_refused(members: Any) -> None:
    with pytest.raises(DocumentError, match="QR-PART"):
        FountainPart.from_cbor(write(members))


@pytest.mark.parametrize("fragment_bytes", [9, 0, -1])
def test_fragments_smaller_than_their_own_numbers_are_refused(fragment_bytes: int) -> None:
    with pytest.raises(ValueError, match="no fragment"):
        next(frames("bytes", bytes_payload(256), fragment_bytes=fragment_bytes))


@pytest.mark.parametrize("case", FOUNTAIN["single"], ids=lambda case: case["type"])
def test_a_still_code_is_the_published_one(case: dict[str, Any]) -> None:
    cbor = bytes.fromhex(case["cbor"]) if "cbor" in case else bytes_payload(case["message"], case["seed"])
    assert list(frames(case["type"], cbor, fragment_bytes=100)) == [case["ur"]]
    assert parse_part(case["ur"]) == Part(case["type"], None, None, cbor)
    assert frame_count(cbor, 100) == 1


def test_the_frames_of_a_message_are_the_published_ones() -> None:
    case = FOUNTAIN["multi"]
    cbor = bytes_payload(case["message"], case["seed"])
    made = frames(case["type"], cbor, fragment_bytes=case["at_most"])
    assert list(islice(made, len(case["urs"]))) == case["urs"]
    assert [part_text(parse_part(text.upper())) for text in case["urs"]] == case["urs"]
    assert frame_count(cbor, case["at_most"]) == 9


@pytest.mark.parametrize("cbor", ["", "850109", "8501091901000141", "9f01ff", "5b7fffffffffffffff"])
def test_a_part_that_is_not_cbor_is_refused(cbor: str) -> None:
    with pytest.raises(DocumentError, match="QR-CBOR"):
        FountainPart.from_cbor(bytes.fromhex(cbor))


# ---- bytewords and CRC-32 against the published values --------------------------------------------------------------


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


# ---- A blend of two messages that no checksum notices: what decides is the whole document's fingerprint -------------


FRAGMENT = 100
FREE = 64  # letters of free text, each with one free bit: more than CRC-32 has


def stored(amount: str, filler: str) -> bytes:
    """A true envelope of a document, its deflate stream stored and not compressed, so that the text is in plain sight."""
    document = {
        "format": "airlock/requests@1",
        "header": {"ceremony": "blend", "note": "x" * 300},
        "requests": [{"amount": amount, "meta": filler}],
    }
    packer = zlib.compressobj(0, zlib.DEFLATED, -15)
    stream = packer.compress(to_cbor(["blend", document])) + packer.flush()
    return write(write([1, bytes.fromhex(fingerprint(document)), stream]))


def neutral_filler(first: bytes, at: int) -> str:
    """Letters for the second document that make the blend's CRC-32 the first message's: CRC-32 is linear."""
    plain = first[:at] + stored("9000000", "a" * FREE)[at:]
    assert len(plain) == len(first)
    basis: list[tuple[int, int]] = []  # an effect on the checksum, and the letters that have it
    for letter in range(FREE):
        text = "".join("c" if place == letter else "a" for place in range(FREE))
        changed = first[:at] + stored("9000000", text)[at:]
        effect, letters = zlib.crc32(changed) ^ zlib.crc32(plain), 1 << letter
        for known, others in basis:
            if effect ^ known < effect:
                effect, letters = effect ^ known, letters ^ others
        if effect:
            basis.append((effect, letters))
            basis.sort(reverse=True)
    left, chosen = zlib.crc32(plain) ^ zlib.crc32(first), 0
    for known, letters in basis:
        if left ^ known < left:
            left, chosen = left ^ known, chosen ^ letters
    assert left == 0
    return "".join("c" if chosen >> place & 1 else "a" for place in range(FREE))


def relabelled(text: str, checksum: int) -> str:
    """A frame of the second message that says that it is of the first."""
    part = parse_part(text)
    inner = FountainPart.from_cbor(part.payload)._replace(checksum=checksum)
    return part_text(Part(part.type, part.seq_num, part.seq_len, inner.to_cbor()))


@pytest.fixture(scope="module")
def two_messages() -> tuple[bytes, bytes, int]:
    """Two true envelopes, and the fragment from which on their blend has the checksum of the first."""
    first = stored("1000000", "a" * FREE)
    fragments = -(-len(first) // FRAGMENT)
    length = -(-len(first) // fragments)
    start = first.index(b"amount") // length  # the whole difference but the fingerprint lies behind
    second = stored("9000000", neutral_filler(first, start * length))
    return first, second, start


def test_a_blend_that_no_checksum_notices_is_refused_by_its_fingerprint(two_messages: tuple[bytes, bytes, int]) -> None:
    first, second, start = two_messages
    amounts = [parse_json(unwrap(each).document_json)["requests"][0]["amount"] for each in (first, second)]
    assert amounts == ["1000000", "9000000"]  # both are true ones by themselves
    count = -(-len(first) // FRAGMENT)
    ours, theirs = frames("bytes", first, fragment_bytes=FRAGMENT), frames("bytes", second, fragment_bytes=FRAGMENT)
    decoder = Decoder()
    for number in range(count):
        mine, other = next(ours), relabelled(next(theirs), zlib.crc32(first))
        assert decoder.receive(mine if number < start else other) is Taken.USEFUL
    assert decoder.result is not None  # CRC-32 has nothing to say against it
    assert zlib.crc32(decoder.result.cbor) == zlib.crc32(first)
    assert decoder.result.cbor not in (first, second)
    with pytest.raises(DocumentError, match="QR-FINGERPRINT: the document's fingerprint is wrong"):
        unwrap(decoder.result.cbor)


def test_frames_that_contradict_each_other_are_named(two_messages: tuple[bytes, bytes, int]) -> None:
    first, second, start = two_messages
    ours, theirs = frames("bytes", first, fragment_bytes=FRAGMENT), frames("bytes", second, fragment_bytes=FRAGMENT)
    decoder = Decoder()
    for _ in range(start + 1):
        assert decoder.receive(next(ours)) is Taken.USEFUL
        other = relabelled(next(theirs), zlib.crc32(first))
    assert decoder.receive(other) is Taken.MIXED
    assert decoder.reason.startswith("QR-MIXED: a frame that contradicts those before it")
