"""Documents that cross the gap: strict JSON in a file, deterministic CBOR on a screen, one fingerprint for both.

The fingerprint is SHA-256 over the deterministic CBOR form (RFC 8949, section 4.2.1), so it does not depend on white
space, escapes or the channel. A batch document is ``{"format", "header", LIST}`` in this order, with ``header.count``
items in its list: it is then read, checked and fingerprinted item by item, in memory that does not grow with it.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, BinaryIO

from airlock_shared.errors import DocumentError

MAX_DOCUMENT_BYTES = 64 << 20
MAX_ITEM_BYTES = 256 << 10
MAX_ITEMS = 20_000
MAX_DEPTH = 24
_CHUNK_BYTES = 64 << 10
_SPACE = re.compile(r"[ \t\r\n]*")


def _damaged(check: str, what: str, **details: str) -> DocumentError:
    return DocumentError(check, what, do=details.pop("do", "fetch or copy the document again"), **details)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _damaged("DOC-DUPLICATE", f"the member {twice[:80]!r} appears twice in one object")
    return members


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _damaged("DOC-NUMBER", "a number is too large", got=text[:40])
    return value


def _constant(text: str) -> object:
    raise _damaged("DOC-NUMBER", f"{text} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_float, parse_constant=_constant)


def parse_json(data: bytes, *, max_bytes: int = MAX_DOCUMENT_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """Return the value of a JSON text, refusing what two parsers could read differently.

    Raises ``DocumentError`` with ``DOC-SIZE``, ``DOC-JSON``, ``DOC-UTF8``, ``DOC-DUPLICATE``, ``DOC-NUMBER`` or
    ``DOC-DEPTH``.
    """
    if len(data) > max_bytes:
        raise _damaged("DOC-SIZE", "too large", got=f"{len(data)} bytes", expected=f"<= {max_bytes} bytes")
    text = _utf8(data)
    start = _SPACE.match(text).end()  # type: ignore[union-attr]
    value, end = _parse_at(text, start)
    if _SPACE.fullmatch(text, end) is None:
        raise _damaged("DOC-JSON", "something follows the document", got=repr(text[end : end + 40]))
    check_depth(value, max_depth)
    return value


def _utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _damaged("DOC-UTF8", f"not UTF-8 at byte {error.start}") from error


def _parse_at(text: str, start: int) -> tuple[Any, int]:
    try:
        return _decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise _damaged("DOC-JSON", f"not JSON at character {error.pos}: {error.msg}") from error
    except RecursionError as error:
        raise _damaged("DOC-DEPTH", "nested too deep", expected=f"<= {MAX_DEPTH} levels") from error
    except ValueError as error:  # an integer of thousands of digits
        raise _damaged("DOC-NUMBER", "a number is too long") from error


def check_depth(value: Any, max_depth: int = MAX_DEPTH) -> None:
    """Refuse a value nested deeper than ``max_depth`` with ``DocumentError("DOC-DEPTH")``."""
    level = [value]
    for _ in range(max_depth):
        level = [
            child
            for node in level
            for child in (node.values() if type(node) is dict else node if type(node) is list else ())
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return
    raise _damaged("DOC-DEPTH", "nested too deep", expected=f"<= {max_depth} levels")


def refuse_floats(value: Any, where: str = "") -> None:
    """Refuse a fraction or exponent anywhere but under a member named ``meta`` with ``DocumentError("DOC-FLOAT")``."""
    if type(value) is float:
        raise _damaged("DOC-FLOAT", f"a fractional number at {where}", got=repr(value), expected="a decimal string")
    if type(value) is dict:
        for name, member in value.items():
            if name != "meta":
                refuse_floats(member, f"{where}.{name}" if where else name)
    elif type(value) is list:
        for position, member in enumerate(value):
            refuse_floats(member, f"{where}[{position}]")


# ---- one form, one fingerprint ------------------------------------------------------------------------------------


def to_cbor(value: Any) -> bytes:
    """Return the deterministic CBOR form of a JSON value.

    Raises ``DocumentError("DOC-UTF8")`` for a text that has no UTF-8 form.
    """
    from cbor2 import dumps

    try:
        encoded: bytes = dumps(value, canonical=True)
    except UnicodeEncodeError as error:
        raise _damaged("DOC-UTF8", "a text holds a lone surrogate") from error
    return encoded


def from_cbor(data: bytes, *, max_bytes: int = MAX_DOCUMENT_BYTES) -> Any:
    """Return the value of a deterministic CBOR form; any other form of the same value is refused.

    Raises ``DocumentError`` with ``DOC-SIZE``, ``DOC-CBOR`` or ``DOC-DEPTH``.
    """
    from cbor2 import CBORDecodeError, loads

    if len(data) > max_bytes:
        raise _damaged("DOC-SIZE", "too large", got=f"{len(data)} bytes", expected=f"<= {max_bytes} bytes")
    try:
        value = loads(data)
        same = to_cbor(value) == data
    except (CBORDecodeError, RecursionError, ValueError, TypeError, OverflowError) as error:
        raise _damaged("DOC-CBOR", "not CBOR") from error
    if not same:
        raise _damaged("DOC-CBOR", "not the deterministic form")
    check_depth(value)
    return value


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a document, 64 lower-case hex digits: SHA-256 over its deterministic CBOR form."""
    return hashlib.sha256(to_cbor(value)).hexdigest()


