"""Bytewords (BCR-2020-012): bytes as words or letter pairs, with a CRC-32 at the end."""

from __future__ import annotations

import zlib
from enum import Enum

from airlock_shared.text.fingerprint_words import BYTEWORDS
from airlock_shared.wire.codec import damaged

CHECKSUM_BYTES = 4

_WORDS = {word: byte for byte, word in enumerate(BYTEWORDS)}
_PAIRS = {word[0] + word[-1]: byte for word, byte in _WORDS.items()}  # first and last letter say which word it is
_MINIMAL = tuple(_PAIRS)


class Style(Enum):
    """How the words are written; the value stands between them."""

    STANDARD = " "
    URI = "-"
    MINIMAL = ""


def encode(data: bytes, style: Style) -> str:
    """Return the words of ``data`` and of its CRC-32, in lower case."""
    words = _MINIMAL if style is Style.MINIMAL else BYTEWORDS
    return style.value.join([words[byte] for byte in data + checksum(data)])


def decode(text: str, style: Style) -> bytes:
    """Return the bytes that a text in lower case says, without their CRC-32.

    Raises ``DocumentError`` with ``QR-FORM`` for what is not Bytewords, ``QR-CRC`` for a wrong checksum.
    """
    words = [text[i : i + 2] for i in range(0, len(text), 2)] if style is Style.MINIMAL else text.split(style.value)
    try:
        everything = bytes(map((_PAIRS if style is Style.MINIMAL else _WORDS).__getitem__, words))
    except KeyError as error:
        raise damaged("QR-FORM", "not Bytewords", do="scan the code again") from error
    data, carried = everything[:-CHECKSUM_BYTES], everything[-CHECKSUM_BYTES:]
    if len(everything) <= CHECKSUM_BYTES:
        raise damaged("QR-FORM", "too short to carry anything", do="scan the code again")
    if checksum(data) != carried:
        raise damaged(
            "QR-CRC",
            "the code's checksum is wrong",
            got=checksum(data).hex(),
            expected=carried.hex(),
            do="scan the code again",
        )
    return data


def checksum(data: bytes) -> bytes:
    """Return the CRC-32 of ISO 3309 over ``data``, four bytes, big-endian."""
    return zlib.crc32(data).to_bytes(CHECKSUM_BYTES, "big")
