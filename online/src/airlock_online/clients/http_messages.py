"""The messages of HTTP: a request to be sent once, its reply, and what a reply's body says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
            do="try again; if it stays so, ask the service's operator",
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
