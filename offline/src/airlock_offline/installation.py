"""What is installed, and the kit that it was installed from, compared with the kit's own lists."""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import re
import stat
import sys
import warnings
from collections.abc import Iterator, Mapping, Set
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from airlock_shared.errors import UsageError

# ---- bytecode -------------------------------------------------------------------------------------------------------
# Bytecode that can be made again, byte for byte, and so be compared without being loaded.
# What Python writes by itself depends on the process that wrote it: in marshal's current format a mark says which
# objects had several owners at that moment. Its version 2 has neither these marks nor those of interned texts, so the
# bytes follow from source, name and interpreter alone. They are written as PEP 552's unchecked hash-based files:
# nothing in them depends on the time of the installation, and Python asks no file's date when it starts. Sources: PEP
# 552, ``Python/marshal.c``.


_MARSHAL_VERSION = 2
_UNCHECKED_HASH = (0b01).to_bytes(4, "little")  # PEP 552: hash-based, and not compared with the source on import


def bytecode_place(source: str) -> str:
    """Return where the bytecode of a source lies, both relative to the same folder."""
    folder, _, name = source.rpartition("/")
    cached = f"__pycache__/{name.removesuffix('.py')}.{sys.implementation.cache_tag}.pyc"
    return f"{folder}/{cached}" if folder else cached


def compile_module(source: bytes, name: str) -> bytes | None:
    """Return the bytecode file of a module, None for a file that is no Python of this version.

    ``name`` is the path that tracebacks would name; Python puts in the true one when it imports the file.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other people's sources
            code = compile(source, name, "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError):
        return None
    header = importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH + importlib.util.source_hash(source)
    return header + marshal.dumps(code, _MARSHAL_VERSION)


def write_all(packages: Path) -> int:
    """Write the bytecode of every module below a folder in which there is none, and return how many were written.

    Raises ``UsageError`` when a file cannot be read or written.
    """
    written = 0
    try:
        for source in sorted(packages.rglob("*.py")):
            name = source.relative_to(packages).as_posix()
            made = compile_module(source.read_bytes(), name)
            if made is not None:
                target = packages / bytecode_place(name)
                target.parent.mkdir(exist_ok=True)
                with target.open("xb") as file:
                    file.write(made)
                written += 1
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}", do="check the folder and the free space") from error
    return written


# ---- manifest -------------------------------------------------------------------------------------------------------
# What is installed, and the kit that it was installed from, compared with the kit's own lists.
# A kit holds ``MANIFEST`` (the SHA-256 of every other file of it) and ``INSTALLED`` (the SHA-256 of every file that
# installing it gives); the kit's fingerprint is the SHA-256 of its ``MANIFEST`` and comes to the people by another
# way. An installation keeps both lists in ``share/airlock-offline``. Only the standard library and
# ``airlock_shared.errors`` are needed here, so that ``verify.sh`` can run this very module out of the wheel on a
# trusted medium: an installation cannot vouch for itself.


MANIFEST, INSTALLED, DESCRIPTION, FINGERPRINT = "MANIFEST", "INSTALLED", "KIT", "FINGERPRINT"
PAPERS = "share/airlock-offline"
INTERPRETER, _ENVIRONMENT = "bin/python3", "pyvenv.cfg"
PROGRAMS = frozenset({"install.sh", "verify.sh", "program/airlock-offline"})
"""The files of a kit that may be run."""

INSTALL_AGAIN = "install again from a kit whose fingerprint you have on paper, and find out who changed this"
_LINE = re.compile(r"([0-9a-f]{64})  ([^\\\n]+)")
_MAX_BYTES = 16 << 20  # of a list, or of one module


class KitFinding(NamedTuple):
    """One difference: the check's id, the file (relative to what was examined), what is wrong with it."""

    check: str
    path: str
    what: str
    got: str = ""
    expected: str = ""


class Installation(NamedTuple):
    """What an examination found. ``kit`` and ``fingerprint`` are empty when nothing was installed from a kit."""

    kit: str
    fingerprint: str
    files: int
    findings: tuple[KitFinding, ...]

    @property
    def from_a_kit(self) -> bool:
        """Whether this is an installation from a kit, be it changed or not, and not a source checkout."""
        return bool(self.kit or self.findings)


