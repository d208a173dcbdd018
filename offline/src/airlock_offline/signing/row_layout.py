"""How the review is laid out: a mark in the margin, labels in a column of their own, and texts beside them, 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from airlock_shared.text.safe import WIDTH, columns, wrapped

INDENT = 20
KEPT, NOT_KEPT, CHOSEN = "✓", "✗", "·"
"""In the margin: as the plan and the pins say, not so, or chosen by the builder. The first column is ours alone."""


def row(label: str, text: str) -> Iterator[str]:
    """Yield a label and a safe text beside it; a label that is too long stands on lines of its own."""
    if columns(label) > INDENT - 2:  # only a claim of the builder has such a name
        yield from (f"  {line}" for line in wrapped(label, WIDTH - 2))
        label = ""
    for line in wrapped(text, WIDTH - INDENT - 3):  # a terminal may draw a mark wide
        yield f"  {label}{' ' * (INDENT - columns(label))}{line}".rstrip()
        label = ""


def hanging(label: str, text: str) -> Iterator[str]:
    """Yield a safe text in lines of 80 columns beside its label."""
    for line in wrapped(text, WIDTH - len(label)):
        yield f"{label}{line}"
        label = " " * len(label)


def marked(mark: str, rows: Iterable[str]) -> Iterator[str]:
    """Yield rows with a mark in their margin, on every line: a text can be long, and its mark must not be looked for."""
    for line in rows:
        yield f"{mark} {line[2:]}" if line else mark
