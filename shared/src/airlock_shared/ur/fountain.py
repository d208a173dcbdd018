"""The parts of a message that needs several frames (BCR-2024-001): how it is cut, and which fragments a part mixes.

A message is one still code, or an endless run of parts of which any sufficient number will do. Sender and receiver derive
the choice from the part's number and the message's checksum alone, so nothing of it is sent. Both must do the same
floating-point operations in the same order, or they mix other fragments than the other thinks.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache, reduce
from itertools import islice
from operator import add
from typing import NamedTuple

from airlock_shared.text.safe import BYTEWORDS
from airlock_shared.wire.cbor import read, write
from airlock_shared.wire.strict_json import damaged

# ---- frames ---------------------------------------------------------------------------------------------------------
# One frame's text: ``ur:TYPE/PAYLOAD`` or ``ur:TYPE/NUMBER-LENGTH/PAYLOAD`` (BCR-2020-005), its payload in Bytewords.


CHECKSUM_BYTES = 4

_PAIRS = {word[0] + word[-1]: byte for byte, word in enumerate(BYTEWORDS)}  # two letters say which word it is
_LETTERS = tuple(_PAIRS)


def encode_bytewords(data: bytes) -> str:
    """Return ``data`` and its CRC-32 in minimal Bytewords (BCR-2020-012): two letters a byte, in lower case."""
    return "".join([_LETTERS[byte] for byte in data + checksum(data)])


def decode_bytewords(text: str) -> bytes:
    """Return the bytes that a text in lower case says, without their CRC-32.

    Raises ``DocumentError`` with ``QR-FORM`` for what is not Bytewords, ``QR-CRC`` for a wrong checksum.
    """
    do = "scan the code again"
    try:
        everything = bytes([_PAIRS[text[at : at + 2]] for at in range(0, len(text), 2)])
    except KeyError as error:
        raise damaged("QR-FORM", "not Bytewords", do=do) from error
    data, carried = everything[:-CHECKSUM_BYTES], everything[-CHECKSUM_BYTES:]
    if not data:
        raise damaged("QR-FORM", "too short to carry anything", do=do)
    if checksum(data) != carried:
        got, expected = checksum(data).hex(), carried.hex()
        raise damaged("QR-CRC", "the code's checksum is wrong", got=got, expected=expected, do=do)
    return data


def checksum(data: bytes) -> bytes:
    """Return the CRC-32 of ISO 3309 over ``data``, four bytes, big-endian."""
    return zlib.crc32(data).to_bytes(CHECKSUM_BYTES, "big")


MAX_TEXT = 4296  # ISO/IEC 18004, table 7: the most characters of the alphanumeric mode that a QR code holds (40-L)
SCHEME = "ur:"

_FORM = re.compile(
    r"ur:(?P<type>[a-z0-9-]{1,64})/(?:(?P<num>[1-9][0-9]{0,9})-(?P<len>[1-9][0-9]{0,9})/)?(?P<payload>[a-z]+)",
    re.ASCII,
)
_MOST = (1 << 32) - 1  # a part's numbers are 32 bits wide


def is_ur(text: str) -> bool:
    """Tell whether a text of some QR code says that it is a Uniform Resource."""
    return text[: len(SCHEME)].lower() == SCHEME


# ---- fountain -------------------------------------------------------------------------------------------------------


_MASK = (1 << 64) - 1
_TWO_64 = 2.0**64


def xoshiro256(seed: bytes) -> Iterator[float]:
    """Yield numbers of [0, 1], as C++ divides a 64-bit integer by 2**64: the ends are both possible.

    The generator is Xoshiro256**; its state is the SHA-256 of the seed, as four big-endian words.
    """
    a, b, c, d = struct.unpack(">4Q", hashlib.sha256(seed).digest())
    while True:
        product = b * 5 & _MASK
        yield ((product << 7 & _MASK | product >> 57) * 9 & _MASK) / _TWO_64
        shifted = b << 17 & _MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = d << 45 & _MASK | d >> 19


def drawn_below(count: int, number: float) -> int:
    """Return which of ``count`` a number of [0, 1] draws, from 0."""
    return min(int(number * count), count - 1)


# ---- the choice ---------------------------------------------------------------------------------------------------


MIN_FRAGMENT = 10  # bytes, as in the reference implementation: below it the part's own numbers outweigh it


def fragment_length(message_bytes: int, at_most: int) -> int:
    """Return the length that gives the fewest fragments of ten to ``at_most`` bytes.

    Raises ``ValueError`` for a bound that no length can keep, or an empty message.
    """
    if at_most < MIN_FRAGMENT or message_bytes < 1:
        raise ValueError(f"no fragment of {message_bytes} bytes is {MIN_FRAGMENT} to {at_most} bytes long")
    most = max(message_bytes // MIN_FRAGMENT, 1)
    count = min(_pieces(message_bytes, at_most), most)
    return _pieces(message_bytes, count)


def _pieces(whole: int, piece: int) -> int:
    return -(-whole // piece)


def choose_fragments(seq_num: int, seq_len: int, checksum: int) -> list[int]:
    """Return the indexes of the fragments that part ``seq_num`` (from 1) of ``seq_len`` fragments mixes.

    The first ``seq_len`` parts are the fragments themselves; each later one mixes a drawn number of drawn fragments: as many
    as Walker's alias method draws, the first ones of a drawn order (Fisher and Yates).
    """
    if seq_num <= seq_len:
        return [seq_num - 1]
    random = xoshiro256(struct.pack(">2L", seq_num, checksum))
    chances, aliases = _alias_tables(seq_len)
    index = drawn_below(seq_len, next(random))
    degree = (index if next(random) < chances[index] else aliases[index]) + 1
    remaining = list(range(seq_len))
    return [remaining.pop(drawn_below(len(remaining), next(random))) for _ in range(degree)]


@lru_cache(maxsize=8)  # a transfer has one length; a foreign frame may bring another
def _alias_tables(count: int) -> tuple[list[float], list[int]]:
    """Return the tables of Walker's alias method for 1 to ``count``, each as often as one divided by it."""
    weights = [1 / degree for degree in range(1, count + 1)]
    total = reduce(add, weights, 0.0)  # not sum(): newer Pythons correct its rounding
    scaled = [weight * count / total for weight in weights]
    small = [i for i in reversed(range(count)) if scaled[i] < 1]
    large = [i for i in reversed(range(count)) if scaled[i] >= 1]
    chances = [1.0] * count
    aliases = [0] * count
    while small and large:
        less, more = small.pop(), large.pop()
        chances[less] = scaled[less]
        aliases[less] = more
        scaled[more] += scaled[less] - 1
        (small if scaled[more] < 1 else large).append(more)
    return chances, aliases


