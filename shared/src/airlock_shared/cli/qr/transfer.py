"""What both programs' commands show by QR codes: a transfer, in the terminal, as a page or in files.

Codes are drawn on stdout, everything else is said on stderr. No server is started; a page is a file that a browser opens.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import click

from airlock_shared.cli.progress import working
from airlock_shared.cli.terminal import PATH_TYPE, json_option, paint, say, say_all
from airlock_shared.errors import UsageError
from airlock_shared.host.files import make_folder, write_new
from airlock_shared.qr import render
from airlock_shared.qr.documents import (
    DEFAULT_PAUSE_MS,
    ReceivedDocument,
    Transfer,
    cycle_texts,
    densities_of,
    file_name,
    ideal_count,
)
from airlock_shared.qr.symbol import DEFAULT_VERSION, DENSITIES, QUIET, Matrix, bordered, side, symbols
from airlock_shared.text.safe import name_lines, safe, spoken
from airlock_shared.wire.strict_json import JsonObject

# ---- terminal -------------------------------------------------------------------------------------------------------
# Codes in a terminal: two modules a character, black on white whatever the terminal's own colours are.


SMALLEST_IN_TERMINAL = 5  # the largest that 24 rows hold; smaller ones carry next to nothing
LARGEST_IN_TERMINAL = 10  # denser codes are read badly from character cells, which are not quite square
_INK = "\x1b[38;5;16;48;5;231m"  # black on white in the fixed part of the 256 colours, which no theme changes
_PLAIN = "\x1b[0m"
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def _needed(version: int) -> tuple[int, int]:
    """Return how many rows and columns a terminal needs to show a version whole, with one line left."""
    width = side(version) + 2 * QUIET
    return (width + 1) // 2 + 1, width


def version_that_fits(rows: int, columns: int) -> int | None:
    """Return the largest version that a terminal shows whole with one line left, or None when none does."""
    for version in range(LARGEST_IN_TERMINAL, SMALLEST_IN_TERMINAL - 1, -1):
        needed_rows, needed_columns = _needed(version)
        if needed_rows <= rows and needed_columns <= columns:
            return version
    return None


def hint(rows: int, columns: int) -> str:
    """Return what to tell a person whose terminal is too small for a code."""
    needed_rows, needed_columns = _needed(LARGEST_IN_TERMINAL)
    return (
        f"this terminal has {columns} columns and {rows} rows; the code needs {needed_columns} and {needed_rows}: "
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


# ---- animation ------------------------------------------------------------------------------------------------------
# A transfer in the terminal of stdout: one still code, or an animation that Ctrl-C ends. The edge to screen and
# clock.


MOST_PARTS = 100  # twenty seconds a round; what is longer goes faster by a page
NO_TERMINAL = "use a terminal, or show the page instead: --as page"
_TOO_MANY = f"it takes more than {MOST_PARTS} codes of the size that fits: show the page instead, with --as page"


def fitting(transfer: Transfer, version: int | None) -> tuple[int | None, str]:
    """Return the version up to ``version`` with which this terminal shows a transfer, or None and what to do."""
    if not sys.stdout.isatty():
        return None, NO_TERMINAL
    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    fits = version_that_fits(rows, columns)
    if fits is None:
        return None, hint(rows, columns)
    fits = min(fits, version or LARGEST_IN_TERMINAL)
    return (fits, "") if ideal_count(transfer, fits) <= MOST_PARTS else (None, _TOO_MANY)


def play(transfer: Transfer, version: int) -> None:
    """Draw a transfer: a still code once, a longer one over and over until Ctrl-C, which is its normal end."""
    drawn = [draw(each) for each in symbols(cycle_texts(transfer, version), version)]
    if len(drawn) == 1:
        paint(drawn[0])
        return
    say(f"{ideal_count(transfer, version)} parts, repeated: press Ctrl-C when the other machine has them all")
    back = f"\x1b[{len(drawn[0].splitlines())}A\r"
    try:
        paint(drawn[0])
        while True:
            for each in drawn:
                paint(back + each)
                time.sleep(DEFAULT_PAUSE_MS / 1000)
    except KeyboardInterrupt:
        say()


# ---- transfer -------------------------------------------------------------------------------------------------------


HOWS = ("terminal", "page", "png")


class Showing(NamedTuple):
    """What a command was told: ``how`` to show, in which file, the largest ``version`` of a code, and ``as_json``."""

    how: str | None = None
    output: Path | None = None
    version: int | None = None
    as_json: bool = False


def show_transfer(transfer: Transfer, home: Path, showing: Showing) -> JsonObject:
    """Show a transfer as ``showing`` says; without ``how``, in the terminal when it fits there, otherwise as a page.

    Returns the members of a command's JSON result: with ``as_json`` stdout is not for codes, and the caller prints them.
    Ctrl-C ends an animation in the terminal: that is its normal end. Raises ``UsageError`` for what is too long, a terminal
    that is too small, or a file that exists.
    """
    say_all(name_lines(transfer.kind, transfer.ceremony, transfer.fingerprint))
    fits, do = None, "leave out --json and -o"
    if showing.output is None and not showing.as_json:
        fits, do = fitting(transfer, showing.version)
    how = showing.how or ("page" if fits is None else "terminal")
    if how == "terminal":
        if fits is None:
            raise UsageError("the code cannot be shown in the terminal", do=do)
        play(transfer, fits)
        return _shown(transfer, how, fits, "")
    smallest = densities_of(transfer)[0]
    if showing.version is not None and showing.version < smallest:
        raise UsageError("the document is too long for codes of this density", do="choose a higher density")
    density = showing.version or max(DEFAULT_VERSION, smallest)
    path = showing.output or _default_path(transfer, how, home / "qr", showing.version)
    if showing.output is None and path.exists():  # the name holds the fingerprint: it is the same transfer
        say(f"{safe(str(path))} is there already")
    else:
        with working("Drawing the codes"):
            if how == "page":
                write_new(path, render.qr_page(transfer, version=density))
            else:
                render.write_sequence(transfer, path, density)
        say(f"Wrote {safe(str(path))}")
    if how == "page":
        say("Open it in a browser on this machine; no server and no network are needed.")
    return _shown(transfer, how, density, str(path))


def _shown(transfer: Transfer, how: str, version: int, codes: str) -> JsonObject:
    return {**named_json(transfer), "as": how, "frames": ideal_count(transfer, version), "codes": codes}


def named_json(document: Transfer | ReceivedDocument) -> JsonObject:
    """Return the names of what crosses, for a command's JSON result."""
    kind, ceremony, fingerprint = document.kind, document.ceremony, document.fingerprint
    return {"kind": kind, "ceremony": ceremony, "fingerprint": fingerprint, "words": spoken(fingerprint)}


def _default_path(transfer: Transfer, how: str, folder: Path, version: int | None) -> Path:
    if how == "png":
        raise UsageError("a sequence of pictures needs a folder", do="name a new one with -o")
    name = file_name(transfer.kind, transfer.fingerprint or sha256(transfer.cbor).hexdigest())
    density = f"-{version}" if version else ""
    return make_folder(folder) / f"{name}{density}.html"


_Command = Callable[..., None]


def showing_options(command: _Command) -> _Command:
    """Add the options of ``show``; the command gets them as ``showing``."""

    @click.option("--as", "how", type=click.Choice(HOWS), help="How (default: what fits, the terminal or a page).")
    @click.option("-o", "--output", type=PATH_TYPE, help="A new file, or for png a folder.")
    @click.option(
        "--density",
        type=click.Choice(DENSITIES),
        help="Density of the codes: the version of the QR code (default: 20).",
    )
    @json_option
    @wraps(command)
    def with_showing(
        *given: Any, how: str | None, output: Path | None, density: int | None, as_json: bool, **others: Any
    ) -> None:
        command(*given, showing=Showing(how, output, density, as_json), **others)

    return with_showing
