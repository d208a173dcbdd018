"""The relayer and the relay: intents that settle, signed transactions by the whitelist, and what both refuse."""

from typing import Any

import httpx
import pytest
from eth_account import Account
from eth_utils.crypto import keccak

from airlock_rehearsal.chain.evm import CONTRACTS, REFERRAL, ROUTER
from online.rehearsal.conftest import OpenClient
from online.rehearsal.services_client import DELEGATE, PROMPT, START_MS, STRANGER, TRADER, Json, ServicesClient

T, D, S = TRADER.address, DELEGATE.address, STRANGER.address
SLOT = {"trader": T, "tradeIndex": 0, "pairIndex": 0, "collateralToCloseUsdc": "1", "delegate": D}
STOP = {"trader": T, "orderIndex": 0, "pairIndex": 2, "price": "100", "stopLoss": "100"}
TAKEN = {"caller": T, "code": "TAKEN", "newOwner": S}


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


def refused(desk: ServicesClient, raw: str, code: str, words: str) -> Json:
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
    assert refused(desk, approval(desk, to=S), "TX_REJECTED", "is not whitelisted")["details"] == {"target": S}
    raw = approval(desk)
    tx_hash = relay(desk, raw).json()["data"]["hash"]
    for _ in range(500):
        if desk.read(f"/v2/relay/{tx_hash}")["status"] != "pending":
            break
    refused(desk, raw, "TX_REJECTED", "already known")
    refused(desk, approval(desk, gas=900_000), "TX_REJECTED", "nonce too low")
    assert desk.services.posts["relay"][tx_hash] == 2


@pytest.mark.parametrize(
    ("path", "key", "fields", "target", "decoded"),
    [
        ("/v2/trade/close", DELEGATE, SLOT, CONTRACTS[ROUTER], "NotDelegate"),
        ("/v2/limit/update", TRADER, STOP, CONTRACTS[ROUTER], "WrongSl"),
        ("/v2/referral/transfer-ownership", TRADER, TAKEN, CONTRACTS[REFERRAL], "NotCodeOwner"),
    ],
)
def test_a_failed_simulation_is_told(
    desk: ServicesClient, path: str, key: Any, fields: Json, target: str, decoded: str
) -> None:
    details = refused(desk, signed(desk, path, fields, key), "SIMULATION_FAILED", decoded)["details"]
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