# ---- the parts ----------------------------------------------------------------------------------------------------


_NUMBERS = 4
_MAX_ITEMS = 8  # the array and its five, and a little more, so that a longer array is named as what it is


class FountainPart(NamedTuple):
    """A part: its number (from 1), the number of fragments, the message's length and CRC-32, the mixed fragments."""

    seq_num: int
    seq_len: int
    message_len: int
    checksum: int
    data: bytes

    def to_cbor(self) -> bytes:
        """Return the part's CBOR form, an array of five."""
        return write(list(self))

    @classmethod
    def from_cbor(cls, cbor: bytes) -> FountainPart:
        """Return the part of a CBOR form. Raises ``DocumentError`` with ``QR-CBOR`` or ``QR-PART``."""
        members = read(cbor, max_items=_MAX_ITEMS, max_depth=1)
        if type(members) is not list or len(members) != _NUMBERS + 1 or type(members[-1]) is not bytes:
            raise damaged("QR-PART", "not a part of a message", expected="four numbers and bytes")
        if any(type(number) is not int or not 0 <= number <= _MOST for number in members[:-1]):
            raise damaged("QR-PART", "a part's number is no 32-bit number")
        part = cls(*members)
        if 0 in part[:3] or not part.data or part.seq_len != _pieces(part.message_len, len(part.data)):
            got = f"{part.seq_len} fragments of {len(part.data)} bytes for {part.message_len} bytes"
            raise damaged("QR-PART", "a part's lengths disagree", got=got)
        return part

    @property
    def numbers(self) -> str:
        """Which part it is of how many fragments, as a frame's text says it."""
        return f"{self.seq_num}-{self.seq_len}"

    @property
    def message(self) -> tuple[int, int, int, int]:
        """What all parts of one message have in common."""
        return self.seq_len, self.message_len, self.checksum, len(self.data)


