"""A kit built as an operator builds it, and an installation of it, made without a network and with the system's Python."""

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from commands import FinishedCommand, run_command

ROOT = Path(__file__).parents[2]
WORKSHOP = ROOT / ".venvs/kit/bin/python"
UNSHARED = ("sh", str(ROOT / "tests/unshared.sh"))
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


class Kit(NamedTuple):
    """A kit: its folder, its tar, the paper with the fingerprints, and the fingerprint itself."""

    folder: Path
    tar: Path
    paper: Path
    fingerprint: str

    def verify(self, *words: object, fingerprint: str = "") -> FinishedCommand:
        return run_command("sh", self.folder / "verify.sh", fingerprint or self.fingerprint, *words)


def clone(target: Path) -> Path:
    """Clone the workspace's last commit, and return the clone: what is not committed is in no kit."""
    ended = run_command("git", "clone", "--quiet", "--no-local", "--depth", "1", f"file://{ROOT}", target)
    assert ended.code == 0, ended.err
    return target


def build(out: Path, source: Path, what: str = "offline/kit", **more: str) -> FinishedCommand:
    """Build a kit or the bundle in a clone of the workspace, with its own modules; ``more`` are further variables."""
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"} | more
    environment["PYTHONPATH"] = f"{source}/shared/packing:{source}/shared/src:{source}/offline/src"
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return run_command(WORKSHOP, source / what / "build.py", out, OWN, "x86_64", env=environment)


def built(out: Path, source: Path, what: str = "offline/kit", **more: str) -> Kit:
    ended = build(out, source, what, **more)
    assert ended.code == 0, f"the wheels come from the registry that pip is configured with\n{ended.err}"
    (tar,) = out.glob("*.tar")
    return kit_in(tar.with_suffix(""))


def kit_in(folder: Path) -> Kit:
    digest = hashlib.sha256((folder / "MANIFEST").read_bytes()).hexdigest()
    tar, paper = (folder.with_name(f"{folder.name}.{kind}") for kind in ("tar", "fingerprint.txt"))
    return Kit(folder, tar, paper, digest)


def sum_up(folder: Path) -> Kit:
    """Write the MANIFEST of an altered kit anew, as somebody would who can make kits."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / "MANIFEST")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files]
    (folder / "MANIFEST").write_text("".join(lines))
    return kit_in(folder)


def installer_python() -> Path:
    """Return the system's Python, or ours where the system has another version."""
    script = "import sys; print('%d.%d' % sys.version_info[:2])"
    system = Path("/usr/bin/python3")
    fits = system.exists() and run_command(system, "-I", "-c", script).out.strip() == OWN
    return (system if fits else Path(sys.executable)).resolve()


@contextmanager
def changed(path: Path, at: int | None = None) -> Iterator[None]:
    """Change one byte of a file, in its middle unless said where, and put it right again."""
    data = path.read_bytes()
    place = len(data) // 2 if at is None else at
    path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    try:
        yield
    finally:
        path.write_bytes(data)


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clone(tmp_path_factory.mktemp("source") / "workspace")


@pytest.fixture(scope="session")
def kit(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Kit:
    return built(tmp_path_factory.mktemp("kit"), source)


@pytest.fixture
def thin(kit: Kit, tmp_path: Path) -> Kit:
    """A kit with every file of the real one, the wheels cut to their first kilobyte: quick to read."""
    folder = tmp_path / kit.folder.name

    def copy(source: str, target: str) -> None:
        data = Path(source).read_bytes()
        Path(target).write_bytes(data[:1024] if source.endswith(".whl") else data)
        shutil.copymode(source, target)

    shutil.copytree(kit.folder, folder, copy_function=copy)
    return sum_up(folder)


class Installed(NamedTuple):
    """An installation, and the Python that it was made with."""

    folder: Path
    python: Path
    said: str

    def run(self, *words: object) -> FinishedCommand:
        """Run its program with nothing of this environment, without a network."""
        return run_command(
            *UNSHARED, "env", "-i", self.folder / "bin/airlock-offline", "--home", self.folder.parent / "home", *words
        )

    def examine(self) -> FinishedCommand:
        script = (
            "from airlock_offline.installation import examine_installation as examine\n"
            "for one in examine().findings: print(one.check, one.path, one.what, sep='|')"
        )
        return run_command(self.folder / "bin/python3", "-I", "-B", "-c", script)


@pytest.fixture(scope="session")
def installed(kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder, python = tmp_path_factory.mktemp("machine") / "airlock", installer_python()
    ended = run_command(*UNSHARED, "env", "-i", "sh", kit.folder / "install.sh", kit.fingerprint, folder, python)
    assert (ended.code, ended.out) == (0, f"{folder}/bin/airlock-offline\n"), ended.err
    return Installed(folder, python, ended.err)
