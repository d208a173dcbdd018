"""The builder, the TWAP service, the core API, the relayer and the relay: what they build and take, and refuse."""

from typing import Any

import httpx
import pytest
from eth_account import Account
from eth_utils.crypto import keccak

from airlock_rehearsal.chain.evm import CONTRACTS, REFERRAL, ROUTER
from online.rehearsal.conftest import OpenClient
from online.rehearsal.services_client import (
    DELEGATE,
    PROMPT,
    START_MS,
    STRANGER,
    TRADER,
    Json,
    ServicesClient,
    signature,
)

NOW_S = START_MS // 1000
T, D = TRADER.address, DELEGATE.address
SLOT = {"trader": T, "tradeIndex": 0, "pairIndex": 0}

GOOD: dict[str, Json] = {
    "open": {"trader": T, "side": "long", "collateralUsdc": "100", "leverage": "10", "pairIndex": 0},
    "tpsl-partial": SLOT | {"kind": "take_profit", "coinExposure": "0.05", "side": "long", "price": "70000"},
    "twap-cancel": {"trader": T, "twapId": 41},
    "delegate": {"trader": T, "delegate": D, "expirySeconds": NOW_S + 3600},
}
STRANGERS = {"trader": STRANGER.address}
STOP = {"trader": T, "orderIndex": 0, "pairIndex": 2, "price": "100", "stopLoss": "100"}
TAKEN = {"caller": T, "code": "TAKEN", "newOwner": STRANGER.address}


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


def cancellation(desk: ServicesClient, twap_id: int = 41) -> Json:
    return desk.build("twap-cancel", trader=T, twapId=twap_id)


def cancel(desk: ServicesClient, payload: Json, key: Any = TRADER, **changes: Any) -> httpx.Response:
    """Ask the TWAP service for what was signed, or for something else."""
    body = payload["message"] | {"twapId": int(payload["message"]["twapId"]), "signature": signature(payload, key)}
    return desk.http.post(desk.services.twap_url + "/twaps/cancel", json=body | changes)


def trigger(desk: ServicesClient, price: str = "70000") -> Json:
    return desk.build("tpsl-partial", **GOOD["tpsl-partial"] | {"price": price})


def arm(desk: ServicesClient, payload: Json, replaces: str = "", **changes: Any) -> httpx.Response:
    """Ask the core API for what was signed, or for something else."""
    numbers = ("pairIndex", "index", "triggerType", "timestamp", "signTimestamp", "orderType")
    body = {name: int(value) if name in numbers else value for name, value in payload["message"].items()}
    body |= {"signedMessage": signature(payload)} | changes
    url = f"{desk.services.core_url}/price-triggers"
    return desk.http.put(f"{url}/{replaces}", json=body) if replaces else desk.http.post(url, json=body)


def test_a_twap_is_cancelled_once(desk: ServicesClient) -> None:
    payload = cancellation(desk)
    reply = cancel(desk, payload)
    assert (reply.status_code, reply.json()["twapId"]) == (201, 41)
    assert set(reply.json()) == {"twapId", "transactionHash", "blockNumber"}
    assert desk.nonce_used(payload)
    again = (payload, cancellation(desk), cancellation(desk, 42))
    assert [cancel(desk, each).status_code for each in again] == [400, 404, 201]


@pytest.mark.parametrize(
    "change",
    [
        {"trader": T.lower()},
        STRANGERS,
        {"twapId": 42},
        {"nonce": None},
        {"deadline": str(START_MS + 1)},
        {"signature": "0x" + "00" * 65},
        {"colour": "red"},
    ],
    ids=str,
)
def test_a_cancel_that_was_not_signed_is_refused(shared_desk: ServicesClient, change: Json) -> None:
    reply = cancel(shared_desk, cancellation(shared_desk), **change)
    assert (reply.status_code, reply.json()["statusCode"]) == (400, 400)


def test_a_late_cancel_and_a_strangers_cancel_are_refused(desk: ServicesClient) -> None:
    payload = cancellation(desk)
    assert cancel(desk, payload, STRANGER).status_code == 400
    desk.clock.ms += 600_000
    assert "deadline" in cancel(desk, payload).json()["message"]


def test_a_trigger_is_replaced_under_a_new_id(desk: ServicesClient) -> None:
    old = arm(desk, trigger(desk)).json()["entityId"]
    reply = arm(desk, trigger(desk, "71000"), old)
    assert (reply.status_code, reply.json()["oldEntityId"]) == (200, old)
    assert list(desk.state.triggers) == [reply.json()["newEntityId"]] != [old]
    assert arm(desk, trigger(desk), old).status_code == 404


def test_the_nonce_of_a_trigger_is_held_and_not_spent(desk: ServicesClient) -> None:
    payload = trigger(desk)
    assert arm(desk, payload).status_code == 201
    assert "nonce is consumed" in arm(desk, payload).json()["message"]
    assert not desk.nonce_used(payload)
    assert desk.services.posts["core"] == {payload["message"]["nonce"]: 2}


