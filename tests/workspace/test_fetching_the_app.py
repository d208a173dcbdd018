"""`make speculos` gets what it needs by itself: the public ELF by git, verified, and qemu where apt-get can be used."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from speculos.fetch_app import NotFetched, PublicApp, fetched

NAME = "make speculos ELF="
DATA = b"\x7fELF\x01 and what follows\0\xff\r\n"


def git(folder: Path, *words: str) -> str:
    names = {f"GIT_{who}_{what}": "x@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    ended = subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True, env={**os.environ, **names}
    )
    return ended.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, PublicApp]:
    """A repository whose second-newest commit has the file; the newest has another one in its place."""
    folder = tmp_path / "repository"
    (folder / "size").mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "size/app.elf").write_bytes(DATA)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "one")
    commit = git(folder, "rev-parse", "HEAD")
    (folder / "size/app.elf").write_bytes(b"another")
    git(folder, "commit", "--quiet", "--all", "-m", "two")
    return folder, PublicApp(commit, "size/app.elf", hashlib.sha256(DATA).hexdigest())


def test_the_file_of_the_commit_is_fetched_word_for_word_and_kept(
    repository: tuple[Path, PublicApp], tmp_path: Path
) -> None:
    folder, app = repository
    path = fetched(app, tmp_path / "kept", str(folder))
    assert (path.read_bytes(), [each.name for each in path.parent.iterdir()]) == (DATA, [path.name])
    folder.rename(tmp_path / "gone")
    assert fetched(app, tmp_path / "kept", str(folder)) == path


def test_another_file_than_the_pinned_one_is_not_kept(repository: tuple[Path, PublicApp], tmp_path: Path) -> None:
    folder, app = repository
    with pytest.raises(NotFetched, match=f"is another file: SHA-256 {app.sha256}, expected 0000") as caught:
        fetched(app._replace(sha256="0" * 64), tmp_path / "kept", str(folder))
    assert NAME in str(caught.value)
    assert not (tmp_path / "kept").exists()
