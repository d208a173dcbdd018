"""What a kit or bundle is built from: the files of a commit, as ``git archive`` gives them, and nothing of the working tree.

Untracked files, empty folders, modes and dates of the working tree are in no commit and therefore in no kit. A tree with
changes is refused: whoever has changed something expects it in the kit.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from airlock_shared.errors import UsageError
from airlock_shared.text.safe import safe

_PLAIN = ("-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.attributesFile=/dev/null")


class Source(NamedTuple):
    """The files of a commit in a folder, the commit, and its date."""

    folder: Path
    commit: str
    epoch_s: int


def take(root: Path, folder: Path, parts: Sequence[str]) -> Source:
    """Write the committed files of some parts of the workspace into a new folder.

    Raises ``UsageError`` without a commit, or when one of the parts has changes or files that are in no commit.
    """
    if _git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
        raise UsageError("there is no commit here to build from", do="build the kit in a clone of the repository")
    changed = _git(root, "status", "--porcelain", "--untracked-files=all", "--", *parts)
    if changed is None or changed:
        first = safe((changed or b"?? (git status fails)").decode("utf-8", "replace").splitlines()[0][3:])
        raise UsageError(
            f"the workspace differs from its commit, the first: {first}",
            do="commit or take away what was changed: a kit is built from a commit and nothing else",
        )
    commit, epoch_s = (_git(root, "log", "-1", "--format=%H %ct") or b"").decode().split()
    packed = _git(root, *_PLAIN, "archive", "--format=tar", commit, "--", *parts)
    if packed is None:
        raise UsageError("git archive gives no files", do="run git archive HEAD here, and see what it says")
    folder.mkdir()
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for entry in archive:
            path = folder / entry.name
            data = archive.extractfile(entry) if entry.isfile() else None
            if data is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data.read())
                path.chmod(0o644)
            elif not entry.isdir():
                raise UsageError(
                    f"{entry.name} in the commit is no ordinary file", do="a kit is made of ordinary files alone"
                )
    return Source(folder, commit, int(epoch_s))


def _git(root: Path, *words: str) -> bytes | None:
    """Return what git prints, or None when it fails or is not here."""
    git = shutil.which("git")
    if git is None:
        return None
    ended = subprocess.run([git, *words], cwd=root, capture_output=True, check=False)  # noqa: S603
    return ended.stdout if ended.returncode == 0 else None
