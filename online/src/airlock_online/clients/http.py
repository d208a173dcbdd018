"""Every connection of the online half is opened here.

A request is sent once, on a connection of its own: an idle connection that the server has just closed would make it
unknown whether an order was taken. No retry (but for a read that is told to wait), no redirect, no proxy, no netrc, no
cookie, no credential; every wait and every size is bounded. A foreign error leaves as ``ServiceError``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any, NamedTuple, Self

import httpx

from airlock_shared.errors import DocumentError, ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.wire.codec import parse_json

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
MAX_JSON_BYTES = 8 << 20
MAX_REASON_BYTES = 16 << 10
READ_ATTEMPTS = 4  # of a read that answers 429
WAIT_AT_MOST_S = 30  # a longer Retry-After is told to the person instead


class NotSent(ServiceError):
    """The connection could not be opened: not a byte of the request left this machine."""


class Timeouts(NamedTuple):
    """Seconds. A stream's silence may pass the 15 s between keep-alives, its total the 180 s cap (spec, "Limits")."""

    connect: float = 10.0
    silence: float = 20.0
    total: float = 60.0
    stream_silence: float = 40.0
    stream_total: float = 240.0


class HttpCall(NamedTuple):
    """One request. ``body`` is the exact bytes of a JSON document."""

    method: str
    url: str
    query: Mapping[str, str | int] = {}
    body: bytes | None = None
    accept: str = JSON


class Reply(NamedTuple):
    """A whole reply. ``retry_after_s`` is None without a Retry-After header in seconds; ``date`` is the Date header."""

    status: int
    content_type: str
    body: bytes
    retry_after_s: int | None
    date: str = ""


class OpenReply(NamedTuple):
    """A reply whose body is still arriving; iterating ``chunks`` raises ``ServiceError`` when it breaks or is too much."""

    status: int
    content_type: str
    chunks: Iterator[bytes]
    retry_after_s: int | None
    date: str = ""


class Http:
    """The connections of one command. Use it as a context manager, or close it."""

    def __init__(
        self,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 (frozen)
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.timeouts = timeouts
        self._monotonic = monotonic
        self._sleep = sleep
        self._client = httpx.Client(
            trust_env=False,  # no proxy, no netrc, no certificate store by environment
            follow_redirects=False,
            transport=httpx.HTTPTransport(retries=0, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"user-agent": "airlock", "accept-encoding": "identity"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    @contextmanager
    def open(self, call: HttpCall, *, stream: bool = False, max_bytes: int = MAX_JSON_BYTES) -> Iterator[OpenReply]:
        """Send one request, once, and yield its reply while the body arrives.

        Raises ``NotSent`` when the connection could not be opened, ``ServiceError`` for whatever went wrong later.
        """
        silence = self.timeouts.stream_silence if stream else self.timeouts.silence
        until = self._monotonic() + (self.timeouts.stream_total if stream else self.timeouts.total)
        response = self._send(call, silence)
        try:
            yield OpenReply(
                response.status_code,
                response.headers.get("content-type", "").partition(";")[0].strip().lower(),
                self._chunks(response, call.url, max_bytes, until),
                _retry_after(response.headers.get("retry-after", "")),
                response.headers.get("date", ""),
            )
        finally:
            response.close()

    def _send(self, call: HttpCall, silence: float) -> httpx.Response:
        if self._client.is_closed:  # by another thread: the person has interrupted the command
            raise NotSent(f"no connection to {call.url}: this command is ending; nothing was sent", do="run it again")
        headers = {"accept": call.accept} | ({} if call.body is None else {"content-type": JSON})
        timeout = httpx.Timeout(silence, connect=self.timeouts.connect)
        try:
            request = self._client.build_request(
                call.method,
                call.url,
                params=dict(call.query) or None,
                content=call.body,
                headers=headers,
                timeout=timeout,
            )
            return self._client.send(request, stream=True)
        except (
            httpx.ConnectError,
            httpx.ConnectTimeout,
            httpx.InvalidURL,
            httpx.UnsupportedProtocol,
            UnicodeError,
        ) as error:
            raise NotSent(
                f"no connection to {call.url} ({type(error).__name__}: {safe(str(error), limit=200)}); nothing was sent",
                do="check the address and the network, then run it again",
            ) from error
        except httpx.HTTPError as error:
            raise _broken(call.url, error) from error

    def _chunks(self, response: httpx.Response, url: str, max_bytes: int, until: float) -> Iterator[bytes]:
        if (encoding := response.headers.get("content-encoding", "identity").strip().lower()) not in ("", "identity"):
            raise ServiceError(
                f"{url} answered in the encoding {safe(encoding, limit=40)!r}, which Airlock did not ask for",
                status=response.status_code,
                do="ask the operator of the service, or of the proxy in front of it",
            )
        seen = 0
        try:
            for chunk in response.iter_raw():
                seen += len(chunk)
                if seen > max_bytes:
                    raise ServiceError(
                        f"the reply of {url} is larger than {max_bytes} bytes",
                        status=response.status_code,
                        do="check that the address is the service's",
                    )
                yield chunk
                if self._monotonic() > until:
                    raise ServiceError(
                        f"the reply of {url} did not end in time", status=response.status_code, do="try again later"
                    )
        except httpx.HTTPError as error:
            raise _broken(url, error) from error

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


def json_of(reply: Reply, url: str) -> Any:
    """Return the JSON value of a reply. Raises ``ServiceError`` when its type or its text is not strict JSON."""
    if reply.content_type != JSON and not reply.content_type.endswith("+json"):
        raise ServiceError(
            f"{url} answered {reply.status} with {safe(reply.content_type, limit=80)!r} instead of JSON: "
            f"{reason_text(reply.body)}",
            status=reply.status,
            do="check that the address is the service's",
        )
    try:
        return parse_json(reply.body, max_bytes=MAX_JSON_BYTES)
    except DocumentError as error:
        raise ServiceError(
            f"{url} answered {reply.status} with a text that is not strict JSON ({error.check}: {error.what})",
            status=reply.status,
            do="try again; if it happens again, ask the service's operator",
        ) from error


def reason_text(body: bytes, *, limit: int = 500) -> str:
    """Return a reply's body as text that is safe to show."""
    return safe(body[: 4 * limit].decode("utf-8", "replace"), limit=limit) or "no text"


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


def _retry_after(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def _broken(url: str, error: httpx.HTTPError) -> ServiceError:
    return ServiceError(
        f"the connection to {url} broke ({type(error).__name__}: {safe(str(error), limit=200)})",
        do="check the network; what was sent may have arrived",
    )
