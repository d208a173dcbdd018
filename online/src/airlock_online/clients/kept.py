"""Connections that are kept for the next read: HTTP/1.1 by h11, one question after another.

For what changes nothing at the other end, and for nothing else: whether a kept connection still lives is known only when it
is used, and a read may then be asked again on a new one. A reply that brings more bytes than it announced ends its
connection, so that nothing of it is taken for the next reply.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import h11
import httpcore

if TYPE_CHECKING:
    from airlock_online.clients.connection import Exchange

IDLE_S = 4.0
"""A connection that has waited longer is not used any more: many servers close theirs after 5 s."""
_HEADERS_AT_MOST = 100 << 10
_PIECE = 64 << 10

Origin = tuple[bytes, bytes, int | None]
"""Scheme, host and port."""


class Gone(httpcore.NetworkError):
    """The other end had closed the connection before it gave a byte of the reply."""


class KeptReply(NamedTuple):
    """A reply whose head is there; ``headers`` have lower-case names."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Line:
    """One connection, for one thread at a time."""

    def __init__(self, exchange: Exchange, stream: httpcore.NetworkStream) -> None:
        self.exchange = exchange
        self._stream = stream
        self._h11 = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEADERS_AT_MOST)

    def ask(self, request: httpcore.Request, max_bytes: int) -> KeptReply:
        """Send a GET and return the reply. Raises ``Gone``, another error of httpcore or h11, or ``OverflowError``."""
        sent = self._h11.send(h11.Request(method=request.method, target=request.url.target, headers=request.headers))
        try:
            self._stream.write((sent or b"") + (self._h11.send(h11.EndOfMessage()) or b""))
            first = self._stream.read(_PIECE)
        except (httpcore.ReadError, httpcore.WriteError) as error:
            raise Gone(str(error)) from error
        if not first:
            raise Gone("the connection was closed before a reply")
        self._h11.receive_data(first)
        status, headers = 0, []
        pieces: list[bytes] = []
        size = 0
        while True:
            event = self._h11.next_event()
            if event is h11.NEED_DATA:
                self._h11.receive_data(self._stream.read(_PIECE))
            elif isinstance(event, h11.Response):
                status, headers = event.status_code, list(event.headers)
                self.exchange.head_bytes = None
            elif isinstance(event, h11.Data):
                size += len(event.data)
                if size > max_bytes:
                    raise OverflowError
                pieces.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                return KeptReply(status, headers, b"".join(pieces))
            elif event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                raise httpcore.RemoteProtocolError("the reply is none of HTTP/1.1")

    def is_reusable(self) -> bool:
        """Tell whether another question may be asked, and get ready for it."""
        if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
            return False
        if self._h11.trailing_data != (b"", False):
            return False
        self._h11.start_next_cycle()
        return True

    def is_quiet(self) -> bool:
        """Tell whether nothing has come since: neither an end nor bytes that nobody asked for."""
        return not self._stream.get_extra_info("is_readable")

    def close(self) -> None:
        """Close the connection."""
        with suppress(httpcore.NetworkError, OSError):
            self._stream.close()
        self.exchange.release()


def connect(origin: Origin, tls: ssl.SSLContext | None, exchange: Exchange, timeout_s: float) -> Line:
    """Open a connection. Raises an error of httpcore."""
    _, host_bytes, port = origin
    host = host_bytes.decode("ascii")
    stream: httpcore.NetworkStream = exchange.connect_tcp(host, port or (443 if tls else 80), timeout_s)
    if tls is not None:
        try:
            stream = stream.start_tls(tls, host, timeout_s)
        except Exception:
            exchange.release()
            raise
    return Line(exchange, stream)


class _Idle(NamedTuple):
    line: Line
    since_s: float


class KeptLines:
    """The connections that wait for the next question, by where they lead. The newest is used first: few are enough."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._idle: dict[Origin, list[_Idle]] = {}
        self._changing = Lock()
        self._closed = False

    def take(self, origin: Origin) -> Line | None:
        """Return a connection that seems to live, or None."""
        while True:
            with self._changing:
                waiting = self._idle.get(origin)
                if not waiting:
                    return None
                line, since_s = waiting.pop()
            if self._monotonic() - since_s < IDLE_S and line.is_quiet():
                return line
            line.close()

    def give_back(self, origin: Origin, line: Line) -> None:
        """Keep a connection for the next question, and close those that have waited too long."""
        if not line.is_reusable():
            line.close()
            return
        now_s = self._monotonic()
        with self._changing:
            if not self._closed:
                waiting = self._idle.setdefault(origin, [])
                waiting.append(_Idle(line, now_s))
                old = [idle for idle in waiting[:2] if now_s - idle.since_s >= IDLE_S]
                del waiting[: len(old)]
            else:
                old = [_Idle(line, now_s)]
        for idle in old:
            idle.line.close()

    def close(self) -> None:
        """Close those that wait, and keep none any more."""
        with self._changing:
            self._closed = True
            lines = [idle.line for waiting in self._idle.values() for idle in waiting]
            self._idle.clear()
        for line in lines:
            line.close()
