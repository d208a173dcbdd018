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
from airlock_rehearsal.services.transport import GLANCE_S, Cut, StreamedReply, dribbled, served
from airlock_rehearsal.services.venue.order_lifecycle import TERMINAL, TrackedOrder
from airlock_rehearsal.services.venue.submission import nonce_of_order, read_order

_KEEP_ALIVE_S = 15.0
"""Between two comments in a stream (specification, "Limits", row "keep-alive comment interval")."""


def frame(kind: str, payload: dict[str, object], seq: int | None) -> bytes:
    """Return an event as it travels; without ``seq`` it has no ``id:`` line."""
    identity = "" if seq is None else f"id: {seq}\n"
    return f"event: {kind}\n{identity}data: {json.dumps(payload)}\n\n".encode()


async def frames(runtime: Runtime, tracked: TrackedOrder) -> AsyncIterator[bytes]:
    """Yield the stream of an order: a comment, every event as it comes, keep-alives, and the end or the lifetime cap."""
    now_s, told = asyncio.get_running_loop().time, tracked.told
    ends_at, speaks_at, sent = now_s() + runtime.settings.stream_cap, now_s() + _KEEP_ALIVE_S, 0
    expired = frame("Error", tracked.error("STREAM_TIMEOUT", "this view of the order has expired"), None)
    if told("drop-before-accepted"):
        raise Cut
    if told("silent"):
        while not runtime.stopping:
            await asyncio.sleep(GLANCE_S)
        raise Cut
    talks = not told("no-keep-alive")
    if talks:
        yield b": open\n\n"
    while not runtime.stopping:
        for event in tracked.events[sent:]:
            sent += 1
            whole = frame(event.type, event.payload, event.seq) * (1 + told("duplicate-replay"))
            if told("drop-mid-frame") and event.seq == 1:
                yield whole[: len(whole) // 2]
                raise Cut
            yield whole
            if told("drop-after-accepted"):
                raise Cut
            if event.type in TERMINAL:
                return
            if told("stream-timeout"):
                yield expired
                return
        if tracked.unrecorded is not None or now_s() >= ends_at:
            yield expired if tracked.unrecorded is None else frame("Error", tracked.unrecorded, None)
            return
        if talks and now_s() >= speaks_at:
            speaks_at += _KEEP_ALIVE_S
            yield b": keep-alive\n\n"
        await asyncio.sleep(GLANCE_S)
    raise Cut


def routes(runtime: Runtime) -> list[Route]:
    """Return the batched market's routes, without their prefix."""
    orders: dict[str, TrackedOrder] = {}

    async def execute(request: Request) -> Response:
        tracked = TrackedOrder(runtime, read_order(runtime.state, await request_fields(request)))
        orders[tracked.tracking_id] = tracked
        stream = frames(runtime, tracked)
        if runtime.faults.has("slow", "batched"):
            stream = dribbled(stream, runtime.settings.slow_s)
        return StreamedReply(stream, "text/event-stream")

    async def status(request: Request) -> Response:
        after, tracked = request.query_params.get("afterSeq", "-1"), orders.get(request.path_params["tracking_id"])
        faults = runtime.faults
        if tracked is not None:
            tracked.status_reads += 1
        if tracked is None or (faults.has("status-404-once", "batched") and tracked.status_reads == 1):
            raise Refused("unknown trackingId", status=404)
        events = [event._asdict() for event in tracked.events if event.seq > int(after)]
        if faults.has("duplicate-replay", "batched"):
            events = [event._asdict() for event in tracked.events for _ in range(2)]
        return Json({"events": [] if faults.has("empty-events", "batched") else events})

    return [
        served(runtime, "batched", "POST /market/execute-batched", execute, key_of=nonce_of_order, opens_stream=True),
        served(runtime, "batched", "GET /tracking-id/{tracking_id}/status", status),
    ]
