"""A blend of two messages that no checksum notices: what decides is the whole document's fingerprint."""

from __future__ import annotations

import zlib

import pytest

from airlock_shared.errors import DocumentError
from airlock_shared.ur.decode import Decoder, Taken
from airlock_shared.ur.envelope import unwrap
from airlock_shared.ur.fountain import FountainPart, Part, frames, parse_part, part_text
from airlock_shared.wire.cbor import write
from airlock_shared.wire.strict_json import fingerprint, parse_json, to_cbor

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


def blend(first: bytes, second: bytes, at: int) -> bytes:
    """The head of one message and the tail of another."""
    return first[:at] + second[at:]


def neutral_filler(first: bytes, at: int) -> str:
    """Letters for the second document that make the blend's CRC-32 the first message's: CRC-32 is linear."""
    plain = blend(first, stored("9000000", "a" * FREE), at)
    assert len(plain) == len(first)
    basis: list[tuple[int, int]] = []  # an effect on the checksum, and the letters that have it
    for letter in range(FREE):
        text = "".join("c" if place == letter else "a" for place in range(FREE))
        changed = blend(first, stored("9000000", text), at)
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


def test_both_messages_are_true_ones_by_themselves(two_messages: tuple[bytes, bytes, int]) -> None:
    amounts = [parse_json(unwrap(message).document_json)["requests"][0]["amount"] for message in two_messages[:2]]
    assert amounts == ["1000000", "9000000"]


def test_a_blend_that_no_checksum_notices_is_refused_by_its_fingerprint(two_messages: tuple[bytes, bytes, int]) -> None:
    first, second, start = two_messages
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


def test_a_blend_whose_checksum_is_wrong_is_forgotten_and_can_be_received_anew() -> None:
    first, second = stored("1000000", "a" * FREE), stored("9000000", "c" * FREE)
    count = -(-len(first) // FRAGMENT)
    ours, theirs = frames("bytes", first, fragment_bytes=FRAGMENT), frames("bytes", second, fragment_bytes=FRAGMENT)
    decoder, taken = Decoder(), []
    mine = [next(ours) for _ in range(count)]
    for number in range(count):
        other = relabelled(next(theirs), zlib.crc32(first))
        taken.append(decoder.receive(mine[number] if number < count - 1 else other))
    assert taken == [Taken.USEFUL] * (count - 1) + [Taken.BAD]
    assert decoder.reason.startswith("QR-CRC: the message's checksum is wrong")
    assert (decoder.result, decoder.progress.useful, decoder.progress.expected) == (None, 0, 0)
    for text in mine:
        decoder.receive(text)
    assert decoder.result is not None
    assert decoder.result.cbor == first
