"""Codes in a terminal: two modules a character, black on white whatever the terminal's own colours are."""

from __future__ import annotations

from airlock_shared.qr.symbol import QUIET, Matrix, bordered, side

SMALLEST_IN_TERMINAL = 5  # the largest that 24 rows hold; smaller ones carry next to nothing
LARGEST_IN_TERMINAL = 10  # denser codes are read badly from character cells, which are not quite square
_INK = "\x1b[38;5;16;48;5;231m"  # black on white in the fixed part of the 256 colours, which no theme changes
_PLAIN = "\x1b[0m"
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def version_that_fits(rows: int, columns: int) -> int | None:
    """Return the largest version that a terminal shows whole with one line left, or None when none does."""
    fitting = [
        version
        for version in range(SMALLEST_IN_TERMINAL, LARGEST_IN_TERMINAL + 1)
        if (width := side(version) + 2 * QUIET) <= columns and (width + 1) // 2 <= rows - 1
    ]
    return fitting[-1] if fitting else None


def hint(rows: int, columns: int, version: int = LARGEST_IN_TERMINAL) -> str:
    """Return what to tell a person whose terminal is too small for a code of this version."""
    width = side(version) + 2 * QUIET
    return (
        f"this terminal has {columns} columns and {rows} rows; the code needs {width} and {(width + 1) // 2 + 1}: "
        "enlarge the window, use a smaller font, or show the page instead"
    )


def draw(modules: Matrix) -> str:
    """Return a symbol with its quiet zone as lines of half blocks, each line with its own colours and their end."""
    rows = bordered(modules)
    if len(rows) % 2:
        rows.append([False] * len(rows[0]))
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return "\n".join(
        _INK + "".join(_HALVES[pair] for pair in zip(upper, lower, strict=True)) + _PLAIN for upper, lower in pairs
    )
