"""The batched market: one POST whose reply streams the order's life, and the status endpoint for all that a stream is not.

Source: the specification, "POST {batched_market_url}/market/execute-batched", "Events" and "Batched-market errors".
"""

from __future__ import annotations

import json

from airlock_online.clients import sse
from airlock_online.clients.http import EVENT_STREAM, HttpCall, NotSent, OpenReply, json_of, reason_text
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.order_events import from_status, from_stream
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.polling import PollAnswer, until_final
from airlock_online.delivery.routes.posting import Parcel, parcel_of, refused
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import OrderState, is_end_of_view
from airlock_online.journal.schema import Submission
from airlock_shared.documents.services import BATCHED_MARKET, ROUTES
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

SUBMIT, STATUS = ROUTES[BATCHED_MARKET].endpoints


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request. ``eip7702`` is there only when it was given, and then it is the very text that was given."""
    erc712 = {"userIntent": delivery.encoded_intent, "userSignature": delivery.signature}
    body = json.dumps({"orderType": delivery.order_type, "erc712": erc712}, separators=(",", ":"))
    if delivery.eip7702:
        body = f'{body[:-1]},"eip7702":{delivery.eip7702}}}'
    return parcel_of(SUBMIT.method, join(delivery.base_url, SUBMIT.path), body.encode(), context)


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
    """POST once and read the stream; when it ends early, poll. Return why it stopped, empty when the order is final."""
    call = HttpCall(parcel.method, parcel.url, body=parcel.body, accept=EVENT_STREAM)
    try:
        with context.http.open(call, stream=True, max_bytes=sse.Caps().total) as reply:
            if refused(reply, tracker):
                return ""
            _read_stream(reply, tracker)
            ended = "the stream ended"
    except NotSent as error:
        tracker.settle(OrderState.PREPARED, error.what)
        return ""
    except ServiceError as error:
        ended = error.what
    if tracker.order.terminal:
        return ""
    if not tracker.tracking_id:
        tracker.settle(OrderState.UNKNOWN, f"{ended} before it gave a tracking id")
        return ""
    context.on_notice("the events stopped coming; nothing is lost, and nothing is sent again")
    context.on_notice(ended)
    context.on_notice(f"asking for the status of {safe(tracker.tracking_id)}")
    return _poll(delivery.base_url, tracker, context)


def follow(known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
    """Poll the status endpoint from the last seq on, if there is a tracking id to ask for."""
    if not tracker.tracking_id:
        return ""
    context.on_notice(f"asking for the status of {safe(tracker.tracking_id)}")
    return _poll(known.record.url, tracker, context)


def _poll(base_url: str, tracker: Tracker, context: DeliveryContext) -> str:
    def ask() -> PollAnswer:
        url = join(base_url, STATUS.path.replace("{trackingId}", segment(tracker.tracking_id)))
        last_seq = tracker.order.last_seq
        reply = context.http.exchange(HttpCall("GET", url, {} if last_seq is None else {"afterSeq": last_seq}))
        if reply.status != 200:
            raise ServiceError(f"the status answered {reply.status}: {reason_text(reply.body)}", status=reply.status)
        events = from_status(json_of(reply, url))
        for event in events:
            tracker.take(event)
        told = f"{len(events)} events, the last {safe(events[-1].type, limit=100)}" if events else "no new event"
        return PollAnswer(told, tracker.order.terminal is not None)

    return until_final(f"the market: the status of {safe(tracker.tracking_id)}", ask, context)


def _read_stream(reply: OpenReply, tracker: Tracker) -> None:
    """Take the events of a 200 reply until the terminal one, the end of the view, or the end of the stream."""
    if reply.status != 200 or reply.content_type != EVENT_STREAM:
        raise ServiceError(
            f"the market answered {reply.status} with {reply.content_type or 'no type'}: {reason_text(_start(reply))}",
            status=reply.status,
        )
    decoder = sse.SseDecoder()
    for chunk in reply.chunks:
        for item in decoder.feed(chunk):
            if isinstance(item, sse.Comment):
                continue
            event = from_stream(item)
            if is_end_of_view(event):
                return
            tracker.take(event)
        if tracker.order.terminal:
            return


def _start(reply: OpenReply) -> bytes:
    return next(reply.chunks, b"")
