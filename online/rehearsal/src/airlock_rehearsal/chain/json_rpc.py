"""The rehearsal's JSON-RPC: the chain spoken to as a node. Source: the Ethereum JSON-RPC specification, EIP-1474."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any

from eth_utils.address import is_address, to_checksum_address

from airlock_rehearsal.chain.evm import CHAIN_ID, PRIORITY_FEE, EvmReceipt, EvmTransaction, Log, NotTaken, Reverted

if TYPE_CHECKING:
    from airlock_rehearsal.chain.embedded import EmbeddedEvm
    from airlock_rehearsal.chain.mempool import Mempool

_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})*", re.ASCII)
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_QUANTITY = re.compile(r"0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,63})", re.ASCII)
_BLOCKS = frozenset({"latest", "pending", "safe", "finalized"})
BLOCK_S = 2
UNKNOWN_METHOD, BAD_PARAMS, NOT_TAKEN, EXECUTION_REVERTED = -32601, -32602, -32000, 3


class RpcFault(Exception):
    """An error answer: its JSON-RPC ``code``, its message, and the data that a call reverted with."""

    def __init__(self, code: int, message: str, data: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data

    def as_json(self) -> dict[str, object]:
        """Return the ``error`` member of an answer."""
        extra = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": str(self), **extra}


class JsonRpc:
    """The methods that Airlock asks a node for, and no others.

    What is sent waits in the mempool; ``taken`` gets its hash, and returns the one that is told.
    """

    def __init__(self, evm: EmbeddedEvm, mempool: Mempool, taken: Callable[[str], str]) -> None:
        self._evm, self._mempool, self._taken = evm, mempool, taken
        self._methods: dict[str, Callable[..., Any]] = {
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

    def rpc(self, method: str, params: list[Any]) -> Any:
        """Return the ``result`` of a method. Raises ``RpcFault``: code 3 with data when a call reverts."""
        answer = self._methods.get(method)
        if answer is None:
            raise RpcFault(UNKNOWN_METHOD, f"the method {method[:80]} does not exist")
        try:
            signature(answer).bind(*params)
        except TypeError as error:
            raise RpcFault(BAD_PARAMS, f"{method} takes other parameters") from error
        try:
            return answer(*params)
        except Reverted as error:
            raise RpcFault(EXECUTION_REVERTED, f"execution reverted: {error.name}", _hex(error.data)) from error
        except NotTaken as error:
            raise RpcFault(NOT_TAKEN, str(error)) from error

    def _block(self, which: object, whole: object) -> dict[str, object] | None:
        """Return a block; before the newest is told, time passes as it does on a chain."""
        newest = self._evm.block_number()
        if which in _BLOCKS and self._evm.timestamp() - self._evm.block(newest).timestamp > BLOCK_S:
            self._evm.send_together([])
        number = self._number_of(which)
        if number is None:
            return None
        found = self._evm.block(number)
        told = [self._transaction(its) for its in found.hashes] if whole is True else list(found.hashes)
        return {"number": hex(number), "timestamp": hex(found.timestamp), "transactions": told}

    def _logs(self, asked: object) -> list[dict[str, Any]]:
        """Return the logs of a range of blocks that have these topics; other filters are not served."""
        if type(asked) is not dict or type(topics := asked.get("topics", [])) is not list:
            raise RpcFault(BAD_PARAMS, "a filter has topics")
        wanted = [topic if type(topic) is list else [topic] for topic in topics]
        first, last = (self._past(asked.get(name, "latest")) for name in ("fromBlock", "toBlock"))
        receipts = [
            self._evm.receipt(its) for number in range(first, last + 1) for its in self._evm.block(number).hashes
        ]
        logs = [log for found in receipts if found for log in _receipt_json(found)["logs"]]
        return [
            log
            for log in logs
            if len(log["topics"]) >= len(wanted)
            and all(topic in some for topic, some in zip(log["topics"], wanted, strict=False))
        ]

    def _number_of(self, which: object) -> int | None:
        """Return the number of a block, None for one that is not there yet. Every block is final at once."""
        newest = self._evm.block_number()
        number = newest if which in _BLOCKS else _quantity(which)
        return number if number <= newest else None

    def _count(self, account: object, which: object = "latest") -> str:
        owner = _account_at(account)
        if which not in ("latest", "pending"):
            return hex(self._evm.transaction_count(owner, self._past(which)))
        self._mempool.welcome(owner)
        return hex(self._mempool.transaction_count(owner, pending=which == "pending"))

    def _send(self, raw: object) -> str:
        return self._taken(self._mempool.send_raw(hex_bytes(raw)))

    def _called(self, call: object, which: object = "latest") -> str:
        block = None if which in _BLOCKS else self._past(which)
        return _hex(self._evm.call(*_call(call), block=block))

    def _past(self, which: object) -> int:
        number = self._number_of(which)
        if number is None:
            raise RpcFault(NOT_TAKEN, "header not found")
        return number

    def _fee_history(self, count: object, newest: object, percentiles: object) -> dict[str, object]:
        """Return the base fees of the newest block and of the one to come; no more is served."""
        if (count, newest, percentiles) != ("0x1", "latest", []):
            raise RpcFault(BAD_PARAMS, "only the latest block is served")
        newest_block = self._evm.block_number()
        fees = self._evm.block(newest_block).base_fee, self._evm.base_fee()
        return {"oldestBlock": hex(newest_block), "baseFeePerGas": list(map(hex, fees))}

    def _receipt(self, transaction_hash: object) -> dict[str, Any] | None:
        receipt = self._evm.receipt(_hash(transaction_hash))
        return None if receipt is None else _receipt_json(receipt)

    def _transaction(self, transaction_hash: object) -> dict[str, Any] | None:
        asked = _hash(transaction_hash)
        found = self._mempool.waiting(asked) or self._evm.transaction(asked)
        return None if found is None else _transaction_json(found, self._evm.receipt(asked))


_SENT = (
    "chainId=chain_id hash from=sender to nonce gas maxFeePerGas=max_fee_per_gas"
    " maxPriorityFeePerGas=max_priority_fee_per_gas value input=data"
)
_MINED = "blockHash=block_hash blockNumber=block_number"
_RECEIPT = (
    f"transactionHash=hash {_MINED} from=sender to contractAddress=contract status=ok gasUsed=gas_used"
    " effectiveGasPrice=gas_price"
)
"""What a node tells, each by its name there, and by the field here where that is another."""


def _told(record: object, names: str) -> dict[str, Any]:
    """Return these fields of a record, as a node tells them."""
    parts = (name.partition("=") for name in names.split())
    return {name: _value(getattr(record, field or name)) for name, _, field in parts}


def _value(value: Any) -> Any:
    """Return numbers and bytes in hex, accounts in lower case, null for an empty one."""
    if isinstance(value, tuple):
        return list(map(_value, value))
    if isinstance(value, int):
        return hex(value)
    return _hex(value) if isinstance(value, bytes) else value.lower() or None


def _transaction_json(sent: EvmTransaction, receipt: EvmReceipt | None) -> dict[str, Any]:
    """Return a transaction as a node tells of it; without a receipt it waits to be mined."""
    nowhere = {"blockHash": None, "blockNumber": None}
    where = _told(receipt, f"{_MINED} gasPrice=gas_price") if receipt else nowhere
    return {"type": "0x2"} | _told(sent, _SENT) | where


def _receipt_json(receipt: EvmReceipt) -> dict[str, Any]:
    logs = [_log_json(receipt, place, log) for place, log in enumerate(receipt.logs)]
    return {"type": "0x2"} | _told(receipt, _RECEIPT) | {"logs": logs}


def _log_json(receipt: EvmReceipt, place: int, log: Log) -> dict[str, Any]:
    where = _told(receipt, "blockNumber=block_number transactionHash=hash")
    return _told(log, "address topics data") | {"logIndex": hex(place), **where}


def _hex(data: bytes) -> str:
    return "0x" + data.hex()


def _matched(value: object, form: re.Pattern[str], what: str) -> str:
    if type(value) is not str or not form.fullmatch(value):
        raise RpcFault(BAD_PARAMS, f"not {what}")
    return value


def hex_bytes(value: object) -> bytes:
    """Read bytes in hex. Raises ``RpcFault``."""
    return bytes.fromhex(_matched(value, _HEX, "bytes in 0x-hex")[2:])


def _hash(value: object) -> str:
    """Read a transaction's hash. Raises ``RpcFault``."""
    return _matched(value, _HASH, "a hash of 32 bytes").lower()


def _quantity(value: object) -> int:
    return int(_matched(value, _QUANTITY, "a quantity in 0x-hex"), 16)


def _account_at(account: object) -> str:
    """Read an account. Raises ``RpcFault``."""
    if not (type(account) is str and is_address(account)):
        raise RpcFault(BAD_PARAMS, "not an address")
    return str(to_checksum_address(account))


def _call(call: object) -> tuple[str, str, bytes, int]:
    if type(call) is not dict:
        raise RpcFault(BAD_PARAMS, "a call is an object")
    sender = call.get("from", "0x" + "00" * 20)
    data = call.get("input", call.get("data", "0x"))
    return (
        _account_at(sender),
        _account_at(call.get("to")),
        hex_bytes(data),
        _quantity(call.get("value", "0x0")),
    )
