"""What a touch screen has behind More: the rest of a long value, and of a very long one not all."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_offline.ledger.drawing.line_breaks import counted_breaks, counted_lines
from airlock_offline.ledger.models import Touch


def notes_behind_more(name: str, shown: str, layout: Touch) -> Iterator[str]:
    """Yield that a value goes on behind More, and what of its end is not drawn there."""
    yield f"{name} continues behind More: tap it on the Ledger to read all of it."
    if not_drawn_behind_more(shown, layout):
        yield f'The end of {name} is not drawn behind More: read here that it ends in "{shown[-24:].strip()}".'


def not_drawn_behind_more(value: str, layout: Touch) -> str:
    """Return the end of a value for which the pages behind More have no room.

    The device counts the pages in one typeface and fills them in another, a bolder one. Source: ``displayDetails`` and
    ``displayDetailsPage`` in ``nbgl_use_case.c`` of the public device SDK.
    """
    lines = counted_lines(value, layout.names, layout.line_px)
    pages = -(-lines // layout.more_lines)
    if pages > 1:
        a_line_holds = layout.line_px // 16
        lost = -(-3 * (pages - 1) // a_line_holds)
        on_the_last = lines - (pages - 1) * layout.more_lines
        pages += lost // layout.more_lines + (on_the_last + lost % layout.more_lines > layout.more_lines)
    for _ in range(pages):
        breaks = list(counted_breaks(value, layout.bold, layout.line_px))
        if len(breaks) < layout.more_lines:
            return ""
        value = value[breaks[layout.more_lines - 1] :]
    return value
