"""How a text becomes lines and pages on a Ledger's screen: the rules of the device's own drawing library.

Source: ``nbgl_fonts.c`` and ``nbgl_obj.c`` of the public device SDK (LedgerHQ/ledger-secure-sdk, Apache License 2.0, the
parent of commit 70bed26f). The device counts lines by one rule and draws them by another, which differ where a line
begins with a delimiter. Both are kept as they are: pages are divided by the first, and read by the second.
"""

from __future__ import annotations

from collections.abc import Iterator

from airlock_offline.ledger.drawing.glyph_widths import Typeface

_DELIMITERS = " -_"


def width_px(text: str, face: Typeface) -> int:
    """Return the width of a text; a character without a glyph has none."""
    return sum(map(face.width_px, text))


def counted_breaks(text: str, face: Typeface, line_px: int) -> Iterator[int]:
    """Yield where each further line begins as the device counts them; a line feed belongs to neither line."""
    at = used_px = 0
    delimiter = -1
    while at < len(text):
        character = text[at]
        if character in _DELIMITERS:
            delimiter = at
        own_px = face.width_px(character)
        if character != "\n" and used_px + own_px <= line_px:
            used_px += own_px
            at += 1
            continue
        if character == "\n" or delimiter >= 0:
            at = at if character == "\n" else delimiter
            at += 1
        elif not used_px:  # a character wider than the line
            at += 1
        yield at
        used_px, delimiter = 0, -1


def counted_lines(text: str, face: Typeface, line_px: int) -> int:
    """Return how many lines a touch screen counts in a text: its height on the page follows from it."""
    return 1 + sum(1 for _ in counted_breaks(text, face, line_px))


def lines_of(text: str, face: Typeface, line_px: int) -> list[str]:
    """Return the lines that are drawn: broken after a space, ``-`` or ``_``, else anywhere; a line feed ends one.

    Between two line feeds stands an empty line: it takes its room, and a reader of the screen finds no text there.
    """
    result: list[str] = []
    while text:
        end = _first_line(text, face, line_px)
        result.append(text[:end])
        text = text[end:].removeprefix("\n")
    return result


def _first_line(text: str, face: Typeface, line_px: int) -> int:
    """Return how many characters of a text its first line takes, without a line feed at its end."""
    used_px = delimiter = delimiter_px = 0
    for length, character in enumerate(text):
        if character == "\n":
            return length
        own_px = face.width_px(character)
        if own_px and character in _DELIMITERS:
            delimiter, delimiter_px = length, used_px
        if own_px and used_px + own_px > line_px:
            return delimiter + 1 if delimiter_px else max(length, 1)
        used_px += own_px
    return len(text)


def pages_of(text: str, face: Typeface, line_px: int, lines: int) -> list[list[str]]:
    """Return the pages of so many lines over which a Nano spreads a text; at least one."""
    count = 1 + sum(1 for _ in counted_breaks(text.removesuffix("\n"), face, line_px)) // lines
    result = []
    for page in range(count):
        result.append(lines_of(text, face, line_px)[:lines])
        if page < count - 1:
            at = [*counted_breaks(text, face, line_px), *[len(text)] * lines][lines - 1]
            text = (
                text[at:] if text[at - 1] == "\n" else text[at:].removeprefix("\n")
            )  # no page begins with an empty line
    return result


def cut_lines(text: str, face: Typeface, line_px: int, lines: int) -> list[str]:
    """Return the first lines of a text that goes on; three dots end the last, in place of three characters if need be.

    The device measures a line that was broken at a delimiter without it. Where a line feed follows, there are no dots.
    """
    result = lines_of(text, face, line_px)[: lines - 1]
    for _ in result:
        text = text[_first_line(text, face, line_px) :].removeprefix("\n")
    end = _first_line(text, face, line_px)
    line = text[:end]
    if text[end : end + 1] == "\n":
        return [*result, line]
    measured = line[:-1] if text[:end][-1:] in _DELIMITERS else line
    fits = width_px(measured, face) + width_px("...", face) < line_px
    return [*result, f"{line if fits else line[:-3]}..."]


def title_line(title: str, face: Typeface, line_px: int) -> str:
    """Return a Nano's title as it stands on its one line: cut in its middle where it is too long.

    Source: ``nbgl_textReduceOnNbLines`` in ``nbgl_fonts.c``, ``displayTextPage`` in ``nbgl_step.c``: 23 characters are kept
    of what fits.
    """
    if width_px(title, face) <= line_px:
        return title[:23]
    half_px = (line_px - width_px(" ... ", face)) // 2
    front = 0
    while width_px(title[: front + 1], face) <= half_px:
        front += 1
    back = len(title)
    while width_px(title[back:], face) < half_px:
        back -= 1
    return f"{title[: front - 1]}...{title[back + 1 :]}"
