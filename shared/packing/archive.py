"""The tar of a kit or bundle, the same bytes from the same files, and both fingerprints for the paper."""

from __future__ import annotations

import hashlib
import os
import tarfile
import textwrap
from collections.abc import Collection
from pathlib import Path

from sums import MANIFEST

from airlock_shared.text.safe import grouped, spoken_rows


def settle(kit: Path, programs: Collection[str], epoch_s: int) -> None:
    """Give every file and folder its fixed mode and date; ``programs`` are the files that may be run."""
    for path in (*sorted(kit.rglob("*"), reverse=True), kit):
        program = path.is_dir() or path.relative_to(kit).as_posix() in programs
        path.chmod(0o755 if program else 0o644)
        os.utime(path, (epoch_s, epoch_s))


def pack(kit: Path, tar: Path) -> None:
    """Write the tar of a folder that is settled: sorted by path, and nobody's."""
    with tarfile.open(tar, "x", format=tarfile.GNU_FORMAT) as archive:
        archive.add(kit, kit.name, filter=_nobodys)


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def fingerprints(kit: Path, tar: Path, commit: str, title: str) -> str:
    """Return what goes onto paper: the SHA-256 of MANIFEST, under ``title``, and of the tar, in hex and in words."""
    with tar.open("rb") as file:
        of_tar = hashlib.file_digest(file, "sha256").hexdigest()
    of_kit = hashlib.sha256((kit / MANIFEST).read_bytes()).hexdigest()
    return (
        f"{kit.name}\nbuilt from {commit}\n\n"
        f"{title}\n{_both(of_kit)}\n"
        f"{tar.name} (SHA-256 of the file)\n{_both(of_tar)}"
    )


def _both(digest: str) -> str:
    lines = [*textwrap.wrap(grouped(digest), 40), *spoken_rows(digest)]
    return "".join(f"  {line}\n" for line in lines)
