"""Parts, URs and bytewords as published; a blend that no checksum notices."""

import json
import zlib
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.errors import DocumentError
from airlock_shared.ur import fountain
from airlock_shared.ur.decode import Decoder, Message, Taken
from airlock_shared.ur.envelope import unwrap
from airlock_shared.wire.cbor import write
from airlock_shared.wire.strict_json import fingerprint, to_cbor
from draws import repeatable
from refusals import check_of
from shared.ur.messages import bytes_payload, message, vectors

# ---- parts and URs, byte for byte as the reference implementation writes them ---------------------------------------


FOUNTAIN = vectors("fountain")


def test_the_parts_of_a_message_are_the_published_ones() -> None:
    case = FOUNTAIN["parts"]
    whole = message(case["message"], case["seed"])
    most = fountain.fragment_length(len(whole), case["at_most"])
    made = list(islice(fountain.parts(whole, most), len(case["parts"])))
    assert [{**part._asdict(), "data": part.data.hex()} for part in made] == case["parts"]
    assert [part.to_cbor().hex() for part in made] == case["cbor"]
    assert [fountain.FountainPart.from_cbor(bytes.fromhex(cbor)) for cbor in case["cbor"]] == made


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
    "a letter that becomes ASCII in lower case": f"ur:bytes/{fountain.encode_bytewords(bytes([128, 130]))}".replace(
        "k", "\u212a"
    ),
    "a line break at its end": "ur:bytes/aeadaolazmjendeoti\n",
    "words that are none": "ur:bytes/aeadaolazmjendeotq",
    "an odd letter": "ur:bytes/aeadaolazmjendeot",
}


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_a_text_that_is_no_frame_is_refused(text: str) -> None:
    assert check_of(fountain.parse_frame, text) == "QR-FORM"


def test_a_frame_beyond_all_measure_is_refused() -> None:
    assert check_of(fountain.parse_frame, "ur:bytes/" + "ae" * fountain.MAX_TEXT) == "QR-LIMIT"


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
    assert check_of(fountain.FountainPart.from_cbor, write(members)) == "QR-PART"


@pytest.mark.parametrize("fragment_bytes", [9, 0, -1])
def test_fragments_smaller_than_their_own_numbers_are_refused(fragment_bytes: int) -> None:
    with pytest.raises(ValueError, match="no fragment"):
        next(fountain.frames("bytes", bytes_payload(256), fragment_bytes=fragment_bytes))


@pytest.mark.parametrize("case", FOUNTAIN["single"], ids=lambda case: case["type"])
def test_a_still_code_is_the_published_one(case: dict[str, Any]) -> None:
    cbor = bytes.fromhex(case["cbor"]) if "cbor" in case else bytes_payload(case["message"], case["seed"])
    assert list(fountain.frames(case["type"], cbor, fragment_bytes=100)) == [case["ur"]]
    ur_type, part = fountain.parse_frame(case["ur"])
    assert (ur_type, part.data, part.seq_len) == (case["type"], cbor, 1)
    assert fountain.frame_count(cbor, 100) == 1


def test_the_frames_of_a_message_are_the_published_ones() -> None:
    case = FOUNTAIN["multi"]
    cbor = bytes_payload(case["message"], case["seed"])
    made = fountain.frames(case["type"], cbor, fragment_bytes=case["at_most"])
    assert list(islice(made, len(case["urs"]))) == case["urs"]
    assert [fountain.frame_text(*fountain.parse_frame(text.upper())) for text in case["urs"]] == case["urs"]
    assert fountain.frame_count(cbor, case["at_most"]) == 9


@pytest.mark.parametrize("cbor", ["", "850109", "8501091901000141", "9f01ff", "5b7fffffffffffffff"])
def test_a_part_that_is_not_cbor_is_refused(cbor: str) -> None:
    assert check_of(fountain.FountainPart.from_cbor, bytes.fromhex(cbor)) == "QR-CBOR"


# ---- bytewords and CRC-32 against the published values --------------------------------------------------------------


GOOD: list[dict[str, Any]] = vectors("bytewords")["good"]
BAD: list[dict[str, str]] = vectors("bytewords")["bad"]


