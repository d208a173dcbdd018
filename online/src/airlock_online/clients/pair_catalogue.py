"""The pair catalogue, whole: a list, or an object with one list in it, perhaps in pages, or an object of pairs by index.

The specification says that ``data`` is an object, and shows nothing of this one ("Response envelope"; "Endpoints named but
whose shapes are not shown"). So a bare list is taken as well as an object. A part of the catalogue is never taken for the
whole (:mod:`airlock_online.clients.pages`).
"""

from __future__ import annotations

from typing import Any

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.pages import require_count
from airlock_online.speech.sections import SHIPPED, Speech
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe


def read_pairs(builder: BuilderClient, speech: Speech = SHIPPED) -> list[Any]:
    """Return every entry of the venue's pair catalogue, page by page; the entries are not looked at.

    Where entries stand under their index, it is put into them.
    Raises ``ServiceError`` for a catalogue that has no list, or that may not be whole.
    """
    path, number = speech.paths["pairs"], speech.replies["pairs"]["id"]
    pages = builder.pages("pairs")
    if type(pages[0]) is list:
        return pages[0]
    entries = [entry for page in pages for entry in _entries(page, path, number)]
    require_count(pages, len(entries), builder.named("pairs"))
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
