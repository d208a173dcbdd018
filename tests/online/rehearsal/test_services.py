"""The builder, the TWAP service and the core API: what they build and take, and what they refuse."""

from typing import Any

import httpx
import pytest

from online.rehearsal.services_client import DELEGATE, START_MS, STRANGER, TRADER, Json, ServicesClient, signature

NOW_S = START_MS // 1000
T, D = TRADER.address, DELEGATE.address
SLOT = {"trader": T, "tradeIndex": 0, "pairIndex": 0}

GOOD: dict[str, Json] = {
    "open": {"trader": T, "side": "long", "collateralUsdc": "100", "leverage": "10", "pairIndex": 0},
    "tpsl-partial": SLOT | {"kind": "take_profit", "coinExposure": "0.05", "side": "long", "price": "70000"},
    "twap-cancel": {"trader": T, "twapId": 41},
    "delegate": {"trader": T, "delegate": D, "expirySeconds": NOW_S + 3600},
}


def asked(name: str, **fields: Any) -> Json:
    base = GOOD[name] | {"nonce": "7"} | ({} if name == "tpsl-partial" else {"deadlineMs": str(START_MS + 60_000)})
    return {k: v for k, v in (base | fields).items() if v is not None}


def test_unknown_fields_are_ignored_but_by_tpsl_partial(shared_desk: ServicesClient) -> None:
    assert shared_desk.ask("twap-cancel", asked("twap-cancel", colour="red")).status_code == 200
    refused = shared_desk.ask("tpsl-partial", asked("tpsl-partial", colour="red"))
    assert refused.json()["error"]["details"]["issues"] == [{"path": "colour", "message": "unknown field"}]


BAD: list[tuple[str, Json, str]] = [
    ("open", {"collateralUsdc": "100.0000001"}, "collateralUsdc"),
    ("open", {"leverage": "101"}, "leverage"),
    ("open", {"pairIndex": None}, "pair"),
    ("open", {"pairIndex": 3, "orderType": "market", "leverage": "100"}, "orderType"),
    ("open", {"deadlineMs": str(NOW_S + 60)}, "deadlineMs"),
    ("tpsl-partial", {"triggerType": "percentage", "percentage": "15"}, "price"),
    ("delegate", {"delegate": T}, "delegate"),
]


@pytest.mark.parametrize(("name", "fields", "path"), BAD, ids=[f"{n}-{f}" for n, f, _ in BAD])
def test_a_bad_request_names_the_field(shared_desk: ServicesClient, name: str, fields: Json, path: str) -> None:
    reply = shared_desk.ask(name, asked(name, **fields))
    assert reply.status_code == 400
    body = reply.json()
    assert (body["ok"], body["error"]["code"]) == (False, "BAD_REQUEST")
    assert path in [issue["path"] for issue in body["error"]["details"]["issues"]]


def cancel_body(payload: Json, key: Any = TRADER) -> Json:
    message: Json = payload["message"]
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
