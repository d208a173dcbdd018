"""Batch documents: ``{"format", "header", LIST}`` in this order, with ``header.count`` items in its list."""

from __future__ import annotations

from json import JSONDecodeError
from typing import Any

from airlock_shared.errors import DocumentError
from airlock_shared.wire.codec import damaged, fingerprint, parse_json, refuse_floats, to_cbor
from airlock_shared.wire.members import format_of, other_format

MAX_ITEM_BYTES = 256 << 10  # of its CBOR form
MAX_ITEMS = 1000


def read_batch(data: bytes, *, format_name: str, list_name: str) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    """Return ``(header, items, fingerprint)`` of a batch document.

    Raises ``DocumentError`` as :func:`parse_json` does, and with ``DOC-TRUNCATED``, ``DOC-FORMAT``, ``DOC-COUNT``,
    ``DOC-SIZE`` or ``DOC-FLOAT``.
    """
    document = _parsed(data)
    if type(document) is not dict:
        raise damaged("DOC-JSON", "not an object")
    names = ["format", "header", list_name]
    is_other = any(name != found for name, found in zip(names, document, strict=False))
    if is_other or format_of(document) != format_name:
        what = "not the kind or version of document that is needed"
        raise other_format(format_of(document), format_name, what, "check that you opened the right file")
    if list(document) != names or type(document[list_name]) is not list:
        raise damaged("DOC-JSON", "not a format, a header and a list", got=repr(list(document))[:80])
    header, items = document["header"], document[list_name]
    refuse_floats(header, "header")
    count = header.get("count") if type(header) is dict else None
    if type(count) is not int or not 0 <= count <= MAX_ITEMS:
        raise damaged("DOC-COUNT", "header.count is not a number of items", expected=f"0 to {MAX_ITEMS}")
    if len(items) != count:
        what = "header.count is not the number of items"
        raise damaged("DOC-COUNT", what, got=f"{len(items)} items", expected=f"{count} items")
    for position, item in enumerate(items, start=1):
        _require_item(item, f"item {position}")
    return header, items, fingerprint(document)


def _parsed(data: bytes) -> Any:
    try:
        return parse_json(data)
    except DocumentError as error:
        wrong = error.__cause__
        if isinstance(wrong, JSONDecodeError) and (wrong.pos == len(wrong.doc) or "Unterminated" in wrong.msg):
            raise damaged("DOC-TRUNCATED", "the document ends too early") from error
        raise


def _require_item(item: Any, what: str) -> None:
    if type(item) is not dict:
        raise damaged("DOC-JSON", f"{what} is not an object")
    refuse_floats(item, what)
    try:
        size = len(to_cbor(item))
    except DocumentError as error:
        error.at(what)
        raise
    if size > MAX_ITEM_BYTES:
        raise damaged("DOC-SIZE", f"{what} is too large", expected=f"<= {MAX_ITEM_BYTES} bytes")
