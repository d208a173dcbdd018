"""The TWAP service and the core API."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from online.rehearsal.services_client import START_MS, STRANGER, TRADER, Json, ServicesClient, signature

T = TRADER.address


def cancel_body(payload: Json, key: Any = TRADER) -> Json:
    message = payload["message"]
    return message | {"twapId": int(message["twapId"]), "signature": signature(payload, key)}


def trigger_body(payload: Json, key: Any = TRADER) -> Json:
    message = payload["message"]
    numbers = ("pairIndex", "index", "triggerType", "timestamp", "signTimestamp", "orderType")
    body = {name: int(value) if name in numbers else value for name, value in message.items()}
    return body | {"signedMessage": signature(payload, key)}


def cancel_payload(desk: ServicesClient, **fields: Any) -> Json:
    return desk.build("twap-cancel", **({"trader": T, "twapId": 41} | fields))


def trigger_payload(desk: ServicesClient, price: str = "70000") -> Json:
    slot = {"trader": T, "tradeIndex": 0, "pairIndex": 0, "coinExposure": "0.05", "side": "long"}
    return desk.build("tpsl-partial", kind="take_profit", price=price, **slot)


def cancel(desk: ServicesClient, body: Json) -> httpx.Response:
    return desk.http.post(desk.services.twap_url + "/twaps/cancel", json=body)


def arm(desk: ServicesClient, body: Json) -> httpx.Response:
    return desk.http.post(desk.services.core_url + "/price-triggers", json=body)


# ---- TWAP ------------------------------------------------------------------------------------------------------------


def test_a_twap_is_cancelled_once(desk: ServicesClient) -> None:
    payload = cancel_payload(desk)
    reply = cancel(desk, cancel_body(payload))
    assert reply.status_code == 201
    assert set(reply.json()) == {"twapId", "transactionHash", "blockNumber"}
    assert reply.json()["twapId"] == 41
    assert desk.nonce_used(payload)
    assert cancel(desk, cancel_body(payload)).status_code == 400
    assert cancel(desk, cancel_body(cancel_payload(desk))).status_code == 404
    assert cancel(desk, cancel_body(cancel_payload(desk, twapId=42))).status_code == 201


CHANGES: list[Json] = [
    {"trader": T.lower()},
    {"trader": STRANGER.address},
    {"twapId": 42},
    {"twapId": "x"},
    {"nonce": None},
    {"deadline": str(START_MS + 1)},
    {"signature": "0x" + "00" * 65},
    {"colour": "red"},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_cancel_that_was_not_signed_is_refused(shared_desk: ServicesClient, change: Json) -> None:
    reply = cancel(shared_desk, cancel_body(cancel_payload(shared_desk)) | change)
    assert (reply.status_code, reply.json()["statusCode"]) == (400, 400)


def test_a_late_cancel_and_a_strangers_cancel_are_refused(desk: ServicesClient) -> None:
    payload = cancel_payload(desk)
    assert cancel(desk, cancel_body(payload, STRANGER)).status_code == 400
    desk.clock.ms += 600_000
    assert "deadline" in cancel(desk, cancel_body(payload)).json()["message"]


# ---- price triggers ----------------------------------------------------------------------------------------------------


def test_a_trigger_is_replaced_under_a_new_id(desk: ServicesClient) -> None:
    old = arm(desk, trigger_body(trigger_payload(desk))).json()["entityId"]
    url = f"{desk.services.core_url}/price-triggers/{old}"
    reply = desk.http.put(url, json=trigger_body(trigger_payload(desk, price="71000")))
    assert reply.status_code == 200
    assert reply.json()["oldEntityId"] == old != reply.json()["newEntityId"]
    assert list(desk.state.triggers) == [reply.json()["newEntityId"]]
    assert desk.http.put(url, json=trigger_body(trigger_payload(desk))).status_code == 404


def test_the_nonce_of_a_trigger_is_held_and_not_spent(desk: ServicesClient) -> None:
    payload = trigger_payload(desk)
    assert arm(desk, trigger_body(payload)).status_code == 201
    assert "nonce is consumed" in arm(desk, trigger_body(payload)).json()["message"]
    assert not desk.nonce_used(payload)
    assert desk.services.posts["core"] == {payload["message"]["nonce"]: 2}


BAD_TRIGGERS: list[Json] = [
    {"pairIndex": 9},
    {"price": "0"},
    {"percentage": "1"},
    {"nonce": "5"},
    {"buy": False},
    {"timestamp": 5},
    {"signTimestamp": START_MS + 1},
    {"trader": STRANGER.address},
    {"colour": "red"},
]


@pytest.mark.parametrize("change", BAD_TRIGGERS, ids=str)
def test_a_trigger_that_was_not_signed_is_refused(shared_desk: ServicesClient, change: Json) -> None:
    reply = arm(shared_desk, trigger_body(trigger_payload(shared_desk)) | change)
    assert (reply.status_code, reply.json()["error"]) == (400, "Bad Request")
    assert shared_desk.state.triggers == {}
