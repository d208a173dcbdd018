"""A transfer rendered: PNG files, and a page that plays it.

Everything is written as a new file, mode 0600, never over an existing one.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from base64 import b64encode
from collections.abc import Sequence
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from airlock_shared.host.files import make_folder, require_new, write_new
from airlock_shared.qr.documents import (
    DEFAULT_PAUSE_MS,
    Transfer,
    cycle_texts,
    densities_of,
    ideal_count,
)
from airlock_shared.qr.symbol import DEFAULT_VERSION, QUIET, Matrix, bordered, symbols
from airlock_shared.text.safe import grouped, safe, spoken_rows

if TYPE_CHECKING:
    from PIL import Image


PICTURE_PIXELS = 720  # about the side of a PNG's picture: the height of a small screen
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


def pictures(texts: Sequence[str], version: int) -> list[Image.Image]:
    """Return the frames as pictures of one size, about 720 pixels a side, in the smallest version that holds them all."""
    drawn = symbols(texts, version)
    module = max(1, PICTURE_PIXELS // (len(drawn[0]) + 2 * QUIET))
    return [picture(each, module_pixels=module) for each in drawn]


def write_sequence(transfer: Transfer, folder: Path, version: int) -> None:
    """Write the cycle's frames as ``frame-0001.png`` and so on into a new folder, all of them or none.

    Raises ``UsageError`` when the folder exists or cannot be written.
    """
    require_new(folder)
    make_folder(folder)
    try:
        for number, image in enumerate(pictures(cycle_texts(transfer, version), version), start=1):
            data = BytesIO()
            image.save(data, "PNG")
            write_new(folder / f"frame-{number:04}.png", data.getvalue())
    except BaseException:
        shutil.rmtree(folder)
        raise


# ---- page -----------------------------------------------------------------------------------------------------------
# One self-contained HTML page that plays a transfer: it needs no network and no other file, and its policy allows
# none. The browser draws the codes itself from the texts, with ``page_parts/symbol.js``. The Content Security Policy
# names the page's one script and one style by hash, so that nothing else in the page can run. ``window`` has no more
# than a frame around the newest of them.


WINDOW = "now.html"
"""The page that a person opens once: it shows the newest page of codes in its folder."""


def qr_page(transfer: Transfer, *, version: int = DEFAULT_VERSION) -> bytes:
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
        "@TRANSFER@": _embedded(transfer, version),
    }.items():  # the transfer last, so that no place is looked for in it
        filled = filled.replace(place, text, 1)
    return filled.encode()


def window(newest: str) -> dict[str, bytes]:
    """Return the files of the one page that shows the newest page of a folder: itself, and the one that names that."""
    return {WINDOW: _part("window.html").encode(), "next.html": _part("next.html").replace("@NAME@", newest).encode()}


def _embedded(transfer: Transfer, version: int) -> str:
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
        "pause_ms": DEFAULT_PAUSE_MS,
    }
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _part(name: str) -> str:
    return (files("airlock_shared.qr") / "page_parts" / name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """Return a hash-source of the Content Security Policy, level 3, section 2.3.1."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
