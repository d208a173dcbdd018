"""Connections that are kept for the next read: the HTTP library's pool, on streams that keep our promises.

For what changes nothing at the other end, and for nothing else: whether a kept connection still lives is known only when it
is used, and a read may then be asked again on another one.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import httpcore

if TYPE_CHECKING:
    from airlock_online.clients.connection import Exchange

IDLE_S = 4.0
"""A connection that has waited longer is not used any more: many servers close theirs after 5 s."""
CONNECTIONS = 300
"""At most, with two handles each of the 1,024 that a process may have."""


class Gone(httpcore.NetworkError):
    """The other end had closed a kept connection before it gave a byte of the reply."""


class KeptStream(httpcore.NetworkStream):
    """One connection. Each request on it is an exchange of its own, whose time-out is the moment at which it is over."""

    def __init__(self, stream: httpcore.NetworkStream, exchange: Exchange, open_now: set[Exchange]) -> None:
        self.exchange = exchange
        self._stream, self._open_now = stream, open_now
        self._asked, self._came = 0, bytearray()
        open_now.add(exchange)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Begin a request, whose bytes come in one piece."""
        if buffer:
            self._asked, self._came = self._asked + 1, bytearray()
            self.exchange.renew(timeout or 0)
        self._stream.write(buffer, timeout)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what came. Raises ``Gone``."""
        was_kept = self._asked > 1 and not self._came
        try:
            data = self._stream.read(max_bytes, timeout)
        except httpcore.ReadError:
            if not was_kept:
                raise
            data = b""
        if was_kept and not data:
            raise Gone("the connection was closed before a reply")
        self._came += data
        return data

    def is_whole(self, body: bytes) -> bool:
        """Tell whether nothing but one head and this body came, so that nothing is left for the next question."""
        return self._came.partition(b"\r\n\r\n")[2] == body

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()
        self.exchange.release()
        self._open_now.discard(self.exchange)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Go on in TLS."""
        try:
            self._stream = self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            self.close()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        """Return what is known of the socket."""
        return self._stream.get_extra_info(info)


class _Network(httpcore.NetworkBackend):
    def __init__(self, begin: Callable[[float], Exchange], open_now: set[Exchange]) -> None:
        self._begin, self._open_now = begin, open_now

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        exchange = self._begin(timeout or 0)
        stream = exchange.connect_tcp(host, port, timeout, local_address, socket_options)
        return KeptStream(stream, exchange, self._open_now)


def kept_pool(
    tls: ssl.SSLContext, begin: Callable[[float], Exchange], open_now: set[Exchange]
) -> httpcore.ConnectionPool:
    """Return a pool whose requests' time-outs are moments, as ``begin`` takes one. What is open is in ``open_now``."""
    return httpcore.ConnectionPool(
        ssl_context=tls,
        max_connections=CONNECTIONS,
        keepalive_expiry=IDLE_S,
        network_backend=_Network(begin, open_now),
    )
