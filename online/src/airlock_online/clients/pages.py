"""Reads that may come in pages, whole: by a count of pages, or by the mark of the next one, whose place a services file has.

The specification shows no pages. A part is never taken for the whole: a reply that counts more than it tells, that names a
next page in a way that is not known here, or whose marks go round in a circle, is refused. The pair catalogue is a list, an
object with one list in it, or an object of pairs by index: "Response envelope" says that ``data`` is an object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from airlock_online.clients.reply_values import first_of, id_text, value_at
from airlock_online.speech.sections import NEXT, plain_letters
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

if TYPE_CHECKING:
    from airlock_online.clients.builder import BuilderClient


PAGES_AT_MOST = 200
ENTRIES_AT_MOST = 10_000
_MARK_AT_MOST = 2_000
_PAGE, _PAGES, _COUNT = ("page", "currentPage"), ("pages", "totalPages", "pageCount"), ("total", "totalCount", "count")
_MORE = (
    *("next", "nextPage", "nextCursor", "cursor", "after", "nextToken", "nextPageToken", "nextOffset", "nextUrl"),
    *("more", "hasMore", "hasNext", "hasNextPage", "truncated", "isTruncated"),
)

Ask = Callable[[dict[str, Any]], Any]
"""Asks for one page: the first without a member, each other one by the member that says which."""


def read_pages(ask: Ask, mark: str, what: str) -> list[Any]:
    """Return every page of a read, in order, as they came; the entries are not looked at.

    ``mark`` is ``next.`` and the place of the next page's mark in a reply, empty where no file says it; ``what`` names the
    read. Raises ``ServiceError`` where the pages may not be all.
    """
    pages, asked = [ask({})], list[object]()
    first = pages[0]
    if type(first) is not dict:
        return pages
    count, start = first_of(first, _PAGES, int) or 1, first_of(first, _PAGE, int)
    start = 1 if start is None else start
    if count > 1 and not mark and start not in (0, 1):
        raise _not_whole(what, f"the first reply calls itself page {start}")
    while True:
        counted = start + len(pages) if len(pages) < count else None
        told = value_at(pages[-1], mark.removeprefix(NEXT)) if mark else counted
        if told in (None, "", False):
            break
        text = id_text(told)
        if type(text) is not str or len(text) > _MARK_AT_MOST or text in asked:
            raise _not_whole(what, f"its next page {safe(str(told), limit=80)!r} came twice, or cannot be asked for")
        if max(count, len(pages) + 1) > PAGES_AT_MOST:
            raise _not_whole(what, f"at most {PAGES_AT_MOST} pages are read, and there are more")
        asked.append(text)
        pages.append(ask({mark or "page": told}))
        if type(pages[-1]) is not dict:
            raise _not_whole(what, "one of its pages is no object")
        if not mark and first_of(pages[-1], _PAGE, int) not in (told, None):
            raise _not_whole(what, f"page {told} was asked for, and page {first_of(pages[-1], _PAGE, int)} came")
    more = [name for name, value in _signs(pages[-1], _MORE) if value and id_text(value) not in asked]
    more += [name for name, value in _signs(first, _PAGES) if type(value) is int and value > len(pages)]
    if more:
        raise _not_whole(what, f"its member {safe(more[0])!r} says that there is more")
    return pages


def read_pairs(builder: BuilderClient) -> list[Any]:
    """Return every entry of the venue's pair catalogue, page by page; the entries are not looked at.

    Where entries stand under their index, it is put into them.
    Raises ``ServiceError`` for a catalogue that has no list, or that may not be whole.
    """
    path, number = builder.speech.paths["pairs"], builder.speech.replies["pairs"]["id"]
    pages = builder.pages("pairs")
    if type(pages[0]) is list:
        return pages[0]
    entries = [entry for page in pages for entry in _pairs_in(page, path, number)]
    require_count(pages, len(entries), builder.named("pairs"))
    return entries


def _pairs_in(reply: Any, path: str, number: str) -> list[Any]:
    """Return the entries of an object that has each pair under its index, or of one with one list in it.

    Raises ``ServiceError`` for an entry that has another index of its own, and for an object with no list or several.
    """
    members = list(reply.values()) if type(reply) is dict else []
    for held in [reply, *members]:
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
            do="look at it with `curl`; the path is `pairs` in the services file, [paths]",
        )
    return list(lists[0])


def join_pages(pages: Sequence[Any], what: str) -> Any:
    """Return the pages as one reply: the first, with every entry of its lists. Raises ``ServiceError``, counting less."""
    if type(pages[0]) is not dict:
        return pages[0]
    lists = {name for page in pages for name, value in page.items() if type(value) is list}
    whole = {name: [entry for page in pages for entry in _entries(page.get(name))] for name in lists}
    require_count(pages, sum(map(len, whole.values())), what)
    return {**pages[0], **whole}


def require_count(pages: Sequence[Any], number: int, what: str) -> None:
    """Raise ``ServiceError`` unless the pages have so many entries as they count, and no more than are read."""
    if number > ENTRIES_AT_MOST:
        raise _not_whole(what, f"it has more than {ENTRIES_AT_MOST} entries")
    counted = max((value for _, value in _signs(pages[0], _COUNT) if type(value) is int), default=0)
    if counted > number:
        raise _not_whole(what, f"it counts {counted} entries and told {number}")


def _signs(reply: dict[str, Any], names: Sequence[str]) -> list[tuple[str, Any]]:
    """Return what a reply, or a table in it, has under one of these names, however that is spelled."""
    letters = [*map(plain_letters, names)]
    tables = [table for table in (reply, *reply.values()) if type(table) is dict]
    return [(name, value) for table in tables for name, value in table.items() if plain_letters(name) in letters]


def _entries(value: Any) -> list[Any]:
    return value if type(value) is list else [] if value is None else [value]


def _not_whole(what: str, why: str) -> ServiceError:
    return ServiceError(
        f"{what} may not be whole: {why}",
        do="ask the venue how all of it is read; the mark of a next page is named in the services file, [requests]",
    )
