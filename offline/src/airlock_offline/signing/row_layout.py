"""How the review is laid out: labels in a column of their own, and texts beside them in rows of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.text.safe import WIDTH, columns, wrapped

INDENT = 20


def row(label: str, text: str) -> Iterator[str]:
    """Yield a label and a safe text beside it; a label that is too long stands on lines of its own."""
    if columns(label) > INDENT - 2:  # only a claim of the builder has such a name
        yield from (f"  {line}" for line in wrapped(label, WIDTH - 2))
        label = ""
    for line in wrapped(text, WIDTH - INDENT - 2):
        yield f"  {label}{' ' * (INDENT - columns(label))}{line}".rstrip()
        label = ""


def hanging(label: str, text: str) -> Iterator[str]:
    """Yield a safe text in lines of 80 columns beside its label."""
    for line in wrapped(text, WIDTH - len(label)):
        yield f"{label}{line}"
        label = " " * len(label)
