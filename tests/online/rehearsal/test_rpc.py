"""The rehearsal's node: every method, what it refuses, and faults of its own."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from eth_abi import abi
from eth_utils.crypto import keccak

from airlock_rehearsal.services import runtime as settings
from airlock_rehearsal.services.venue.mempool import GAS_MONEY
from online.rehearsal.services_client import DELEGATE, START_MS, STRANGER, TRADER, Json, ServicesClient
from online.rehearsal.wallet import GWEI, ask_node, filled, node, raw_of, signed, unsigned

T, D, S = TRADER.address, DELEGATE.address, STRANGER.address
FIRST_BLOCK = 2  # the deployment, and what a rehearsal starts with
UNKNOWN = "0x" + "ab" * 32


def approval(desk: ServicesClient, **other: Any) -> str:
    return signed(desk, unsigned(desk, "/v2/token/approve", trader=T, amountUsdc="7"), **other)


def hash_of(raw: str) -> str:
    return "0x" + keccak(bytes.fromhex(raw[2:])).hex()


def mined(desk: ServicesClient, transaction_hash: str) -> Json:
    """Poll until there is a receipt."""
    for _ in range(500):
        receipt: Json | None = node(desk, "eth_getTransactionReceipt", transaction_hash)
        if receipt is not None:
            return receipt
    raise AssertionError("no receipt came")


def view(desk: ServicesClient, to: str, signature: str, *arguments: Any) -> int:
    types = signature.partition("(")[2][:-1].split(",")
    data = "0x" + (keccak(signature.encode())[:4] + abi.encode(types, arguments)).hex()
    return int(node(desk, "eth_call", {"to": to, "data": data}, "latest"), 16)


def failed(body: Json, code: int, words: str) -> Json:
    error: Json = body["error"]
    assert "result" not in body
    assert error["code"] == code
    assert words in error["message"]
    return error


def test_the_chain_says_what_it_is(desk: ServicesClient) -> None:
    assert node(desk, "eth_chainId") == "0x7a69"
    assert node(desk, "eth_blockNumber") == hex(FIRST_BLOCK)
    assert node(desk, "eth_getBalance", T, "latest") == hex(GAS_MONEY)
    assert node(desk, "eth_maxPriorityFeePerGas") == hex(GWEI // 10)
    base = int(node(desk, "eth_feeHistory", "0x1", "latest")["baseFeePerGas"][-1], 16)
    assert node(desk, "eth_gasPrice") == hex(base + GWEI // 10)


def test_the_fee_history_has_a_base_fee_more_than_blocks(shared_desk: ServicesClient) -> None:
    history = node(shared_desk, "eth_feeHistory", "0x4", "latest", [10, 50])
    assert len(history["baseFeePerGas"]) == 4
    assert history["reward"] == [[hex(GWEI // 10)] * 2] * 3
    assert (len(history["gasUsedRatio"]), history["oldestBlock"]) == (3, "0x0")
    assert "reward" not in node(shared_desk, "eth_feeHistory", 1, "latest")


def test_a_transaction_is_sent_mined_and_counted(desk: ServicesClient) -> None:
    raw = approval(desk)
    sent = node(desk, "eth_sendRawTransaction", raw)
    assert sent == hash_of(raw)
    receipt = mined(desk, sent)
    assert (receipt["status"], receipt["transactionHash"]) == ("0x1", sent)
    assert [log["address"] for log in receipt["logs"]] == [settings.USDC.lower()]
    assert (receipt["from"], receipt["to"]) == (T.lower(), settings.USDC.lower())
    assert receipt["blockNumber"] == node(desk, "eth_blockNumber") == hex(FIRST_BLOCK + 1)
    transaction = node(desk, "eth_getTransactionByHash", sent)
    assert (transaction["nonce"], transaction["blockNumber"]) == ("0x0", receipt["blockNumber"])
    assert transaction["blockHash"] == receipt["blockHash"]
    assert node(desk, "eth_getTransactionCount", T, "latest") == "0x1"
    spent = GAS_MONEY - int(node(desk, "eth_getBalance", T, "latest"), 16)
    assert spent == int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
    assert desk.services.posts["rpc"] == {sent: 1}
    assert view(desk, settings.USDC, "allowance(address,address)", T, settings.TRADING_STORAGE) == 7_000_000


def test_a_waiting_transaction_has_no_receipt_and_counts_as_pending(desk: ServicesClient) -> None:
    desk.faults("tx-stuck@rpc")
    sent = node(desk, "eth_sendRawTransaction", approval(desk))
    assert node(desk, "eth_getTransactionReceipt", sent) is None
    assert node(desk, "eth_getTransactionByHash", sent)["blockNumber"] is None
    assert node(desk, "eth_getTransactionCount", T, "pending") == "0x1"
    assert node(desk, "eth_getTransactionCount", T, "latest") == "0x0"


def test_a_transaction_stays_behind_an_earlier_one_that_is_stuck(desk: ServicesClient) -> None:
    desk.faults("tx-stuck@rpc")
    node(desk, "eth_sendRawTransaction", approval(desk))
    desk.faults()
    second = node(desk, "eth_sendRawTransaction", approval(desk))
    for _ in range(20):
        assert node(desk, "eth_getTransactionReceipt", second) is None
    assert node(desk, "eth_getTransactionCount", T, "pending") == "0x2"


def test_three_transactions_of_one_account_are_mined_in_order(desk: ServicesClient) -> None:
    sent = [node(desk, "eth_sendRawTransaction", approval(desk)) for _ in range(3)]
    blocks = [int(mined(desk, one)["blockNumber"], 16) for one in sent]
    assert blocks == [FIRST_BLOCK + 1, FIRST_BLOCK + 2, FIRST_BLOCK + 3]


def test_the_estimate_is_enough_and_less_may_not_be(desk: ServicesClient) -> None:
    payload = unsigned(desk, "/v2/token/approve", trader=T, amountUsdc="7")
    call = {name: payload[name] for name in ("from", "to", "data")}
    gas = node(desk, "eth_estimateGas", call)
    receipt = mined(desk, node(desk, "eth_sendRawTransaction", signed(desk, payload, gas=int(gas, 16))))
    assert receipt["status"] == "0x1"
    assert int(receipt["gasUsed"], 16) <= int(gas, 16)
    short = mined(desk, node(desk, "eth_sendRawTransaction", signed(desk, payload, gas=22_500)))
    assert (short["status"], short["gasUsed"]) == ("0x0", hex(22_500))


def test_the_node_sends_what_the_relay_would_refuse(desk: ServicesClient) -> None:
    payload = unsigned(desk, "/v2/referral/cancel-request", caller=S)
    receipt = mined(desk, node(desk, "eth_sendRawTransaction", signed(desk, payload, STRANGER)))
    assert receipt["status"] == "0x0"
    transfer = filled(desk, payload, to=D, data="0x", value=10**18)
    assert mined(desk, node(desk, "eth_sendRawTransaction", raw_of(transfer, STRANGER)))["status"] == "0x1"


def test_a_used_nonce_shows_in_the_bitmap_of_its_contract(desk: ServicesClient) -> None:
    payload = desk.build("referral-set-code", referee=T, code="DESK", nonce="517")
    assert desk.relayed(desk.relay(payload).json()["data"]["id"])["status"] == "confirmed"
    assert view(desk, settings.REFERRAL, "nonceBitmap(address,uint256)", T, 2) == 1 << 5
    assert view(desk, settings.REFERRAL, "nonceBitmap(address,uint256)", T, 0) == 0
    assert view(desk, settings.TRADING_ROUTER, "nonceBitmap(address,uint256)", T, 2) == 0


def test_a_delegation_can_be_read_from_the_contract(desk: ServicesClient) -> None:
    assert view(desk, settings.TRADING_ROUTER, "multipleDelegations(address,address)", T, D) == 0
    desk.register_delegate()
    assert view(desk, settings.TRADING_ROUTER, "multipleDelegations(address,address)", T, D) == START_MS // 1000 + 3600


def test_the_operators_transactions_have_receipts_too(desk: ServicesClient) -> None:
    events = desk.execute(1, desk.close_payload())
    hashes = [event.data["transactionHash"] for event in events[1:]]
    assert [node(desk, "eth_getTransactionReceipt", one)["status"] for one in hashes] == ["0x1", "0x1"]


def test_what_is_unknown_is_null(shared_desk: ServicesClient) -> None:
    assert node(shared_desk, "eth_getTransactionReceipt", UNKNOWN) is None
    assert node(shared_desk, "eth_getTransactionByHash", UNKNOWN) is None


# ---- what it refuses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas"])
def test_a_revert_has_code_3_and_its_data(shared_desk: ServicesClient, method: str) -> None:
    payload = unsigned(shared_desk, "/v2/misc/claim-keeper-rewards", caller=S)
    call = {"from": S, "to": payload["to"], "input": payload["data"]}
    error = failed(ask_node(shared_desk, method, call), 3, "execution reverted: NothingToClaim")
    assert error["data"] == "0x" + keccak(b"NothingToClaim()")[:4].hex()
    payload = unsigned(shared_desk, "/v2/referral/cancel-request", caller=S)
    call = {"from": S, "to": payload["to"], "data": payload["data"]}
    assert (
        failed(ask_node(shared_desk, method, call), 3, "NoRequest")["data"] == "0x" + keccak(b"NoRequest()")[:4].hex()
    )


@pytest.mark.parametrize(("change", "words"), [
    ({"nonce": 2}, "nonce too high"), ({"chainId": 1}, "invalid chain id"), ({"gas": 21_000}, "intrinsic gas"),
    ({"maxFeePerGas": 1, "maxPriorityFeePerGas": 1}, "base fee"), ({"value": 10**23}, "insufficient funds"),
])  # fmt: skip
def test_a_transaction_that_is_not_taken_is_error_minus_32000(desk: ServicesClient, change: Json, words: str) -> None:
    failed(ask_node(desk, "eth_sendRawTransaction", approval(desk, **change)), -32000, words)


def test_a_transaction_is_taken_once(desk: ServicesClient) -> None:
    raw = approval(desk)
    mined(desk, node(desk, "eth_sendRawTransaction", raw))
    failed(ask_node(desk, "eth_sendRawTransaction", raw), -32000, "already known")
    failed(ask_node(desk, "eth_sendRawTransaction", "0x" + "02c0"), -32000, "cannot be decoded")
    assert desk.services.posts["rpc"][hash_of(raw)] == 2


BAD_PARAMS: list[tuple[str, list[Any]]] = [
    ("eth_getTransactionCount", []), ("eth_getTransactionCount", ["me"]), ("eth_getTransactionCount", [T, "soon"]),
    ("eth_getBalance", [5]), ("eth_getBalance", [T, "earliest"]), ("eth_feeHistory", ["0x0", "latest", []]),
    ("eth_feeHistory", ["0x500", "latest", []]), ("eth_feeHistory", ["4", "latest"]), ("eth_feeHistory", ["0x01", "latest"]),
    ("eth_feeHistory", ["0x1"]), ("eth_feeHistory", ["0x1", "latest", 5]), ("eth_call", ["0x"]), ("eth_call", [{}]),
    ("eth_call", [{"to": T, "data": "0x1"}]), ("eth_call", [{"to": T, "data": 5}]), ("eth_call", [{"to": None}]),
    ("eth_call", [{"to": T, "value": "1"}]), ("eth_estimateGas", [{"to": T, "from": "0x"}]),
    ("eth_sendRawTransaction", [None]), ("eth_sendRawTransaction", ["02c0"]), ("eth_getTransactionReceipt", ["0x12"]),
    ("eth_getTransactionReceipt", [None]), ("eth_getTransactionByHash", [UNKNOWN + "00"]),
]  # fmt: skip


@pytest.mark.parametrize(("method", "params"), BAD_PARAMS)
def test_bad_parameters_are_error_minus_32602(shared_desk: ServicesClient, method: str, params: list[Any]) -> None:
    failed(ask_node(shared_desk, method, *params), -32602, "")


@pytest.mark.parametrize("method", ["eth_accounts", "eth_sendTransaction", "personal_sign", "", "ETH_CHAINID"])
def test_an_unknown_method_is_error_minus_32601(shared_desk: ServicesClient, method: str) -> None:
    failed(ask_node(shared_desk, method), -32601, "does not exist")


@pytest.mark.parametrize("body", [
    {}, {"jsonrpc": "1.0", "id": 1, "method": "eth_chainId"}, {"jsonrpc": "2.0", "method": "eth_chainId"},
    {"jsonrpc": "2.0", "id": None, "method": "eth_chainId"}, {"jsonrpc": "2.0", "id": 1, "method": 5},
    {"jsonrpc": "2.0", "id": [1], "method": "eth_chainId"},
])  # fmt: skip
def test_another_request_is_error_minus_32600(shared_desk: ServicesClient, body: Json) -> None:
    failed(shared_desk.http.post(shared_desk.services.rpc_url, json=body).json(), -32600, "not a JSON-RPC")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"id":1,"id":2}', b"[" * 600, b"[" * 200_000])
def test_what_is_no_json_object_is_error_minus_32700(shared_desk: ServicesClient, body: bytes) -> None:
    failed(shared_desk.http.post(shared_desk.services.rpc_url, content=body).json(), -32700, "")


def test_the_node_takes_posts_alone_and_counts_what_is_sent(desk: ServicesClient) -> None:
    assert desk.http.get(desk.services.rpc_url).status_code == 405
    node(desk, "eth_chainId")
    assert "rpc" not in desk.services.posts


# ---- faults ----------------------------------------------------------------------------------------------------------


def test_a_wrong_hash_is_told_while_the_right_one_is_mined(desk: ServicesClient) -> None:
    desk.faults("wrong-hash@rpc")
    raw = approval(desk)
    told = node(desk, "eth_sendRawTransaction", raw)
    assert told != hash_of(raw)
    assert mined(desk, hash_of(raw))["status"] == "0x1"
    assert node(desk, "eth_getTransactionReceipt", told) is None


def test_a_told_failure_is_mined_as_reverted(desk: ServicesClient) -> None:
    desk.faults("fail-terminal@rpc")
    assert mined(desk, node(desk, "eth_sendRawTransaction", approval(desk)))["status"] == "0x0"


@pytest.mark.parametrize("fault", ["drop-before-accepted@rpc", "http-500-after@rpc", "silent-after@rpc"])
def test_a_lost_reply_does_not_undo_the_transaction(desk: ServicesClient, fault: str) -> None:
    raw = approval(desk)
    desk.faults(fault)
    assert node(desk, "eth_chainId") == "0x7a69"
    request = {"jsonrpc": "2.0", "id": 1, "method": "eth_sendRawTransaction", "params": [raw]}
    if fault.startswith("http"):
        assert desk.http.post(desk.services.rpc_url, json=request).status_code == 500
    else:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadTimeout)):
            desk.http.post(desk.services.rpc_url, json=request, timeout=0.5)
    assert mined(desk, hash_of(raw))["status"] == "0x1"
    assert desk.services.posts["rpc"] == {hash_of(raw): 1}
