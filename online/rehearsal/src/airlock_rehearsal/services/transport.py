"""How replies travel when the network or a server misbehaves, and the mark that every reply carries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from airlock_rehearsal.services.envelope import ApiError, Json, Rejected
from airlock_rehearsal.services.runtime import Runtime

MARK = ("x-airlock-rehearsal", "simulator")
"""The header on every reply."""

HUGE_BODY = 32 * 1024 * 1024
DRIBBLE = 7  # bytes in a piece of a slow event stream

Handler = Callable[[Request], Awaitable[Response]]

_STATUS_FAULTS = {
    "http-500": (500, "INTERNAL_ERROR", "the rehearsal was told to fail"),
    "http-429": (429, "RATE_LIMITED", "the rehearsal was told to limit the rate"),
    "http-503": (503, "UPSTREAM_ERROR", "the rehearsal was told to be unavailable"),
}


class Cut(Exception):
    """The connection ends here, without an end of the reply."""


class StreamedReply(Response):
    """A reply whose bytes come from an iterator, which may cut the connection by raising ``Cut``."""

    def __init__(self, chunks: AsyncIterator[bytes], media_type: str) -> None:
        super().__init__(media_type=media_type, headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self.chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  (ASGI's signature)
        """Send the chunks until they end, the client leaves, or the iterator cuts the connection."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        pump = asyncio.ensure_future(self._pump(send))
        gone = asyncio.ensure_future(_client_gone(receive))
        await asyncio.wait({pump, gone}, return_when=asyncio.FIRST_COMPLETED)
        for task in (pump, gone):
            task.cancel()
        results = await asyncio.gather(pump, gone, return_exceptions=True)
        if isinstance(results[0], Exception):
            raise results[0]

    async def _pump(self, send: Send) -> None:
        try:
            async for chunk in self.chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except Cut:
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _client_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class Unanswered(Response):
    """No reply at all, until the client leaves or the rehearsal ends."""

    def __init__(self, stopping: asyncio.Event) -> None:
        super().__init__()
        self.stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait; when the rehearsal ends, answer with an empty 503."""
        waits = [asyncio.ensure_future(_client_gone(receive)), asyncio.ensure_future(self.stopping.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
        if self.stopping.is_set():
            await Response(status_code=503)(scope, receive, send)


async def _nothing() -> AsyncIterator[bytes]:
    raise Cut
    yield b""


async def _padding() -> AsyncIterator[bytes]:
    yield b'{"ok":true,"data":{"padding":"'
    for _ in range(HUGE_BODY // 65536):
        yield b"A" * 65536
    yield b'"}}'


def another_hash(transaction_hash: str) -> str:
    """Return a hash that is not the transaction's: the fault ``wrong-hash``."""
    return transaction_hash[:-1] + format(int(transaction_hash[-1], 16) ^ 1, "x")


def cut_reply() -> Response:
    """Return a reply that is cut after its headers."""
    return StreamedReply(_nothing(), "application/json")


async def dribbled(chunks: AsyncIterator[bytes], pause_s: float) -> AsyncIterator[bytes]:
    """Yield the same bytes in small pieces, waiting before each chunk."""
    async for chunk in chunks:
        await asyncio.sleep(pause_s)
        for start in range(0, len(chunk), DRIBBLE):
            yield chunk[start : start + DRIBBLE]
            await asyncio.sleep(0)


def guarded(
    runtime: Runtime,
    place: str,
    handler: Handler,
    *,
    key_of: Callable[[bytes], str] | None = None,
    opens_stream: bool = False,
    limited: bool = False,
) -> Handler:
    """Return an endpoint that counts, misbehaves as told at this place, and otherwise answers as ``handler`` does.

    ``key_of`` names what a body would bring about, by a nonce or a transaction's hash (empty: nothing); a request is counted
    by it before any fault. ``limited``: the rate limit holds for it. The fault ``silent`` is left to a handler that opens an
    event stream.
    """

    async def endpoint(request: Request) -> Response:
        key = key_of(await request.body()) if key_of is not None else ""
        if key:
            runtime.state.posts[place][key] += 1
        if instead := _instead(runtime, place, opens_stream):
            return instead
        client = request.client.host if request.client else ""
        if limited and (wait_s := runtime.rate.wait_s(client, runtime.state.now_ms())):
            return _failed(place, 429, "RATE_LIMITED", "too many requests within a minute", wait_s)
        if runtime.faults.has("slow", place):
            await asyncio.sleep(runtime.settings.slow_s)
        reply = await handler(request)
        return (_lost(runtime, place, opens_stream) if key else None) or reply

    return endpoint


def _lost(runtime: Runtime, place: str, opens_stream: bool) -> Response | None:
    """Return what comes instead of the reply to something that took effect."""
    faults = runtime.faults
    if faults.has("http-500-after", place):
        return _failed(place, 500, "INTERNAL_ERROR", "the rehearsal was told to fail afterwards")
    if faults.has("silent-after", place):
        return Unanswered(runtime.stopping)
    return cut_reply() if faults.has("drop-before-accepted", place) and not opens_stream else None


def _failed(place: str, status: int, code: str, message: str, wait_s: int = 1) -> Response:
    enveloped = place in ("builder", "relay", "relayer")
    reply = (ApiError(code, message, status=status) if enveloped else Rejected(message, status=status)).reply()
    if status == 429:
        reply.headers["retry-after"] = str(wait_s)
    return reply


def _instead(runtime: Runtime, place: str, opens_stream: bool) -> Response | None:
    faults = runtime.faults
    for name, (status, code, message) in _STATUS_FAULTS.items():
        if faults.has(name, place):
            return _failed(place, status, code, message)
    if faults.has("not-json", place):
        return HTMLResponse("<!doctype html><title>simulator</title><h1>It works!</h1>")
    if faults.has("huge-body", place):
        return StreamedReply(_padding(), "application/json")
    if faults.has("silent", place) and not opens_stream:
        return Unanswered(runtime.stopping)
    return None


class Marked:
    """The ASGI middleware that puts the mark on every reply."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on, adding the header."""

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                header = (MARK[0].encode(), MARK[1].encode())
                message = {**message, "headers": [*message.get("headers", []), header]}
            await send(message)

        await self.app(scope, receive, marked)


def without_cuts(record: logging.LogRecord) -> bool:
    """Keep out of the log, as a filter, the server's complaint about a reply that was cut on purpose."""
    return record.getMessage() != "ASGI callable returned without completing response."


def not_found() -> Json:
    """Return the reply for a path that nothing serves."""
    return ApiError("NOT_FOUND", "no such endpoint", status=404).reply()
