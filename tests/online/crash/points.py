"""The places where a process may die: every write of the journal and every step on the network, counted as they come.

Installed in a process of its own, around the edges that the program really uses: SQLAlchemy's statements and commits, and
the sockets under httpx. At the chosen place the process kills itself with SIGKILL, or finds its disk full from there on.
"""

import os
import resource
import signal
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpcore
from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine
from sqlalchemy.engine.default import DefaultDialect

PIECE_BYTES = 97  # of what is read at once: the same pieces in every run, and each frame cut somewhere
WRITES = ("INSERT", "UPDATE", "DELETE", "ALTER", "CREATE")


class Points:
    """Counts the places by kind, as "commit-before:3", and ends the process at ``die_at``, one of those names.

    At ``full_at`` the file system takes no more bytes for files that are longer than ``journal``'s log is then.
    """

    def __init__(self, *, die_at: str = "", full_at: str = "", journal: Path) -> None:
        self.names: list[str] = []
        self._die_at, self._full_at = die_at, full_at
        self._log = journal.with_name(journal.name + "-wal")
        self._counts: Counter[str] = Counter()
        self._written = False

    def reach(self, kind: str) -> None:
        self._counts[kind] += 1
        name = f"{kind}:{self._counts[kind]}"
        self.names.append(name)
        if name == self._die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if name == self._full_at:
            size = self._log.stat().st_size if self._log.exists() else 0
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def release(self) -> None:
        """Give the disk its space back."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def watch(self) -> None:
        """Count every write of the journal and every step on the network."""
        event.listen(Engine, "before_cursor_execute", self._before_statement)
        commit: Any = DefaultDialect.do_commit

        def do_commit(dialect: DefaultDialect, connection: Any) -> None:
            written, self._written = self._written, False
            if written:
                self.reach("commit-before")
            commit(dialect, connection)
            if written:
                self.reach("commit-after")

        DefaultDialect.do_commit = do_commit  # type: ignore[method-assign]
        connect = httpcore.SyncBackend.connect_tcp

        def connect_tcp(backend: httpcore.SyncBackend, *args: Any, **named: Any) -> httpcore.NetworkStream:
            self.reach("connect-before")
            stream = connect(backend, *args, **named)
            self.reach("connect-after")
            return _Stream(stream, self)

        httpcore.SyncBackend.connect_tcp = connect_tcp  # type: ignore[assignment, method-assign]

    def _before_statement(
        self, _connection: Connection, _cursor: Any, statement: str, _parameters: Any, _context: Any, _many: bool
    ) -> None:
        if statement.lstrip().upper().startswith(WRITES):
            self._written = True
            self.reach("write")


class _Stream(httpcore.NetworkStream):
    """A connection that is sent to in halves, and read from in pieces of one size."""

    def __init__(self, stream: httpcore.NetworkStream, points: Points) -> None:
        self._stream, self._points = stream, points

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        half = len(buffer) // 2
        self._points.reach("send-before")
        if half:
            self._stream.write(buffer[:half], timeout)
            self._points.reach("send-half")
        self._stream.write(buffer[half:], timeout)
        self._points.reach("send-after")

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._points.reach("receive-before")
        piece = b""
        while len(piece) < min(PIECE_BYTES, max_bytes) and (
            more := self._stream.read(min(PIECE_BYTES, max_bytes) - len(piece), timeout)
        ):
            piece += more
        self._points.reach("receive-after")
        return piece

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def named(names: Iterable[str], kind: str) -> list[str]:
    return [name for name in names if name.partition(":")[0] == kind]