@pytest.mark.parametrize(
    "change",
    [
        {"pairIndex": 9},
        {"nonce": "5"},
        {"buy": False},
        {"timestamp": 5},
        {"signTimestamp": START_MS + 1},
        STRANGERS,
        {"colour": "red"},
    ],
    ids=str,
)
def test_a_trigger_that_was_not_signed_is_refused(shared_desk: ServicesClient, change: Json) -> None:
    reply = arm(shared_desk, trigger(shared_desk), **change)
    assert (reply.status_code, reply.json()["error"]) == (400, "Bad Request")
    assert shared_desk.state.triggers == {}


def test_an_intent_is_pending_until_it_settles(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(pacing_s=60))
    payload = desk.build("delegate", trader=T, delegate=D, expirySeconds=START_MS // 1000 + 60)
    intent_id = desk.relay(payload).json()["data"]["id"]
    data = desk.http.get(f"{desk.services.relayer_url}/intents/{intent_id}").json()["data"]
    assert (data["status"], data["transactionHash"], data["blockNumber"]) == ("pending", None, None)
    assert desk.relay(payload).status_code == 400


def test_a_batched_intent_is_refused(shared_desk: ServicesClient) -> None:
    reply = shared_desk.relay(shared_desk.close_payload())
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "BAD_REQUEST")
    assert "does not take CloseTradeReq" in reply.json()["error"]["message"]


def relay(desk: ServicesClient, raw: str) -> httpx.Response:
    return desk.http.post(desk.services.builder_url + "/v2/relay", json={"rawTransaction": raw})


def not_relayed(desk: ServicesClient, raw: str, code: str, words: str) -> Json:
    reply = relay(desk, raw)
    assert reply.status_code == 400, reply.text
    error: Json = reply.json()["error"]
    assert (error["code"], words in error["message"]) == (code, True)
    return error


def signed(desk: ServicesClient, path: str, fields: Json, key: Any = TRADER, **other: Any) -> str:
    """Return the raw transaction that an endpoint builds, filled in, and signed by eth-account."""
    reply = desk.http.post(desk.services.builder_url + path, json=fields)
    payload = {name: reply.json()["data"][name] for name in ("chainId", "to", "data", "value")}
    filled = {"type": 2, "nonce": 0, "gas": 1_000_000, "maxFeePerGas": 3 * 10**9, "maxPriorityFeePerGas": 10**8}
    return "0x" + bytes(Account.sign_transaction(payload | filled | other, key.key).raw_transaction).hex()


def approval(desk: ServicesClient, **other: Any) -> str:
    return signed(desk, "/v2/token/approve", {"trader": T, "amountUsdc": "2500.5"}, **other)


def test_a_transaction_goes_to_a_known_contract_and_is_taken_once(desk: ServicesClient) -> None:
    assert not_relayed(desk, approval(desk, to=STRANGER.address), "TX_REJECTED", "is not whitelisted")["details"] == {
        "target": STRANGER.address
    }
    raw = approval(desk)
    tx_hash = relay(desk, raw).json()["data"]["hash"]
    for _ in range(500):
        if desk.read(f"/v2/relay/{tx_hash}")["status"] != "pending":
            break
    not_relayed(desk, raw, "TX_REJECTED", "already known")
    not_relayed(desk, approval(desk, gas=900_000), "TX_REJECTED", "nonce too low")
    assert desk.services.posts["relay"][tx_hash] == 2


@pytest.mark.parametrize(
    ("path", "key", "fields", "target", "decoded"),
    [
        (
            "/v2/trade/close",
            DELEGATE,
            SLOT | {"collateralToCloseUsdc": "1", "delegate": D},
            CONTRACTS[ROUTER],
            "NotDelegate",
        ),
        ("/v2/limit/update", TRADER, STOP, CONTRACTS[ROUTER], "WrongSl"),
        ("/v2/referral/transfer-ownership", TRADER, TAKEN, CONTRACTS[REFERRAL], "NotCodeOwner"),
    ],
)
def test_a_failed_simulation_is_told(
    desk: ServicesClient, path: str, key: Any, fields: Json, target: str, decoded: str
) -> None:
    details = not_relayed(desk, signed(desk, path, fields, key), "SIMULATION_FAILED", decoded)["details"]
    selector = "0x" + keccak(f"{decoded}()".encode())[:4].hex()
    assert (details["target"], details["decodedError"]) == (target, decoded)
    assert details["revertData"].startswith(selector)


def test_the_trading_endpoints_are_limited_and_the_reads_are_not(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(rate_limit=3))
    fields = {"trader": T, "amountUsdc": "1"}
    url = desk.services.builder_url
    assert [desk.http.post(url + "/v2/token/approve", json=fields).status_code for _ in range(2)] == [200, 200]
    desk.clock.ms += 20_500
    assert desk.ask("twap-cancel", {"trader": T, "twapId": 41}).status_code == 200
    late = desk.http.get(url + "/v2/token/approve", params=fields)
    assert (late.status_code, late.json()["error"]["code"], late.headers["retry-after"]) == (429, "RATE_LIMITED", "40")
    assert relay(desk, "0x").status_code == 429
    assert desk.http.get(url + "/v2/meta").status_code == 200
    desk.clock.ms += 40_000
    assert desk.http.post(url + "/v2/token/approve", json=fields).status_code == 200
