"""How replies travel when the network or a server misbehaves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Send

from airlock_rehearsal.services.envelope import Read, Refused, parse_object
from airlock_rehearsal.services.runtime import Runtime

HUGE_BODY = 32 * 1024 * 1024
DRIBBLE = 7  # bytes in a piece of a slow event stream
GLANCE_S = 0.02  # how often it is looked whether a client has gone, or something has happened to its order

_ENVELOPED = ("builder", "relay", "relayer")
_STATUS_FAULTS = {
    "http-500": (500, "INTERNAL_ERROR", "the rehearsal was told to fail"),
    "http-429": (429, "RATE_LIMITED", "the rehearsal was told to limit the rate"),
    "http-503": (503, "UPSTREAM_ERROR", "the rehearsal was told to be unavailable"),
}


class Cut(Exception):
    """The connection ends here, without an end of the reply."""


class StreamedReply(StreamingResponse):
    """A reply whose bytes come from an iterator, which may cut the connection by raising ``Cut``."""

    def __init__(self, chunks: AsyncIterator[bytes], media_type: str) -> None:
        super().__init__(chunks, media_type=media_type, headers={"cache-control": "no-store"})

    async def stream_response(self, send: Send) -> None:
        """Send the chunks until they end or the iterator cuts the connection."""
        with suppress(Cut):
            await super().stream_response(send)


async def _unanswered(runtime: Runtime, request: Request) -> Response:
    """Give no reply at all until the client leaves or the rehearsal ends, and then an empty 503."""
    while not (runtime.stopping or await request.is_disconnected()):
        await asyncio.sleep(GLANCE_S)
    return Response(status_code=503)


async def _nothing() -> AsyncIterator[bytes]:
    raise Cut
    yield b""


async def _padding() -> AsyncIterator[bytes]:
    yield b'{"ok":true,"data":{"padding":"'
    for _ in range(HUGE_BODY // 65536):
        yield b"A" * 65536
    yield b'"}}'


def told_hash(runtime: Runtime, place: str, transaction_hash: str) -> str:
    """Return a transaction's hash as a service tells it: another one under the fault ``wrong-hash``."""
    wrong = runtime.faults.has("wrong-hash", place)
    return transaction_hash[:-1] + format(int(transaction_hash[-1], 16) ^ wrong, "x")


async def dribbled(chunks: AsyncIterator[bytes], pause_s: float) -> AsyncIterator[bytes]:
    """Yield the same bytes in small pieces, waiting before each chunk."""
    async for chunk in chunks:
        await asyncio.sleep(pause_s)
        for start in range(0, len(chunk), DRIBBLE):
            yield chunk[start : start + DRIBBLE]
            await asyncio.sleep(0)


def served(
    runtime: Runtime,
    place: str,
    asked: str,
    handler: Callable[[Request], Awaitable[Response]],
    *,
    key_of: Callable[[Read], str] | None = None,
    opens_stream: bool = False,
    limited: bool = False,
) -> Route:
    """Return a route that counts, misbehaves as told at this place, and otherwise answers as ``handler`` does.

    ``asked`` is its methods and its path, such as ``GET,POST /v2/meta``. ``key_of`` names what a request would bring
    about, by a nonce or a transaction's hash (empty: nothing), and raises for what it cannot read; a request is counted by
    it before any fault. ``limited``: the rate limit holds for it. The fault ``silent`` is left to a handler that opens an
    event stream, and ``http-503`` to ``/ready``.
    """
    methods, path = asked.split()

    def failed(status: int, code: str, message: str, wait_s: int = 1) -> Response:
        reply = Refused(message, code, status=status).reply(enveloped=place in _ENVELOPED)
        if status == 429:
            reply.headers["retry-after"] = str(wait_s)
        return reply

    def told(fault: str) -> bool:
        return runtime.faults.has(fault, place)

    async def instead(request: Request) -> Response | None:
        for name, answer in _STATUS_FAULTS.items():
            if told(name) and (name, path) != ("http-503", "/ready"):
                return failed(*answer)
        if told("not-json"):
            return HTMLResponse("<!doctype html><title>simulator</title><h1>It works!</h1>")
        if told("huge-body"):
            return StreamedReply(_padding(), "application/json")
        if told("silent") and not opens_stream:
            return await _unanswered(runtime, request)
        if limited and (wait_s := runtime.wait_s()):
            return failed(429, "RATE_LIMITED", "too many requests within a minute", wait_s)
        return None

    async def endpoint(request: Request) -> Response:
        key = ""
        if key_of is not None:
            try:
                key = key_of(parse_object(await request.body()))
            except (Refused, AttributeError, LookupError, TypeError, ValueError):
                key = "unreadable"
        if key:
            runtime.posts[place][key] += 1
        if other := await instead(request):
            return other
        if told("slow"):
            await asyncio.sleep(runtime.settings.slow_s)
        try:
            reply = await handler(request)
        except Refused as refused:
            return refused.reply(enveloped=place in _ENVELOPED)
        if key and told("http-500-after"):  # what was sent took effect
            return failed(500, "INTERNAL_ERROR", "the rehearsal was told to fail afterwards")
        if key and told("drop-before-accepted") and not opens_stream:
            return StreamedReply(_nothing(), "application/json")
        return reply

    return Route(path, endpoint, methods=methods.split(","))


def without_cuts(record: logging.LogRecord) -> bool:
    """Keep out of the log, as a filter, the server's complaint about a reply that was cut on purpose."""
    return record.getMessage() != "ASGI callable returned without completing response."
