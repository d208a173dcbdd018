"""A transfer rendered: PNG files, an animated GIF, a sheet to print, and a page that plays it.

Everything is written as a new file, mode 0600, never over an existing one.
"""

from __future__ import annotations

import hashlib
import json
import textwrap
from base64 import b64encode
from collections.abc import Sequence
from importlib.resources import files
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from airlock_shared.errors import UsageError
from airlock_shared.host.files import make_folder, require_new, write_new
from airlock_shared.qr.documents import (
    DEFAULT_PAUSE_MS,
    Transfer,
    cycle_texts,
    densities_of,
    endless_texts,
    ideal_count,
)
from airlock_shared.qr.symbol import DEFAULT_VERSION, QUIET, Matrix, bordered, symbols
from airlock_shared.text.safe import safe
from airlock_shared.text.words import grouped, spoken_rows

if TYPE_CHECKING:
    from PIL import Image


PICTURE_PIXELS = 720  # about the side of a PNG's or GIF's picture: the height of a small screen
_SHEET = (1240, 1754)  # A4 at 150 dots an inch
_SHEET_DPI = 150
_MARGIN = 80
_HEAD = 190  # pixels of text above the codes
_PRINTED_MODULE = 5  # pixels at least: 0.85 mm, which a camera reads from two hands away
_INK, _PAPER = 0, 255


def picture(modules: Matrix, *, module_pixels: int) -> Image.Image:
    """Return a symbol with its quiet zone as a picture of one bit a pixel, dark on white."""
    from PIL import Image  # noqa: PLC0415 - native: where pictures are drawn alone

    rows = bordered(modules)
    dots = bytes(_INK if dark else _PAPER for row in rows for dark in row)
    small = Image.frombytes("L", (len(rows), len(rows)), dots)
    return small.resize((len(rows) * module_pixels,) * 2, Image.Resampling.NEAREST).convert(
        "1", dither=Image.Dither.NONE
    )


