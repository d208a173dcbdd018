"""The operator's node of a rehearsal: JSON-RPC 2.0 at ``POST /rpc``. Everything that it says comes from the chain.

What is sent waits in the mempool first; everything else is answered by ``JsonRpc`` over the chain itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.chain.evm import NotTaken
from airlock_rehearsal.chain.json_rpc import NOT_TAKEN, JsonRpc, RpcFault, account_at, hex_bytes, hex_hash
from airlock_rehearsal.services.envelope import Json, Rejected, parse_object
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import another_hash, guarded
from airlock_rehearsal.services.venue.keeper import settle
from airlock_rehearsal.services.venue.raw_transaction import hash_of

UNREADABLE, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
Params = list[Any]


class Node:
    """The chain with its mempool in front."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._chain = JsonRpc(runtime.state.venue.evm)
        self._before: dict[str, Callable[[Params], object]] = {  # None: the chain answers
            "eth_getTransactionCount": self._count,
            "eth_getBalance": self._balance,
            "eth_sendRawTransaction": self._send,
            "eth_getTransactionByHash": self._transaction,
        }

    def answer(self, request: dict[str, object]) -> object:
        """Return the result of a request. Raises ``RpcFault``."""
        method, params = request.get("method"), request.get("params", [])
        identified = isinstance(request.get("id"), int | str)
        if request.get("jsonrpc") != "2.0" or not identified or not isinstance(method, str):
            raise RpcFault(INVALID_REQUEST, "not a JSON-RPC 2.0 request with an id")
        if not isinstance(params, list):
            raise RpcFault(INVALID_PARAMS, "the parameters are no list")
        if params and (answer := self._before.get(method)) and (found := answer(params)) is not None:
            return found
        return self._chain.rpc(method, params)

    def _count(self, params: Params) -> object:
        account = account_at(*params[:1])
        if params[1:] and params[1] not in ("latest", "pending"):
            return None
        self._runtime.mempool.welcome(account)
        return hex(self._runtime.mempool.transaction_count(account, pending="pending" in params))

    def _balance(self, params: Params) -> object:
        self._runtime.mempool.welcome(account_at(*params[:2]))
        return None

    def _send(self, params: Params) -> object:
        runtime = self._runtime
        try:
            sent = runtime.mempool.send_raw(hex_bytes(params[0]))
        except NotTaken as error:
            raise RpcFault(NOT_TAKEN, str(error)) from error
        runtime.spawn(settle(runtime, sent, "rpc", runtime.faults))
        return another_hash(sent) if runtime.faults.has("wrong-hash", "rpc") else sent

    def _transaction(self, params: Params) -> object:
        waiting = self._runtime.mempool.waiting(hex_hash(params[0]))
        if waiting is None:
            return None
        return {
            "type": "0x2",
            "chainId": hex(waiting.chain_id),
            "hash": waiting.hash,
            "blockHash": None,
            "blockNumber": None,
            "from": waiting.sender.lower(),
            "to": waiting.to.lower(),
            "nonce": hex(waiting.nonce),
            "gas": hex(waiting.gas),
            "maxFeePerGas": hex(waiting.max_fee_per_gas),
            "maxPriorityFeePerGas": hex(waiting.max_priority_fee_per_gas),
            "value": hex(waiting.value),
            "input": "0x" + waiting.data.hex(),
        }


def hash_in(body: bytes) -> str:
    """Return the hash of the transaction that a request sends, by which it is counted; empty when it sends none."""
    try:
        request = parse_object(body)
    except Rejected:
        return ""
    if request.get("method") != "eth_sendRawTransaction":
        return ""
    try:
        return hash_of(hex_bytes(cast("Params", request["params"])[0]))
    except (RpcFault, KeyError, IndexError, TypeError):
        return "unreadable"


def rpc_route(runtime: Runtime) -> Route:
    """Return the node's one route."""
    node = Node(runtime)

    async def handler(request: Request) -> Response:
        reply: dict[str, object] = {"jsonrpc": "2.0", "id": None}
        try:
            asked = parse_object(await request.body())
            if isinstance(asked.get("id"), int | str):
                reply["id"] = asked["id"]
            reply["result"] = node.answer(asked)
        except Rejected as error:
            reply["error"] = {"code": UNREADABLE, "message": str(error.message)}
        except RpcFault as error:
            reply["error"] = error.as_json()
        return Json(reply)

    return Route("/rpc", guarded(runtime, "rpc", handler, key_of=hash_in), methods=["POST"])
