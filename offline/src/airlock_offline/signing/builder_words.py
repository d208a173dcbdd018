"""What the builder says of an item beside what is signed: bounded, escaped, and marked on every line.

It decides nothing, so it may neither push away what decides nor look like it: no line of ours begins with the mark.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from airlock_shared.documents.requests import Request
from airlock_shared.text.safe import WIDTH, safe, wrapped

MARK = "builder | "
MOST_LINES, MOST_BYTES = 40, 4096
"""Of an item, on the screen, with what is left out and the mark."""

_MOST_OF_NAME, _MOST_OF_VALUE = 40, 400  # characters
_LAST_LINES, _LAST_BYTES = 2, 2 * (WIDTH + 1)  # what is left out, and its hash


def builder_lines(request: Request) -> Iterator[str]:
    """Yield what the builder says, one member after the other, then how much is left out and a SHA-256 of all of it."""
    said = list(_said(request))
    if not said:
        return
    lines, taken, shown, whole = 0, 0, 0, True
    for name, value in said:
        text = json.dumps(value, ensure_ascii=False)
        whole = whole and len(name) <= _MOST_OF_NAME and len(text) <= _MOST_OF_VALUE
        member = f"{safe(name, limit=_MOST_OF_NAME)}: {safe(text, limit=_MOST_OF_VALUE)}"
        rows = [MARK + row for row in wrapped(member, WIDTH - len(MARK))]
        size = sum(len(row.encode()) + 1 for row in rows)
        if lines + len(rows) > MOST_LINES - _LAST_LINES or taken + size > MOST_BYTES - _LAST_BYTES:
            break
        yield from rows
        lines, taken, shown = lines + len(rows), taken + size, shown + 1
    if shown < len(said) or not whole:
        yield f"{MARK}… {len(said) - shown} more members; SHA-256 of all that it says, as JSON:"
        yield MARK + hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _said(request: Request) -> Iterator[tuple[str, object]]:
    """Yield names and values; of ``meta`` its own members, where it has any."""
    description, meta = request.payload.get("description"), request.payload.get("meta")
    if description:
        yield "description", description
    if request.order_reason:
        yield "reason of the order type", request.order_reason
    if isinstance(meta, dict):
        yield from meta.items()
    elif meta:
        yield "meta", meta
