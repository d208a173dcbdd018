"""Files: read once, under a cap, not through a link; written whole or not at all, never over another."""

import errno
import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from airlock_shared.errors import AirlockError, UsageError
from airlock_shared.host import files
from airlock_shared.host.files import append_line, make_folder, open_input, read_input, require_new, write_new
from commands import contents
from refusals import check_of


def _check_of(path: Path) -> str:
    return check_of(read_input, path, max_bytes=100)


def _open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"{}")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert _check_of(tmp_path / "link") == "DOC-LINK"


def test_what_is_no_file_is_refused_without_waiting_and_leaves_no_descriptor_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * 101)
    before = _open_descriptors()
    assert [_check_of(path) for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero"))] == ["DOC-FILE"] * 3
    for name in ("pipe", "large", "nothing"):
        with pytest.raises(AirlockError), open_input(tmp_path / name, max_bytes=100):
            pass
    assert _open_descriptors() == before
    with pytest.raises(UsageError):  # a file that is missing is a mistake of the command line
        read_input(tmp_path / "nothing")


def test_a_file_over_the_cap_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as target:
        target.truncate(1 << 40)  # sparse: it takes no room
    assert _check_of(tmp_path / "huge") == "DOC-SIZE"


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "growing"
    path.write_bytes(b"x" * 101)
    real = os.fstat
    small = lambda fd: os.stat_result([*real(fd)[:6], 5, *real(fd)[7:]])  # noqa: E731 (as large as it was before)
    monkeypatch.setattr(os, "fstat", small)
    assert _check_of(path) == "DOC-SIZE"


def test_what_is_written_is_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "signatures.json"
    write_new(path, b"secret")
    assert path.read_bytes() == b"secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_nlink == 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("target", ["", "target", "nowhere"], ids=["no link", "link", "dangling"])
@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, os.mkfifo])
def test_nothing_is_ever_overwritten(tmp_path: Path, make: Callable[[Path], None], target: str) -> None:
    path = tmp_path / "taken"
    make(tmp_path / "target" if target else path)
    if target:
        path.symlink_to(tmp_path / target)
    before = contents(tmp_path)
    for writes in (partial(write_new, data=b"new"), require_new):
        with pytest.raises(UsageError, match="exists already, and nothing is overwritten"):
            writes(path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("links", [True, False], ids=["with hard links", "without"])
def test_what_appears_meanwhile_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    path = tmp_path / "raced"

    def no_links(_source: Path, target: Path) -> None:
        target.write_bytes(b"first")
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    early = (files, "require_new", lambda path: path.write_bytes(b"first"))
    monkeypatch.setattr(*(early if links else (os, "link", no_links)))
    with pytest.raises(UsageError):
        write_new(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("links", [True, False], ids=["with hard links", "without"])
def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def no_links(*_: object, **__: object) -> None:
        monkeypatch.setattr(os, "fsync", full)
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(*((os, "fsync", full) if links else (os, "link", no_links)))
    with pytest.raises(UsageError, match="No space left"):
        write_new(tmp_path / "signatures.json", b"x" * 10_000)
    assert list(tmp_path.iterdir()) == []


def test_lines_are_not_appended_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    (tmp_path / "log").symlink_to(tmp_path / "other")
    with pytest.raises(UsageError):
        append_line(tmp_path / "log", b"x")
    assert (tmp_path / "other").read_bytes() == b""


def test_the_folders_above_a_new_folder_are_private_too(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folder(tmp_path / "home" / "pins" / "old")
    found = [tmp_path, *(tmp_path / part for part in ("home", "home/pins", "home/pins/old"))]
    assert [path.stat().st_mode & 0o777 for path in found] == [0o755, 0o700, 0o700, 0o700]


def test_what_is_replaced_stands_until_the_new_one_is_there_whole(tmp_path: Path) -> None:
    path, full = tmp_path / "pins/venue.json", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    files.keep_current(path, b"old", "")
    with pytest.raises(UsageError, match="exists already"):
        files.keep_current(path, b"of another terminal", "")
    for room in range(2):  # on the disk, for so many files
        made = mock.patch.object(files, "_create", side_effect=[*[mock.DEFAULT] * room, full], wraps=files._create)
        with made, pytest.raises(UsageError, match="No space left"):
            files.keep_current(path, b"new", "a" * 64)
        assert (files.current(path.parent), path.read_bytes()) == ([path], b"old")
    for kept in (b"old", b"damaged"):
        path.with_suffix(f".{'a' * 16}.replaced.json").write_bytes(kept)
        path.write_bytes(b"old")
        files.keep_current(path, b"new", "a" * 64)
    assert {each.name[6:9]: each.read_bytes() for each in path.parent.iterdir()} == {"jso": b"new", "aaa": b"old"}
