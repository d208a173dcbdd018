"""One connection for one request: how long and how much it may take, and whether any of the request was written on it.

The last decides whether something that is sent once may be sent again. It is answered by two witnesses, who both have to say
no: the socket's own writer here, and the trace of the HTTP library. The name of an exception is none. TLS handshakes and
a proxy's CONNECT carry nothing of the request.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from html import unescape
from socket import SHUT_RDWR, SOCK_STREAM, getaddrinfo, socket
from typing import Any, NamedTuple, TypeGuard

import certifi
import httpcore

from airlock_shared.errors import DocumentError, ServiceError, UsageError
from airlock_shared.text.safe import safe
from airlock_shared.wire.strict_json import parse_json

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


@cache
def tls_context(ca_file: str) -> ssl.SSLContext:
    """Return how servers are verified: by the authorities in a file alone, or by the public ones without one.

    The file is read once in a process. ``ssl.create_default_context`` would write every key where the environment's
    ``SSLKEYLOGFILE`` says. Raises ``UsageError``.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_verify_locations(cafile=ca_file or certifi.where())
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise UsageError(
            f"[http] ca_file {safe(ca_file, limit=200)} cannot be used: {safe(str(error), limit=200)}",
            do="name a file of certificates in PEM",
        ) from error
    return context


# ---- http messages --------------------------------------------------------------------------------------------------
# The messages of HTTP: a request to be sent once, its reply, and what a reply's body says.
# Why a service said no stands in its body, which is foreign and in no specification. Frameworks have their own places
# for it: ``message``, ``error`` as a text or as an object, a list of ``errors``, the problem details of RFC 9457.
# Whoever stands in front of a service answers with a page.


JSON = "application/json"
EVENT_STREAM = "text/event-stream"
MAX_JSON_BYTES = 8 << 20
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
MAX_REASON_BYTES = 16 << 10
_LOOKED_AT_BYTES = 8 << 10  # of a body are looked at
_ENTRIES = 8  # of a list or an object are looked at
_DEPTH = 5
_CODES = ("code", "errorCode", "error_code", "error")
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", re.ASCII)
_PLACES = ("loc", "field", "path", "property")  # of the value that is wrong
_REASONS = (
    "code", "title", "message", "msg", "detail", "details", "reason", "description", "error_description", "error", "errors",
)  # fmt: skip
_PAGE = re.compile(rb"\s*<(?:!doctype|html|head|body|\?xml|[a-z1-6]+>)", re.IGNORECASE)
_UNREAD = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)


class NotSent(ServiceError):
    """Not a byte of the request was written: no connection, no TLS, or a proxy that refused to CONNECT."""

    unanswered = True


class HttpCall(NamedTuple):
    """One request. ``body`` is the exact bytes of a JSON document."""

    method: str
    url: str
    query: Mapping[str, str | int] = {}
    body: bytes | None = None
    accept: str = JSON


class Reply(NamedTuple):
    """A whole reply.

    ``retry_after_s`` is in how many seconds to come again, None without a Retry-After header that says so; ``date`` is the
    Date header; ``location`` is where a redirect leads, safe to show, without credentials and query.
    """

    status: int
    content_type: str
    body: bytes
    retry_after_s: int | None
    date: str = ""
    location: str = ""


class OpenReply(NamedTuple):
    """A reply whose body is still arriving; iterating ``chunks`` raises ``ServiceError`` when it breaks or is too much."""

    status: int
    content_type: str
    chunks: Iterator[bytes]
    retry_after_s: int | None
    date: str
    location: str

    def with_body(self, body: bytes) -> Reply:
        """Return the reply with as much of its body as was read."""
        return Reply(self.status, self.content_type, body, self.retry_after_s, self.date, self.location)


