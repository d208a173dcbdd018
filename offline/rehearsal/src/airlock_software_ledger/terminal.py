"""The terminal as the software Ledger's screen: one page a block, at most 80 columns, every line marked as a simulator's."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator

from airlock_offline.ledger.typed_data_screens import Page
from airlock_shared.cli.keyboard import forget_typed, typed_line
from airlock_shared.text.safe import WIDTH, harmless


def tell(text: str) -> None:
    """Write to stderr at once."""
    sys.stderr.write(harmless(text) + "\n")
    sys.stderr.flush()


def page_lines(pages: list[Page]) -> Iterator[str]:
    """Yield the pages as blocks: a heading with its number, then the page's lines, indented, and an empty line."""
    for number, page in enumerate(pages, start=1):
        yield f"SIMULATOR screen {number} of {len(pages)}"
        for line in page:
            yield from textwrap.wrap(line.strip(), WIDTH, initial_indent="  | ", subsequent_indent="  | ") or ["  |"]
        yield ""


def show_on_terminal(pages: list[Page]) -> bool:
    """Show the pages and approve."""
    for line in page_lines(pages):
        tell(line)
    return True


def ask_on_terminal(pages: list[Page]) -> bool:
    """Show the pages and approve when the whole word Yes is typed; Enter alone turns the list beside it."""
    show_on_terminal(pages)
    forget_typed()
    tell("SIMULATOR: approve on the software Ledger? Yes approves, anything else rejects:")
    while (typed := typed_line()) == "\n":
        continue
    return typed.rstrip("\n") == "Yes"
