"""Every connection of the online half is opened here.

A request is sent once, on a connection of its own: an idle connection that the server has just closed would make it
unknown whether an order was taken. No retry (but for a read that is told to wait), no redirect, no netrc, no cookie, no
credential, and of the environment nothing; every wait and every size is bounded, of a reply's head as of its body. A foreign
error leaves as ``ServiceError``; whether anything was sent is asked of the connection, never of the error.
"""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import cached_property
from types import TracebackType
from typing import Any, NamedTuple, Self

import httpcore
import httpx

from airlock_online.clients.connection import Exchange, OutOfTime, is_loopback, pool, tls_context
from airlock_online.clients.http_messages import (
    EVENT_STREAM,
    JSON,
    MAX_JSON_BYTES,
    HttpCall,
    NotSent,
    OpenReply,
    Reply,
    json_of,
    read_reason,
    reason_text,
)
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.text.safe import safe

__all__ = [
    "EVENT_STREAM",
    "JSON",
    "MAX_JSON_BYTES",
    "Http",
    "HttpCall",
    "NotSent",
    "OpenReply",
    "Reply",
    "Timeouts",
    "json_of",
    "read_reason",
    "reason_text",
]

READ_ATTEMPTS = 4  # of a read that answers 429
WAIT_AT_MOST_S = 30  # a longer Retry-After is told to the person instead


_FOREIGN = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
    OSError,
    ValueError,  # of a name that IDNA does not know, for one
    RuntimeError,  # of a connection that another thread has closed
)
"""What the HTTP library and the sockets under it raise; it has no base of its own."""


class Timeouts(NamedTuple):
    """Seconds. A stream's silence may pass the 15 s between keep-alives, its total the 180 s cap (spec, "Limits").

    ``head`` is for everything from the first byte of the connection to the last of the reply's headers.
    """

    connect: float = 10.0
    head: float = 30.0
    silence: float = 20.0
    total: float = 60.0
    stream_silence: float = 40.0
    stream_total: float = 240.0


