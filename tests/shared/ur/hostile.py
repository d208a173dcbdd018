"""What a hostile screen may show, each in a process of its own that has 64 MiB more than it begins with.

Run with the name of a case; the last line of the output is what became of it. ``MemoryError`` ends it with a traceback.
"""

import hashlib
import random
import resource
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from airlock_shared.errors import DocumentError
from airlock_shared.ur.decode import Decoder
from airlock_shared.ur.envelope import MAX_INFLATED, unwrap
from airlock_shared.ur.fountain import FountainPart, choose_fragments, encode_bytewords, frames
from airlock_shared.wire.cbor import write
from airlock_shared.wire.strict_json import cbor_head, to_cbor

ALLOWED = 64 << 20
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-/:. \u00e9\u4e2d\U0001f600"


def part(seq_num: int, seq_len: int, message_len: int, data: bytes, checksum: int = 1) -> str:
    inner = FountainPart(seq_num, seq_len, message_len, checksum, data)
    return f"ur:bytes/{seq_num}-{seq_len}/{encode_bytewords(inner.to_cbor())}"


def a_milliard_frames() -> Iterator[str]:
    for number in range(1, 1001):
        yield part(number, 10**9, 100 * 10**9 if number % 2 else 10**9, bytes(100 if number % 2 else 1))


def frames_of_ten_thousand_messages() -> Iterator[str]:
    for number in range(10_000):
        yield part(5000 + number, 4000, 4000 * 100, bytes([number % 251]) * 100, checksum=number)


def random_texts() -> Iterator[str]:
    chance = random.Random(7)
    for number in range(20_000):
        text = "".join(chance.choices(LETTERS, k=chance.randrange(200)))
        yield text if number % 2 else "ur:" + text


def random_parts() -> Iterator[str]:
    chance = random.Random(8)
    for _ in range(20_000):
        first, second = (chance.randrange(1, 1 << chance.randrange(1, 33)) for _ in range(2))
        yield f"ur:bytes/{first}-{second}/{encode_bytewords(chance.randbytes(chance.randrange(1, 60)))}"


def texts_without_end() -> Iterator[str]:
    for number in range(200):
        yield ("ur:bytes/" if number % 2 else "\U0001f600") + "ae" * (1 << 20)


def the_densest_parts() -> Iterator[str]:
    """Parts that each mix more than half of the fragments: the most work that the limits let through."""
    count, chance = 512, random.Random(10)
    dense = (number for number in range(count + 1, 1 << 20) if len(choose_fragments(number, count, 1)) > count // 2)
    for number in islice(dense, count + 20):
        yield part(number, count, count * 1024, chance.randbytes(1024))


def the_longest_message() -> Iterator[str]:
    data = random.Random(11).randbytes(2 << 20)
    yield from islice(frames("bytes", data, fragment_bytes=512), 4096)


FRAMES = (
    a_milliard_frames, frames_of_ten_thousand_messages, random_texts, random_parts, texts_without_end, the_densest_parts,
    the_longest_message,
)  # fmt: skip


def envelope(document: Iterator[bytes]) -> bytes:
    """An envelope around the form of a document, under that document's true fingerprint."""
    packer, digest = zlib.compressobj(9, zlib.DEFLATED, -15), hashlib.sha256()
    stream = packer.compress(cbor_head(0x80, 2) + to_cbor("hostile"))
    for piece in document:
        digest.update(piece)
        stream += packer.compress(piece)
    return write(write([1, digest.digest(), stream + packer.flush()]))


def document_with(name: str, value: bytes) -> Iterator[bytes]:
    """A document of two members, the shorter name first."""
    yield cbor_head(0xA0, 2) + to_cbor(name) + value + to_cbor("format") + to_cbor("airlock/hostile@1")


def two_hundred_mib() -> Iterator[bytes]:
    yield cbor_head(0x60, 200 << 20)
    for _ in range(200):
        yield b"x" * (1 << 20)


def empty_lists() -> Iterator[bytes]:
    count = MAX_INFLATED - 100
    yield from document_with("list", cbor_head(0x80, count) + b"\x80" * count)


def lists_in_lists() -> Iterator[bytes]:
    yield from document_with("list", b"\x81" * (MAX_INFLATED - 100) + b"\x00")


def as_many_items_as_allowed() -> Iterator[bytes]:
    count = (1 << 18) - 10
    yield from document_with("list", cbor_head(0x80, count) + b"\xa0" * count)


def texts_that_grow_as_json() -> Iterator[bytes]:
    """Each of these characters takes six in JSON."""
    text = b"\x01" * (MAX_INFLATED - 100)
    yield from document_with("text", cbor_head(0x60, len(text)) + text)


ENVELOPES = (two_hundred_mib, empty_lists, lists_in_lists, as_many_items_as_allowed, texts_that_grow_as_json)


def allow_no_more() -> None:
    """Let this process have 64 MiB more than it has."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ALLOWED, size + ALLOWED))


def main(name: str) -> None:
    if name in (made := {case.__name__: case for case in ENVELOPES}):
        cbor = envelope(made[name]())
        allow_no_more()
        try:
            print(unwrap(cbor).kind)
        except DocumentError as error:
            print(error.check)
        return
    shown = {case.__name__: case for case in FRAMES}[name]
    allow_no_more()
    decoder = Decoder()
    taken = Counter((decoder.receive(text).value, decoder.reason[:9].partition(":")[0]) for text in shown())
    counts = sorted(f"{count} {' '.join(what).strip()}" for what, count in taken.items())
    print("whole" if decoder.result else "nothing", *counts, sep="; ")


if __name__ == "__main__":
    main(sys.argv[1])
