"""Where a journal may be: only what `submit` made is one, and nothing else is changed, made or believed."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from airlock_online.cli.main import program
from airlock_online.journal.engine import JournalError, place_of, shown_place
from airlock_online.journal.journal import open_journal
from airlock_shared.cli.program import run
from commands import contents

NOW = 1_790_000_000_000
SECRET = "s3cret"


def foreign(folder: Path, kind: str) -> Path:
    """A file of somebody else's."""
    path = folder / "theirs"
    if kind.startswith("database"):
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE theirs (x)")
        if kind == "database with a log":
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA application_id = 7")
        database.commit()
        database.close()
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        (folder / "target").write_bytes(b"")
        path.symlink_to(folder / "target")
    else:
        path.write_bytes({"empty": b"", "text": b"a letter", "short": b"SQLite format 3\0"}[kind])
    if kind not in ("folder", "link"):
        path.chmod(0o666)
    return path


KINDS = ["database", "database with a log", "empty", "text", "short", "folder", "fifo", "link"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [False, True])
def test_what_submit_did_not_make_is_no_journal_and_stays_as_it_is(tmp_path: Path, kind: str, make: bool) -> None:
    path = foreign(tmp_path, kind)
    before = contents(tmp_path)
    with pytest.raises(JournalError):
        open_journal(str(path), lambda: NOW, make=make)
    assert contents(tmp_path) == before


def test_a_device_is_no_journal_and_keeps_its_mode() -> None:
    null = Path(os.devnull)
    before = null.stat()
    for make in (False, True):
        with pytest.raises(JournalError, match="no regular file"):
            open_journal(os.devnull, lambda: NOW, make=make)
    assert null.stat().st_mode == before.st_mode


def test_a_journal_is_made_whole_with_its_id_and_only_to_send(tmp_path: Path) -> None:
    path = tmp_path / "deep/journal.sqlite3"
    with pytest.raises(JournalError, match="there is no journal at"):
        open_journal(str(path), lambda: NOW, make=False)
    assert list(tmp_path.iterdir()) == []
    open_journal(str(path), lambda: NOW).close()
    assert [each.name for each in path.parent.iterdir()] == ["journal.sqlite3"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)  # it is ours: nobody else reads it
    open_journal(str(path), lambda: NOW, make=False).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "where",
    [
        "journal.sqlite3", "./journal.sqlite3", "~nobody-of-this-name/j", "",
        f"host=db user=desk password={SECRET}", f"postgresql:/desk:{SECRET}@db/journal", f"desk:{SECRET}@db/journal",
        f"postgresql://desk:x@{SECRET}@db/journal", f"postgresql://desk:{SECRET}@db:port/journal",
        f"postgresql://desk:{SECRET}/x@db/journal", "sqlite://", "sqlite:///relative", "sqlite:///:memory:",
        "postgresql://", f"://{SECRET}", f"no such://{SECRET}",
    ],
)  # fmt: skip
def test_what_is_no_place_is_refused_and_no_secret_in_it_is_told(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(JournalError) as refused:
        open_journal(where, lambda: NOW)
    assert SECRET not in f"{refused.value} {refused.value.do}"
    assert list(tmp_path.iterdir()) == []


def test_the_own_folder_is_meant_by_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place_of("~/j.sqlite3").database == str(tmp_path / "j.sqlite3")


def test_of_an_address_its_scheme_and_its_host_are_shown() -> None:
    where = f"postgresql://desk:{SECRET}@db.example:5432/x?sslkey={SECRET}"
    assert shown_place(place_of(where)) == "postgresql://db.example"


# ---- the commands --------------------------------------------------------------------------------------------------

READS = [("status",), ("follow",), ("resolve",), ("forget",), ("config", "show"), ("doctor",)]


@pytest.mark.parametrize("words", READS)
def test_a_read_makes_no_journal(tmp_path: Path, words: tuple[str, ...]) -> None:
    run(program, ["--home", str(tmp_path / "home"), *words])
    assert not [path for path in tmp_path.rglob("*") if "journal" in path.name]


@pytest.mark.parametrize("words", READS)
@pytest.mark.parametrize("kind", ["database", "empty", "absent"])
def test_a_file_that_is_not_ours_is_told_by_every_command_and_left_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    kind: str,
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    path = folder / "absent" if kind == "absent" else foreign(folder, kind)
    monkeypatch.setenv("AIRLOCK_JOURNAL", str(path))
    before = contents(folder)
    code = run(program, ["--home", str(tmp_path / "home"), *words])
    assert contents(folder) == before
    if words[0] not in ("config", "doctor"):
        assert (code, "no journal" in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize("words", READS)
@pytest.mark.parametrize("where", [f"postgresql://desk:x@{SECRET}@db/j", f"postgresql://desk:{SECRET}@db:port/j"])
def test_a_slip_in_an_address_tells_no_password(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    where: str,
) -> None:
    monkeypatch.setenv("AIRLOCK_JOURNAL", where)
    run(program, ["--home", str(tmp_path / "home"), *words])
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err
    assert "Traceback" not in told.err
