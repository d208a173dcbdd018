"""One connection for one request: how long and how much it may take, and whether any of the request was written on it.

The last decides whether something that is sent once may be sent again. It is answered by two witnesses, who both have to say
no: the socket's own writer here, and the trace of the HTTP library. The name of an exception is none. TLS handshakes and
a proxy's CONNECT carry nothing of the request.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from socket import SHUT_RDWR, SOCK_STREAM, getaddrinfo, socket
from typing import Any

import certifi
import httpcore

from airlock_shared.errors import UsageError
from airlock_shared.text.safe import safe

MAX_HEAD_BYTES = 256 << 10
_BEGUN = "send_request_headers.started"


class OutOfTime(httpcore.ReadTimeout):
    """The whole exchange has taken longer than it may."""


class HeadTooLarge(httpcore.RemoteProtocolError):
    """More bytes came than the head of a reply may have."""


class Exchange(httpcore.NetworkBackend):
    """What one request may take, and what was written of it: the network under the HTTP library.

    ``until`` is a moment of ``monotonic``, in seconds: nothing is waited for after it. ``tunnel`` when a proxy is asked
    to CONNECT first, so that only what goes through TLS is of the request. Nothing is begun to be written once ``ending``
    says that the person has interrupted the command.
    """

    def __init__(
        self, monotonic: Callable[[], float], until: float, *, tunnel: bool, ending: Callable[[], bool] = lambda: False
    ) -> None:
        self.until = until
        self._ending = ending
        self.tunnel = tunnel
        self.written = False
        self.head_bytes: int | None = 0  # None when the head is there
        self._monotonic = monotonic
        self._network = httpcore.SyncBackend()
        self._line: socket | None = None  # a second handle: TLS takes the first one away

    def renew(self, until: float) -> None:
        """Begin another exchange on the same connection."""
        self.until, self.written, self.head_bytes = until, False, 0

    def cut(self) -> None:
        """End the connection from another thread: whoever waits for it is told at once."""
        if self._line is not None:
            with suppress(OSError):  # it has ended by itself
                self._line.shutdown(SHUT_RDWR)

    def release(self) -> None:
        """Let go of the connection, which somebody else has closed."""
        if self._line is not None:
            self._line.close()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take an event of the HTTP library's trace: only a CONNECT is no part of the request."""
        if event.endswith(_BEGUN) and info["request"].method != b"CONNECT":
            if self._ending():
                raise httpcore.ConnectError("this command is ending")
            self.written = True

    def left(self, timeout: float | None) -> float:
        """Return for how many seconds an operation may wait. Raises ``OutOfTime`` when there are none."""
        left = self.until - self._monotonic()
        if left <= 0:
            raise OutOfTime("the exchange took longer than it may")
        return left if timeout is None else min(timeout, left)

    def take(self, data: bytes) -> bytes:
        """Count what came. Raises ``HeadTooLarge``."""
        if self.head_bytes is not None:
            self.head_bytes += len(data)
            if self.head_bytes > MAX_HEAD_BYTES:
                raise HeadTooLarge(f"the head of the reply has more than {MAX_HEAD_BYTES} bytes")
        return data

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to one of the host's addresses; all of them together have the time of one."""
        del local_address
        end = self._monotonic() + self.left(timeout)
        failure: Exception = httpcore.ConnectError(f"{safe(host, limit=80)} has no address")
        for *_, address in _addresses(host, port):
            try:
                left = self.left(end - self._monotonic())
                if left <= 0:
                    break
                stream = self._network.connect_tcp(str(address[0]), port, left, socket_options=socket_options)
                self._line = socket(fileno=os.dup(stream.get_extra_info("socket").fileno()))
                return _Stream(stream, self, inside=not self.tunnel)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


def _addresses(host: str, port: int) -> list[Any]:
    try:
        return getaddrinfo(host, port, type=SOCK_STREAM)
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error


class _Stream(httpcore.NetworkStream):
    """A connection. ``inside`` when what is written on it is the request."""

    def __init__(self, stream: httpcore.NetworkStream, exchange: Exchange, *, inside: bool) -> None:
        self._stream, self._exchange, self._inside = stream, exchange, inside

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = self._exchange.left(timeout)
        try:
            return self._exchange.take(self._stream.read(max_bytes, left))
        except httpcore.ReadTimeout:
            self._exchange.left(timeout)  # raises when it was the whole that took too long
            raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        left = self._exchange.left(timeout)
        self._exchange.written = self._exchange.written or (self._inside and bool(buffer))
        self._stream.write(buffer, left)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._exchange.left(timeout))
        return _Stream(stream, self._exchange, inside=True)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


# ---- settings ------------------------------------------------------------------------------------------------------


def tls_context(ca_file: str) -> ssl.SSLContext:
    """Return how servers are verified: by the authorities in a file alone, or by the public ones without one.

    ``ssl.create_default_context`` would write every key where the environment's ``SSLKEYLOGFILE`` says. Raises
    ``UsageError``.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_verify_locations(cafile=str(Path(ca_file).expanduser()) if ca_file else certifi.where())
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise UsageError(
            f"[http] ca_file {safe(ca_file, limit=200)} cannot be used: {safe(str(error), limit=200)}",
            do="name a file of certificates in PEM",
        ) from error
    return context


def is_loopback(host: str) -> bool:
    """Tell whether a name or an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def pool(host: str, proxy: str, tls: ssl.SSLContext | None, exchange: Exchange) -> httpcore.ConnectionPool:
    """Return what makes the one connection to a host: through the proxy, unless the host is this machine."""
    if proxy and not is_loopback(host):
        return httpcore.HTTPProxy(
            proxy, ssl_context=tls, max_connections=1, max_keepalive_connections=0, network_backend=exchange
        )
    return httpcore.ConnectionPool(
        ssl_context=tls, max_connections=1, max_keepalive_connections=0, retries=0, network_backend=exchange
    )
