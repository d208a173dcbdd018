"""The relayer, for the intents that have no service of their own (delegates, referrals).

The specification names it and documents no endpoint: path and body are a template with a default. It answers with an id
that is polled until the transaction is confirmed or reverted.
"""

from __future__ import annotations

import json
import re
from typing import Any

from airlock_online.http import Call, NotSent, Reply, json_of, read_reason, reason_text
from airlock_online.lifecycle import MAX_TRACKING_ID, OrderEvent, State
from airlock_online.routes.delivery import Delivery, World
from airlock_online.routes.polling import until_final
from airlock_online.routes.tracker import Tracker
from airlock_online.urls import join, segment
from airlock_shared.errors import ServiceError
from airlock_shared.text import safe

ACCEPTED, CONFIRMED, REVERTED = "RelayAccepted", "RelayConfirmed", "RelayReverted"
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def body_of(delivery: Delivery, template: dict[str, str]) -> bytes:
    """Return the bytes of the request that a template's body makes of a delivery."""
    return json.dumps(
        {name: getattr(delivery, field) for name, field in template.items()}, separators=(",", ":")
    ).encode()


def send(delivery: Delivery, body: bytes, tracker: Tracker, world: World) -> str:
    """POST once, then poll. Return why it stopped, empty when the submission is final. The caller holds the claim."""
    url = join(delivery.base_url, world.relayer.submit_path)
    try:
        with world.http.open(Call("POST", url, body=body)) as opened:
            if 400 <= opened.status < 500:
                tracker.settle(State.REJECTED, f"HTTP {opened.status}: {read_reason(opened)}")
                return ""
            reply = Reply(opened.status, opened.content_type, b"".join(opened.chunks), None)
        relay_id = _id_of(_data_of(url, reply))
    except NotSent as error:
        tracker.settle(State.PREPARED, error.what)
        return ""
    except ServiceError as error:
        tracker.settle(State.UNKNOWN, error.what)
        return ""
    tracker.write(OrderEvent(0, ACCEPTED, {"id": relay_id}), tracking_id=relay_id, path=(State.ACCEPTED,))
    return follow(delivery.base_url, tracker, world)


def follow(base_url: str, tracker: Tracker, world: World) -> str:
    """Poll the relayer. Return why it stopped, empty when the submission is final."""

    def ask() -> bool:
        url = join(base_url, world.relayer.status_path.replace("{id}", segment(tracker.tracking_id)))
        data = _data_of(url, world.http.exchange(Call("GET", url)))
        if _id_of(data) != tracker.tracking_id:
            raise ServiceError(f"the relayer answered about {safe(_id_of(data))!r}, which was not asked")
        return _take(data, tracker)

    return until_final(ask, world)


def _take(data: dict[str, Any], tracker: Tracker) -> bool:
    """Write a final status down, and return whether it is one. A status of another name is pending."""
    status, tx_hash = data.get("status"), data.get("transactionHash")
    if status not in ("confirmed", "reverted"):
        return False
    if type(tx_hash) is not str or not _HASH.fullmatch(tx_hash):
        raise ServiceError(f"the relayer says {status} and gives no transaction hash")
    payload = {"id": tracker.tracking_id, "transactionHash": tx_hash}
    if status == "confirmed":
        tracker.write(OrderEvent(1, CONFIRMED, payload), path=(State.ACCEPTED, State.CONFIRMED))
    else:
        note = f"transaction {tx_hash} was reverted"
        tracker.write(OrderEvent(1, REVERTED, payload), path=(State.ACCEPTED, State.FAILED), code="REVERTED", note=note)
    return True


def _data_of(url: str, reply: Reply) -> dict[str, Any]:
    if reply.status not in (200, 201, 202):
        raise ServiceError(f"the relayer answered {reply.status}: {reason_text(reply.body)}", status=reply.status)
    envelope = json_of(reply, url)
    data = envelope.get("data") if type(envelope) is dict and envelope.get("ok") is True else None
    if type(data) is not dict:
        raise ServiceError(f"the relayer answered in an unknown shape: {reason_text(reply.body)}", status=reply.status)
    return data


def _id_of(data: dict[str, Any]) -> str:
    relay_id = data.get("id")
    if type(relay_id) is not str or not 0 < len(relay_id) <= MAX_TRACKING_ID or not relay_id.isprintable():
        raise ServiceError("the relayer gave no usable id")
    return relay_id
