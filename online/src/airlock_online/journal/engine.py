"""Opening the journal's database: SQLite in a file of mode 0600 by default, PostgreSQL by URL.

What a transaction needs is said by the connection's ``airlock`` option: ``STATE`` for what must be on the disk before
anything else happens, ``EVENT`` for what the service tells again when asked, ``READING``. A file of SQLite is then
synced, not synced, or not locked; PostgreSQL treats the last two alike.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from airlock_online.journal.schema import SCHEMA, SCHEMA_VERSION, TABLES, Identity, identify
from airlock_shared.errors import UsageError
from airlock_shared.host.files import as_usage_error, make_folder
from airlock_shared.text.safe import safe

# ---- a transaction's end --------------------------------------------------------------------------------------------


@contextmanager
def _ended_in_time(connection: Connection) -> Iterator[None]:
    """Cut a connection whose transaction lasts too long: a server that was stopped breaks no time-out of its own."""
    timer = Timer(TRANSACTION_S, _cut, (connection,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _cut(connection: Connection) -> None:
    with suppress(Exception):  # whatever it is by now, nobody waits for it any more
        duplicate = os.dup(connection.connection.driver_connection.fileno())  # type: ignore[union-attr]
        with socket.socket(fileno=duplicate) as line:
            line.shutdown(socket.SHUT_RDWR)


# ---- engine ---------------------------------------------------------------------------------------------------------


BUSY_TIMEOUT_S = 15
CONNECT_S = 10
STATEMENT_S = 15
TRANSACTION_S = 20
NETWORK_DISKS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "davfs", "gfs2", "glusterfs", "gpfs", "lustre",
     "ncpfs", "ocfs2", "beegfs", "virtiofs", "vboxsf", "coda"}
)  # fmt: skip
_HELD = ("55P03", "57014")  # PostgreSQL's lock_not_available and query_canceled, after the waits of `server_engine`
_WAIT = (
    "another program holds it: wait until that has ended, or end it (a backup, a database browser), then run it again"
)
_MAKING = 0x6169726C6F636B  # PostgreSQL's advisory lock while tables are made

ACCESS = "airlock"
STATE, EVENT, READING = "state", "event", "read"


class JournalError(UsageError):
    """The journal cannot be read or written. Nothing is sent that could not be written down first."""


def open_engine(where: str, *, make: bool) -> tuple[Engine, Identity]:
    """Return an engine on the journal at an absolute file name or a database URL, its version checked.

    Only with ``make`` is one made that is not there; what is there and is no journal stays as it is. Beside the engine
    stands which journal it is, and whether it is a copy. Raises ``JournalError``.
    """
    url = place_of(where)
    engine = _sqlite(url, make=make) if url.get_backend_name() == "sqlite" else server_engine(url)
    try:
        with journal_errors("opened"), engine.begin() as connection:
            _require_tables(connection, make=make)
            return engine, identify(connection)
    except JournalError:
        engine.dispose()
        raise


@contextmanager
def journal_errors(what: str) -> Iterator[None]:
    """Turn the database's errors into ``JournalError``."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:  # the latter where a transaction begins
        cause = getattr(error, "orig", None) or error
        told = " ".join(str(cause).split())  # a server's text has several lines
        raise JournalError(
            f"the journal cannot be {what} ({type(cause).__name__}: {safe(told, limit=200)})",
            do=_WAIT if _is_held(cause) else "check its place, its permissions and the free space",
        ) from error


def _is_held(cause: BaseException) -> bool:
    """Tell whether a database did nothing wrong but could not be waited for any longer: somebody else holds it."""
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or ""
    return code in _HELD or code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


@contextmanager
def bounded(engine: Engine, access: str) -> Iterator[Connection]:
    """Yield a connection in a transaction that ends in time, its commit included; ``access`` is what it needs.

    Before what has to be durable, PostgreSQL is told not to answer a commit that is not on its disk.
    """
    with engine.connect().execution_options(**{ACCESS: access}) as connection:
        on_server = connection.dialect.name == "postgresql"
        with _ended_in_time(connection) if on_server else nullcontext(), connection.begin():
            if on_server and access == STATE:
                connection.execute(text("SET LOCAL synchronous_commit = on"))
            yield connection


