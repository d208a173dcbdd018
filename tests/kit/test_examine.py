"""The judgement of an installation, over a small made-up one: every difference has its finding and no other."""

import hashlib
import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

from airlock_offline import installation as bytecode
from airlock_offline.installation import PAPERS, environment, examine_installation
from airlock_offline.preflight.page import system_libraries
from kit.conftest import changed

SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
MODULE = f"{SITE}/airlock_offline/gate.py"
COMPILED = bytecode.bytecode_place(MODULE)
UNREADABLE = f"{SITE}/other/broken.py"
FILES = {
    MODULE: b"def sign(digest: bytes) -> bool:\n    return digest in {b'a', b'b', 'x'}\n",
    UNREADABLE: b"print 'of another Python'\n",
    f"{SITE}/other/native.so": b"\x7fELF",
    "bin/airlock-offline": b"#!/bin/sh\n",
    f"{PAPERS}/KIT": b"name=a-kit\n",
    f"{PAPERS}/SYSTEM-LIBRARIES": b"# soname\nlibzbar.so.0\tlibzbar0\toptional\tpyzbar\nlibc.so.6\tlibc6\trequired\tall\n",
}
PYTHON = "/usr/bin/python3"


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _sums(files: dict[str, bytes]) -> bytes:
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())).encode()


