"""How a text becomes lines on a Ledger's screen: the width of each character, and where a line is broken.

The widths in pixels are **fitted**: the smallest changes to Open Sans' published proportions with which every line break
of the recorded screens (``tests/vectors/ledger``) comes out as it was. Texts with characters or combinations that were never
recorded may therefore break one character earlier or later on a device; the text itself is the same.
"""

from __future__ import annotations

from typing import NamedTuple


class Face(NamedTuple):
    """A typeface on one model: the pixels of a line, and the characters that are so many pixels wide."""

    line_px: int
    widths: dict[str, int]


def _face(line_px: int, characters: dict[int, str]) -> Face:
    return Face(line_px, {character: width for width, group in characters.items() for character in group})


_NANO_WIDTHS = {
    2: "'",
    3: " !(),.:;IJijl",
    4: '"-/[\\]rt{}',
    5: "?_cfsvz",
    6: "$*+012356789<=>EFLSTXYZ^`aegkxy|~",
    7: "#ABCKPRVbdhnopqu",
    8: "&4DGHNU",
    9: "%OQw",
    10: "@MWm",
}
_FLEX_WIDTHS = {
    9: "',",
    10: " !.:;Jijl",
    11: "()I",
    12: "-",
    13: "[]ft",
    14: "/\\",
    15: '"{}',
    16: "r",
    17: "?_",
    18: "1csz",
    19: "vy",
    20: "Lkx",
    21: "*EFST^ag|",
    22: "$+02356789<=>XYZ`e~",
    23: "PVdhnopu",
    24: "4KRbq",
    25: "#AB",
    27: "C",
    28: "&DGHU",
    29: "N",
    30: "OQw",
    32: "%",
    35: "@M",
    36: "Wm",
}
NANO = _face(114, _NANO_WIDTHS)
FLEX = _face(416, _FLEX_WIDTHS)


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