def server_engine(url: URL) -> Engine:
    """Return an engine on a database server. Every wait has an end, at the server and on the line.

    Raises ``JournalError`` without a driver.
    """
    waits: dict[str, str | int] = {
        "connect_timeout": CONNECT_S,
        "options": f"-c statement_timeout={STATEMENT_S}s -c lock_timeout={STATEMENT_S}s "
        f"-c idle_in_transaction_session_timeout={TRANSACTION_S}s",
        "tcp_user_timeout": TRANSACTION_S * 1000,
        "keepalives_idle": 5,
        "keepalives_interval": 5,
        "keepalives_count": 3,
    }
    own = {name: value for name, value in waits.items() if name not in url.query}
    try:
        engine = create_engine(url, hide_parameters=True, connect_args=own, pool_timeout=STATEMENT_S)
    except (ArgumentError, ImportError) as error:
        raise JournalError(
            f"{shown_place(url)} cannot be used: no driver for it", do="install it, or correct it"
        ) from error
    event.listen(engine, "connect", _require_fsync)
    return engine


def _require_fsync(connection: Any, _record: object) -> None:
    """Refuse a server that commits without its disk: what it has answered may be gone after a power cut."""
    with connection.cursor() as cursor:
        found = cursor.execute("SHOW fsync").fetchone()
    connection.rollback()
    if found != ("on",):
        raise JournalError("the database server runs with fsync off: nothing on it is durable", do="turn it on")


def _require_own_disk(path: Path) -> None:
    """Refuse a file on a network disk, whose locks and syncs are other machines' promises."""
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return
    found = (0, "")
    place = os.path.realpath(path)
    for line in lines:
        fields = line.split()
        where, kind = fields[4].replace("\\040", " "), fields[fields.index("-") + 1]
        if (place == where or place.startswith(where.rstrip("/") + "/")) and len(where) >= found[0]:
            found = len(where), kind
    if found[1] in NETWORK_DISKS or found[1].startswith("fuse."):
        raise JournalError(
            f"{safe(str(path))} is on a network disk ({safe(found[1], limit=40)}): a SQLite file is safe on a disk of this "
            "machine alone",
            do="keep it on such a disk; several machines share a journal on PostgreSQL (AIRLOCK_JOURNAL)",
        )


PLACE_DO = (
    "give AIRLOCK_JOURNAL an absolute file name, or postgresql://NAME:PASSWORD@HOST/DATABASE, where a sign within a part "
    "is written %XX"
)


def place_of(where: str) -> URL:
    """Return where a journal is said to be: an absolute file name, with ``~`` for the own folder, or a database URL.

    Raises ``JournalError`` for anything else, without showing it: a slip in a URL would show its password.
    """
    if "://" in where:
        try:
            url = make_url(where)
        except (ArgumentError, ValueError):  # their texts would show the password
            raise JournalError("the journal's address is not a database URL", do=PLACE_DO) from None
        if "@" in (url.host or "") or "@" in (url.database or "") or not (url.host or url.database):
            raise JournalError("the journal's address is not a database URL: a sign in it is not %XX", do=PLACE_DO)
        if (database := url.get_backend_name()) == "postgresql":
            return url
        if database != "sqlite":
            raise JournalError("the journal's database is neither SQLite nor PostgreSQL", do=PLACE_DO)
        where = url.database or ""
    try:
        path = Path(where).expanduser()
    except RuntimeError:  # nobody has this name
        path = Path(where)
    if not path.is_absolute():
        raise JournalError("the journal's place is neither an absolute file name nor a database URL", do=PLACE_DO)
    return URL.create("sqlite", database=str(path))


def shown_place(url: URL) -> str:
    """Return a journal's place as it may be shown: a file's name, and of a database's address the scheme and the host."""
    if url.get_backend_name() == "sqlite":
        return safe(url.database or "")
    return safe(f"{url.drivername}://{url.host or ''}")


