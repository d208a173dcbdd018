"""The operator's node of a rehearsal: JSON-RPC 2.0 at ``POST /rpc``. Everything that it says comes from the chain."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.chain.json_rpc import BAD_PARAMS, JsonRpc, RpcFault, hex_bytes
from airlock_rehearsal.chain.mempool import hash_of
from airlock_rehearsal.services.envelope import Json, Read, Refused, parse_object
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import served, told_hash
from airlock_rehearsal.services.venue.settlement import settle

UNREADABLE, INVALID_REQUEST = -32700, -32600


def _answered(node: JsonRpc, request: Read) -> object:
    """Return the result of a request. Raises ``RpcFault``."""
    method, params = request.get("method"), request.get("params", [])
    if request.get("jsonrpc") != "2.0" or not isinstance(request.get("id"), int | str) or not isinstance(method, str):
        raise RpcFault(INVALID_REQUEST, "not a JSON-RPC 2.0 request with an id")
    if not isinstance(params, list):
        raise RpcFault(BAD_PARAMS, "the parameters are no list")
    return node.rpc(method, params)


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

    def taken(sent: str) -> str:
        runtime.spawn(settle(runtime, sent, "rpc", runtime.faults))
        return told_hash(runtime, "rpc", sent)

    node = JsonRpc(runtime.state.venue.evm, runtime.mempool, taken)

    async def handler(request: Request) -> Response:
        reply: dict[str, object] = {"jsonrpc": "2.0", "id": None}
        try:
            asked = parse_object(await request.body())
            if isinstance(asked.get("id"), int | str):
                reply["id"] = asked["id"]
            reply["result"] = _answered(node, asked)
        except Refused as error:
            reply["error"] = {"code": UNREADABLE, "message": str(error.message)}
        except RpcFault as error:
            reply["error"] = error.as_json()
        return Json(reply)

    return served(runtime, "rpc", "POST /rpc", handler, key_of=_hash_in)
