"""A document by file or by light: what reads codes is loaded only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input, require_new

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment


def incoming(
    home: Path, source: Path, kind: str, purpose: str, *, known: Callable[[], list[Deployment]], qr: bool, restart: bool
) -> bytes:
    """Return a document's bytes: a file's, or with ``qr`` what a source of pictures shows, once a person has confirmed it.

    ``known`` gives the deployments of this machine: where nothing but rehearsals are known, a pipe may confirm it.

    Raises ``UsageError``, ``Declined`` and ``DocumentError``.
    """
    if not qr:
        return read_input(source)
    from airlock_shared.cli.qr.documents import scanned

    return scanned(home, source, kind, purpose, known=known, restart=restart)


def require_output(output: Path | None, *, qr: bool) -> None:
    """Raise ``UsageError`` when a command has nowhere to put its result, or would overwrite something."""
    if output is not None:
        require_new(output)
    elif not qr:
        raise UsageError("no file is named for the result", do="name one with -o, or show it with --qr")