def read_installation_fingerprint(text: str) -> str:
    """Return a fingerprint that a person typed, in groups or not, as 64 lowercase hex digits. Raises ``UsageError``."""
    digits = "".join(text.split()).lower()
    if not re.fullmatch("[0-9a-f]{64}", digits):
        raise UsageError(
            "a kit's fingerprint is 64 hex digits", do="copy it from the paper that you received by another way"
        )
    return digits


def examine_kit(folder: Path, fingerprint: str) -> tuple[KitFinding, ...]:
    """Compare a kit's folder with its MANIFEST, and that with the fingerprint. Nothing found means: it is this kit, whole.

    Raises ``UsageError`` when the fingerprint is not one.
    """
    listed, wrong = _read_list(folder, MANIFEST, read_installation_fingerprint(fingerprint))
    if wrong:
        return (wrong,)
    tree = _Tree(folder)
    return (
        *tree.unlisted({*listed, MANIFEST}, "KIT-FILE"),
        *(finding for _, finding in tree.differences(listed, "KIT-FILE") if finding),
        *_examine_modes(tree, listed),
    )


def _examine_modes(tree: _Tree, listed: Mapping[str, str]) -> Iterator[KitFinding]:
    """Yield what no hash says: folders without a listed file, second names of files, modes that give rights away.

    The programs alone may be run, or every file or none: a medium that keeps no modes (FAT) says so of all alike.
    """
    folders = {str(parent) for path in listed for parent in PurePosixPath(path).parents}
    for path, found in sorted(tree.stats.items()):
        is_folder = stat.S_ISDIR(found.st_mode)
        if is_folder and path not in folders:
            yield KitFinding("KIT-FILE", path, "a folder that is not in the list")
        if not is_folder and found.st_nlink > 1:
            yield KitFinding("KIT-FILE", path, "a hard link")
    yield from tree.writable("KIT-FILE", 0o7022)
    runnable = {path for path in tree.files if path in tree.stats and tree.stats[path].st_mode & 0o111}
    if runnable and runnable != tree.files:
        for path in sorted(runnable ^ PROGRAMS):
            yield KitFinding("KIT-FILE", path, "executable" if path in runnable else "not executable")


def examine_installation(root: Path | None = None, fingerprint: str = "") -> Installation:
    """Compare every file of an installation with the kit's INSTALLED, and its bytecode with its sources.

    ``root`` is the installation's folder (default: the one that this program runs from). Without a ``fingerprint`` the one
    kept at the installation counts. Takes a second or two. Raises ``UsageError`` when the fingerprint is not one.
    """
    root = root or Path(sys.prefix)
    if not os.path.lexists(root / PAPERS):
        return Installation("", "", 0, ())
    expected = read_installation_fingerprint(fingerprint) if fingerprint else paper(FINGERPRINT, root)
    manifest, wrong = _read_list(root, f"{PAPERS}/{MANIFEST}", expected)
    if not wrong:
        listed, wrong = _read_list(root, f"{PAPERS}/{INSTALLED}", manifest.get(INSTALLED, ""))
    if wrong:
        return Installation("", expected, 0, (wrong,))
    findings = [*_examine_tree(root, listed)]
    if paper(FINGERPRINT, root) != expected:
        findings.append(KitFinding("KIT-MANIFEST", f"{PAPERS}/{FINGERPRINT}", "changed", expected=expected))
    name = re.search(r"^name=(\S+)$", paper(DESCRIPTION, root), re.MULTILINE)
    return Installation(name[1] if name else "", expected, len(listed), tuple(findings))


def _examine_tree(root: Path, listed: Mapping[str, str]) -> Iterator[KitFinding]:
    tree = _Tree(root)
    compiled: set[str] = set()
    for path, finding in tree.differences(listed, "KIT-INSTALLED"):
        if finding:
            yield finding
        if path.startswith("lib/") and path.endswith(".py"):
            place = bytecode_place(path)
            compiled.add(place)
            if not finding:
                there = place in tree.files
                name = path.split("/", 3)[-1]  # lib/python3.N/site-packages/NAME
                made = compile_module(_bytes(root / path), name)
                if there != (made is not None):
                    yield KitFinding("KIT-INSTALLED", place, "unexpected" if there else "missing")
                elif made is not None and _bytes(root / place) != made:
                    yield KitFinding("KIT-INSTALLED", place, "bytecode that was not made from its source")
    yield from tree.writable("KIT-INSTALLED", 0o022)  # a folder may hand its group on, where it was made
    papers = {f"{PAPERS}/{name}" for name in (MANIFEST, INSTALLED, FINGERPRINT)}
    yield from tree.unlisted({*listed, *compiled, *papers, _ENVIRONMENT}, "KIT-INSTALLED", links={INTERPRETER})
    interpreter = tree.links.get(INTERPRETER, "")
    if _bytes(root / _ENVIRONMENT) != environment(interpreter).encode():
        yield KitFinding("KIT-INSTALLED", _ENVIRONMENT, "not the Python environment that was installed")
    if not interpreter.startswith("/") or PurePosixPath(interpreter).is_relative_to(root):
        yield KitFinding("KIT-INSTALLED", INTERPRETER, "not a link to the system's Python")


