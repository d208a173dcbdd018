"""Every connection of the online half is opened here.

A request is sent once, on a connection of its own: an idle connection that the server has just closed would make it
unknown whether an order was taken. Only what is asked again and again has connections that are kept (:meth:`Http.poll`). No
retry (but for a read that is told to wait, or whose kept connection was closed), no redirect, no netrc, no cookie, no
credential but the API key that the configuration names, and of the environment nothing else; every wait and every size is
bounded, of a reply's head as of its body. A foreign error leaves as ``ServiceError``; whether anything was sent is asked of
the connection, never of the error.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx

from airlock_online.addresses import is_loopback
from airlock_online.clients.connection import (
    JSON,
    MAX_JSON_BYTES,
    Exchange,
    HttpCall,
    NotSent,
    OpenReply,
    OutOfTime,
    Reply,
    tls_context,
)
from airlock_online.clients.kept_pool import Gone, KeptStream, kept_pool
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.text.safe import safe

if TYPE_CHECKING:
    from airlock_online.clients.api_key import ApiKey

READ_ATTEMPTS = 4  # of a read that is told to wait
_TOO_MANY, AWAY = 429, (502, 503, 504)
FOREVER_S = 999_999_999
_WAIT_AT_MOST_S = 30  # a longer Retry-After is told to the person instead


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

    ``head`` is for everything from the first byte of the connection to the last of the reply's headers; ``poll`` for the
    whole of a question that is asked again.
    """

    connect: float = 10.0
    head: float = 30.0
    silence: float = 20.0
    total: float = 60.0
    stream_silence: float = 40.0
    stream_total: float = 240.0
    poll: float = 10.0