def _seal(root: Path, files: dict[str, bytes]) -> str:
    """Write the lists that are kept, and return the fingerprint."""
    listed = _sums(files)
    manifest = _sums({"INSTALLED": listed, "wheels/a.whl": b"a"})
    fingerprint = hashlib.sha256(manifest).hexdigest()
    for name, data in (("INSTALLED", listed), ("MANIFEST", manifest), ("FINGERPRINT", f"{fingerprint}\n".encode())):
        _write(root / PAPERS / name, data)
    return fingerprint


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small installation, as ``install.sh`` leaves it."""
    folder = tmp_path / "airlock"
    for name, data in FILES.items():
        _write(folder / name, data)
    (folder / "bin/python3").symlink_to(PYTHON)
    (folder / "pyvenv.cfg").write_text(environment(PYTHON))
    assert bytecode.write_all(folder / SITE) == 1
    _seal(folder, FILES)
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755)
    return folder


def _findings(root: Path) -> set[tuple[str, str]]:
    return {(finding.check, finding.path) for finding in examine_installation(root).findings}


def test_an_installation_as_it_was_made_has_no_finding(root: Path) -> None:
    installation = examine_installation(root)
    assert (installation.kit, installation.files, installation.findings) == ("a-kit", len(FILES), ())
    assert installation.from_a_kit
    assert examine_installation(root, installation.fingerprint.upper()) == installation


def test_a_source_checkout_is_not_an_installation(tmp_path: Path) -> None:
    installation = examine_installation(tmp_path)
    assert (installation.kit, installation.fingerprint, installation.findings) == ("", "", ())
    assert not installation.from_a_kit
    assert system_libraries(tmp_path) == ()


@pytest.mark.parametrize("name", [*FILES, COMPILED, "pyvenv.cfg"])
def test_a_changed_byte_in_any_file_is_found(name: str, root: Path) -> None:
    for place in range(0, len((root / name).read_bytes()), 5):
        with changed(root / name, at=place):
            assert _findings(root) == {("KIT-INSTALLED", name)}
    assert _findings(root) == set()


@pytest.mark.parametrize(
    "name",
    [f"{SITE}/evil.pth", f"{SITE}/airlock_offline/gate.pyc", f"{SITE}/sitecustomize.py", "bin/pip", "lib64/x.py",
     bytecode.bytecode_place(UNREADABLE), f"{SITE}/airlock_offline/__pycache__/gate.cpython-27.pyc", f"{PAPERS}/notes"],
)  # fmt: skip
def test_a_file_that_is_not_listed_is_found(name: str, root: Path) -> None:
    _write(root / name, b"")
    assert _findings(root) == {("KIT-INSTALLED", name)}


@pytest.mark.parametrize("name", [MODULE, COMPILED, "bin", ".", "pyvenv.cfg"])
def test_what_others_may_write_is_found(name: str, root: Path) -> None:
    (root / name).chmod((root / name).stat().st_mode | 0o002)
    assert _findings(root) == {("KIT-INSTALLED", name)}
    (root / name).chmod((root / name).stat().st_mode & ~0o002 | 0o020)
    assert _findings(root) == {("KIT-INSTALLED", name)}


@pytest.mark.parametrize("name", [MODULE, COMPILED, "pyvenv.cfg", "bin/airlock-offline", f"{SITE}/other/native.so"])
def test_a_link_or_a_pipe_in_place_of_a_file_is_found_and_not_waited_for(name: str, root: Path) -> None:
    elsewhere = root.parent / "elsewhere"
    (root / name).rename(elsewhere)
    (root / name).symlink_to(elsewhere)
    assert ("KIT-INSTALLED", name) in _findings(root)
    (root / name).unlink()
    os.mkfifo(root / name)
    assert ("KIT-INSTALLED", name) in _findings(root)


@pytest.mark.parametrize("target", ["python3.11", "{root}/bin/airlock-offline", "../../elsewhere/python3"])
def test_a_python_that_is_not_the_systems_is_found(target: str, root: Path) -> None:
    (root / "bin/python3").unlink()
    (root / "bin/python3").symlink_to(target.format(root=root))
    assert ("KIT-INSTALLED", "bin/python3") in _findings(root)


def test_packages_of_the_system_cannot_be_let_in(root: Path) -> None:
    (root / "pyvenv.cfg").write_text(environment(PYTHON).replace("false", "true"))
    assert _findings(root) == {("KIT-INSTALLED", "pyvenv.cfg")}


@pytest.mark.parametrize("name", ["MANIFEST", "INSTALLED", "FINGERPRINT"])
def test_a_changed_or_missing_list_is_found(name: str, root: Path) -> None:
    path = root / PAPERS / name
    with changed(path, at=3):
        assert {check for check, _ in _findings(root)} == {"KIT-MANIFEST"}
    path.unlink()
    assert {check for check, _ in _findings(root)} == {"KIT-MANIFEST"}


def test_a_changed_fingerprint_is_found_although_the_right_one_is_on_paper(root: Path) -> None:
    fingerprint = examine_installation(root).fingerprint
    (root / PAPERS / "FINGERPRINT").write_text("0" * 64)
    (finding,) = examine_installation(root, fingerprint).findings
    assert (finding.check, finding.path) == ("KIT-MANIFEST", f"{PAPERS}/FINGERPRINT")


def test_lists_that_were_written_anew_have_another_fingerprint(root: Path) -> None:
    fingerprint = examine_installation(root).fingerprint
    (root / "bin/airlock-offline").write_bytes(b"#!/bin/evil\n")
    forged = _seal(root, FILES | {"bin/airlock-offline": b"#!/bin/evil\n"})
    assert examine_installation(root).findings == ()  # alone, it can only agree with itself
    (finding,) = examine_installation(root, fingerprint).findings
    assert (finding.check, finding.got, finding.expected) == ("KIT-MANIFEST", forged, fingerprint)


def test_the_same_source_gives_the_same_bytes_in_any_process() -> None:
    """Also where texts are interned, sets are ordered otherwise, and everything has other owners."""
    source = Path(bytecode.__file__).read_bytes() + FILES[MODULE]
    script = (
        "import sys, hashlib; from airlock_offline.installation import compile_module\n"
        "kept = [sys.intern(word) for word in ('gate.py', 'exec', ' ', '.')]\n"
        "print(hashlib.sha256(compile_module(sys.stdin.buffer.read(), 'gate.py')).hexdigest())"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", script], input=source, capture_output=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    mine = bytecode.compile_module(source, "gate.py")
    assert mine is not None
    assert made == {f"{hashlib.sha256(mine).hexdigest()}\n".encode()}


def test_python_runs_the_bytecode_that_was_made_and_not_the_source_beside_it(tmp_path: Path) -> None:
    (tmp_path / "gate.py").write_text("print('made')")
    assert bytecode.write_all(tmp_path) == 1
    (tmp_path / "gate.py").write_text("print('source')")
    words = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import gate"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "made\n"


def test_bytecode_of_another_source_is_found_although_python_would_run_it(root: Path) -> None:
    other = bytecode.compile_module(FILES[MODULE].replace(b"digest in", b"digest not in"), "airlock_offline/gate.py")
    assert other is not None
    (root / COMPILED).write_bytes(other)
    assert _findings(root) == {("KIT-INSTALLED", COMPILED)}
    header = (root / COMPILED).read_bytes()[:16]
    code = compile(FILES[MODULE], "airlock_offline/gate.py", "exec", dont_inherit=True)
    (root / COMPILED).write_bytes(header + marshal.dumps(code))  # the same program, in bytes that nobody can make again
    assert _findings(root) == {("KIT-INSTALLED", COMPILED)}


def test_the_script_starts_python_without_what_is_installed_beside_it() -> None:
    """Of an installed kit, ``test_install.py`` shows it."""
    script = (Path(__file__).parents[2] / "offline/kit/verify.sh").read_text()
    started = [line for line in script.splitlines() if "program/packages.py" in line and '"$python"' in line]
    assert ['"$python" -I -S -B program' in line for line in started] == [True]
