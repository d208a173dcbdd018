"""Reads that may come in pages, whole: by a count of pages, or by the mark of the next one, whose place a services file has.

The specification shows no pages. A part is never taken for the whole: a reply that counts more than it tells, that names a
next page in a way that is not known here, or whose marks go round in a circle, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from airlock_online.clients.reply_values import first_of, id_told, value_at
from airlock_online.speech.sections import NEXT
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

PAGES_AT_MOST = 200
ENTRIES_AT_MOST = 10_000
_MARK_AT_MOST = 2_000
_PAGE, _PAGES, _COUNT = ("page", "currentPage"), ("pages", "totalPages", "pageCount"), ("total", "totalCount", "count")
_CURSORS = ("nextCursor", "cursor", "next")
_MORE = ("hasMore", "hasNext")

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
        text = id_told(told)
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
    last = pages[-1]
    more = [name for name in _CURSORS if last.get(name) and id_told(last[name]) not in asked]
    more += [name for name in _MORE if last.get(name) is True]
    more += [name for name in _PAGES if type(first.get(name)) is int and first[name] > len(pages)]
    if more:
        raise _not_whole(what, f"its member {safe(more[0])!r} says that there is more")
    return pages


def joined(pages: Sequence[Any], what: str) -> Any:
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
    counted = first_of(pages[0], _COUNT, int)
    if counted is not None and counted > number:
        raise _not_whole(what, f"it counts {counted} entries and told {number}")


def _entries(value: Any) -> list[Any]:
    return value if type(value) is list else [] if value is None else [value]


def _not_whole(what: str, why: str) -> ServiceError:
    return ServiceError(
        f"{what} may not be whole: {why}",
        do="ask the venue how all of it is read; the mark of a next page is named in the services file, [requests]",
    )
