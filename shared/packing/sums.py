"""Lists of hashes in the form of ``sha256sum``; MANIFEST is the list of every other file of a kit or bundle."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from airlock_shared.errors import UsageError

MANIFEST = "MANIFEST"
_SAFE = re.compile(r"[A-Za-z0-9._+@=,~-][A-Za-z0-9._+@=,~ /-]*")


def sums(files: Mapping[str, str]) -> str:
    """Return hashes by path as ``sha256sum`` writes them, sorted. Raises ``UsageError`` for a name that needs escaping."""
    wrong = [path for path in files if not _SAFE.fullmatch(path) or ".." in path.split("/")]
    if wrong:
        raise UsageError(f"a file of the kit has an unusual name: {wrong[0]!r}", do="find out which package brings it")
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(files.items()))


def hash_tree(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256(path.read_bytes()) for path in paths}


def sha256(data: bytes) -> str:
    """Return the SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()
