"""The operator's node of a rehearsal: JSON-RPC 2.0 at ``POST /rpc``, with the methods that Airlock asks for and no others.

Everything that it says comes from the chain, and every block is final at once. What is sent waits in the mempool. Sources:
the Ethereum JSON-RPC specification, EIP-1474.
"""

from __future__ import annotations

from collections.abc import Callable

from eth_utils.address import to_canonical_address, to_checksum_address
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.chain.evm import CHAIN_ID, PRIORITY_FEE, EvmReceipt, EvmTransaction, NotTaken, Reverted
from airlock_rehearsal.chain.mempool import hash_of
from airlock_rehearsal.services.envelope import Json, Read, Refused, parse_object
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import served, told_hash
from airlock_rehearsal.services.venue.settlement import settle

_BLOCKS = frozenset({"latest", "pending", "safe", "finalized"})
_BLOCK_S = 2
_UNREADABLE, _INVALID_REQUEST, _UNKNOWN_METHOD, _BAD_PARAMETERS = -32700, -32600, -32601, -32602
_NOT_TAKEN, _EXECUTION_REVERTED = -32000, 3


class _Node:
    """The methods of a node, each by its parameters as they came; what they raise, ``answer`` turns into an error."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime, self._mempool = runtime, runtime.mempool
        self._evm = evm = runtime.state.evm
        self._methods: dict[str, Callable[..., object]] = {
            "eth_chainId": lambda: hex(CHAIN_ID),
            "eth_blockNumber": lambda: hex(evm.block_number()),
            "eth_maxPriorityFeePerGas": lambda: hex(PRIORITY_FEE),
            "eth_feeHistory": self._fee_history,
            "eth_getBlockByNumber": self._block,
            "eth_getLogs": self._logs,
            "eth_getTransactionCount": self._count,
            "eth_call": self._called,
            "eth_estimateGas": lambda call: hex(evm.estimate_gas(*_call(call))),
            "eth_sendRawTransaction": self._send,
            "eth_getTransactionReceipt": self._receipt,
            "eth_getTransactionByHash": self._transaction,
        }

    def answer(self, asked: Read) -> dict[str, object]:
        """Return the ``result`` of a request, or its ``error``."""
        method, params = asked.get("method"), asked.get("params")
        if asked.get("jsonrpc") != "2.0" or not isinstance(asked.get("id"), int | str) or not isinstance(params, list):
            return _error(_INVALID_REQUEST, "not a JSON-RPC 2.0 request with an id and a list of parameters")
        if method not in self._methods:
            return _error(_UNKNOWN_METHOD, f"the method {str(method)[:80]} does not exist")
        try:
            return {"result": self._methods[method](*params)}
        except Reverted as error:
            return _error(_EXECUTION_REVERTED, f"execution reverted: {error.name}", data=_hex(error.data))
        except NotTaken as error:
            return _error(_NOT_TAKEN, str(error))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            return _error(_BAD_PARAMETERS, f"{method} takes other parameters: {error}")

    def _block(self, which: str, whole: bool) -> dict[str, object] | None:
        """Return a block; before the newest is told, time passes as it does on a chain."""
        newest = self._evm.block(self._evm.block_number()).header
        if which in _BLOCKS and self._evm.timestamp() - newest.timestamp > _BLOCK_S:
            self._evm.send_together([])
        number = self._number_of(which)
        if number is None:
            return None
        header, hashes = self._evm.block(number)
        told = list(map(self._transaction, hashes)) if whole else hashes
        return {"number": hex(number), "timestamp": hex(header.timestamp), "transactions": told}

    def _logs(self, asked: Read) -> list[dict[str, object]]:
        """Return the logs of a range of blocks that have these topics; other filters are not served."""
        wanted = [topic if isinstance(topic, list) else [topic] for topic in asked["topics"]]
        first, last = (self._past(asked[name]) for name in ("fromBlock", "toBlock"))
        receipts = [
            self._evm.receipt(its) for number in range(first, last + 1) for its in self._evm.block(number).hashes
        ]
        return [
            told
            for receipt in receipts
            if receipt
            for told, log in zip(_logs_json(receipt), receipt.logs, strict=True)
            if len(log.topics) >= len(wanted)
            and all(_hex(topic) in some for topic, some in zip(log.topics, wanted, strict=False))
        ]

    def _number_of(self, which: str) -> int | None:
        """Return the number of a block, None for one that is not there yet."""
        newest = self._evm.block_number()
        number = newest if which in _BLOCKS else int(which, 16)
        return number if number <= newest else None

    def _past(self, which: str) -> int:
        number = self._number_of(which)
        if number is None:
            raise NotTaken("header not found")
        return number

    def _count(self, account: str, which: str) -> str:
        owner = to_canonical_address(account)
        if which not in ("latest", "pending"):
            return hex(self._evm.transaction_count(owner, self._past(which)))
        self._mempool.welcome(owner)
        return hex(self._mempool.transaction_count(owner, pending=which == "pending"))

    def _send(self, raw: str) -> str:
        sent = self._mempool.send_raw(_bytes(raw))
        self._runtime.spawn(settle(self._runtime, sent, "rpc", self._runtime.faults))
        return told_hash(self._runtime, "rpc", sent)

    def _called(self, call: Read, which: str) -> str:
        block = None if which in _BLOCKS else self._past(which)
        return _hex(self._evm.call(*_call(call), block=block))

    def _fee_history(self, count: str, newest: str, percentiles: list[object]) -> dict[str, object]:
        """Return the base fees of the newest block and of the one to come; no more is served."""
        if (count, newest, percentiles) != ("0x1", "latest", []):
            raise ValueError("only the latest block is served")
        number = self._evm.block_number()
        fees = self._evm.block(number).header.base_fee_per_gas, self._evm.base_fee()
        return {"oldestBlock": hex(number), "baseFeePerGas": list(map(hex, fees))}

    def _receipt(self, transaction_hash: str) -> dict[str, object] | None:
        receipt = self._evm.receipt(transaction_hash)
        if receipt is None:
            return None
        return _mined(receipt) | {"status": hex(receipt.ok), "logs": _logs_json(receipt)}

    def _transaction(self, transaction_hash: str) -> dict[str, object] | None:
        found = self._mempool.waiting(transaction_hash) or self._evm.transaction(transaction_hash)
        return None if found is None else _transaction_json(found)


def _error(code: int, message: str, **data: str) -> dict[str, object]:
    return {"error": {"code": code, "message": message, **data}}


def _transaction_json(sent: EvmTransaction) -> dict[str, object]:
    accounts = {"from": _hex(sent.sender), "to": _hex(sent.to) if sent.to else None}
    return {"hash": _hex(sent.hash), **accounts, "nonce": hex(sent.nonce), "input": _hex(sent.data)}


def _mined(receipt: EvmReceipt) -> dict[str, object]:
    return {"transactionHash": receipt.hash, "blockNumber": hex(receipt.block_number)}


def _logs_json(receipt: EvmReceipt) -> list[dict[str, object]]:
    return [
        {
            "address": log.address.lower(),
            "topics": list(map(_hex, log.topics)),
            "data": _hex(log.data),
            **_mined(receipt),
        }
        for log in receipt.logs
    ]


def _hex(data: bytes) -> str:
    return "0x" + data.hex()


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


def _call(call: Read) -> tuple[str, str, bytes, int]:
    sender, to = (str(to_checksum_address(call[name])) for name in ("from", "to"))
    return sender, to, _bytes(call["data"]), int(call["value"], 16)


def _hash_in(request: Read) -> str:
    """Return the hash of the transaction that a request sends, by which it is counted; empty when it sends none."""
    return hash_of(_bytes(request["params"][0])) if request["method"] == "eth_sendRawTransaction" else ""


def rpc_route(runtime: Runtime) -> Route:
    """Return the node's one route."""
    node = _Node(runtime)

    async def handler(request: Request) -> Response:
        reply: dict[str, object] = {"jsonrpc": "2.0", "id": None}
        try:
            asked = parse_object(await request.body())
        except Refused as error:
            return Json(reply | _error(_UNREADABLE, str(error)))
        return Json(reply | {"id": asked.get("id")} | node.answer(asked))

    return served(runtime, "rpc", "POST /rpc", handler, key_of=_hash_in)
