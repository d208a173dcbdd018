"""The operator's node of a rehearsal: JSON-RPC 2.0 at ``POST /rpc``. Everything that it says comes from the chain.

What is sent waits in the mempool first; everything else is as ``JsonRpc`` has it of the chain itself.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.chain.json_rpc import (
    BAD_PARAMS,
    JsonRpc,
    RpcFault,
    account_at,
    hex_bytes,
    hex_hash,
    transaction_json,
)
from airlock_rehearsal.services.envelope import Json, Read, Refused, parse_object
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import served, told_hash
from airlock_rehearsal.services.venue.mempool import hash_of, settle

UNREADABLE, INVALID_REQUEST = -32700, -32600


class Node(JsonRpc):
    """The chain with its mempool in front."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime.state.venue.evm)
        self._runtime, self._mempool = runtime, runtime.mempool

    def answer(self, request: Read) -> object:
        """Return the result of a request. Raises ``RpcFault``."""
        method, params = request.get("method"), request.get("params", [])
        if (
            request.get("jsonrpc") != "2.0"
            or not isinstance(request.get("id"), int | str)
            or not isinstance(method, str)
        ):
            raise RpcFault(INVALID_REQUEST, "not a JSON-RPC 2.0 request with an id")
        if not isinstance(params, list):
            raise RpcFault(BAD_PARAMS, "the parameters are no list")
        return self.rpc(method, params)

    def _count(self, account: object, which: object = "latest") -> str:
        if which not in ("latest", "pending"):
            return super()._count(account, which)
        self._mempool.welcome(owner := account_at(account))
        return hex(self._mempool.transaction_count(owner, pending=which == "pending"))

    def _balance(self, *asked: object) -> str:
        self._mempool.welcome(account_at(*asked))
        return super()._balance(*asked)

    def _send(self, raw: object) -> str:
        sent = self._mempool.send_raw(hex_bytes(raw))
        self._runtime.spawn(settle(self._runtime, sent, "rpc", self._runtime.faults))
        return told_hash(self._runtime, "rpc", sent)

    def _transaction(self, transaction_hash: object) -> dict[str, Any] | None:
        waiting = self._mempool.waiting(hex_hash(transaction_hash))
        return super()._transaction(transaction_hash) if waiting is None else transaction_json(waiting)


def _hash_in(request: Read) -> str:
    """Return the hash of the transaction that a request sends, by which it is counted; empty when it sends none."""
    if request.get("method") != "eth_sendRawTransaction":
        return ""
    try:
        return hash_of(hex_bytes(request["params"][0]))
    except (RpcFault, KeyError, IndexError, TypeError) as error:
        raise Refused("no raw transaction") from error


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
        except Refused as error:
            reply["error"] = {"code": UNREADABLE, "message": str(error.message)}
        except RpcFault as error:
            reply["error"] = error.as_json()
        return Json(reply)

    return served(runtime, "rpc", "POST /rpc", handler, key_of=_hash_in)
