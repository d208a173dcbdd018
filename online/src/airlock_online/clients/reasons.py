"""Why a service said no: what stands in the body of its reply, which is foreign and in no specification.

Frameworks have their own places for it: ``message``, ``error`` as a text or as an object, a list of ``errors``, the problem
details of RFC 9457. Whoever stands in front of a service answers with a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from airlock_shared.errors import DocumentError
from airlock_shared.text.safe import safe
from airlock_shared.wire.codec import parse_json

MAX_BYTES = 8 << 10  # of a body are looked at
_ENTRIES = 8  # of a list or an object are looked at
_DEPTH = 5
_CODES = ("code", "errorCode", "error_code", "error")
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", re.ASCII)
_PLACES = ("loc", "field", "path", "property")  # of the value that is wrong
_REASONS = (
    "code", "title", "message", "msg", "detail", "details", "reason", "description", "error_description", "error", "errors",
)  # fmt: skip
_PAGE = re.compile(rb"\s*<(?:!doctype|html|head|body|\?xml|[a-z1-6]+>)", re.IGNORECASE)
_UNREAD = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)


def reason_text(body: bytes, *, limit: int = 500) -> str:
    """Return why a service said no, safe to show and cut: what its JSON says, or its text, without a page's markup."""
    document = _document(body)
    told = "; ".join(dict.fromkeys(_said(document, _DEPTH))) if _is_refusal(document) else ""
    if not told:
        told = body[:MAX_BYTES].decode("utf-8", "replace")
        if _PAGE.match(body):
            told = " ".join(unescape(_UNREAD.sub(" ", told)).split())
    return safe(told, limit=limit) or "no text"


def code_of(body: bytes) -> str:
    """Return the code of a refusal, empty without one: a word, which decides what to do about it."""
    document = _document(body)
    error = document.get("error") if type(document) is dict else None
    told = [holder.get(name) for holder in (error, document) if type(holder) is dict for name in _CODES]
    return next((code for code in told if type(code) is str and _CODE.fullmatch(code)), "")


def _document(body: bytes) -> Any:
    try:
        return parse_json(body)
    except DocumentError:
        return None


def _is_refusal(document: Any) -> bool:
    return type(document) is dict and not document.keys().isdisjoint(_REASONS)


def _said(value: Any, depth: int) -> Iterator[str]:
    """Yield each text that says why, with the place or the name that it is about."""
    if type(value) is str and value.strip():
        yield value.strip()
    elif type(value) is list and depth:
        for each in value[:_ENTRIES]:
            yield from _said(each, depth - 1)
    elif type(value) is dict and depth:
        if _is_refusal(value):
            place = next((value[name] for name in _PLACES if name in value), "")
            about = ".".join(map(str, place)) if type(place) is list else place
            told = (text for name in _REASONS for text in _said(value.get(name), depth - 1))
            yield from (f"{about}: {text}" if about and type(about) is str else text for text in told)
        else:
            for name, each in list(value.items())[:_ENTRIES]:
                yield from (f"{name}: {text}" for text in _said(each, depth - 1))
