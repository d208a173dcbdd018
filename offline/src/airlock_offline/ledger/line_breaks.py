"""How a text becomes lines on a Ledger's screen: where a line of its typeface is broken.

The widths of characters are fitted (:mod:`airlock_offline.ledger.models`): texts with characters or combinations that were
never recorded may break one character earlier or later on a device; the text itself is the same.
"""

from __future__ import annotations

from airlock_offline.ledger.models import Face


def width_px(text: str, face: Face) -> int:
    """Return the width of a text; a character without a glyph has none."""
    return sum(face.widths.get(character, 0) for character in text)


def lines_of(text: str, face: Face) -> list[str]:
    """Break a text into lines: after the last space that fits, or anywhere in a word longer than a line.

    A space at the end of a line stays there and takes no room; a line feed ends a line.
    """
    result: list[str] = []
    for paragraph in text.split("\n"):
        rest = paragraph
        while rest:
            line = _first_line(rest, face)
            result.append(line)
            rest = rest[len(line) :]
    return result


def _first_line(text: str, face: Face) -> str:
    used_px, fits = 0, 0
    for index, character in enumerate(text):
        used_px += face.widths.get(character, 0)
        if character != " " and used_px > face.line_px:
            break
        fits = index + 1
    if fits == len(text) or text[fits - 1] == " ":
        return text[:fits]
    after_space = text.rfind(" ", 0, fits) + 1
    return text[: after_space or max(1, fits)]


def shortened(line: str, face: Face) -> str:
    """Return the last line of a text that goes on, with its three dots: they replace three characters if need be."""
    return line + "..." if width_px(line + "...", face) <= face.line_px else line[:-3] + "..."
