"""Batch documents, read item by item: checked and fingerprinted in memory that does not grow with the batch.

A batch document is ``{"format", "header", LIST}`` in this order, with ``header.count`` items in its list. Its fingerprint
is that of :mod:`airlock_shared.wire.codec`, made from the items as they come.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, BinaryIO

from airlock_shared.errors import DocumentError
from airlock_shared.wire.codec import (
    ARRAY,
    MAP,
    MAX_DOCUMENT_BYTES,
    SPACE,
    cbor_head,
    check_depth,
    damaged,
    form_of,
    parse_at,
    refuse_floats,
    strict_decoder,
    to_cbor,
)
from airlock_shared.wire.members import other_format

MAX_ITEM_BYTES = 256 << 10
MAX_ITEMS = 20_000
_CHUNK_BYTES = 512 << 10
_LONGEST_LITERAL = len("-Infinity")  # Python's reader looks at it as one piece; a cut in it is told by where it begins


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
        self._decoder = strict_decoder(self._note_fraction)
        self._item_decoder = strict_decoder(self._note_fraction, members_are_counted=True)
        self._has_fraction = False
        self._hash = hashlib.sha256(cbor_head(MAP, 3))
        self.fingerprint = ""
        self._take("{")
        self.format = self._member("format")
        if self.format != format_name:
            what = "not the kind or version of document that is needed"
            raise other_format(self.format, format_name, what, "check that you opened the right file")
        self._take(",")
        self.header: dict[str, Any] = self._member("header")
        count = self.header.get("count") if type(self.header) is dict else None
        if type(count) is not int or not 0 <= count <= MAX_ITEMS:
            raise damaged("DOC-COUNT", "header.count is not a number of items", expected=f"0 to {MAX_ITEMS}")
        self.count = count
        self._take(",")
        self._name(list_name)
        self._take("[")
        self._hash.update(to_cbor(list_name) + cbor_head(ARRAY, count))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for position in range(self.count):
            if self._peek() == "]":
                raise self._miscounted(f"{position} items")
            if position:
                self._take(",")
            yield self._item(f"item {position + 1}")
        if self._peek() == ("," if self.count else "{"):
            raise self._miscounted("more items")
        self._take("]")
        self._take("}")
        if self._peek():
            raise damaged("DOC-JSON", "something follows the document")
        self.fingerprint = self._hash.hexdigest()

    def _item(self, what: str) -> dict[str, Any]:
        """Return an item, read without looking for members that appear twice, unless their number says that there may be.

        Each member has a colon. A member that appeared twice is counted once, and so are there more colons than members;
        a colon in a text does the same, and then the item is read again.
        """
        item, start = self._read(what, self._item_decoder)
        try:
            form, members = form_of(item)
            if members != self._text.count(":", start, self._at):
                parse_at(self._decoder, self._text, start)
        except DocumentError as error:
            raise error.at(what) from None
        if type(item) is not dict:
            raise damaged("DOC-JSON", f"{what} is not an object")
        self._hash.update(form)
        return item

    def _miscounted(self, got: str) -> DocumentError:
        return damaged("DOC-COUNT", "header.count is not the number of items", got=got, expected=f"{self.count} items")

    def _member(self, name: str) -> Any:
        self._name(name)
        value = self._value(name)
        self._hash.update(to_cbor(name) + to_cbor(value))
        return value

    def _name(self, name: str) -> None:
        got = self._value("a member's name") if self._peek() == '"' else None
        if got != name:
            raise damaged("DOC-FORMAT", "not a well-formed Airlock document", got=repr(got)[:80], expected=repr(name))
        self._take(":")

    def _value(self, what: str) -> Any:
        value, _ = self._read(what, self._decoder)
        check_depth(value)
        return value

    def _read(self, what: str, decoder: json.JSONDecoder) -> tuple[Any, int]:
        """Return a value, and where in the text it begins."""
        self._peek()
        self._has_fraction = False
        while True:
            try:
                value, end = parse_at(decoder, self._text, self._at)
            except DocumentError as error:
                if error.check == "DOC-JSON" and len(self._text) - self._at <= MAX_ITEM_BYTES and self._more():
                    continue
                if len(self._text) - self._at > MAX_ITEM_BYTES and _is_cut(error, len(self._text)):
                    raise self._too_large(what) from None
                if error.check == "DOC-JSON" and self._ended and not self._text.rstrip().endswith("}"):
                    raise damaged("DOC-TRUNCATED", f"the document ends too early, within {what}") from None
                raise error.at(what) from None
            if end - self._at > MAX_ITEM_BYTES:
                raise self._too_large(what)
            start, self._at = self._at, end
            if self._has_fraction:  # most items hold none, and need not be searched
                refuse_floats(value, what)
            return value, start

    def _too_large(self, what: str) -> DocumentError:
        return damaged("DOC-SIZE", f"{what} is too large", expected=f"<= {MAX_ITEM_BYTES} characters")

    def _note_fraction(self) -> None:
        self._has_fraction = True

    def _peek(self) -> str:
        while True:
            self._at = SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _take(self, character: str) -> None:
        got = self._peek()
        if got != character:
            raise damaged(
                "DOC-TRUNCATED" if not got else "DOC-JSON",
                "the document ends too early" if not got else "not a well-formed Airlock document",
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
            raise damaged("DOC-SIZE", "the document is too large", expected=f"<= {MAX_DOCUMENT_BYTES} bytes")
        self._ended = not data
        try:
            fresh = self._decode(data, self._ended)
        except UnicodeDecodeError as error:
            raise damaged("DOC-UTF8", "not UTF-8") from error
        self._text, self._at = self._text[self._at :] + fresh, 0
        return not self._ended


def _is_cut(error: DocumentError, length: int) -> bool:
    """Tell whether a text of so many characters is not JSON only because it ends there: more of it could make it so."""
    cause = error.__cause__
    if not isinstance(cause, json.JSONDecodeError):
        return False
    return cause.msg.startswith("Unterminated string") or cause.pos >= length - _LONGEST_LITERAL


def read_batch(data: bytes, *, format_name: str, list_name: str) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    """Return ``(header, items, fingerprint)`` of a batch document that is in memory."""
    reader = BatchReader(BytesIO(data), format_name=format_name, list_name=list_name)
    items = list(reader)
    return reader.header, items, reader.fingerprint
