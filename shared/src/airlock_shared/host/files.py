"""Files: read once under a cap, written whole or not at all; what is seen of a machine; and the transcript's file."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from airlock_shared.documents.transcript import GENESIS, MAX_LINE_BYTES, Entry, next_entry, read_entries
from airlock_shared.errors import DocumentError, ExitCode, Refusal, UsageError
from airlock_shared.wire.strict_json import MAX_DOCUMENT_BYTES, JsonObject, Table, parse_toml

# ---- files ----------------------------------------------------------------------------------------------------------
# The one place in the shared core that opens files: read once under a cap, written whole or not at all.
# Input is opened without following a symbolic link and must be a regular file, so that nobody can swap what was
# looked at. Output is written to a temporary file beside its place, synced, and linked into place: it never replaces
# a file. Where there are no hard links, as on a USB stick with vfat or exfat, it is written in place, into a file
# that did not exist.


_NO_HARD_LINKS = (
    errno.EPERM,
    errno.ENOTSUP,
    errno.ENOSYS,
)  # what link(2) says on vfat, exfat and some FUSE file systems
_WRITTEN = "check the folder and the free space"
_Document = TypeVar("_Document")


@contextmanager
def as_usage_error(what: str, do: str) -> Iterator[None]:
    """Raise an error of the system as a ``UsageError`` that says what could not be done."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{what}: {error.strerror}", do=do) from error


@contextmanager
def open_input(path: Path, *, max_bytes: int) -> Iterator[BinaryIO]:
    """Open a regular file for reading, not through a symbolic link.

    Raises ``UsageError`` when it cannot be opened, ``DocumentError`` with ``DOC-LINK``, ``DOC-FILE`` or ``DOC-SIZE``.
    """
    with as_usage_error(f"{path} cannot be opened", "check the name and the permissions"):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if path.is_symlink():
                raise DocumentError(
                    "DOC-LINK", f"{path} is a symbolic link", do="copy the file itself, and give its own name"
                ) from error
            raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError("DOC-FILE", f"{path} is not a regular file", do="give the name of a file")
        if status.st_size > max_bytes:
            raise DocumentError(
                "DOC-SIZE", f"{path} is too large", got=f"{status.st_size} bytes", expected=f"<= {max_bytes} bytes"
            )
        with os.fdopen(descriptor, "rb", closefd=False) as source:
            yield source
    finally:
        os.close(descriptor)


def read_input(path: Path, *, max_bytes: int = MAX_DOCUMENT_BYTES) -> bytes:
    """Return the bytes of a regular file, read once. Raises as :func:`open_input`."""
    with open_input(path, max_bytes=max_bytes) as source:
        data = source.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise DocumentError("DOC-SIZE", f"{path} grew while it was read", expected=f"<= {max_bytes} bytes")
    return data


def read_document(path: Path, parse: Callable[[bytes], _Document], do: str = "") -> _Document:
    """Return what a reader makes of a file. Raises as it does, with the file as the place, and perhaps what to do."""
    try:
        return parse(read_input(path))
    except Refusal as error:
        error.at(str(path))
        error.do = do or error.do
        raise


def require_new(path: Path) -> None:
    """Raise ``UsageError`` when ``path`` exists already, before work is done whose result could not be written."""
    if os.path.lexists(path):
        raise UsageError(
            f"{path} exists already, and nothing is overwritten", do="choose another name, or move it away"
        )


