"""`make speculos` gets what it needs by itself: the public ELF by git, verified, and qemu where apt-get can be used."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from speculos.fetch_app import NotFetched, PublicApp, fetched

DATA = b"\x7fELF\x01 and what follows\0\xff\r\n"


def git(folder: Path, *words: str) -> str:
    names = {f"GIT_{who}_{what}": "x@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    ended = subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True, env={**os.environ, **names}
    )
    return ended.stdout.strip()


def test_the_pinned_file_of_the_commit_is_fetched_word_for_word_and_kept_and_no_other(tmp_path: Path) -> None:
    """Of a repository whose second-newest commit has the file; the newest has another one in its place."""
    folder, kept = tmp_path / "repository", tmp_path / "kept"
    (folder / "size").mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "size/app.elf").write_bytes(DATA)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "one")
    app = PublicApp(git(folder, "rev-parse", "HEAD"), "size/app.elf", hashlib.sha256(DATA).hexdigest())
    (folder / "size/app.elf").write_bytes(b"another")
    git(folder, "commit", "--quiet", "--all", "-m", "two")
    with pytest.raises(NotFetched, match=f"is another file: SHA-256 {app.sha256}, expected 0000.*make speculos ELF="):
        fetched(app._replace(sha256="0" * 64), kept, str(folder))
    assert not kept.exists()
    path = fetched(app, kept, str(folder))
    assert (path.read_bytes(), [each.name for each in path.parent.iterdir()]) == (DATA, [path.name])
    folder.rename(tmp_path / "gone")
    assert fetched(app, kept, str(folder)) == path
