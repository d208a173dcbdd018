"""One frame's text: ``ur:TYPE/PAYLOAD`` or ``ur:TYPE/NUMBER-LENGTH/PAYLOAD`` (BCR-2020-005), its payload in Bytewords."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

from airlock_shared.text.fingerprint_words import BYTEWORDS
from airlock_shared.wire.codec import damaged

CHECKSUM_BYTES = 4

_PAIRS = {word[0] + word[-1]: byte for byte, word in enumerate(BYTEWORDS)}  # two letters say which word it is
_LETTERS = tuple(_PAIRS)


def encode(data: bytes) -> str:
    """Return ``data`` and its CRC-32 in minimal Bytewords (BCR-2020-012): two letters a byte, in lower case."""
    return "".join([_LETTERS[byte] for byte in data + checksum(data)])


def decode(text: str) -> bytes:
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
_MOST = (1 << 32) - 1  # both numbers are 32 bits wide in the part itself


class Part(NamedTuple):
    """A frame's text, read: ``seq_num`` and ``seq_len`` are ``None`` when it carries a whole message."""

    type: str
    seq_num: int | None
    seq_len: int | None
    payload: bytes


def is_ur(text: str) -> bool:
    """Tell whether a text of some QR code says that it is a Uniform Resource."""
    return text[: len(SCHEME)].lower() == SCHEME


def parse_part(text: str) -> Part:
    """Return what a frame's text says, in upper or lower case; its checksum has been compared.

    ``seq_num`` above ``seq_len`` is as it should be: such a part mixes several fragments.

    Raises ``DocumentError`` with ``QR-FORM``, ``QR-CRC``, or ``QR-LIMIT`` for a text that no QR code can hold.
    """
    if len(text) > MAX_TEXT:
        raise damaged("QR-LIMIT", "a text longer than a QR code", got=f"{len(text)}", expected=f"<= {MAX_TEXT}")
    found = _FORM.fullmatch(text.lower()) if text.isascii() else None
    if found is None:
        raise damaged("QR-FORM", "not a ur:… text", do="check which code is before the camera")
    seq_num, seq_len = (int(found[name]) if found[name] else None for name in ("num", "len"))
    if max(seq_num or 0, seq_len or 0) > _MOST:
        raise damaged("QR-LIMIT", "a part's numbers are too large", got=f"{seq_num}-{seq_len}", expected=f"<= {_MOST}")
    return Part(found["type"], seq_num, seq_len, decode(found["payload"]))


def part_text(part: Part) -> str:
    """Return the text of a frame, in lower case."""
    numbers = f"{part.seq_num}-{part.seq_len}/" if part.seq_num is not None else ""
    return f"{SCHEME}{part.type}/{numbers}{encode(part.payload)}"
