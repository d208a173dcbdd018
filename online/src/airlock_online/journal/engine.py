"""Opening the journal's database: SQLite in a file of mode 0600 by default, PostgreSQL or another one by URL.

What a transaction needs is said by the connection's ``airlock`` option: ``STATE`` for what must be on the disk before
anything else happens, ``EVENT`` for what the service tells again when asked, ``READ``. A file of SQLite is then synced, not
synced, or not locked; other databases treat them alike.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, insert, select, text, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from airlock_online.journal.schema import MIGRATIONS, SCHEMA, TABLES, VERSION
from airlock_shared.errors import UsageError
from airlock_shared.host.files import make_folder
from airlock_shared.text.safe import safe

BUSY_TIMEOUT_S = 15
_WAL_ATTEMPTS = 200
_WAL_PAUSE_S = 0.05
_MAKING = 0x6169726C6F636B  # PostgreSQL's advisory lock while tables are made

ACCESS = "airlock"
STATE, EVENT, READ = "state", "event", "read"
_SQLITE_SYNC = {STATE: "FULL", EVENT: "NORMAL", READ: "NORMAL"}


class JournalError(UsageError):
    """The journal cannot be read or written. Nothing is sent that could not be written down first."""


def open_engine(where: str) -> Engine:
    """Return an engine on the journal at a file name or a database URL, its tables made and their version checked.

    Raises ``JournalError``.
    """
    url = _url(where)
    try:
        engine = _sqlite(url) if url.get_backend_name() == "sqlite" else create_engine(url, hide_parameters=True)
    except (ArgumentError, ImportError) as error:
        raise JournalError(
            f"{_shown(url)} cannot be used: {safe(str(error))}", do="install its driver, or correct it"
        ) from error
    try:
        with wrapped("opened"), engine.begin() as connection:
            _make_tables(connection)
    except JournalError:
        engine.dispose()
        raise
    return engine


@contextmanager
def wrapped(what: str) -> Iterator[None]:
    """Turn the database's errors into ``JournalError``."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:  # the latter where a transaction begins
        cause = getattr(error, "orig", None) or error
        raise JournalError(
            f"the journal cannot be {what} ({type(cause).__name__}: {safe(str(cause), limit=200)})",
            do="check its place, its permissions and the free space",
        ) from error


def _url(where: str) -> URL:
    if "://" not in where:
        return URL.create("sqlite", database=where)
    try:
        return make_url(where)
    except ArgumentError as error:  # its text would show the password
        raise JournalError("the journal's address is not a database URL", do="correct the configuration") from error


def _shown(url: URL) -> str:
    return safe(url.render_as_string(hide_password=True))


def _sqlite(url: URL) -> Engine:
    path = Path(url.database or "")
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise JournalError("the journal needs its own file: it must outlast the program", do="name a file")
    _make_private(path)
    engine = create_engine(url, hide_parameters=True, connect_args={"timeout": BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _make_private(path: Path) -> None:
    """Make the file with mode 0600, or take others' access to it away. A symbolic link is refused."""
    try:
        make_folder(path.absolute().parent)
        if path.is_symlink():
            raise JournalError(f"{path} is a symbolic link", do="name the file itself")
        if path.exists():  # not opened here: closing it would drop the locks that SQLite holds in this process
            path.chmod(0o600)
        else:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except JournalError:
        raise
    except UsageError as error:
        raise JournalError(error.what, do=error.do) from error
    except OSError as error:
        raise JournalError(f"{path} cannot be used: {error.strerror}", do="check its folder and permissions") from error


def _set_up(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by _begin, not by the driver
    _set_wal(connection)
    connection.execute("PRAGMA foreign_keys = ON")


def _set_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. SQLite does not apply its busy time-out to this one lock, so it is tried again."""
    for _ in range(_WAL_ATTEMPTS):
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(_WAL_PAUSE_S)
        else:
            return


def _begin(connection: Connection) -> None:
    access = connection.get_execution_options().get(ACCESS, STATE)
    cursor = connection.connection.cursor()  # the driver's own: an event waits for this
    try:
        cursor.execute(f"PRAGMA synchronous = {_SQLITE_SYNC[access]}")  # FULL: on the disk before a byte is sent
        # Writers queue at the door, and never deadlock inside; readers need not wait.
        cursor.execute("BEGIN" if access == READ else "BEGIN IMMEDIATE")
    finally:
        cursor.close()


def _make_tables(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # SQLite's writers are alone anyway
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_MAKING})"))
    TABLES.create_all(connection)
    versions = list(connection.scalars(select(SCHEMA.c.version)))
    if not versions:
        connection.execute(insert(SCHEMA).values(version=VERSION))
    elif versions != [VERSION]:
        _migrate(connection, versions)


def _migrate(connection: Connection, versions: list[int]) -> None:
    """Bring a journal of an earlier version to this one, within the transaction that found it so."""
    if len(versions) != 1 or not 1 <= versions[0] < VERSION:
        raise JournalError(
            f"the journal has schema version {versions}, this program knows {VERSION}",
            do="use the program that wrote it, or another journal",
        )
    for version in range(versions[0] + 1, VERSION + 1):
        for statement in MIGRATIONS[version]:
            connection.execute(text(statement))
    connection.execute(update(SCHEMA).values(version=VERSION))
