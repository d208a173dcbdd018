"""The pair catalogue, whole: a list, or an object with one list in it, perhaps in pages, or an object of pairs by index.

The specification says that ``data`` is an object, and shows nothing of this one ("Response envelope"; "Endpoints named but
whose shapes are not shown"). So a bare list is taken as well as an object. A part of the catalogue is never taken for the
whole: where an object counts more than it tells, or names a next page in a way that is not known here, it is refused.
"""

from __future__ import annotations

from typing import Any

from airlock_online.clients.builder import BuilderClient
from airlock_online.speech.sections import SHIPPED, Speech
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

PAGES_AT_MOST = 200
PAIRS_AT_MOST = 10_000
_PAGE, _PAGES, _COUNT = ("page", "currentPage"), ("pages", "totalPages", "pageCount"), ("total", "totalCount", "count")
_CURSORS = ("nextCursor", "cursor", "next")
_MORE = ("hasMore", "hasNext")


def read_pairs(builder: BuilderClient, speech: Speech = SHIPPED) -> list[Any]:
    """Return every entry of the venue's pair catalogue, page by page; the entries are not looked at.

    Where entries stand under their index, it is put into them.
    Raises ``ServiceError`` for a catalogue that has no list, or that may not be whole.
    """
    path, number = speech.paths["pairs"], speech.replies["pairs"]["id"]
    told = builder.read("pairs")
    if type(told) is list:
        return told
    entries = _entries(told, path, number)
    pages, first = _number(told, _PAGES), _number(told, _PAGE)
    if pages is not None and pages > 1:
        start = 1 if first is None else first
        if pages > PAGES_AT_MOST:
            raise _not_whole(path, f"it counts {pages} pages, and at most {PAGES_AT_MOST} are read")
        if start not in (0, 1):
            raise _not_whole(path, f"the first reply calls itself page {start}")
        for page in range(start + 1, start + pages):
            more = builder.read("pairs", {"page": page})
            if _number(more, _PAGE) not in (page, None):
                raise _not_whole(path, f"page {page} was asked for, and page {_number(more, _PAGE)} came")
            entries += _entries(more, path, number)
    _require_whole(path, told, entries, paged=pages is not None)
    return entries


def _entries(told: Any, path: str, number: str) -> list[Any]:
    """Return the entries of an object that has each pair under its index, or of one with one list in it.

    Raises ``ServiceError`` for an entry that has another index of its own, and for an object with no list or several.
    """
    members = list(told.values()) if type(told) is dict else []
    for held in [told, *members]:
        if type(held) is dict and held and all(k.isdecimal() and type(v) is dict for k, v in held.items()):
            if wrong := next((key for key, entry in held.items() if str(entry.get(number, key)) != key), None):
                raise ServiceError(
                    f"the pair under {safe(wrong, limit=20)} says that its {safe(number, limit=40)} is another one",
                    do="ask the venue which of the two is the pair's index",
                )
            return [{number: int(key), **entry} for key, entry in held.items()]
    lists = [value for value in members if type(value) is list]
    if len(lists) != 1:
        found = "no list" if not lists else f"{len(lists)} lists"
        raise ServiceError(
            f"the pair catalogue at {path} has {found} in its data, where one was expected",
            do="look at `airlock-online call GET` on it; the path is `pairs` in the services file, [paths]",
        )
    return list(lists[0])


def _number(told: dict[str, Any], names: tuple[str, ...]) -> int | None:
    return next((told[name] for name in names if type(told.get(name)) is int), None)


def _require_whole(path: str, told: dict[str, Any], entries: list[Any], *, paged: bool) -> None:
    if len(entries) > PAIRS_AT_MOST:
        raise _not_whole(path, f"it has more than {PAIRS_AT_MOST} entries")
    counted = _number(told, _COUNT)
    if counted is not None and counted > len(entries):
        raise _not_whole(path, f"it counts {counted} pairs and told {len(entries)}")
    named = [name for name in _CURSORS if told.get(name)]
    named += [name for name in _MORE if told.get(name) is True and not paged]
    if named:
        raise _not_whole(path, f"its member {safe(named[0])!r} says that there is more")


def _not_whole(path: str, why: str) -> ServiceError:
    return ServiceError(
        f"the pair catalogue at {path} may not be whole: {why}",
        do="ask the venue how all of its pairs are read; a deployment with a part of them is not made",
    )
