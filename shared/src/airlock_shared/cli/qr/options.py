"""What commands need that can also work by light: the options, and a document by file or by light.

What reads and shows codes is loaded only when it is asked for: most runs load nothing of it.
"""

from __future__ import annotations

from pathlib import Path

import click

from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input, require_new

qr_option = click.option("--qr", is_flag=True, help="By QR codes: from a camera or pictures, and on the screen.")
restart_option = click.option("--restart", is_flag=True, help="Forget what an interrupted scan has read.")


def incoming(home: Path, source: Path, kind: str, purpose: str, *, qr: bool, restart: bool) -> bytes:
    """Return a document's bytes: a file's, or with ``qr`` what a source of pictures shows, once a person has confirmed it.

    Raises ``UsageError``, ``Declined`` and ``DocumentError``.
    """
    if not qr:
        return read_input(source)
    from airlock_shared.cli.qr.documents import scanned

    return scanned(home, source, kind, purpose, restart=restart)


def require_output(output: Path | None, *, qr: bool) -> None:
    """Raise ``UsageError`` when a command has nowhere to put its result, or would overwrite something."""
    if output is not None:
        require_new(output)
    elif not qr:
        raise UsageError("no file is named for the result", do="name one with -o, or show it with --qr")
