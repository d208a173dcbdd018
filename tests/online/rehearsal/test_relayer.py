"""The relayer: delegates and referral codes, both nonce spaces, and what it refuses."""

from __future__ import annotations

from typing import Any

from online.rehearsal.conftest import OpenClient
from online.rehearsal.services_client import DELEGATE, PROMPT, START_MS, TRADER, Json, ServicesClient

T, D = TRADER.address, DELEGATE.address
NOW_S = START_MS // 1000


def delegate_payload(desk: ServicesClient, **fields: Any) -> Json:
    return desk.build("delegate", **({"trader": T, "delegate": D, "expirySeconds": NOW_S + 60} | fields))


def test_an_intent_is_pending_until_it_settles(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(pacing_s=60))
    payload = delegate_payload(desk)
    intent_id = desk.relay(payload).json()["data"]["id"]
    data = desk.http.get(f"{desk.services.relayer_url}/intents/{intent_id}").json()["data"]
    assert (data["status"], data["transactionHash"], data["blockNumber"]) == ("pending", None, None)
    assert desk.relay(payload).status_code == 400


# ---- what it refuses -----------------------------------------------------------------------------------------------


def refused(desk: ServicesClient, payload: Json, words: str, key: Any = TRADER, **other: Any) -> None:
    reply = desk.relay(payload, key, **other)
    assert reply.status_code == 400
    assert (reply.json()["ok"], reply.json()["error"]["code"]) == (False, "BAD_REQUEST")
    assert words in reply.json()["error"]["message"]


def test_a_batched_intent_is_refused(shared_desk: ServicesClient) -> None:
    refused(shared_desk, shared_desk.close_payload(), "does not take CloseTradeReq")
