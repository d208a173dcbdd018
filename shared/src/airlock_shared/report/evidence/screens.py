"""The pages of the Ledger as a document (``airlock/screens@1``): computed by the offline half, for the report of either.

``{"format", "model", "requests", "steps"}``; a step has its id, its digest and its pages, each a list of lines.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.wire.codec import parse_json, to_json
from airlock_shared.wire.members import HEX_32, NAME, format_of, other_format, read_list, read_matching, read_members

FORMAT = "airlock/screens@1"
_DIGEST = re.compile(r"0x[0-9a-f]{64}", re.ASCII)
_MODEL = re.compile(r"[a-z0-9]{1,20}", re.ASCII)
_MANY = 20_000

Page = list[str]


class ShownPages(NamedTuple):
    """The pages for one step."""

    step: str
    digest: str
    pages: list[Page]


class Screens(NamedTuple):
    """The pages on a Ledger's ``model`` for the requests of this fingerprint."""

    model: str
    requests: str
    steps: tuple[ShownPages, ...]

    def of(self, digest: str) -> list[Page]:
        """Return the pages of what has this digest; none when it is not there."""
        return next((shown.pages for shown in self.steps if shown.digest == digest), [])


def write_screens(screens: Screens) -> bytes:
    """Return the document's file form."""
    steps = [shown._asdict() for shown in screens.steps]
    return to_json({"format": FORMAT, "model": screens.model, "requests": screens.requests, "steps": steps})


def parse_screens(data: bytes) -> Screens:
    """Read the document. Raises ``DocumentError``."""
    value = parse_json(data)
    if format_of(value) != FORMAT:
        raise other_format(format_of(value), FORMAT, "not a document of screens")
    read_members(value, "screens", {"format": str, "model": str, "requests": str, "steps": list})
    read_matching(value["model"], "screens.model", _MODEL, "a model's name")
    read_matching(value["requests"], "screens.requests", HEX_32, "a fingerprint in hex")
    rows = read_list(value["steps"], "screens.steps", _MANY)
    return Screens(value["model"], value["requests"], tuple(_read(row, n) for n, row in enumerate(rows)))


def _read(row: object, position: int) -> ShownPages:
    where = f"screens.steps[{position}]"
    value = read_members(row, where, {"step": str, "digest": str, "pages": list})
    read_matching(value["step"], f"{where}.step", NAME, "a step's id")
    read_matching(value["digest"], f"{where}.digest", _DIGEST, "32 bytes in hex")
    for number, page in enumerate(read_list(value["pages"], f"{where}.pages", _MANY)):
        for line in read_list(page, f"{where}.pages[{number}]", _MANY):
            if type(line) is not str:
                raise DocumentError("DOC-FIELD", f"a line of {where}.pages[{number}] is no text")
    return ShownPages(value["step"], value["digest"], value["pages"])