def to_json(value: Any) -> bytes:
    """Return the JSON text of a document as Airlock writes it: one list item a line, UTF-8, a final newline."""
    if type(value) is dict and value:
        last = list(value)[-1]
        if type(value[last]) is list and value[last]:
            head = json.dumps({n: v for n, v in value.items() if n != last}, ensure_ascii=False)[:-1]
            items = ",\n".join(json.dumps(item, ensure_ascii=False) for item in value[last])
            return f"{head}, {json.dumps(last)}: [\n{items}\n]}}\n".encode()
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


# ---- reading a batch item by item ---------------------------------------------------------------------------------


class BatchReader:
    """A batch document, read item by item.

    ``format`` and ``header`` are there at once; iterate once for the items; then ``fingerprint`` is there. Every rule of
    :func:`parse_json` holds, and the caps on the whole, on an item, on the number of items and on depth.
    """

    def __init__(
        self, source: BinaryIO, *, format_name: str, list_name: str, max_bytes: int = MAX_DOCUMENT_BYTES
    ) -> None:
        self._source = source
        self._left = max_bytes
        self._text = ""
        self._at = 0
        self._ended = False
        self._decode: Callable[[bytes, bool], str] = codecs.getincrementaldecoder("utf-8")().decode
        self._hash = hashlib.sha256(b"\xa3")
        self.fingerprint = ""
        self._take("{")
        self.format = self._member("format")
        if self.format != format_name:
            raise _damaged(
                "DOC-FORMAT",
                "another kind of document, or another version of it",
                got=repr(self.format)[:80],
                expected=format_name,
                do="check that you opened the right file",
            )
        self._take(",")
        self.header: dict[str, Any] = self._member("header")
        count = self.header.get("count") if type(self.header) is dict else None
        if type(count) is not int or not 0 <= count <= MAX_ITEMS:
            raise _damaged("DOC-COUNT", "header.count is not a number of items", expected=f"0 to {MAX_ITEMS}")
        self.count = count
        self._take(",")
        self._name(list_name)
        self._take("[")
        self._hash.update(to_cbor(list_name) + _array_head(count))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for position in range(self.count):
            if position:
                self._take(",")
            item = self._value(f"item {position + 1}")
            if type(item) is not dict:
                raise _damaged("DOC-JSON", f"item {position + 1} is not an object")
            self._hash.update(to_cbor(item))
            yield item
        self._take("]")
        self._take("}")
        if self._peek():
            raise _damaged("DOC-JSON", "something follows the document")
        self.fingerprint = self._hash.hexdigest()

    def _member(self, name: str) -> Any:
        self._name(name)
        value = self._value(name)
        self._hash.update(to_cbor(name) + to_cbor(value))
        return value

    def _name(self, name: str) -> None:
        got = self._value("a member's name") if self._peek() == '"' else None
        if got != name:
            raise _damaged("DOC-FORMAT", "not an Airlock document in its form", got=repr(got)[:80], expected=repr(name))
        self._take(":")

    def _value(self, what: str) -> Any:
        self._peek()
        while True:
            try:
                value, end = _parse_at(self._text, self._at)
            except DocumentError as error:
                if error.check != "DOC-JSON" or len(self._text) - self._at > MAX_ITEM_BYTES or not self._more():
                    raise error.at(what) from None
                continue
            if end - self._at > MAX_ITEM_BYTES:
                raise _damaged("DOC-SIZE", f"{what} is too large", expected=f"<= {MAX_ITEM_BYTES} characters")
            self._at = end
            check_depth(value)
            refuse_floats(value, what)
            return value

    def _peek(self) -> str:
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _take(self, character: str) -> None:
        got = self._peek()
        if got != character:
            raise _damaged(
                "DOC-TRUNCATED" if not got else "DOC-JSON",
                "the document ends too early" if not got else "not in the form of an Airlock document",
                got=repr(got),
                expected=repr(character),
            )
        self._at += 1

    def _more(self) -> bool:
        if self._ended:
            return False
        data = self._source.read(_CHUNK_BYTES)
        self._left -= len(data)
        if self._left < 0:
            raise _damaged("DOC-SIZE", "the document is too large", expected=f"<= {MAX_DOCUMENT_BYTES} bytes")
        self._ended = not data
        try:
            fresh = self._decode(data, self._ended)
        except UnicodeDecodeError as error:
            raise _damaged("DOC-UTF8", "not UTF-8") from error
        self._text, self._at = self._text[self._at :] + fresh, 0
        return not self._ended


def _array_head(count: int) -> bytes:
    """Return the CBOR head of an array of ``count`` items (RFC 8949, section 3, major type 4)."""
    if count < 24:
        return bytes([0x80 | count])
    if count < 256:
        return bytes([0x98, count])
    return b"\x99" + count.to_bytes(2, "big")


def read_batch(data: bytes, *, format_name: str, list_name: str) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    """Return ``(header, items, fingerprint)`` of a batch document that is in memory."""
    reader = BatchReader(BytesIO(data), format_name=format_name, list_name=list_name)
    items = list(reader)
    return reader.header, items, reader.fingerprint
