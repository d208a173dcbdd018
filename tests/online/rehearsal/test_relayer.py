"""The relayer: delegates and referral codes, both nonce spaces, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from online.rehearsal.conftest import OpenClient
from online.rehearsal.services_client import (
    DELEGATE,
    PROMPT,
    START_MS,
    STRANGER,
    TRADER,
    Json,
    ServicesClient,
    handmade,
)

T, D = TRADER.address, DELEGATE.address
NOW_S = START_MS // 1000


def delegate_payload(desk: ServicesClient, **fields: Any) -> Json:
    return desk.build("delegate", **({"trader": T, "delegate": D, "expirySeconds": NOW_S + 60} | fields))


def code_payload(desk: ServicesClient, **fields: Any) -> Json:
    return desk.build("referral-set-code", **({"referee": T, "code": "TREASURY"} | fields))


def register_payload(desk: ServicesClient, code: str, nonce: str = "3") -> Json:
    message = {"_code": "0x" + code.encode().ljust(32, b"\0").hex(), "_referrer": T}
    return handmade(desk, "RegisterCodeReq", message | {"_deadline": str(START_MS + 1000), "_nonce": nonce}, "referral")


def settled(desk: ServicesClient, payload: Json, key: Any = TRADER) -> Json:
    reply = desk.relay(payload, key)
    assert reply.status_code == 202, reply.text
    assert reply.json()["data"]["status"] == "pending"
    return desk.relayed(reply.json()["data"]["id"])


def test_a_delegation_begins_and_ends(desk: ServicesClient) -> None:
    before = desk.read("/v2/reads/delegation", trader=T, delegate=D)
    assert (before["isEnabled"], before["expiry"]) == (False, 0)
    payload = delegate_payload(desk)
    data = settled(desk, payload)
    assert set(data) == {"id", "status", "transactionHash", "blockNumber"}
    assert (data["status"], type(data["blockNumber"])) == ("confirmed", int)
    after = desk.read("/v2/delegation", trader=T, delegate=D)
    assert (after["isEnabled"], after["canSignIntents"], after["canDelegatedAction"]) == (True, True, True)
    assert after["expiry"] == NOW_S + 60
    assert desk.nonce_used(payload)
    desk.clock.ms += 60_000
    assert desk.read("/v2/delegation", trader=T, delegate=D)["isEnabled"] is False


def test_a_referral_code_is_adopted(desk: ServicesClient) -> None:
    assert desk.read("/v2/reads/referral", trader=T)["codeText"] == ""
    assert settled(desk, code_payload(desk))["status"] == "confirmed"
    read = desk.read("/v2/reads/referral", trader=T)
    assert (read["codeText"], read["code"]) == ("TREASURY", "0x" + b"TREASURY".ljust(32, b"\0").hex())


def test_a_delegate_may_adopt_a_code_for_the_trader(desk: ServicesClient) -> None:
    desk.register_delegate()
    assert settled(desk, code_payload(desk), DELEGATE)["status"] == "confirmed"


def test_the_two_nonce_spaces_do_not_meet(desk: ServicesClient) -> None:
    assert settled(desk, code_payload(desk, nonce="7"))["status"] == "confirmed"
    assert desk.read("/v2/reads/nonce", trader=T, check="7", space="referral")["used"] is True
    assert desk.read("/v2/reads/nonce", trader=T, check="7")["used"] is False
    assert settled(desk, delegate_payload(desk, nonce="7"))["status"] == "confirmed"
    assert desk.read("/v2/reads/nonce", trader=T, check="7")["used"] is True
    assert desk.services.posts["relayer"] == {"7": 2}


def test_a_new_code_is_registered_and_a_taken_one_reverts(desk: ServicesClient) -> None:
    assert settled(desk, register_payload(desk, "MINE"))["status"] == "confirmed"
    taken = register_payload(desk, "TAKEN", nonce="4")
    assert settled(desk, taken)["status"] == "reverted"
    assert not desk.nonce_used(taken, "referral")


def test_a_told_failure_reverts_and_changes_nothing(desk: ServicesClient) -> None:
    desk.faults("fail-terminal")
    data = settled(desk, delegate_payload(desk))
    assert (data["status"], data["transactionHash"][:2]) == ("reverted", "0x")
    assert desk.read("/v2/delegation", trader=T, delegate=D)["isEnabled"] is False


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


@pytest.mark.parametrize("primary", ["TpSlReq", "TwapCancelReq", "delegatereq", "", None, 5, ["DelegateReq"]])
def test_another_primary_type_is_refused(shared_desk: ServicesClient, primary: Any) -> None:
    reply = shared_desk.relay(delegate_payload(shared_desk), primaryType=primary)
    assert reply.status_code == 400


def test_a_used_nonce_is_refused(desk: ServicesClient) -> None:
    payload = delegate_payload(desk)
    settled(desk, payload)
    refused(desk, payload, "nonce is consumed")


def test_an_old_deadline_is_refused(desk: ServicesClient) -> None:
    payload = delegate_payload(desk)
    desk.clock.ms += 600_000
    refused(desk, payload, "")


def test_an_expiry_in_milliseconds_or_in_the_past_is_refused(shared_desk: ServicesClient) -> None:
    message = delegate_payload(shared_desk)["message"]
    for expiry in (START_MS, NOW_S, 0):
        payload = handmade(shared_desk, "DelegateReq", message | {"expiry": str(expiry)})
        refused(shared_desk, payload, "expiry")


def test_a_delegate_may_not_register_a_delegate(desk: ServicesClient) -> None:
    desk.register_delegate()
    refused(desk, delegate_payload(desk, delegate=STRANGER.address), "may not sign for", DELEGATE)


@pytest.mark.parametrize("fault", ["domain-crossed", "wrong-chain", "types-reordered"])
@pytest.mark.parametrize("build", [delegate_payload, code_payload])
def test_a_signature_under_another_domain_or_type_is_refused(desk: ServicesClient, build: Any, fault: str) -> None:
    desk.faults(fault)
    payload = build(desk)
    desk.faults()
    refused(desk, payload, "may not sign for")


def test_an_intent_in_the_wrong_order_is_refused(desk: ServicesClient) -> None:
    desk.faults("delegate-order")
    payload = delegate_payload(desk)
    desk.faults()
    refused(desk, payload, "userIntent is not")


@pytest.mark.parametrize("change", [
    {"userIntent": "0x"}, {"userIntent": None}, {"userIntent": "0x" + "ff" * 700}, {"userSignature": "0x00"},
    {"userSignature": 5}, {"colour": "red"},
])  # fmt: skip
def test_another_body_is_refused(shared_desk: ServicesClient, change: Json) -> None:
    refused(shared_desk, delegate_payload(shared_desk), "", **change)


def test_an_unknown_id_is_not_found(shared_desk: ServicesClient) -> None:
    reply = shared_desk.http.get(shared_desk.services.relayer_url + "/intents/nope")
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "NOT_FOUND")
