"""The evidence folder on the disk: ``report.html``, ``report.json``, ``artefacts/`` and perhaps ``report.pdf``.

It is written whole or not at all, mode 0700, and never over an older one.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.host.files import make_folder, read_input, require_new, write_new
from airlock_shared.report.evidence.artefacts import FILES, HTML, JSON, PDF

if TYPE_CHECKING:
    from airlock_shared.report.verify import MadeReport

ARTEFACTS = "artefacts"
MAX_BYTES = 256 << 20  # of one file: a transcript may be as long


def write_folder(folder: Path, report: MadeReport, files: Mapping[str, bytes]) -> None:
    """Write a new evidence folder. Raises ``UsageError`` when it exists, or cannot be written."""
    require_new(folder)
    made = make_folder(folder.with_name(f".{folder.name}.{secrets.token_hex(6)}"))
    try:
        make_folder(made / ARTEFACTS)
        for name, data in files.items():
            write_new(made / ARTEFACTS / name, data)
        write_new(made / JSON, report.json)
        write_new(made / HTML, report.html)
        made.rename(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}", do="choose another name") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def read_folder(folder: Path) -> tuple[bytes, bytes, dict[str, bytes]]:
    """Return ``report.json``, ``report.html`` and the artefacts of an evidence folder.

    Raises ``UsageError`` when there is none, ``DocumentError("REPORT-ARTEFACT")`` for a file that does not belong there.
    """
    inside = folder / ARTEFACTS
    if not inside.is_dir() or inside.is_symlink():
        raise UsageError(f"{folder} is not an evidence folder", do="give the folder that `report make` wrote")
    for path in sorted(folder.iterdir()):
        if path.name not in (JSON, HTML, PDF, ARTEFACTS):
            raise _stray(path)
    files = {}
    for path in sorted(inside.iterdir()):
        if path.name not in FILES:
            raise _stray(path)
        files[path.name] = read_input(path, max_bytes=MAX_BYTES)
    read = [read_input(folder / name, max_bytes=MAX_BYTES) for name in (JSON, HTML)]
    return read[0], read[1], files


def _stray(path: Path) -> DocumentError:
    return DocumentError("REPORT-ARTEFACT", "a file that does not belong in an evidence folder", got=path.name[:80],
                         do="find out who put it there; the report does not cover it")  # fmt: skip
