"""A document by file or by QR codes: what reads codes is loaded only when it is asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from airlock_shared.cli.terminal import say
from airlock_shared.errors import UsageError
from airlock_shared.host.files import make_folder, read_input, require_new, write_new
from airlock_shared.text.safe import safe

if TYPE_CHECKING:
    from airlock_shared.cli.qr.scanning import Deployments


def incoming(
    home: Path, source: Path, kind: str, purpose: str, *, known: Deployments | None, qr: bool, restart: bool
) -> bytes:
    """Return a document's bytes: a file's, or with ``qr`` what a source of pictures shows, once a person has confirmed it.

    What came by QR codes is kept as a file too, so that nobody has to show it again. ``known`` gives the deployments of this
    machine: where nothing but rehearsals are known, a pipe may confirm it; with None the command has its words typed, and
    nothing is shown or asked here. Raises ``UsageError``, ``Declined`` and ``DocumentError``.
    """
    if not qr:
        return read_input(source)
    from airlock_shared.cli.qr.scanning import kept_frames, scan_document  # noqa: PLC0415 - for codes alone

    kept = kept_frames(home, purpose, restart=restart)
    document = scan_document((str(source),), kind, kept=kept, known=known)
    path = keep_file(home, document.kind, document.fingerprint, document.data)
    say(f"It is kept as {safe(str(path))}")
    kept.forget()
    return document.data


def keep_file(home: Path, kind: str, fingerprint: str, data: bytes) -> Path:
    """Keep a document in a machine's folder under its fingerprint; return its path."""
    from airlock_shared.qr.documents import file_name  # noqa: PLC0415 - as above

    path = make_folder(home / "qr") / f"{file_name(kind, fingerprint)}.json"
    if not path.exists():
        write_new(path, data)
    return path


def require_output(output: Path | None, *, qr: bool = False) -> None:
    """Raise ``UsageError`` when a command has nowhere to put its result, or would overwrite something."""
    if output is not None:
        require_new(output)
        if not os.access(output.parent, os.W_OK):
            raise UsageError(f"{output} could not be written", do="make its folder, or choose another place")
    elif not qr:
        raise UsageError("the result has no file name", do="name one with -o, or show it with --qr")


# ---- options --------------------------------------------------------------------------------------------------------
# The options of commands that can also work by QR codes; apart, because most runs of them load nothing else of it.


qr_option = click.option("--qr", is_flag=True, help="By QR codes: from a camera or pictures, and on the screen.")
restart_option = click.option("--restart", is_flag=True, help="Forget what an interrupted scan has read.")
