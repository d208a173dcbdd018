"""The batched market's HTTP routes: the POST that streams an order's life, and the replay of persisted events.

Source: the specification, "Batched-market service" and "Events" (the wire format).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.services.envelope import Json, Refused, request_fields
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import Cut, StreamedReply, dribbled, guarded
from airlock_rehearsal.services.venue.order_lifecycle import TERMINAL, Market, MarketEvent, Tracked
from airlock_rehearsal.services.venue.submission import nonce_of_order, read_order


def frame(kind: str, payload: dict[str, object], seq: int | None) -> bytes:
    """Return an event as it travels; without ``seq`` it has no ``id:`` line."""
    identity = "" if seq is None else f"id: {seq}\n"
    return f"event: {kind}\n{identity}data: {json.dumps(payload)}\n\n".encode()


def _framed(tracked: Tracked, event: MarketEvent) -> bytes:
    """Return the frame of a persisted event, under the order's faults."""
    whole = frame(event.type, event.payload, event.seq)
    return whole * 2 if tracked.faults.has("duplicate-replay", "batched") else whole


async def frames(runtime: Runtime, tracked: Tracked) -> AsyncIterator[bytes]:
    """Yield the stream of an order: a comment, every event as it comes, keep-alives, and the end or the lifetime cap."""
    loop = asyncio.get_running_loop()
    faults, ends_at, told = tracked.faults, loop.time() + runtime.settings.stream_cap, 0
    if faults.has("drop-before-accepted", "batched"):
        raise Cut
    if faults.has("silent", "batched"):
        await runtime.stopping.wait()
        raise Cut
    talks = not faults.has("no-keep-alive", "batched")
    if talks:
        yield b": open\n\n"
    while not runtime.stopping.is_set():
        changed = tracked.changed
        for event in tracked.events[told:]:
            told += 1
            if faults.has("drop-mid-frame", "batched") and event.seq == 1:
                yield (whole := _framed(tracked, event))[: len(whole) // 2]
                raise Cut
            yield _framed(tracked, event)
            if faults.has("drop-after-accepted", "batched"):
                raise Cut
            if event.type in TERMINAL:
                return
            if faults.has("stream-timeout", "batched"):
                yield _expired(tracked)
                return
        if tracked.unrecorded is not None:
            yield frame("Error", tracked.unrecorded, None)
            return
        if loop.time() >= ends_at:
            yield _expired(tracked)
            return
        wait_s = min(ends_at - loop.time(), runtime.settings.keep_alive_s)
        if told == len(tracked.events) and not await _any_of(changed, runtime.stopping, wait_s) and talks:
            yield b": keep-alive\n\n"
    raise Cut


def _expired(tracked: Tracked) -> bytes:
    return frame("Error", tracked.error("STREAM_TIMEOUT", "this view of the order has expired"), None)


async def _any_of(first: asyncio.Event, second: asyncio.Event, wait_s: float) -> bool:
    """Wait for one of two events; tell whether one came in time."""
    waits = {asyncio.ensure_future(event.wait()) for event in (first, second)}
    try:
        done, _ = await asyncio.wait(waits, timeout=max(wait_s, 0), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    return bool(done)


def _after(request: Request) -> int:
    text = request.query_params.get("afterSeq", "-1")
    if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdecimal() or len(text) > 18:
        raise Refused("afterSeq must be an integer")
    return int(text)


def routes(runtime: Runtime, market: Market) -> list[Route]:
    """Return the batched market's routes, without their prefix."""

    async def execute(request: Request) -> Response:
        order = read_order(runtime.state, await request_fields(request))
        stream = frames(runtime, market.accept(order))
        if runtime.faults.has("slow", "batched"):
            stream = dribbled(stream, runtime.settings.slow_s)
        return StreamedReply(stream, "text/event-stream")

    async def status(request: Request) -> Response:
        after, tracked = _after(request), market.orders.get(request.path_params["tracking_id"])
        if tracked is None:
            raise Refused("unknown trackingId", status=404)
        tracked.status_reads += 1
        faults = runtime.faults
        if faults.has("status-404-once", "batched") and tracked.status_reads == 1:
            raise Refused("unknown trackingId", status=404)
        events = [event._asdict() for event in tracked.events if event.seq > after]
        if faults.has("duplicate-replay", "batched"):
            events = [event._asdict() for event in tracked.events for _ in range(2)]
        if faults.has("out-of-order-replay", "batched"):
            events.reverse()
        return Json({"events": [] if faults.has("empty-events", "batched") else events})

    return [
        Route(
            "/market/execute-batched",
            guarded(runtime, "batched", execute, key_of=nonce_of_order, opens_stream=True),
            methods=["POST"],
        ),
        Route("/tracking-id/{tracking_id}/status", guarded(runtime, "batched", status), methods=["GET"]),
    ]
