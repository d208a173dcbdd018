"""The public ELF of the Ethereum app, by git from its repository, verified by its SHA-256: for `make speculos` alone.

    python tests/speculos/fetch_app.py FOLDER [REPOSITORY]

Of the one commit that has it, one file is fetched. It is Ledger's: it stays in FOLDER, which git ignores. Prints its path.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

REPOSITORY = "https://github.com/LedgerHQ/app-ethereum"
_FETCH_S = 300
_NAME_ONE = "To name an ELF that you have: make speculos ELF=/path/app.elf (docs/reference/ledger.md)"


class PublicApp(NamedTuple):
    """A file of the app's repository: its commit, its path there, and the SHA-256 that it must have."""

    commit: str
    path: str
    sha256: str


FLEX = PublicApp(
    "9efc717b193185226a5d555b79a914b9d971ab03",
    "size_estimation/artifacts/app_baseline_en.elf",
    "958962285eba69b46116289ae08aa6773655d3e0420c956450455574306efeeb",
)
"""Flex, 1.22.0-dev: a development build, taken in a rehearsal alone."""


class NotFetched(Exception):
    """The ELF is not to be had; the text says why, and what to do."""


def fetched(app: PublicApp, folder: Path, repository: str = REPOSITORY) -> Path:
    """Return the verified file in ``folder``, fetched when it is not there yet. Raises ``NotFetched``."""
    path = folder / f"{app.sha256[:16]}.elf"
    if path.is_file() and _sha256(path.read_bytes()) == app.sha256:
        return path
    data = _from_git(app, repository)
    if (found := _sha256(data)) != app.sha256:
        raise NotFetched(
            f"{app.path} of {repository} is another file: SHA-256 {found}, expected {app.sha256}. {_NAME_ONE}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)
    return path


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _from_git(app: PublicApp, repository: str) -> bytes:
    """Return the file at its commit; nothing is checked out, and nothing else of the repository is kept."""
    with tempfile.TemporaryDirectory() as folder:
        _git(folder, repository, "init", "--quiet", "--bare")
        _git(folder, repository, "remote", "add", "origin", repository)
        _git(
            folder, repository, "fetch", "--quiet", "--no-tags", "--depth=1", "--filter=blob:none", "origin", app.commit
        )
        return _git(folder, repository, "cat-file", "blob", f"{app.commit}:{app.path}")


def _git(folder: str, repository: str, *words: str) -> bytes:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        ended = subprocess.run(
            ["git", "-C", folder, *words], capture_output=True, check=False, timeout=_FETCH_S, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotFetched(f"git {words[0]} did not end well for {repository}: {error}. {_NAME_ONE}") from error
    if ended.returncode != 0:
        said = " ".join(ended.stderr.decode("utf-8", "replace").split())[:300]
        raise NotFetched(f"the app cannot be had from {repository}: git {words[0]}: {said}. {_NAME_ONE}")
    return ended.stdout


def main(words: list[str]) -> int:
    """Fetch it, and print its path."""
    try:
        print(fetched(FLEX, Path(words[0]), *words[1:2]))
    except NotFetched as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
