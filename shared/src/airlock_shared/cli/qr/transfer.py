"""What both programs' commands show by light: a transfer, in the terminal, as a page or in files.

Codes are drawn on stdout, everything else is said on stderr. No server is started; a page is a file that a browser opens.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click

from airlock_shared.cli.console import say
from airlock_shared.cli.progress import working
from airlock_shared.cli.qr import animation
from airlock_shared.cli.qr.names import name_lines
from airlock_shared.errors import UsageError
from airlock_shared.host.files import make_folder, write_new
from airlock_shared.qr.documents import file_name
from airlock_shared.qr.symbol import DEFAULT_VERSION, DENSITIES
from airlock_shared.qr.transfer import DEFAULT_PAUSE_MS, Transfer, densities_of, ideal_count
from airlock_shared.text.fingerprint_words import spoken
from airlock_shared.text.safe import safe

How = Literal["terminal", "page", "png", "gif", "sheet"]
HOWS: tuple[How, ...] = ("terminal", "page", "png", "gif", "sheet")
_ENDINGS = {"page": ".html", "gif": ".gif", "sheet": ".pdf"}


class ShownTransfer(NamedTuple):
    """How a transfer was shown: by ``how``, in so many ideal ``frames``, in ``path`` unless it was in the terminal."""

    transfer: Transfer
    how: How
    frames: int
    path: Path | None

    def as_json(self) -> dict[str, Any]:
        """Return the members of a command's JSON result."""
        transfer = self.transfer
        names = {"kind": transfer.kind, "ceremony": transfer.ceremony, "fingerprint": transfer.fingerprint}
        words = spoken(transfer.fingerprint)
        return names | {"words": words, "as": self.how, "frames": self.frames, "codes": str(self.path or "")}


# ---- showing --------------------------------------------------------------------------------------------------------


def show_transfer(
    transfer: Transfer,
    *,
    how: How | None,
    output: Path | None,
    folder: Path,
    version: int | None,
    as_json: bool = False,
) -> ShownTransfer:
    """Show a transfer; without ``how``, in the terminal when it fits there, otherwise as a page in ``folder``.

    With ``as_json`` stdout is not for codes, and the caller prints the JSON. Ctrl-C ends an animation in the terminal: that
    is its normal end. Raises ``UsageError`` for what is too long, a terminal that is too small, or a file that exists.
    """
    for line in name_lines(transfer.kind, transfer.ceremony, transfer.fingerprint):
        say(line)
    fits = None if as_json or output is not None else animation.fitting(transfer, version)
    how = how or ("page" if fits is None else "terminal")
    if how == "terminal":
        if fits is None:
            do = "leave out --json and -o" if as_json or output is not None else animation.advice()
            raise UsageError("the code cannot be shown in the terminal", do=do)
        animation.play(transfer, fits)
        return ShownTransfer(transfer, how, ideal_count(transfer, fits), None)
    return _in_file(transfer, how, output, folder, version)


def _in_file(transfer: Transfer, how: How, output: Path | None, folder: Path, version: int | None) -> ShownTransfer:
    density = _density(transfer, version)
    path = output or _default_path(transfer, how, folder, version)
    shown = ShownTransfer(transfer, how, ideal_count(transfer, density), path)
    if output is None and path.exists():  # the name holds the fingerprint: it is the same transfer
        say(f"{safe(str(path))} is there already")
    else:
        with working("Drawing the codes"):
            _write(transfer, how, path, density)
        say(f"Wrote {safe(str(path))}")
    if how == "page":
        say("Open it in a browser on this machine; no server and no network are needed.")
    return shown


def _density(transfer: Transfer, version: int | None) -> int:
    """Return the largest number of a symbol's version to use. Raises ``UsageError`` when the message is too long for it."""
    counts = densities_of(transfer)
    if version is not None and version < counts[0]:
        raise UsageError("the document is too long for codes of this density", do="choose a higher density")
    return version or max(DEFAULT_VERSION, counts[0])


def _default_path(transfer: Transfer, how: How, folder: Path, version: int | None) -> Path:
    if how == "png":
        raise UsageError("a sequence of pictures needs a folder", do="name a new one with -o")
    name = file_name(transfer.kind, transfer.fingerprint or sha256(transfer.cbor).hexdigest())
    density = f"-{version}" if version else ""
    return make_folder(folder) / f"{name}{density}{_ENDINGS[how]}"


def _write(transfer: Transfer, how: How, path: Path, version: int) -> None:
    from airlock_shared.qr import page, pictures

    if how == "page":
        write_new(path, page.page(transfer, version=version, pause_ms=DEFAULT_PAUSE_MS))
    elif how == "png":
        pictures.write_sequence(transfer, path, version)
    elif how == "gif":
        pictures.write_gif(transfer, path, version, pause_ms=DEFAULT_PAUSE_MS)
    else:
        pictures.write_sheet(transfer, path, version)


def density_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--density`` to a command, as ``version``."""
    words = "Density of the codes: the version of the QR code (default: 20)."
    kind = click.Choice([str(each) for each in DENSITIES])
    return click.option("--density", "version", type=kind, callback=_number, help=words)(command)


def _number(_context: click.Context, _option: click.Parameter, value: str | None) -> int | None:
    return None if value is None else int(value)
