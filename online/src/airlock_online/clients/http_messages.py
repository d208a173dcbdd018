"""The messages of HTTP: a request to be sent once, its reply, and what a reply's body says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from airlock_online.clients.reasons import reason_text
from airlock_shared.errors import DocumentError, ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.wire.codec import parse_json

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
MAX_JSON_BYTES = 8 << 20
MAX_REASON_BYTES = 16 << 10


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
        raise ServiceError(
            f"{url} answered {reply.status} with a text that is not strict JSON ({error.check}: {error.what})",
            status=reply.status,
            do="try again; if it stays so, ask the service's operator",
        ) from error


def unexpected(reply: Reply, told: str, do: str = "") -> ServiceError:
    """Return the error of a reply that is not the one that was asked for: what is ``told`` of it, and why it came.

    A redirect is never followed, so that nobody else is asked and nothing is sent twice; its body only says so again.
    """
    do = f"wait {reply.retry_after_s} s, then run it again" if reply.retry_after_s else do
    if reply.location:
        told = f"{told}, a redirect to {reply.location}, which Airlock does not follow"
        do = "if the service has moved there, give it that address"
    else:
        wait = f", asking to wait {reply.retry_after_s} s" if reply.retry_after_s else ""
        told = f"{told}{wait}: {reason_text(reply.body)}"
    error = ServiceError(told, status=reply.status, do=do)
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