def _sqlite(url: URL, *, make: bool) -> Engine:
    path = Path(url.database or "")
    _require_own_disk(path)
    _require_own_file(path, make=make)
    engine = create_engine(url, hide_parameters=True, connect_args={"timeout": BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _require_own_file(path: Path, *, make: bool) -> None:
    """Refuse a file that is no journal, and leave it as it is; take others' access to a journal away; make one if asked."""
    with as_usage_error(f"{safe(str(path))} cannot be used", "check its folder and permissions"):
        if not os.path.lexists(path):
            if not make:
                what = f"there is no journal at {safe(str(path))}"
                raise JournalError(what, do="correct AIRLOCK_JOURNAL: only `submit` makes one")
            make_folder(path.parent)
            _make_file(path)
        elif stat.S_IMODE(require_journal(path).st_mode) & 0o077:
            path.chmod(0o600)


def require_journal(path: Path) -> os.stat_result:
    """Return what a file is that is a journal. Raises ``JournalError`` for another one, and ``OSError``."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise JournalError(f"{safe(str(path))} is no regular file", do="name the journal's file itself")
    file = status.st_dev, status.st_ino
    if file not in _OWN:  # read once: closing it would drop SQLite's locks in this process
        if not is_journal(path):
            raise JournalError(f"{safe(str(path))} is no journal of Airlock; it stays as it is", do=PLACE_DO)
        _OWN.add(file)
    return status


_OWN: set[tuple[int, int]] = set()  # device and inode of the files that were found to be journals
_SQLITE_MAGIC, _ID_OFFSET = b"SQLite format 3\0", 68  # SQLite's file format, section 1.3, "application ID"
APPLICATION_ID = 0x41697231  # "Air1"


def is_journal(path: Path) -> bool:
    """Tell whether a file is a SQLite database with our application id. Raises ``OSError`` where it cannot be read."""
    with path.open("rb") as file:
        head = file.read(_ID_OFFSET + 4)
    return head.startswith(_SQLITE_MAGIC) and head[_ID_OFFSET:] == APPLICATION_ID.to_bytes(4, "big")


def _make_file(path: Path) -> None:
    """Make an empty database with our id, mode 0600, whole or not at all; one that somebody made meanwhile stays."""
    with TemporaryDirectory(prefix=".journal-", dir=path.parent) as folder:
        new = Path(folder) / "new"
        new.touch(0o600, exist_ok=False)
        with journal_errors("made"), closing(sqlite3.connect(new)) as database:
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            database.execute("PRAGMA journal_mode = WAL")
        with suppress(FileExistsError):
            os.link(new, path)


def _set_up(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by _begin, not by the driver
    with suppress(sqlite3.OperationalError):  # a backup may lack it; where others hold the file, the next one tries
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    access = connection.get_execution_options().get(ACCESS, STATE)
    with closing(connection.connection.cursor()) as cursor:  # the driver's own: an event waits for this
        sync = "FULL" if access == STATE else "NORMAL"  # FULL: on the disk before a byte is sent
        cursor.execute(f"PRAGMA synchronous = {sync}")
        # Writers queue at the door, and never deadlock inside; readers need not wait.
        cursor.execute("BEGIN" if access == READING else "BEGIN IMMEDIATE")


def _require_tables(connection: Connection, *, make: bool) -> None:
    own = connection.dialect.name == "sqlite"  # a file of ours, whose making may have been cut short
    if not (make or own or inspect(connection).has_table(SCHEMA.name)):
        raise JournalError("there is no journal in this database", do="check AIRLOCK_JOURNAL: only `submit` makes one")
    if connection.dialect.name == "postgresql":  # SQLite's writers are alone anyway
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_MAKING})"))
    TABLES.create_all(connection)
    versions = list(connection.scalars(select(SCHEMA.c.version)))
    if not versions:
        connection.execute(insert(SCHEMA).values(version=SCHEMA_VERSION))
    elif versions != [SCHEMA_VERSION]:
        raise JournalError(
            f"the journal has schema version {versions}, this program knows {SCHEMA_VERSION}",
            do="use the program that wrote it, or another journal",
        )