def parts(message: bytes, length: int, *, first: int = 1) -> Iterator[FountainPart]:
    """Yield the parts of a message cut into fragments of ``length`` bytes, from part ``first``, for as long as asked.

    The last fragment is filled with zeros.
    """
    pieces = [message[at : at + length].ljust(length, b"\0") for at in range(0, len(message), length)]
    fragments = [int.from_bytes(piece, "big") for piece in pieces]
    checksum = zlib.crc32(message)
    for seq_num in range(first, _MOST + 1):
        mixed = 0
        for index in choose_fragments(seq_num, len(fragments), checksum):
            mixed ^= fragments[index]
        yield FountainPart(seq_num, len(fragments), len(message), checksum, mixed.to_bytes(length, "big"))


# ---- the frames --------------------------------------------------------------------------------------------------------


def parse_frame(text: str) -> tuple[str, FountainPart]:
    """Return the UR type that a frame's text names, in upper or lower case, and its part; its checksum has been compared.

    A text without numbers carries a whole message: the only part of one fragment. A number above the count is as it
    should be: such a part mixes several fragments.

    Raises ``DocumentError``: ``QR-FORM``, ``QR-CRC``, ``QR-CBOR``, ``QR-PART``, ``QR-LIMIT`` for what no QR code can hold.
    """
    if len(text) > MAX_TEXT:
        raise damaged("QR-LIMIT", "a text longer than a QR code", got=f"{len(text)}", expected=f"<= {MAX_TEXT}")
    found = _FORM.fullmatch(text.lower()) if text.isascii() else None
    if found is None:
        raise damaged("QR-FORM", "not a ur:… text", do="check which code is before the camera")
    payload = decode_bytewords(found["payload"])
    if not found["num"]:
        return found["type"], FountainPart(1, 1, len(payload), zlib.crc32(payload), payload)
    part, told = FountainPart.from_cbor(payload), f"{found['num']}-{found['len']}"
    if told != part.numbers:
        raise damaged("QR-PART", "a frame has two different numbers", got=f"{told} and {part.numbers}")
    return found["type"], part


def frame_text(ur_type: str, part: FountainPart) -> str:
    """Return the text of a frame, in lower case; the only part of a message is written as the message, without numbers."""
    if part.seq_len == 1:
        return f"{SCHEME}{ur_type}/{encode_bytewords(part.data)}"
    return f"{SCHEME}{ur_type}/{part.numbers}/{encode_bytewords(part.to_cbor())}"


def frames(ur_type: str, cbor: bytes, *, fragment_bytes: int, first: int = 1) -> Iterator[str]:
    """Yield the frame texts of a message in lower case, each with at most ``fragment_bytes`` bytes of it.

    A message that fits is yielded once, whole; a longer one without end, from part ``first``: the first
    :func:`frame_count` parts are its fragments, the later ones mixtures. Raises ``ValueError`` for less than ten bytes.
    """
    length = fragment_length(len(cbor), fragment_bytes)
    many = parts(cbor, length, first=first)
    yield from (frame_text(ur_type, part) for part in (many if length < len(cbor) else islice(many, 1)))


def frame_count(cbor: bytes, fragment_bytes: int) -> int:
    """Return how many frames say a message once; one is a still code."""
    return _pieces(len(cbor), fragment_length(len(cbor), fragment_bytes))
