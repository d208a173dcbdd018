"""The JSON-RPC in front of a chain: our own client reads it as it reads a node."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_rehearsal.chain.evm import CHAIN_ID, PRIORITY_FEE
from airlock_rehearsal.chain.interface import REFERRAL, ROUTER, USDC, encode_call
from airlock_rehearsal.chain.json_rpc import JsonRpc, RpcFault
from online.chain.ground import STRANGER, Ground, code
from shared.make_payloads import DESK, TREASURY


@pytest.fixture
def rpc(ground: Ground) -> JsonRpc:
    return JsonRpc(ground.evm)


def test_the_chain_and_its_blocks(ground: Ground, rpc: JsonRpc) -> None:
    assert rpc.rpc("eth_chainId", []) == hex(CHAIN_ID)
    assert int(rpc.rpc("eth_blockNumber", []), 16) == ground.evm.block_number() > 0


def test_balances_counts_and_code(ground: Ground, rpc: JsonRpc) -> None:
    assert int(rpc.rpc("eth_getBalance", [STRANGER.address, "latest"]), 16) == ground.evm.balance(STRANGER.address) > 0
    count = ground.evm.transaction_count(TREASURY)
    assert int(rpc.rpc("eth_getTransactionCount", [TREASURY.lower(), "pending"]), 16) == count > 0
    assert len(rpc.rpc("eth_getCode", [ground.venue.contracts.usdc, "latest"])) > 1_000
    assert rpc.rpc("eth_getCode", [DESK]) == "0x"


def test_fees(ground: Ground, rpc: JsonRpc) -> None:
    assert int(rpc.rpc("eth_maxPriorityFeePerGas", []), 16) > 0
    history = rpc.rpc("eth_feeHistory", ["0x3", "latest", [10, 50]])
    assert len(history["baseFeePerGas"]) == len(history["gasUsedRatio"]) + 1 == 4
    assert [len(rewards) for rewards in history["reward"]] == [2, 2, 2]
    assert int(history["baseFeePerGas"][-1], 16) == ground.evm.base_fee()
    assert int(history["oldestBlock"], 16) == ground.evm.block_number() - 2
    assert int(rpc.rpc("eth_gasPrice", []), 16) > ground.evm.base_fee()


def test_a_call_and_its_gas(ground: Ground, rpc: JsonRpc) -> None:
    data = encode_call(ROUTER, "multipleDelegations", TREASURY, DESK)
    call = {"to": ground.venue.contracts.trading_router, "data": "0x" + data.hex()}
    assert int(rpc.rpc("eth_call", [call, "latest"]), 16) == ground.venue.delegation_expiry(TREASURY, DESK)
    assert 21_000 < int(rpc.rpc("eth_estimateGas", [{"from": TREASURY, **call}]), 16) < 60_000


def test_a_transaction_from_raw_bytes_to_receipt(ground: Ground, rpc: JsonRpc) -> None:
    raw = ground.raw(STRANGER, REFERRAL, encode_call(REFERRAL, "requestAccess", code("A")))
    sent = rpc.rpc("eth_sendRawTransaction", ["0x" + raw.hex()])
    receipt = rpc.rpc("eth_getTransactionReceipt", [sent])
    assert (receipt["status"], receipt["transactionHash"], receipt["type"]) == ("0x1", sent, "0x2")
    assert (receipt["from"], receipt["to"]) == (STRANGER.address.lower(), ground.venue.contracts.referral.lower())
    assert receipt["contractAddress"] is None
    (log,) = receipt["logs"]
    assert (log["address"], log["transactionHash"]) == (ground.venue.contracts.referral.lower(), sent)
    found = rpc.rpc("eth_getTransactionByHash", [sent])
    assert (found["hash"], found["from"], found["blockNumber"]) == (sent, receipt["from"], receipt["blockNumber"])
    assert int(found["maxPriorityFeePerGas"], 16) == PRIORITY_FEE


@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas"])
def test_a_revert_has_code_3_and_its_data(ground: Ground, rpc: JsonRpc, method: str) -> None:
    data = encode_call(REFERRAL, "acceptCodeOwnership", code("HOUSE"))
    call = {"from": TREASURY, "to": ground.venue.contracts.referral, "data": "0x" + data.hex()}
    with pytest.raises(RpcFault, match="execution reverted: NotPendingOwner") as caught:
        rpc.rpc(method, [call, "latest"])
    error = caught.value.as_json()
    assert error["code"] == 3
    assert str(error["data"]).startswith("0x")
    assert len(str(error["data"])) == 10


def test_a_text_is_a_reason_too(ground: Ground, rpc: JsonRpc) -> None:
    data = encode_call(USDC, "mint", DESK, 1)
    with pytest.raises(RpcFault, match="execution reverted: ERC20: caller is not the minter"):
        rpc.rpc("eth_call", [{"to": ground.venue.contracts.usdc, "data": "0x" + data.hex()}])


def test_an_unknown_transaction_is_null(rpc: JsonRpc) -> None:
    assert rpc.rpc("eth_getTransactionReceipt", ["0x" + "ab" * 32]) is None
    assert rpc.rpc("eth_getTransactionByHash", ["0x" + "AB" * 32]) is None


@pytest.mark.parametrize(
    ("method", "params", "number"),
    [
        ("eth_accounts", [], -32601),
        ("evm_mine", [], -32601),
        ("eth_sendTransaction", [{}], -32601),
        ("eth_chainId", [1], -32602),
        ("eth_getBalance", [], -32602),
        ("eth_getBalance", ["0x12"], -32602),
        ("eth_getBalance", [TREASURY, "0x1"], -32602),
        ("eth_getBalance", [TREASURY, "earliest"], -32602),
        ("eth_getBalance", [None, "latest"], -32602),
        ("eth_call", ["0x", "latest"], -32602),
        ("eth_call", [{"data": "0x"}, "latest"], -32602),
        ("eth_call", [{"to": TREASURY, "data": "12"}, "latest"], -32602),
        ("eth_call", [{"to": TREASURY, "value": "12"}, "latest"], -32602),
        ("eth_call", [{"to": TREASURY, "value": "0x012"}, "latest"], -32602),
        ("eth_estimateGas", [{"to": TREASURY, "from": "me"}], -32602),
        ("eth_feeHistory", ["0x1"], -32602),
        ("eth_feeHistory", ["one", "latest"], -32602),
        ("eth_feeHistory", ["0x1", "0x0", []], -32602),
        ("eth_feeHistory", ["0x1", "latest", 5], -32602),
        ("eth_getTransactionReceipt", ["0x12"], -32602),
        ("eth_getTransactionReceipt", [5], -32602),
        ("eth_sendRawTransaction", ["0x"], -32000),
        ("eth_sendRawTransaction", ["0x02c0"], -32000),
        ("eth_sendRawTransaction", ["02c0"], -32602),
        ("eth_sendRawTransaction", [None], -32602),
    ],
)
def test_what_it_does_not_understand_is_an_error(rpc: JsonRpc, method: str, params: list[Any], number: int) -> None:
    with pytest.raises(RpcFault) as caught:
        rpc.rpc(method, params)
    assert caught.value.as_json()["code"] == number
