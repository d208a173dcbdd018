"""A browser for ``report make --pdf``, outside of the kernel's filter: under it no browser runs.

Its process is begun before the command is confined, knows from the start which page it may print and where to, and is told
nothing but to begin. Without ``--pdf`` there is none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from airlock_offline import child_process
from airlock_shared.host.print_pdf import print_page
from airlock_shared.report.evidence.artefacts import HTML, PDF

BEGIN = b"print\n"


def begin_printing(folder: Path) -> Callable[[Path, Path], str]:
    """Begin a process that can print the report of an evidence folder, and return what has it done."""
    process = child_process.start("airlock_offline.printing")
    assert process.stdin is not None  # noqa: S101 (it is a pipe)
    process.stdin.write(json.dumps([str(folder.absolute() / name) for name in (HTML, PDF)]).encode() + b"\n")
    process.stdin.flush()

    def printing(_html: Path, _pdf: Path) -> str:
        said, _ = process.communicate(BEGIN)
        return said.decode(errors="replace") if process.returncode == 0 else "the process that prints has failed"

    return printing


def main() -> None:
    """Read the page's name and the new file's, wait for the word, print, and say why not if not."""
    html, pdf = json.loads(sys.stdin.buffer.readline())
    if sys.stdin.buffer.readline() == BEGIN:
        sys.stdout.write(print_page(Path(html), Path(pdf)))
