"""RLP, one way: bytes, whole numbers and lists into their only encoding. Nothing is decoded here.

Source: Ethereum yellow paper, appendix B; its rules are the vectors of tests/shared/test_rlp.py.
"""

from __future__ import annotations

from collections.abc import Sequence

Item = bytes | int | Sequence["Item"]

STRING, LIST = 0x80, 0xC0  # the first byte of the empty string and of the empty list
SHORT = 55  # the longest content whose length is in the first byte


def encode(item: Item) -> bytes:
    """Return the encoding of bytes, of a number (without leading zeros, zero as the empty string) or of a list of these.

    Raises ``TypeError`` for anything else, truth values and texts included, ``ValueError`` for a number below zero.
    """
    if isinstance(item, bytes):
        return item if len(item) == 1 and item[0] < STRING else _header(len(item), STRING) + item
    if isinstance(item, (list, tuple)):
        content = b"".join(map(encode, item))
        return _header(len(content), LIST) + content
    if type(item) is int:  # a bool is no number here
        return encode(_shortest(item))
    message = f"{type(item).__name__} has no RLP"
    raise TypeError(message)


def _header(length: int, first: int) -> bytes:
    if length <= SHORT:
        return bytes([first + length])
    digits = _shortest(length)
    return bytes([first + SHORT + len(digits)]) + digits


def _shortest(number: int) -> bytes:
    if number < 0:
        message = "a number below zero has no RLP"
        raise ValueError(message)
    return number.to_bytes((number.bit_length() + 7) // 8, "big")