def pictures(texts: Sequence[str], version: int, *, pixels: int = PICTURE_PIXELS) -> list[Image.Image]:
    """Return the frames as pictures of one size, about ``pixels`` a side, in the smallest version that holds them all."""
    drawn = symbols(texts, version)
    module = max(1, pixels // (len(drawn[0]) + 2 * QUIET))
    return [picture(each, module_pixels=module) for each in drawn]


def write_sequence(transfer: Transfer, folder: Path, version: int) -> list[Path]:
    """Write the cycle's frames as ``frame-0001.png`` and so on into a new folder; return their paths.

    Raises ``UsageError`` when the folder exists or cannot be written.
    """
    require_new(folder)
    make_folder(folder)
    paths = []
    for number, image in enumerate(pictures(cycle_texts(transfer, version), version), start=1):
        paths.append(folder / f"frame-{number:04}.png")
        write_new(paths[-1], _encoded(image, "PNG"))
    return paths


def write_gif(transfer: Transfer, path: Path, version: int, *, pause_ms: int) -> int:
    """Write the cycle as a GIF that plays for ever; return its number of frames. Raises ``UsageError``."""
    require_new(path)
    first, *others = pictures(cycle_texts(transfer, version), version)
    data = BytesIO()
    first.save(data, "GIF", save_all=True, append_images=others, duration=pause_ms, loop=0, optimize=False, disposal=1)
    write_new(path, data.getvalue())
    return 1 + len(others)


# ---- a sheet to print -----------------------------------------------------------------------------------------------


def write_sheet(transfer: Transfer, path: Path, version: int) -> int:
    """Write a printable sheet, each plain part once: ``.pdf`` in one file, ``.png`` a file for each page.

    Further pages of a PNG are named ``…-2.png`` and so on. Returns the number of pages. Raises ``UsageError``.
    """
    if path.suffix not in (".pdf", ".png"):
        raise UsageError("a sheet is a .pdf or a .png file", do="end its name with .pdf or .png")
    pages = sheet(transfer, version)
    if path.suffix == ".pdf":
        require_new(path)
        data = BytesIO()
        grey = [page.convert("L") for page in pages]
        grey[0].save(data, "PDF", save_all=True, append_images=grey[1:], resolution=_SHEET_DPI, quality=95)
        write_new(path, data.getvalue())
        return len(pages)
    paths = [path, *(path.with_name(f"{path.stem}-{number}.png") for number in range(2, len(pages) + 1))]
    for each in paths:
        require_new(each)
    for each, page in zip(paths, pages, strict=True):
        write_new(each, _encoded(page, "PNG"))
    return len(pages)


def sheet(transfer: Transfer, version: int) -> list[Image.Image]:
    """Return the pages: codes in a grid, each with its number, under the names that people compare."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 - native: where pictures are drawn alone

    count = ideal_count(transfer, version)
    drawn = symbols(list(islice(endless_texts(transfer, version), count)), version)
    cell = _PRINTED_MODULE * (len(drawn[0]) + 2 * QUIET)
    columns, rows = max(1, (_SHEET[0] - 2 * _MARGIN) // cell), max(1, (_SHEET[1] - 2 * _MARGIN - _HEAD) // (cell + 30))
    size = columns * rows
    names = f"{safe(transfer.kind, limit=60)}   ceremony {safe(transfer.ceremony, limit=60)}"
    pages = []
    for at in range(0, count, size):
        paper = Image.new("1", _SHEET, 1)
        ink = ImageDraw.Draw(paper)
        title = f"{names}   page {at // size + 1} of {-(-count // size)}"
        head = (title, *spoken_rows(transfer.fingerprint), *textwrap.wrap(grouped(transfer.fingerprint), 62))
        for number, line in enumerate(head):
            ink.text((_MARGIN, _MARGIN + 31 * number), line, 0, ImageFont.load_default(26))
        for place, modules in enumerate(drawn[at : at + size]):
            x = _MARGIN + place % columns * cell
            y = _MARGIN + _HEAD + place // columns * (cell + 30)
            paper.paste(picture(modules, module_pixels=_PRINTED_MODULE), (x, y + 30))
            told = f"{at + place + 1} of {count}"
            ink.text((x + QUIET * _PRINTED_MODULE, y + 14), told, 0, ImageFont.load_default(24))
        pages.append(paper)
    return pages


def _encoded(image: Image.Image, kind: str) -> bytes:
    data = BytesIO()
    image.save(data, kind)
    return data.getvalue()


# ---- page -----------------------------------------------------------------------------------------------------------
# One self-contained HTML page that plays a transfer: it needs no network and no other file, and its policy allows
# none. The browser draws the codes itself from the texts, with ``page_parts/symbol.js``. The Content Security Policy
# names the page's one script and one style by hash, so that nothing else in the page can run. ``window`` has no more
# than a frame around the newest of them.


WINDOW = "now.html"
"""The page that a person opens once: it shows the newest page of codes in its folder."""


def qr_page(transfer: Transfer, *, version: int = DEFAULT_VERSION, pause_ms: int = DEFAULT_PAUSE_MS) -> bytes:
    """Return the page, UTF-8. It begins to play when it is opened, at the largest density up to ``version``.

    Raises ``UsageError`` for a message that is too long for codes.
    """
    style, script = _part("page.css"), _part("symbol.js") + _part("player.js")
    policy = (
        f"default-src 'none'; script-src '{_source_hash(script)}'; style-src '{_source_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    filled = _part("page.html")
    for place, text in {
        "@POLICY@": policy,
        "@STYLE@": style,
        "@SCRIPT@": script,
        "@TRANSFER@": _embedded(transfer, version, pause_ms),
    }.items():  # the transfer last, so that no place is looked for in it
        filled = filled.replace(place, text, 1)
    return filled.encode()


def window(newest: str) -> dict[str, bytes]:
    """Return the files of the one page that shows the newest page of a folder: itself, and the one that names that."""
    return {WINDOW: _part("window.html").encode(), "next.html": _part("next.html").replace("@NAME@", newest).encode()}


def _embedded(transfer: Transfer, version: int, pause_ms: int) -> str:
    """Return the transfer as JSON that cannot end the script element which holds it, nor be read otherwise by a script."""
    versions = densities_of(transfer)
    densities = [
        {"version": each, "ideal": ideal_count(transfer, each), "texts": cycle_texts(transfer, each)}
        for each in versions
    ]
    value = {
        "kind": safe(transfer.kind),
        "ceremony": safe(transfer.ceremony),
        "fingerprint": grouped(transfer.fingerprint),
        "words": "\n".join(spoken_rows(transfer.fingerprint)),
        "densities": densities,
        "density": max((n for n, each in enumerate(versions) if each <= version), default=0),
        "pause_ms": pause_ms,
    }
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _part(name: str) -> str:
    return (files("airlock_shared.qr") / "page_parts" / name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """Return a hash-source of the Content Security Policy, level 3, section 2.3.1."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
