"""A bounded reader of CBOR from strangers (RFC 8949): nothing is allocated that the input does not itself carry.

Definite lengths alone. No tag is acted on but the two big integers (section 3.4.3): others come back as they are.
A document's one form is read by :func:`from_cbor`; other messages by :func:`read`, and written by :func:`write`, map members
in the order that they have.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from airlock_shared.errors import DocumentError, quoted
from airlock_shared.wire.strict_json import (
    ARRAY,
    BIG,
    BIG_NEGATIVE,
    BYTES,
    MAP,
    MAX_DEPTH,
    TAG,
    cbor_head,
    damaged,
    to_cbor,
)

_SIMPLE = {20: False, 21: True, 22: None}  # section 3.3
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}
_BIG_BYTES = 256  # longer integers stand in no document


class Tagged(NamedTuple):
    """A value and the number of the tag in front of it."""

    tag: int
    value: Any


def read(data: bytes, *, max_items: int, max_depth: int = MAX_DEPTH) -> Any:
    """Return the value of one CBOR item that fills ``data``. Raises ``DocumentError("QR-CBOR")``."""
    reader = _Reader(data, max_items)
    value = reader.item(max_depth)
    if reader.at != len(data):
        raise _wrong("something follows the item", got=f"{len(data) - reader.at} bytes")
    return value


def from_cbor(data: bytes, *, max_items: int) -> Any:
    """Return the value of a document's deterministic CBOR form; any other form of the same value is refused.

    Raises ``DocumentError("QR-CBOR")`` as :func:`read`, and ``DOC-CBOR`` for another form or a value that no document holds.
    """
    value = read(data, max_items=max_items)
    try:
        same = to_cbor(value) == data
    except TypeError as error:  # bytes, a tag, a member named by a number
        raise damaged("DOC-CBOR", "not the values of a document") from error
    if not same:
        raise damaged("DOC-CBOR", "not the deterministic form")
    return value


class _Reader:
    def __init__(self, data: bytes, max_items: int) -> None:
        self.data = data
        self.at = 0
        self.items_left = max_items

    def item(self, depth: int) -> Any:
        self.items_left -= 1
        if self.items_left < 0 or depth < 0:
            raise _wrong("too many items" if depth >= 0 else "nested too deep")
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if major == 7:
            return self.simple(info)
        number = self.number(info)
        match major:
            case 0:
                return number
            case 1:
                return -1 - number
            case 2:
                return self.take(number)
            case 3:
                return self.text(number)
            case 4:
                return [self.item(depth - 1) for _ in range(number)]  # it ends with the input
            case 5:
                return self.members(number, depth - 1)
        return self.tagged(number, depth - 1)

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise _wrong("ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, info: int) -> int:
        if info < 24:
            return info
        if info > 27:
            raise _wrong("an indefinite or reserved length", got=info)
        return int.from_bytes(self.take(1 << info - 24), "big")

    def text(self, length: int) -> str:
        try:
            return self.take(length).decode()
        except UnicodeDecodeError as error:
            raise _wrong("a text that is not UTF-8") from error

    def simple(self, info: int) -> Any:
        if info in _SIMPLE:
            return _SIMPLE[info]
        if info not in _FLOATS:
            raise _wrong("an unknown simple value", got=info)
        (value,) = struct.unpack(_FLOATS[info], self.take(1 << info - 24))
        return value

    def members(self, count: int, depth: int) -> dict[Any, Any]:
        members: dict[Any, Any] = {}
        for _ in range(count):
            name = self.item(0)  # a name that is a list or map has no place here
            if type(name) not in (str, int):
                raise _wrong("a member's name is neither a text nor an integer")
            if name in members:
                raise _wrong("a member twice in one map", got=quoted(name))
            members[name] = self.item(depth)
        return members

    def tagged(self, tag: int, depth: int) -> Any:
        value = self.item(depth)
        if tag not in (BIG, BIG_NEGATIVE):
            return Tagged(tag, value)
        if type(value) is not bytes or len(value) > _BIG_BYTES:
            raise _wrong("a malformed big integer, or one that is too large")
        number = int.from_bytes(value, "big")
        return number if tag == BIG else -1 - number


def write(value: Any) -> bytes:
    """Return the CBOR form (RFC 8949, deterministic) of JSON's values, bytes, integers as names, and :class:`Tagged`.

    Raises as :func:`airlock_shared.wire.strict_json.to_cbor`.
    """
    match value:
        case Tagged(tag, inner):
            return cbor_head(TAG, tag) + write(inner)
        case bytes():
            return cbor_head(BYTES, len(value)) + value
        case list():
            return cbor_head(ARRAY, len(value)) + b"".join(map(write, value))
        case dict():
            members = b"".join(write(name) + write(member) for name, member in value.items())
            return cbor_head(MAP, len(value)) + members
    return to_cbor(value)


def _wrong(what: str, *, got: object = "") -> DocumentError:
    return damaged("QR-CBOR", f"not CBOR that Airlock reads: {what}", got, do="scan again, from its source")
