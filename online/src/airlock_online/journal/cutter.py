"""An end for every transaction with a database server: one thread that cuts the connections of those that last too long.

A server that was stopped answers nothing, and breaks no time-out of its own.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count

from sqlalchemy import Connection


class Cutter:
    """Watches the transactions of one journal. Its thread is there from the first one on, until it is closed."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._watched: dict[int, tuple[float, Connection]] = {}  # by number, the earliest end first
        self._numbers = count()
        self._begun = self._asleep = self._closed = False

    @contextmanager
    def within(self, connection: Connection, seconds: float) -> Iterator[None]:
        """Cut a connection when what is done inside lasts longer; ``seconds`` is the same for all."""
        number = next(self._numbers)
        with self._change:
            self._watched[number] = time.monotonic() + seconds, connection
            if not self._begun:
                self._begun = True
                threading.Thread(target=self._watch, daemon=True).start()
            elif self._asleep:
                self._change.notify()
        try:
            yield
        finally:
            with self._change:
                self._watched.pop(number, None)

    def close(self) -> None:
        """Watch no more."""
        with self._change:
            self._closed = True
            self._change.notify()

    def _watch(self) -> None:
        with self._change:
            while not self._closed:
                if not self._watched:
                    self._asleep = True
                    self._change.wait()
                    self._asleep = False
                    continue
                number, (until_s, connection) = next(iter(self._watched.items()))
                if (left_s := until_s - time.monotonic()) > 0:
                    self._change.wait(left_s)
                else:
                    del self._watched[number]
                    _cut(connection)


def _cut(connection: Connection) -> None:
    with suppress(Exception):  # whatever it is by now, nobody waits for it any more
        duplicate = os.dup(connection.connection.driver_connection.fileno())  # type: ignore[union-attr]
        with socket.socket(fileno=duplicate) as line:
            line.shutdown(socket.SHUT_RDWR)