@pytest.mark.parametrize("case", vectors("bytewords")["crc32"], ids=lambda case: case["text"])
def test_the_checksum_is_the_published_one(case: dict[str, str]) -> None:
    assert fountain.checksum(case["text"].encode()).hex() == case["crc32"]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case["minimal"][:12])
def test_bytes_become_the_published_words_and_back(case: dict[str, str]) -> None:
    data = bytes.fromhex(case["hex"])
    assert fountain.encode_bytewords(data) == case["minimal"]
    assert fountain.decode_bytewords(case["minimal"]) == data


@pytest.mark.parametrize("case", BAD, ids=lambda case: case["why"])
def test_words_that_are_not_right_are_refused(case: dict[str, str]) -> None:
    with pytest.raises(DocumentError, match=f"^{case['refusal']}[: ]"):
        fountain.decode_bytewords(case["text"])


@repeatable
@given(st.binary(min_size=1, max_size=40), st.data())
def test_any_one_changed_letter_is_noticed(data: bytes, drawn: st.DataObject) -> None:
    text = fountain.encode_bytewords(data)
    place = drawn.draw(st.integers(0, len(text) - 1))
    letter = drawn.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz").filter(lambda letter: letter != text[place]))
    with pytest.raises(DocumentError, match=r"QR-FORM|QR-CRC"):
        fountain.decode_bytewords(text[:place] + letter + text[place + 1 :])


# ---- A blend of two messages that no checksum notices: what decides is the whole document's fingerprint -------------


FREE = "a" * 64  # letters of free text, each with one free bit: more than CRC-32 has


def original() -> bytes:
    """A true envelope, its deflate stream stored and not compressed, so that the document's text is in plain sight."""
    item = {"amount": "1000000", "meta": FREE}
    header = {"ceremony": "blend", "note": "x" * 300}
    document = {"format": "airlock/requests@1", "header": header, "requests": [item]}
    packer = zlib.compressobj(0, zlib.DEFLATED, -15)
    stream = packer.compress(to_cbor(["blend", document])) + packer.flush()
    return write(write([1, bytes.fromhex(fingerprint(document)), stream]))


def forged() -> bytes:
    """The same with another amount, and with its CRC-32: that is linear, so some of the free letters turn it back."""
    whole = original().replace(b"1000000", b"9000000")
    start = whole.index(FREE.encode())
    basis: list[tuple[int, int]] = []  # an effect on the checksum, and the letters that have it
    for letter in range(len(FREE)):
        changed = whole[: start + letter] + b"c" + whole[start + letter + 1 :]
        effect, letters = zlib.crc32(changed) ^ zlib.crc32(whole), 1 << letter
        for known, others in basis:
            if effect ^ known < effect:
                effect, letters = effect ^ known, letters ^ others
        basis = sorted([*basis, (effect, letters)] if effect else basis, reverse=True)
    left, chosen = zlib.crc32(whole) ^ zlib.crc32(original()), 0
    for known, letters in basis:
        if left ^ known < left:
            left, chosen = left ^ known, chosen ^ letters
    turned = "".join("c" if chosen >> letter & 1 else "a" for letter in range(len(FREE)))
    return whole.replace(FREE.encode(), turned.encode())


def test_a_blend_that_no_checksum_notices_is_refused_by_its_fingerprint() -> None:
    first, second = original(), forged()
    assert json.loads(unwrap(first).document_json)["requests"][0]["amount"] == "1000000"
    assert (zlib.crc32(first), len(first)) == (zlib.crc32(second), len(second))
    count = fountain.frame_count(first, 100)
    ours, theirs = (list(islice(fountain.frames("bytes", each, fragment_bytes=100), count)) for each in (first, second))
    other = next(at for at in range(count) if ours[at] != theirs[at])
    decoder = Decoder()
    for at in range(count):
        assert decoder.receive(ours[at] if at < other else theirs[at]) is Taken.USEFUL
    assert decoder.result == Message("bytes", second)  # CRC-32 has nothing to say against it
    with pytest.raises(DocumentError, match="QR-FINGERPRINT: the document's fingerprint is wrong"):
        unwrap(second)
    decoder.restart()
    for text in ours[: other + 1]:
        decoder.receive(text)
    assert decoder.receive(theirs[other]) is Taken.MIXED
    assert decoder.reason.startswith("QR-MIXED: a frame that contradicts those before it")