def json_of(reply: Reply, url: str) -> Any:
    """Return the JSON value of a reply. Raises ``ServiceError`` when its type or its text is not strict JSON."""
    if reply.content_type != JSON and not reply.content_type.endswith("+json"):
        told = f"{url} answered {reply.status} with {safe(reply.content_type, limit=80)!r} instead of JSON"
        raise unexpected(reply, told, "check that the address is the service's")
    try:
        return parse_json(reply.body, max_bytes=MAX_JSON_BYTES)
    except DocumentError as error:
        why = error.__cause__ or error.what if reply.body else "it is empty"  # of a document, ``what`` says more
        told = f"{url} answered {reply.status} with a text that is not strict JSON ({error.check}: {why})"
        raise unexpected(reply, told, "try again; if it stays so, ask the service's operator") from error


def unexpected(reply: Reply, what: str, do: str = "") -> ServiceError:
    """Return the error of a reply that is not the one that was asked for: ``what`` says how, and the reply why.

    A redirect is never followed, so that nobody else is asked and nothing is sent twice; its body only says so again.
    """
    do = f"wait {reply.retry_after_s} s, then run it again" if reply.retry_after_s else do
    if reply.location:
        what = f"{what}, a redirect to {reply.location}, which Airlock does not follow"
        do = "if it has moved there, give it that address, or name that path in the services file, [paths]"
    else:
        wait = f", asking to wait {reply.retry_after_s} s" if reply.retry_after_s else ""
        what = f"{what}{wait}: {reason_text(reply.body)}"
    error = ServiceError(what, status=reply.status, do=do)
    error.retry_after_s = reply.retry_after_s
    return error


def read_reason(reply: OpenReply) -> str:
    """Return the text of a refusal as it came, its first 16 KiB, or as much of it as arrived."""
    body = b""
    try:
        for chunk in reply.chunks:
            body += chunk
            if len(body) >= MAX_REASON_BYTES:
                break
    except ServiceError:  # the status has decided already; the text is for a person
        body += b" [the rest did not arrive]"
    return body[:MAX_REASON_BYTES].decode("utf-8", "replace")


def reason_text(body: bytes) -> str:
    """Return why a service said no, safe to show and cut: what its JSON says, or its text, without a page's markup."""
    document = json_or_none(body)
    told = "; ".join(dict.fromkeys(_said(document, _DEPTH))) if _is_refusal(document) else ""
    if not told:
        told = body[:_LOOKED_AT_BYTES].decode("utf-8", "replace")
        if _PAGE.match(body):
            told = " ".join(unescape(_UNREAD.sub(" ", told)).split())
    return safe(told, limit=500) or "no text"


def code_of(body: bytes) -> str:
    """Return the code of a refusal, empty without one: a word, which decides what to do about it."""
    document = json_or_none(body)
    error = document.get("error") if type(document) is dict else None
    told = [holder.get(name) for holder in (error, document) if type(holder) is dict for name in _CODES]
    return next((code for code in told if type(code) is str and _CODE.fullmatch(code)), "")


def json_or_none(body: bytes) -> Any:
    """Return the JSON value of a body, None where it is none."""
    try:
        return parse_json(body)
    except DocumentError:
        return None


def _is_refusal(document: Any) -> bool:
    return type(document) is dict and not document.keys().isdisjoint(_REASONS)


def _said(value: Any, depth: int) -> Iterator[str]:
    """Yield each text that says why, with the place or the name that it is about."""
    if type(value) is str and value.strip():
        yield value.strip()
    elif type(value) is list and depth:
        for each in value[:_ENTRIES]:
            yield from _said(each, depth - 1)
    elif type(value) is dict and depth:
        if _is_refusal(value):
            place = next((value[name] for name in _PLACES if name in value), "")
            about = ".".join(map(str, place)) if type(place) is list else place
            told = (text for name in _REASONS for text in _said(value.get(name), depth - 1))
            yield from (f"{about}: {text}" if about and type(about) is str else text for text in told)
        else:
            for name, each in list(value.items())[:_ENTRIES]:
                yield from (f"{name}: {text}" for text in _said(each, depth - 1))


def is_hash(value: object) -> TypeGuard[str]:
    """Tell whether a value is a transaction's hash, in any case."""
    return type(value) is str and bool(_HASH.fullmatch(value))