def environment(interpreter: str) -> str:
    """Return the contents of ``pyvenv.cfg`` for an interpreter's path: its own packages alone. Source: PEP 405."""
    return f"home = {PurePosixPath(interpreter).parent}\ninclude-system-site-packages = false\n"


class _Tree:
    """Every file and link below a folder, by its path relative to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: set[str] = set()
        self.links: dict[str, str] = {}
        self.others: dict[str, str] = {}
        self.stats: dict[str, os.stat_result] = {}
        self._read(folder)

    def _read(self, place: Path) -> None:
        path = place.relative_to(self.folder).as_posix()
        try:
            found = place.lstat()
            if stat.S_ISLNK(found.st_mode):
                self.links[path] = str(place.readlink())
            elif stat.S_ISREG(found.st_mode):
                self.files.add(path)
                self.stats[path] = found
            elif stat.S_ISDIR(found.st_mode):
                self.stats[path] = found
                for below in place.iterdir():
                    self._read(below)
            else:
                self.others[path] = "neither a file nor a folder"
        except OSError as error:
            self.others[path] = f"cannot be read: {error.strerror}"

    def unlisted(self, known: Set[str], check: str, links: Set[str] = frozenset()) -> Iterator[KitFinding]:
        """Yield what is there and should not be."""
        wrong = dict.fromkeys(self.files - known, "not in the list")
        wrong |= {path: "a symbolic link" for path in self.links if path not in links}
        for path, what in sorted((wrong | self.others).items()):
            yield KitFinding(check, path, what)

    def writable(self, check: str, modes: int) -> Iterator[KitFinding]:
        """Yield what has one of these modes: each gives others rights to a file or folder."""
        for path, found in sorted(self.stats.items()):
            if found.st_mode & modes:
                what = "its mode lets others write, or changes who runs it"
                yield KitFinding(check, path, what, f"{stat.S_IMODE(found.st_mode):04o}")

    def differences(self, listed: Mapping[str, str], check: str) -> Iterator[tuple[str, KitFinding | None]]:
        """Yield every listed path, with what is wrong with its contents."""
        for path, expected in listed.items():
            if path not in self.files:
                yield path, None if path in self.links else KitFinding(check, path, "missing")
                continue
            got = _sha256(self.folder / path)
            yield path, None if got == expected else KitFinding(check, path, "changed", got, expected)


def _read_list(folder: Path, name: str, expected: str) -> tuple[dict[str, str], KitFinding | None]:
    """Return a list of hashes by path, or why it is not the expected one: then nothing in it is believed."""
    data = _bytes(folder / name)
    got = hashlib.sha256(data).hexdigest()
    if got != expected:
        what = "changed, or of another kit" if data else "missing"
        return {}, KitFinding("KIT-MANIFEST", name, what, got, expected)
    lines = [_LINE.fullmatch(line) for line in data.decode("ascii", "replace").splitlines()]
    return {line[2]: line[1] for line in lines if line}, None


def paper(name: str, root: Path | None = None) -> str:
    """Return one of the kit's papers that an installation keeps, empty when there is none."""
    return _bytes((root or Path(sys.prefix)) / PAPERS / name).decode("ascii", "replace").strip()


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _bytes(path: Path) -> bytes:
    """Return a list or a module, empty when it cannot be read or is beyond all measure."""
    try:
        with os.fdopen(_open(path), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return b""
            data = file.read(_MAX_BYTES + 1)
    except OSError:
        return b""
    return data if len(data) <= _MAX_BYTES else b""


def _sha256(path: Path) -> str:
    """Return the SHA-256 of a file, empty when it cannot be read."""
    try:
        with os.fdopen(_open(path), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