class Http:
    """The connections of one command. Use it as a context manager, or close it.

    ``ca_file``, ``proxy`` and ``plain_http`` are those of ``config.HttpSettings``; ``api_key`` goes to its origins alone.
    ``waiting`` is entered with the host's name while a reply is waited for: of a stream, until its head is there.
    """

    def __init__(
        self,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 (frozen)
        *,
        ca_file: str = "",
        proxy: str = "",
        plain_http: bool = False,
        api_key: ApiKey | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        now_s: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        waiting: Callable[[str], AbstractContextManager[None]] = lambda _host: nullcontext(),
    ) -> None:
        self.timeouts = timeouts
        self._ca_file, self._proxy, self._plain_http = ca_file, proxy, plain_http
        self._api_key = api_key
        self._monotonic = monotonic
        self._now_s = now_s
        self._sleep = sleep
        self._waiting = waiting
        self._open: set[Exchange] = set()
        self._kept: httpcore.ConnectionPool | None = None
        self._changing = threading.Lock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every connection, those that other threads wait for too, and let no request be begun any more."""
        with self._changing:
            self._closed = True
            exchanges = list(self._open)
        for exchange in exchanges:
            exchange.cut()
        if self._kept is not None:
            self._kept.close()

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
            try:
                response = connection.handle_request(request)
            except _FOREIGN as error:
                if exchange.written:
                    raise _broken(call.url, error) from error
                raise _unconnected(call.url, error) from error
            if stream:
                waited.close()
            exchange.head_bytes = None
            exchange.until = began + (self.timeouts.stream_total if stream else self.timeouts.total)
            try:
                chunks = self._chunks(response, call.url, max_bytes)
                yield self._opened(response.status, response.headers, chunks, call.url)
            finally:
                with suppress(*_FOREIGN):
                    response.close()

    def _opened(
        self, status: int, headers: Sequence[tuple[bytes, bytes]], chunks: Iterator[bytes], url: str
    ) -> OpenReply:
        content_type = _header(headers, "content-type").partition(";")[0].strip().lower()
        date, location = _header(headers, "date"), _header(headers, "location")
        retry_after_s = _retry_after(_header(headers, "retry-after"), date, self._now_s)
        return OpenReply(status, content_type, chunks, retry_after_s, date, _redirect(status, url, location))

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
        origin = (url.scheme.decode(), host.lower(), url.port or (443 if url.scheme == b"https" else 80))
        key = [] if self._api_key is None else self._api_key.headers_for(origin)
        return httpcore.Request(
            call.method, url, headers=[*built.headers.raw, *key], content=call.body, extensions={"timeout": timeouts}
        )

    @contextmanager
    def _connection(
        self, call: HttpCall, request: httpcore.Request, exchange: Exchange
    ) -> Iterator[httpcore.ConnectionPool]:
        beyond = not is_loopback(request.url.host.decode("ascii"))  # this machine is asked without the proxy
        connection = httpcore.ConnectionPool(
            ssl_context=tls_context(self._ca_file) if request.url.scheme == b"https" else None,
            proxy=httpcore.Proxy(self._proxy) if self._proxy and beyond else None,
            max_connections=1,
            max_keepalive_connections=0,
            network_backend=exchange,
        )
        with self._changing:
            self._require_open(call)
            self._open.add(exchange)
        try:
            yield connection
        finally:
            self._open.discard(exchange)
            with suppress(*_FOREIGN):
                connection.close()
            exchange.release()

    def _chunks(self, response: httpcore.Response, url: str, max_bytes: int) -> Iterator[bytes]:
        encoding = _header(response.headers, "content-encoding")
        if encoding.strip().lower() not in ("", "identity"):
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
                    do = "check that the address is the service's"
                    raise ServiceError(
                        f"the reply of {url} is larger than {max_bytes} bytes", status=response.status, do=do
                    )
                yield chunk
        except _FOREIGN as error:
            raise _broken(url, error, response.status) from error

    def exchange(self, call: HttpCall, *, max_bytes: int = MAX_JSON_BYTES) -> Reply:
        """Send one request, once, and return its whole reply. Raises as :meth:`open`."""
        with self.open(call, max_bytes=max_bytes) as reply:
            return reply.with_body(b"".join(reply.chunks))

    def poll(self, url: str, query: Mapping[str, str | int]) -> Reply:
        """GET what is asked for again and again and changes nothing at the other end, on a connection that is kept.

        It has less time than one exchange: whoever asks again needs no answer that comes late. Raises as :meth:`open`.
        """
        call = HttpCall("GET", url, query)
        request = self._request(call, self.timeouts.poll)
        if self._proxy and not is_loopback(request.url.host.decode("ascii")):
            return self.exchange(call)
        with self._changing:
            kept = self._kept = self._kept or kept_pool(
                tls_context(self._ca_file), partial(Exchange, self._monotonic, tunnel=False), self._open
            )
        until = self._monotonic() + self.timeouts.poll
        request.extensions["timeout"] = {"connect": until, "read": until, "write": until, "pool": self.timeouts.poll}
        while True:
            try:
                return self._poll(call, request, kept)
            except Gone:
                pass  # it was closed while it waited: a read may be asked again

    def _poll(self, call: HttpCall, request: httpcore.Request, kept: httpcore.ConnectionPool) -> Reply:
        self._require_open(call)
        try:
            response = kept.handle_request(request)
        except Gone:
            raise
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            raise _unconnected(call.url, error) from error
        except _FOREIGN as error:
            raise _broken(call.url, error) from error
        line = response.extensions["network_stream"]
        try:
            if not isinstance(line, KeptStream):
                raise _broken(call.url, httpcore.RemoteProtocolError("the reply is none of HTTP/1.1"))
            line.exchange.head_bytes = None
            body = b"".join(self._chunks(response, call.url, MAX_JSON_BYTES))
            if not line.is_whole(body):
                line.close()
            return self._opened(response.status, response.headers, iter(()), call.url).with_body(body)
        finally:
            with suppress(*_FOREIGN):
                response.close()

    def _require_open(self, call: HttpCall) -> None:
        if self._closed:  # by another thread: the person has interrupted the command
            raise NotSent(f"no connection to {call.url}: this command is ending; nothing was sent", do="run it again")

    def ask_patiently(self, call: HttpCall, away: Collection[int] = AWAY) -> Reply:
        """Ask for what changes nothing at the other end; told to wait, wait as told (bounded) and ask again.

        A 429 tells to wait, with a time or without one, and what says that a service is ``away`` tells it with one. No
        submission may come this way: nothing else is ever asked twice.
        """
        wait = 1
        for _ in range(READ_ATTEMPTS - 1):
            reply = self.exchange(call)
            asked = max(wait, reply.retry_after_s or 0)
            waits = reply.status == _TOO_MANY or (reply.status in away and reply.retry_after_s is not None)
            if not waits or asked > _WAIT_AT_MOST_S:
                return reply
            self._sleep(asked)
            wait *= 2
        return self.exchange(call)


def _retry_after(text: str, date: str, now_s: Callable[[], float]) -> int | None:
    """Return in how many seconds to come again: a number of them, or a date in one of three forms (RFC 9110, 10.2.3).

    A date is of the service's own clock, which its ``date`` tells; without that, of this machine's.
    """
    if text.isascii() and text.isdigit():
        return int(text[:9]) if len(text) <= 9 else FOREVER_S
    if (until_s := _unix_s(text)) is None:
        return None
    stated_s = _unix_s(date)
    return min(max(ceil(until_s - (now_s() if stated_s is None else stated_s)), 0), FOREVER_S)


def _unix_s(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()  # asctime's form names no zone


def _redirect(status: int, url: str, location: str) -> str:
    """Return where a redirect leads, safe to show: no credentials, no query; empty for what is none."""
    if not location or not 300 <= status < 400:
        return ""
    try:
        parts = urlsplit(urljoin(url, location))
    except ValueError:
        return "what is no address"
    if not parts.netloc:
        return "what is no address"
    return safe(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}", limit=200)


def _header(headers: Sequence[tuple[bytes, bytes]], name: str) -> str:
    """Return a header of a reply, empty without one; what comes several times is joined (RFC 9110, 5.3)."""
    values = [value for key, value in headers if key.lower() == name.encode()]
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


def _unconnected(url: str, error: Exception) -> NotSent:
    return NotSent(
        f"no connection to {url} ({type(error).__name__}: {safe(str(error), limit=200)}); nothing was sent",
        do="check the address and the network, then run it again",
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
