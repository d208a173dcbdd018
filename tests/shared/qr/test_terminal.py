"""Codes in a terminal, drawn again from the characters and colours, and read by the decoders."""

from __future__ import annotations

import re

import pytest
from PIL import Image

from airlock_shared.cli.qr.transfer import draw, hint, version_that_fits
from airlock_shared.qr.documents import cycle_texts
from airlock_shared.qr.scan import texts_in
from airlock_shared.qr.symbol import matrix
from airlock_shared.ur.decode import Decoder
from shared.qr.transfers import one_intent

LINE = re.compile(r"\x1b\[38;5;16;48;5;231m([ ▀▄█]+)\x1b\[0m")
HALVES = {" ": (255, 255), "▀": (0, 255), "▄": (255, 0), "█": (0, 0)}


def as_terminal_shows(drawn: str, pixels: int = 8) -> Image.Image:
    rows: list[list[int]] = []
    for line in drawn.split("\n"):
        found = LINE.fullmatch(line)
        assert found, f"a line without its own colours: {line!r}"
        pairs = [HALVES[character] for character in found[1]]
        rows += [[upper for upper, _ in pairs], [lower for _, lower in pairs]]
    screen = Image.new("L", (len(rows[0]) + 6, len(rows) + 6), 30)  # a dark terminal around it
    for y, row in enumerate(rows):
        for x, level in enumerate(row):
            screen.putpixel((x + 3, y + 3), level)
    return screen.resize((screen.width * pixels, screen.height * pixels), Image.Resampling.NEAREST)


@pytest.mark.parametrize("version", range(1, 11))
def test_what_the_terminal_shows_is_read(version: int) -> None:
    text = ("UR:BYTES/" + "AEADAOLAZMJENDEOTI" * 30)[: {1: 20}.get(version, 20 * version)]
    assert texts_in(as_terminal_shows(draw(matrix(text, version_at_most=version, version_at_least=version)))) == [text]


def test_a_document_is_carried_by_a_terminal_of_the_usual_size() -> None:
    version = version_that_fits(24, 80)
    assert version == 5
    decoder = Decoder()
    for text in cycle_texts(one_intent(), version):
        (read,) = texts_in(as_terminal_shows(draw(matrix(text, version_at_most=version))))
        decoder.receive(read)
    assert decoder.result is not None
    assert decoder.result.cbor == one_intent().cbor


@pytest.mark.parametrize(("rows", "columns"), [(23, 80), (24, 44), (0, 0), (10, 300)])
def test_a_small_terminal_gets_a_hint_and_no_code(rows: int, columns: int) -> None:
    assert version_that_fits(rows, columns) is None
    assert hint(rows, columns) == (
        f"this terminal has {columns} columns and {rows} rows; the code needs 65 and 34: "
        "enlarge the window, use a smaller font, or show the page instead"
    )