class Http:
    """The connections of one command. Use it as a context manager, or close it.

    ``ca_file``, ``proxy`` and ``plain_http`` are those of ``config.HttpSettings``. ``waiting`` is entered with the host's
    name while a reply is waited for: of a stream, until its head is there.
    """

    def __init__(
        self,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 (frozen)
        *,
        ca_file: str = "",
        proxy: str = "",
        plain_http: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        waiting: Callable[[str], AbstractContextManager[None]] = lambda _host: nullcontext(),
    ) -> None:
        self.timeouts = timeouts
        self._ca_file, self._proxy, self._plain_http = ca_file, proxy, plain_http
        self._monotonic = monotonic
        self._sleep = sleep
        self._waiting = waiting
        self._open: set[Exchange] = set()
        self._changing = threading.Lock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every connection, those that other threads wait for too, and let no request be begun any more."""
        with self._changing:
            self._closed = True
            exchanges, self._open = self._open, set()
        for exchange in exchanges:
            exchange.cut()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return tls_context(self._ca_file)

    def require(self, call: HttpCall) -> None:
        """Refuse a request that cannot be built, or may not be sent as it is. Raises ``UsageError``."""
        self._request(call, self.timeouts.silence)

    @contextmanager
    def open(self, call: HttpCall, *, stream: bool = False, max_bytes: int = MAX_JSON_BYTES) -> Iterator[OpenReply]:
        """Send one request, once, and yield its reply while the body arrives.

        Raises ``UsageError`` for a request that cannot be built, ``NotSent`` when not a byte of it was written,
        ``ServiceError`` for whatever went wrong later.
        """
        silence = self.timeouts.stream_silence if stream else self.timeouts.silence
        request = self._request(call, silence)
        began = self._monotonic()
        tunnel = bool(self._proxy) and request.url.scheme == b"https"
        exchange = Exchange(self._monotonic, began + self.timeouts.head, tunnel=tunnel, ending=lambda: self._closed)
        request.extensions["trace"] = exchange.trace
        with ExitStack() as waited, self._connection(call, request, exchange) as connection:
            waited.enter_context(self._waiting(request.url.host.decode("ascii")))
            response = self._send(call, request, connection, exchange)
            if stream:
                waited.close()
            exchange.head_bytes = None
            exchange.until = began + (self.timeouts.stream_total if stream else self.timeouts.total)
            try:
                yield OpenReply(
                    response.status,
                    _header(response, "content-type").partition(";")[0].strip().lower(),
                    self._chunks(response, call.url, max_bytes),
                    _retry_after(_header(response, "retry-after")),
                    _header(response, "date"),
                )
            finally:
                with suppress(*_FOREIGN):
                    response.close()

    def _request(self, call: HttpCall, silence: float) -> httpcore.Request:
        headers = {"accept": call.accept, "accept-encoding": "identity", "user-agent": "airlock"}
        headers |= {} if call.body is None else {"content-type": JSON}
        try:
            built = httpx.Request(
                call.method, call.url, params=dict(call.query) or None, content=call.body, headers=headers
            )
            url = httpcore.URL(
                scheme=built.url.raw_scheme, host=built.url.raw_host, port=built.url.port, target=built.url.raw_path
            )
            host, target = url.host.decode("ascii"), url.target.decode("ascii")
        except (httpx.InvalidURL, ValueError, TypeError) as error:
            raise _unbuilt(call, f"{type(error).__name__}: {error}") from error
        if url.scheme not in (b"http", b"https") or not host or not (target + call.method).isprintable():
            raise _unbuilt(call, "not an http(s) address")
        if " " in target or not call.method.isalpha() or not call.url.isprintable():
            raise _unbuilt(call, "a blank or a control character")
        if url.scheme == b"http" and not is_loopback(host) and not self._plain_http:
            raise UsageError(
                f"{safe(_place(call.url), limit=200)} is plain http, which anybody on the way can read and change",
                do="use its https address; or set [http] plain_http = true, and every command will say so",
            )
        timeouts = {"connect": self.timeouts.connect, "read": silence, "write": silence, "pool": self.timeouts.connect}
        return httpcore.Request(
            call.method, url, headers=built.headers.raw, content=call.body, extensions={"timeout": timeouts}
        )

    @contextmanager
    def _connection(
        self, call: HttpCall, request: httpcore.Request, exchange: Exchange
    ) -> Iterator[httpcore.ConnectionPool]:
        tls = self._tls if request.url.scheme == b"https" else None
        connection = pool(request.url.host.decode("ascii"), self._proxy, tls, exchange)
        with self._changing:
            if self._closed:  # by another thread: the person has interrupted the command
                raise NotSent(
                    f"no connection to {call.url}: this command is ending; nothing was sent", do="run it again"
                )
            self._open.add(exchange)
        try:
            yield connection
        finally:
            with self._changing:
                self._open.discard(exchange)
            with suppress(*_FOREIGN):
                connection.close()
            exchange.release()

    def _send(
        self, call: HttpCall, request: httpcore.Request, connection: httpcore.ConnectionPool, exchange: Exchange
    ) -> httpcore.Response:
        try:
            return connection.handle_request(request)
        except _FOREIGN as error:
            if exchange.written:
                raise _broken(call.url, error) from error
            raise NotSent(
                f"no connection to {call.url} ({type(error).__name__}: {safe(str(error), limit=200)}); nothing was sent",
                do="check the address and the network, then run it again",
            ) from error

    def _chunks(self, response: httpcore.Response, url: str, max_bytes: int) -> Iterator[bytes]:
        if (encoding := _header(response, "content-encoding").strip().lower()) not in ("", "identity"):
            raise ServiceError(
                f"{url} answered in the encoding {safe(encoding, limit=40)!r}, which Airlock did not ask for",
                status=response.status,
                do="ask the operator of the service, or of the proxy in front of it",
            )
        seen = 0
        try:
            for chunk in response.iter_stream():
                seen += len(chunk)
                if seen > max_bytes:
                    raise ServiceError(
                        f"the reply of {url} is larger than {max_bytes} bytes",
                        status=response.status,
                        do="check that the address is the service's",
                    )
                yield chunk
        except _FOREIGN as error:
            raise _broken(url, error, response.status) from error

    def exchange(self, call: HttpCall, *, max_bytes: int = MAX_JSON_BYTES) -> Reply:
        """Send one request, once, and return its whole reply. Raises as :meth:`open`."""
        with self.open(call, max_bytes=max_bytes) as reply:
            return Reply(reply.status, reply.content_type, b"".join(reply.chunks), reply.retry_after_s, reply.date)

    def read(self, url: str, query: Mapping[str, str | int] | None = None) -> Reply:
        """GET, and wait and ask again as :meth:`ask_patiently` does."""
        return self.ask_patiently(HttpCall("GET", url, query or {}))

    def ask_patiently(self, call: HttpCall) -> Reply:
        """Ask for what changes nothing at the other end; told 429, wait as told (bounded) and ask again.

        No submission may come this way: nothing else is ever asked twice.
        """
        wait = 1
        for _ in range(READ_ATTEMPTS - 1):
            reply = self.exchange(call)
            if reply.status != 429:
                return reply
            asked = wait if reply.retry_after_s is None else reply.retry_after_s
            if asked > WAIT_AT_MOST_S:
                do = "wait that long, then run it again"
                raise ServiceError(f"{call.url} asks to wait {asked} s", status=429, do=do)
            self._sleep(asked)
            wait *= 2
        return self.exchange(call)

    def read_json(self, url: str, query: Mapping[str, str | int] | None = None) -> Any:
        """Return the JSON value of a 200 reply to a GET. Raises ``ServiceError`` for everything else."""
        reply = self.read(url, query)
        if reply.status != 200:
            raise ServiceError(
                f"{url} answered {reply.status}: {reason_text(reply.body)}", status=reply.status, do="try again later"
            )
        return json_of(reply, url)


def _retry_after(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def _header(response: httpcore.Response, name: str) -> str:
    """Return a header of a reply, empty without one; what comes several times is joined (RFC 9110, 5.3)."""
    values = [value for key, value in response.headers if key.lower() == name.encode()]
    return ", ".join(value.decode("latin-1") for value in values)


def _place(url: str) -> str:
    """Return an address without what may be secret in it, even when it is none: the scheme, the host and the port."""
    scheme, between, rest = url.partition("://")
    return scheme + between + re.split("[/?#]", rest)[0].rpartition("@")[2]


def _unbuilt(call: HttpCall, why: str) -> UsageError:
    return UsageError(
        f"the request to {safe(_place(call.url), limit=200)} cannot be built ({safe(why, limit=200)}); nothing was sent",
        do="correct the address",
    )


def _broken(url: str, error: Exception, status: int | None = None) -> ServiceError:
    if isinstance(error, OutOfTime):
        broken = ServiceError(f"the reply of {url} did not end in time", status=status, do="try again later")
    else:
        broken = ServiceError(
            f"the connection to {url} broke ({type(error).__name__}: {safe(str(error), limit=200)})",
            status=status,
            do="check the network; what was sent may have arrived",
        )
    broken.unanswered = True
    return broken
