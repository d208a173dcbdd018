"""The batched market: one POST whose reply streams the order's life, and the status endpoint for all that a stream is not.

Source: the specification, "POST {batched_market_url}/market/execute-batched", "Events" and "Batched-market errors".
"""

from __future__ import annotations

from functools import partial
from threading import Semaphore

from airlock_online.clients import sse
from airlock_online.clients.http import EVENT_STREAM, HttpCall, NotSent, OpenReply, unexpected
from airlock_online.delivery.chain_evidence import nonce_now
from airlock_online.delivery.order_events import from_stream
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, Parcel
from airlock_online.delivery.routes.order_status import OrderStatus
from airlock_online.delivery.routes.posting import OF_PROXIES, refused
from airlock_online.delivery.routes.struct import parcel_of, request_of
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import Anomaly, OrderEvent, OrderState, is_end_of_view, is_of, needs_history
from airlock_online.journal.schema import Submission
from airlock_online.speech.sections import MARKET
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe


def parcel(delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the request. ``eip7702`` is there only when it was given, and then it is the very text that was given."""
    made = request_of(MARKET, delivery, context)
    if not delivery.eip7702:
        return made
    return parcel_of(made.method, made.url, made.body[:-1] + f',"eip7702":{delivery.eip7702}}}'.encode(), context)


def send(delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
    """POST once and read the stream; when it ends early, poll. Return why it stopped, empty when the order is final."""
    call = HttpCall(parcel.method, parcel.url, body=parcel.body, accept=EVENT_STREAM)
    told: list[OrderEvent] = []
    try:
        with context.http.open(call, stream=True, max_bytes=sse.Caps().total) as reply:
            if refused(reply, tracker, partial(_undecided, delivery.digest, context)):
                return ""
            told = _read_stream(reply, tracker, context.streams)
            ended = f"the stream told {told[0].type}" if told else "the stream ended"
    except NotSent as error:
        tracker.settle(OrderState.PREPARED, error.what)
        return ""
    except ServiceError as error:
        ended = error.what
    if tracker.order.terminal:
        return ""
    for event in told[:1]:
        tracker.adopt(event)
    if not tracker.tracking_id:
        for event in told[:1]:
            tracker.odd(Anomaly("end-not-named", event))
        tracker.settle(OrderState.UNKNOWN, f"{ended} before a tracking id came")
        return ""
    if not tracker.accepted:
        tracker.settle(OrderState.UNKNOWN, f"{ended} before any event of the order")
    status = OrderStatus(delivery.base_url, tracker, context)
    if told:
        return status.check(told)
    context.on_notice("the events stopped coming; nothing is lost, and nothing is sent again")
    context.on_notice(ended)
    context.on_notice(f"asking for the status of {safe(tracker.tracking_id)}")
    return status.follow()


def follow(known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
    """Poll the status endpoint from the last seq on, if there is a tracking id to ask for."""
    if not tracker.tracking_id:
        return ""
    context.on_notice(f"asking for the status of {safe(tracker.tracking_id)}")
    return OrderStatus(known.record.url, tracker, context).follow()


def _undecided(digest: str, context: DeliveryContext, status: int) -> str:
    """Return why a refusal does not prove that the order was not taken, empty when it does.

    A used nonce means that another sender may have been first; and a proxy sends some of these for itself.
    """
    used = nonce_now(context.journal.get(digest).record, context)
    if used:
        return "its nonce is used: somebody may have sent it before"
    return "a proxy may have sent this, and the nonce cannot be read" if used is None and status in OF_PROXIES else ""


def _read_stream(reply: OpenReply, tracker: Tracker, streams: Semaphore) -> list[OrderEvent]:
    """Take the events of a 200 reply until the terminal one, the end of the view, or the end of the stream.

    A terminal event that the persisted history is to confirm is not taken but returned, with what came behind it. Once
    the order can be asked for, its stream is left unless it is one of ``streams``: it is a view, and the order goes on
    without it.
    """
    told: list[OrderEvent] = []
    if reply.status != 200 or reply.content_type != EVENT_STREAM:
        who = f"the market answered {reply.status} with {reply.content_type or 'no type'}"
        raise unexpected(reply.with_body(next(reply.chunks, b"")), who)
    decoder, stays = sse.SseDecoder(), False
    try:
        for chunk in reply.chunks:
            for item in decoder.feed(chunk):
                if isinstance(item, sse.Comment):
                    continue
                event = from_stream(item)
                if is_end_of_view(event):
                    return told
                if told or (event.seq is not None and needs_history(event) and is_of(event, tracker.order)):
                    told.append(event)
                else:
                    tracker.take(event)
            if told or tracker.order.terminal:
                break
            stays = stays or bool(tracker.tracking_id and streams.acquire(blocking=False))
            if tracker.tracking_id and not stays:
                raise ServiceError("as many streams are read already as may be at once")
        return told
    finally:
        if stays:
            streams.release()
