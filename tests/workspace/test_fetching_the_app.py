"""`make speculos` gets what it needs by itself: the public ELF by git, verified, and qemu where apt-get can be used."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from speculos.fetch_app import FLEX, NotFetched, PublicApp, fetched, main

ROOT = Path(__file__).parents[2]
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


def test_what_was_kept_and_altered_is_fetched_again(repository: tuple[Path, PublicApp], tmp_path: Path) -> None:
    folder, app = repository
    path = fetched(app, tmp_path / "kept", str(folder))
    path.write_bytes(DATA + b"!")
    assert fetched(app, tmp_path / "kept", str(folder)).read_bytes() == DATA


def test_another_file_than_the_pinned_one_is_not_kept(repository: tuple[Path, PublicApp], tmp_path: Path) -> None:
    folder, app = repository
    with pytest.raises(NotFetched, match=f"is another file: SHA-256 {app.sha256}, expected 0000") as caught:
        fetched(app._replace(sha256="0" * 64), tmp_path / "kept", str(folder))
    assert NAME in str(caught.value)
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("change", [{"commit": "1" * 40}, {"path": "size/other.elf"}, {"path": "size"}])
def test_a_commit_or_a_file_that_is_not_there_is_said(
    repository: tuple[Path, PublicApp], tmp_path: Path, change: dict[str, str]
) -> None:
    folder, app = repository
    with pytest.raises(NotFetched, match="cannot be had from") as caught:
        fetched(app._replace(**change), tmp_path / "kept", str(folder))
    assert NAME in str(caught.value)
    assert not (tmp_path / "kept").exists()


def test_a_repository_out_of_reach_is_said_in_a_sentence_with_how_to_name_an_elf(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "kept"), str(tmp_path / "nothing")]) == 2
    said = capsys.readouterr()
    assert (said.out, NAME in said.err, "Traceback" in said.err) == ("", True, False)
    assert f"the app cannot be had from {tmp_path / 'nothing'}" in said.err


def test_without_git_it_is_said_too(tmp_path: Path) -> None:
    script = str(ROOT / "tests/speculos/fetch_app.py")
    words = [sys.executable, script, str(tmp_path / "kept"), str(tmp_path)]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)})
    assert (ended.returncode, NAME in ended.stderr, "Traceback" in ended.stderr) == (2, True, False), ended.stderr


def test_the_pinned_file_is_the_one_of_the_documentation() -> None:
    page = (ROOT / "docs/reference/ledger.md").read_text()
    for text in (FLEX.commit, FLEX.path, FLEX.sha256):
        assert text in page


def test_only_the_target_for_it_fetches() -> None:
    """Neither the tests nor what runs on every change asks a repository for anything."""
    callers = [ROOT / "Makefile", *(ROOT / ".ci").iterdir()]
    lines = [line for path in callers for line in path.read_text().splitlines() if "fetch_app" in line]
    assert len(lines) == 1
    rule = re.search(r"^speculos:.*?\n\n", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)
    assert rule is not None
    assert lines[0] in rule[0]


# ---- qemu -------------------------------------------------------------------------------------------------------------


def qemu(folder: Path, *, user: int, apt: str | None, there: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the script where these commands alone are there; ``apt`` is what apt-get does."""

    def command(name: str, text: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)

    command("id", f"echo {user}")
    if apt is not None:
        command("apt-get", f'echo "$@" >> {folder}/asked\n{apt}')
    if there:
        command("qemu-arm-static", "")
    return subprocess.run(
        ["/bin/sh", str(ROOT / "tests/speculos/qemu.sh")],
        capture_output=True, text=True, check=False, env={"PATH": str(folder)},
    )  # fmt: skip


def test_nothing_is_installed_where_qemu_is(tmp_path: Path) -> None:
    ended = qemu(tmp_path, user=0, apt="true", there=True)
    assert (ended.returncode, ended.stdout, (tmp_path / "asked").exists()) == (0, "", False)


def test_root_has_it_installed(tmp_path: Path) -> None:
    ended = qemu(tmp_path, user=0, apt="true")
    assert ended.returncode == 0
    assert (tmp_path / "asked").read_text().splitlines()[-1].endswith("qemu-user-static")


@pytest.mark.parametrize(
    ("user", "apt"), [(1000, "true"), (0, None), (0, "exit 100")], ids=["nobody", "no apt-get", "apt-get fails"]
)
def test_otherwise_it_says_what_is_missing(tmp_path: Path, user: int, apt: str | None) -> None:
    ended = qemu(tmp_path, user=user, apt=apt)
    assert (ended.returncode, "apt-get install qemu-user-static" in ended.stderr) == (2, True)
    assert user == 0 or not (tmp_path / "asked").exists()
