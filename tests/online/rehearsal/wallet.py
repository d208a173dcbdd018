"""A wallet at the rehearsal services: transactions filled, signed by eth-account, and sent by the relay or by a node."""

from __future__ import annotations

from typing import Any

import httpx
from eth_account import Account

from online.rehearsal.services_client import TRADER, Json, ServicesClient

GWEI = 10**9


def ask_node(desk: ServicesClient, method: str, *params: Any) -> Json:
    """Return the whole JSON-RPC reply."""
    request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": list(params)}
    reply = desk.http.post(desk.services.rpc_url, json=request)
    assert reply.status_code == 200, reply.text
    body: Json = reply.json()
    assert (body["jsonrpc"], body["id"]) == ("2.0", 7)
    return body


def node(desk: ServicesClient, method: str, *params: Any) -> Any:
    """Return the result of a JSON-RPC request."""
    body = ask_node(desk, method, *params)
    assert "error" not in body, body
    return body["result"]


def unsigned(desk: ServicesClient, path: str, **fields: Any) -> Json:
    """Return the unsigned transaction that an endpoint builds."""
    reply = desk.http.post(desk.services.builder_url + path, json=fields)
    assert reply.status_code == 200, reply.text
    data: Json = reply.json()["data"]
    return data


def filled(desk: ServicesClient, payload: Json, **other: Any) -> Json:
    """Return a payload as a whole transaction: nonce, gas and fees from the node."""
    transaction = {
        "type": 2, "chainId": payload["chainId"], "to": payload["to"], "data": payload["data"],
        "value": int(payload["value"], 16), "gas": 1_000_000, "maxFeePerGas": 3 * GWEI, "maxPriorityFeePerGas": GWEI // 10,
        "nonce": int(node(desk, "eth_getTransactionCount", payload["from"], "pending"), 16),
    }  # fmt: skip
    return transaction | other


def raw_of(transaction: Json, key: Any = TRADER) -> str:
    return "0x" + bytes(Account.sign_transaction(transaction, key.key).raw_transaction).hex()


def signed(desk: ServicesClient, payload: Json, key: Any = TRADER, **other: Any) -> str:
    """Return the raw transaction of a payload, signed."""
    return raw_of(filled(desk, payload, **other), key)


def relay(desk: ServicesClient, raw: Any, **other: Any) -> httpx.Response:
    body = {"rawTransaction": raw} | other
    return desk.http.post(desk.services.builder_url + "/v2/relay", json=body)


def relayed(desk: ServicesClient, raw: str) -> Json:
    """Send through the relay, and poll until it is mined."""
    reply = relay(desk, raw)
    assert reply.status_code == 200, reply.text
    return outcome(desk, reply.json()["data"]["hash"])


def outcome(desk: ServicesClient, transaction_hash: str) -> Json:
    for _ in range(500):
        data: Json = desk.read(f"/v2/relay/{transaction_hash}")
        if data["status"] != "pending":
            return data
    raise AssertionError("the transaction stayed pending")


def waited(desk: ServicesClient) -> None:
    """Poll until the keeper has executed every stored order."""
    for _ in range(500):
        desk.read("/v2/pairs")
        if not desk.state.pending_orders:
            return
    raise AssertionError("a stored order was never executed")