def write_new(path: Path, data: bytes) -> None:
    """Write a new file with mode 0600, whole or not at all, and never over an existing one.

    On a file system without hard links, a power cut meanwhile can leave a part of it.
    Raises ``UsageError`` when the file exists or cannot be written.
    """
    require_new(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    with as_usage_error(f"{path} cannot be written", _WRITTEN):
        try:
            _create(temporary, data)
            try:
                os.link(temporary, path)  # unlike a rename, it fails when the name is taken
            except OSError as error:
                if error.errno not in _NO_HARD_LINKS:
                    raise
                _create(path, data)
            finally:
                temporary.unlink()
            _sync_folder(path.parent)
        except FileExistsError:
            require_new(path)  # it appeared meanwhile
            raise


def _create(path: Path, data: bytes) -> None:
    """Write and sync a file that did not exist; what fails half-way is taken away again. Raises ``OSError``."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as target:
            target.write(data)
            target.flush()
            os.fsync(target.fileno())
    except BaseException:
        path.unlink()
        raise


def append_line(path: Path, line: bytes) -> None:
    """Append one line to a log of ours (mode 0600), whole or not at all, and sync it to the disk.

    Raises ``UsageError`` when it cannot be written.
    """
    data = line + b"\n"
    with as_usage_error(f"{path} cannot be written", _WRITTEN):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "ab", buffering=0) as log:
            size = os.fstat(descriptor).st_size
            try:
                if os.write(descriptor, data) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(descriptor)
            except OSError:
                log.truncate(size)  # half a line would break the chain of a transcript for good
                raise


def open_lock(file: Path) -> int:
    """Return the descriptor of a file to lock (mode 0600), made when it is not there; in a folder that others write to, too.

    Raises ``UsageError``, also for a link and for somebody else's file.
    """
    with as_usage_error(f"the lock file {file} cannot be opened", "find out who made it, and remove it"):
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        if os.fstat(descriptor).st_uid != os.geteuid():
            os.close(descriptor)
            raise OSError(errno.EPERM, "it belongs to another user")
    return descriptor


def lock(descriptor: int, place: Path, *, wait: bool) -> bool:
    """Lock an open file or folder until it is closed, and tell whether that was done: False is for one that another holds.

    With ``wait`` it is waited for. Raises ``UsageError`` where ``place`` cannot be locked.
    """
    with as_usage_error(f"{place} cannot be locked", "keep its folder on a disk of this machine, not on a network's"):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@contextmanager
def locked(descriptor: int, place: Path, busy: Callable[[int], None] | None) -> Iterator[None]:
    """Keep others meanwhile from locking an open file or folder, which is closed in the end.

    One that another holds is waited for, or ``busy`` is given its descriptor: to wait for it, or to raise. Raises as
    :func:`lock`.
    """
    try:
        if not lock(descriptor, place, wait=busy is None) and busy:
            busy(descriptor)
        yield
    finally:
        os.close(descriptor)


def home_of(variable: str, default: str) -> Path:
    """Return the folder that an environment's variable names, else ``default`` in the person's own; ``~`` is that one.

    Raises ``UsageError`` for a relative name: another folder would be meant wherever the command is given.
    """
    path = Path(os.path.expanduser(os.environ.get(variable) or f"~/{default}"))  # noqa: PTH111 (raises for ~nobody)
    if not path.is_absolute():
        raise UsageError(
            f"{variable} is not an absolute name: {path}", do="give the folder's whole name, from / or ~ on"
        )
    return path


def make_folder(path: Path) -> Path:
    """Make a private folder (mode 0700), and those above it, when not there. Raises ``UsageError`` when it cannot be."""
    with as_usage_error(f"{path} cannot be made", "check the folder above it"):
        for folder in (*reversed(path.parents), path):  # ``parents=True`` would leave those above open to others
            folder.mkdir(mode=0o700, exist_ok=True)
    return path


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


DAMAGED_DO = "move the file away, as evidence; then fetch the deployment, or trust it, again"


def current(folder: Path) -> list[Path]:
    """Return the files of the deployments in a folder that are not replaced."""
    return sorted(path for path in folder.glob("*.json") if not path.name.endswith(".replaced.json"))


def keep_current(path: Path, data: bytes, replaced: str) -> None:
    """Keep a deployment's file; the one there, of the fingerprint ``replaced`` (empty: none), is kept beside it under that.

    It stands until the new one is there, whole, in its place; so does what was kept beside it, which may be damaged.
    Raises ``UsageError`` when something cannot be written.
    """
    make_folder(path.parent)
    if not replaced:
        write_new(path, data)  # not over one that appeared meanwhile
        return
    for place, whole in (path.with_suffix(f".{replaced[:16]}.replaced.json"), read_input(path)), (path, data):
        new = path.with_suffix(f".{secrets.token_hex(6)}")
        write_new(new, whole)
        new.replace(place)
    _sync_folder(path.parent)


# ---- observed -------------------------------------------------------------------------------------------------------
# What is seen of a machine, line by line, and the machine itself: passed in, so that a test can build another one.


OK, LOOK, REFUSED, FAULT = "ok", "LOOK", "REFUSED", "FAULT"
"""Verdicts. ``FAULT`` is ``doctor``'s alone: something does not work."""


class MachineProbes(NamedTuple):
    """The machine: where its file tree begins, how a shared library is loaded, and what is known of a file system."""

    root: Path = Path("/")
    load: Callable[[str], object] = ctypes.CDLL
    disk: Callable[[Path], os.statvfs_result] = os.statvfs
    spec: Callable[[str], object | None] = find_spec


class Observed(NamedTuple):
    """One line of a result: what was looked at, what was found, the verdict, and what to do about it.

    ``check`` is the id of the check that refuses; ``code`` the exit code that ``doctor`` gives to it, 0 for advice.
    """

    group: str
    what: str
    found: str
    verdict: str = OK
    do: str = ""
    check: str = ""
    code: ExitCode = ExitCode.DONE

    def as_json(self) -> dict[str, str]:
        """Return the line for the transcript and for ``--json``, without the exit code."""
        return {name: str(value) for name, value in self._asdict().items() if name != "code"}


# ---- transcript file ------------------------------------------------------------------------------------------------
# The transcript on the disk of one machine: read whole with its chain verified, and only ever appended to.


MAX_FILE_BYTES = 256 << 20


def read_transcript(path: Path) -> list[Entry]:
    """Return the entries of a transcript file. Raises ``DocumentError("DOC-CHAIN")`` when the chain breaks."""
    return read_entries(read_input(path, max_bytes=MAX_FILE_BYTES).splitlines())


class TranscriptFile:
    """A machine's own transcript."""

    def __init__(self, path: Path, without_secrets: Callable[[Any], Any] = copy) -> None:
        """Keep it at ``path``; ``without_secrets`` returns what may be recorded of an entry's data."""
        self.path = path
        self._without_secrets = without_secrets

    def entries(self) -> list[Entry]:
        """Return the entries so far; none when the file is not there yet. Raises as :func:`read_transcript`."""
        return read_transcript(self.path) if self.path.exists() else []

    def head(self) -> str:
        """Return the hash of the last entry, or 64 zeros."""
        entries = self.entries()
        return entries[-1].hash if entries else GENESIS

    def record(self, event: str, data: JsonObject, at_ms: int) -> Entry:
        """Append an entry, on the disk before this returns; ``at_ms`` is unix milliseconds.

        Another process that appends waits for its turn, so that the chain stays one.
        """
        with alone_in(make_folder(self.path.parent)):
            return self._append(event, data, at_ms)

    def record_after(self, head: str, event: str, data: JsonObject, at_ms: int) -> Entry | None:
        """Append an entry as :meth:`record` does, but only while ``head`` is the last entry's hash; otherwise None.

        What is said about a transcript as a whole is true of the one that was looked at, and of no later one.
        """
        with alone_in(make_folder(self.path.parent)):
            if head != self.head():
                return None
            return self._append(event, data, at_ms)

    def _append(self, event: str, data: JsonObject, at_ms: int) -> Entry:
        entries, kept = self.entries(), self._without_secrets(json.loads(json.dumps(data)))
        entry = next_entry(entries[-1] if entries else None, at_ms, event, kept)
        line = entry.line()
        if len(line) > MAX_LINE_BYTES:
            raise UsageError(
                f"an entry {event} of {len(line)} bytes could not be read again: nothing was recorded",
                do="do it in parts",
            )
        append_line(self.path, line)
        return entry


def alone_in(folder: Path, busy: Callable[[int], None] | None = None) -> AbstractContextManager[None]:
    """Keep other processes out that do the same with this folder; ``busy`` and errors as for :func:`locked`."""
    with as_usage_error(f"{folder} cannot be opened", "check its permissions"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return locked(descriptor, folder, busy)


# ---- settings -------------------------------------------------------------------------------------------------------
# A program's configuration file: sections of settings in TOML, each with a default; what is not known is refused.
#
# The settings of a program are a ``NamedTuple`` of sections, each a ``NamedTuple`` of values with defaults. Nothing that a
# check decides is a setting.


CONFIG_FILE = "config.toml"
_MAX_BYTES = 64 << 10

C = TypeVar("C", bound=tuple[Any, ...])


def read_settings(path: Path, defaults: C, elsewhere: str = "") -> C:
    """Return the settings in a file, or the defaults when there is none; ``elsewhere`` is a section that is in no such file.

    Raises ``UsageError`` for what is not TOML, a section, name or type that is not known, with the nearest one that is.
    """
    sections: Table = defaults._asdict()  # type: ignore[attr-defined]
    sections.pop(elsewhere, None)
    for name, values in read_table(path).items():
        if name not in sections:
            raise UsageError(f"{path} has an unknown section [{name}]", do=_instead(name, sections))
        section = sections[name]
        where = f"{path} [{name}]"
        if type(values) is not dict:
            raise UsageError(f"{where} is not a table", do="correct the file")
        for each, value in values.items():
            if each not in section._fields:
                raise UsageError(f"{where} has an unknown name {each!r}", do=_instead(each, section._fields))
            wanted = type(getattr(section, each))
            if type(value) is not wanted:
                raise UsageError(
                    f"{where} {each!r} is mistyped: {type(value).__name__}",
                    do=f"give a value of the type {wanted.__name__}",
                )
        sections[name] = section._replace(**values)
    return defaults._replace(**sections)  # type: ignore[attr-defined,no-any-return]


def read_table(path: Path) -> Table:
    """Return the sections of a file, none when it is not there. Raises ``UsageError`` for what is not TOML."""
    if not os.path.lexists(path):
        return {}
    try:
        return parse_toml(read_input(path, max_bytes=_MAX_BYTES))
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}", do="correct the file") from error


def _instead(name: str, known: Iterable[str]) -> str:
    meant = get_close_matches(name, known, 1)
    return f"did you mean {meant[0]}?" if meant else f"use one of {list(known)}"
