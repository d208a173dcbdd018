"""What a Ledger does not show in full of what it signs: named before signing, so that people read it on the review.

Everything is hashed and signed whole; only the screen is short. Measured on the real app (``docs/reference/ledger.md``).
"""

from __future__ import annotations

from collections.abc import Iterator

from airlock_offline.ledger.drawing.behind_more import notes_behind_more
from airlock_offline.ledger.drawing.line_breaks import counted_lines, pages_of
from airlock_offline.ledger.models import Buttons, Touch, screen_of
from airlock_offline.ledger.typed_data import ArrayCount, Leaf, leaves
from airlock_offline.ledger.typed_data_screens import SHOWN_CHARACTERS, UNSHORTENED_FROM, shown_bytes, shown_string
from airlock_shared.ethereum.eip712 import DOMAIN_TYPE, TypedData


def not_shown_in_full(typed_data: TypedData, model: str) -> list[str]:
    """Return a sentence for each value of ``typed_data`` that ``model`` shows cut, hidden, incomplete, or not at all."""
    notes = []
    for root in (DOMAIN_TYPE, typed_data.primary_type):
        for item in leaves(typed_data, root):
            if isinstance(item, ArrayCount):
                notes += ["An array is empty: the Ledger does not show that it is there."] if not item.elements else []
            else:
                notes += notes_of(item, model, item.name)
    return list(dict.fromkeys(notes))


def notes_of(leaf: Leaf, model: str, name: str) -> Iterator[str]:
    """Yield what ``model`` does not show in full of a value that it shows raw; ``name`` is how it is called."""
    value, layout = leaf.value, screen_of(model).layout
    if isinstance(value, str):
        raw, shown = value.encode(), shown_string(value.encode(), model)
        if len(raw) > SHOWN_CHARACTERS:
            marked = "without marking the cut" if len(raw) >= UNSHORTENED_FROM else "and marks the cut with ..."
            yield f"The Ledger shows {SHOWN_CHARACTERS} characters of {name} at most ({len(raw)} bytes), {marked}."
        if not all(0x20 <= byte <= 0x7E or byte == 0x0A for byte in raw):
            yield f"The Ledger does not draw the characters of {name} that are not ASCII."
    elif isinstance(value, bytes) and leaf.type != "address":
        shown = shown_bytes(value)
        if 2 + 2 * len(value) > SHOWN_CHARACTERS:
            yield f"The Ledger shows {SHOWN_CHARACTERS} characters of {name} at most ({len(value)} bytes of data)."
    else:
        if isinstance(layout, Buttons) and type(value) is int and _repeats(str(value), layout):
            yield f"A Nano repeats digits of {name} on its second page: compare page by page, do not join them."
        return
    if isinstance(layout, Touch) and counted_lines(shown, layout.values, layout.line_px) > layout.lines:
        yield from notes_behind_more(name, shown, layout)


def _repeats(text: str, layout: Buttons) -> bool:
    pages = pages_of(text, layout.face, layout.line_px, layout.lines)
    return "".join(line for page in pages for line in page) != text
