"""The operator's node of a rehearsal: JSON-RPC 2.0 at ``POST /rpc``. Everything that it says comes from the chain.

Source: the Ethereum execution API (method names, quantities in hex); a call that reverts is error 3 with its data, as nodes
answer it, and a transaction that is not taken is error -32000.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from eth_utils.crypto import keccak
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_online.rehearsal.services.chain import BASE_FEE, BLOCK_GAS, PRIORITY_FEE, NotTaken, Receipt
from airlock_online.rehearsal.services.envelope import Json, Rejected, parse_object
from airlock_online.rehearsal.services.json_rpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    NO_METHOD,
    REVERTED,
    SERVER,
    UNREADABLE,
    Fault,
    Params,
    account,
    block_tag,
    call_of,
    hex_data,
    quantity,
    transaction_hash,
)
from airlock_online.rehearsal.services.keeper import settle
from airlock_online.rehearsal.services.raw_transaction import hash_of
from airlock_online.rehearsal.services.reverts import Reverted
from airlock_online.rehearsal.services.runtime import Runtime
from airlock_online.rehearsal.services.transport import another_hash, guarded

MOST_BLOCKS = 1024
"""How many blocks a fee history may have."""

Method = Callable[[Runtime, Params], object]


def _count(runtime: Runtime, params: Params) -> object:
    pending = block_tag(params, 1) == "pending"
    return hex(runtime.chain.transaction_count(account(params[0], "address"), pending=pending))


def _balance(runtime: Runtime, params: Params) -> object:
    block_tag(params, 1)
    return hex(runtime.chain.balance(account(params[0], "address")))


def _fee_history(runtime: Runtime, params: Params) -> object:
    given = params[0]
    blocks = given if type(given) is int else quantity(given, "blockCount")
    block_tag(params, 1)
    percentiles = params[2] if len(params) > 2 else []
    if not isinstance(percentiles, list) or not 1 <= blocks <= MOST_BLOCKS or len(percentiles) > 100:
        raise Fault(INVALID_PARAMS, f"1 to {MOST_BLOCKS} blocks and up to 100 percentiles")
    return {
        "oldestBlock": hex(runtime.chain.block_number() - blocks + 1),
        "baseFeePerGas": [hex(BASE_FEE)] * (blocks + 1),
        "gasUsedRatio": [0.5] * blocks,
        "reward": [[hex(PRIORITY_FEE)] * len(percentiles)] * blocks,
    }


def _call(runtime: Runtime, params: Params) -> object:
    block_tag(params, 1)
    return "0x" + runtime.chain.call(*call_of(params)).hex()


def _estimate(runtime: Runtime, params: Params) -> object:
    return hex(runtime.chain.estimate(*call_of(params)))


def _send(runtime: Runtime, params: Params) -> object:
    sent = runtime.chain.send_raw(hex_data(params[0], "the transaction"))
    runtime.spawn(settle(runtime, sent, "rpc", runtime.faults))
    wrong = runtime.faults.has("wrong-hash", "rpc")
    return another_hash(sent) if wrong else sent


def _block_hash(number: int) -> str:
    return "0x" + bytes(keccak(b"airlock rehearsal block %d" % number)).hex()


def _block(runtime: Runtime, params: Params) -> object:
    block_tag(params, 0)
    number = runtime.chain.block_number()
    return {
        "number": hex(number),
        "hash": _block_hash(number),
        "parentHash": _block_hash(number - 1),
        "timestamp": hex(runtime.world.now_s),
        "baseFeePerGas": hex(BASE_FEE),
        "gasLimit": hex(BLOCK_GAS),
        "gasUsed": "0x0",
        "transactions": [],
    }


def _receipt(runtime: Runtime, params: Params) -> object:
    receipt = runtime.chain.receipt(transaction_hash(params))
    return None if receipt is None else _as_json(receipt)


def _as_json(receipt: Receipt) -> dict[str, object]:
    return {
        "transactionHash": receipt.hash,
        "transactionIndex": "0x0",
        "blockHash": _block_hash(receipt.block_number),
        "blockNumber": hex(receipt.block_number),
        "from": receipt.sender.lower(),
        "to": receipt.to.lower(),
        "contractAddress": None,
        "status": hex(receipt.ok),
        "gasUsed": hex(receipt.gas_used),
        "cumulativeGasUsed": hex(receipt.gas_used),
        "effectiveGasPrice": hex(BASE_FEE + PRIORITY_FEE),
        "logs": [],
        "logsBloom": "0x" + "00" * 256,
        "type": "0x2",
    }


def _transaction(runtime: Runtime, params: Params) -> object:
    transaction = runtime.chain.transaction(transaction_hash(params))
    if transaction is None:
        return None
    receipt = runtime.chain.receipt(transaction.hash)
    return {
        "hash": transaction.hash,
        "from": transaction.sender.lower(),
        "to": transaction.to.lower(),
        "input": "0x" + transaction.data.hex(),
        "value": hex(transaction.value),
        "nonce": hex(transaction.nonce),
        "gas": hex(transaction.gas),
        "maxFeePerGas": hex(transaction.max_fee_per_gas),
        "maxPriorityFeePerGas": hex(transaction.max_priority_fee_per_gas),
        "chainId": hex(transaction.chain_id),
        "type": "0x2",
        "blockNumber": hex(receipt.block_number) if receipt else None,
        "blockHash": _block_hash(receipt.block_number) if receipt else None,
    }


METHODS: dict[str, tuple[int, Method]] = {
    "eth_chainId": (0, lambda runtime, _: hex(runtime.chain.chain_id)),
    "eth_blockNumber": (0, lambda runtime, _: hex(runtime.chain.block_number())),
    "eth_getBlockByNumber": (1, _block),
    "eth_gasPrice": (0, lambda _, __: hex(BASE_FEE + PRIORITY_FEE)),
    "eth_maxPriorityFeePerGas": (0, lambda _, __: hex(PRIORITY_FEE)),
    "eth_feeHistory": (2, _fee_history),
    "eth_getBalance": (1, _balance),
    "eth_getTransactionCount": (1, _count),
    "eth_call": (1, _call),
    "eth_estimateGas": (1, _estimate),
    "eth_sendRawTransaction": (1, _send),
    "eth_getTransactionReceipt": (1, _receipt),
    "eth_getTransactionByHash": (1, _transaction),
}
"""The methods: how many parameters each needs, and what answers."""


def answer(runtime: Runtime, request: dict[str, object]) -> object:
    """Return the result of a request. Raises ``Fault``."""
    name, params = request.get("method"), request.get("params", [])
    if request.get("jsonrpc") != "2.0" or not isinstance(request.get("id"), int | str) or not isinstance(name, str):
        raise Fault(INVALID_REQUEST, "not a JSON-RPC 2.0 request")
    if name not in METHODS:
        raise Fault(NO_METHOD, f"the method {name[:80]} does not exist/is not available")
    needed, method = METHODS[name]
    if not isinstance(params, list) or len(params) < needed:
        raise Fault(INVALID_PARAMS, f"{name} needs a list of {needed} parameters or more")
    try:
        return method(runtime, params)
    except NotTaken as error:
        raise Fault(SERVER, str(error)) from error
    except Reverted as error:
        raise Fault(REVERTED, f"execution reverted: {error.decoded}", "0x" + error.data.hex()) from error


def hash_in(body: bytes) -> str:
    """Return the hash of the transaction that a request sends, by which it is counted; empty when it sends none."""
    try:
        request = parse_object(body)
    except Rejected:
        return ""
    if request.get("method") != "eth_sendRawTransaction":
        return ""
    try:
        return hash_of(hex_data(cast("Params", request["params"])[0], "the transaction"))
    except (Fault, KeyError, IndexError, TypeError):
        return "unreadable"


def rpc_route(runtime: Runtime) -> Route:
    """Return the node's one route."""

    async def handler(request: Request) -> Response:
        reply: dict[str, object] = {"jsonrpc": "2.0", "id": None}
        try:
            asked = parse_object(await request.body())
            if isinstance(asked.get("id"), int | str):
                reply["id"] = asked["id"]
            reply["result"] = answer(runtime, asked)
        except Rejected as error:
            reply["error"] = {"code": UNREADABLE, "message": str(error.message)}
        except Fault as error:
            reply["error"] = {"code": error.code, "message": str(error)} | ({"data": error.data} if error.data else {})
        return Json(reply)

    return Route("/rpc", guarded(runtime, "rpc", handler, key_of=hash_in), methods=["POST"])
