"""Anvil as a second chain for the contracts: what the rehearsal's own chain is held against, over JSON-RPC.

It has an unlocked account with funds, and the methods ``evm_setNextBlockTimestamp``, ``evm_setAutomine``, ``evm_mine``,
``anvil_dropAllTransactions`` and ``anvil_setCode``. The clock is given to it, as to the rehearsal's chain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count as counting
from typing import Any

from eth_utils.address import to_checksum_address

from airlock_online.clients.http import Http, HttpCall
from airlock_rehearsal.chain.evm import (
    EvmBlock,
    EvmReceipt,
    EvmTransaction,
    Log,
    NotTaken,
    Reverted,
)
from airlock_rehearsal.chain.interface import reverted
from airlock_shared.errors import DocumentError, ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.wire.strict_json import parse_json

MAX_REPLY_BYTES = 8 << 20
_REVERTED = 3  # JSON-RPC error code of a call that reverted, its data beside it


class _RpcError(ServiceError):
    def __init__(self, number: object, message: str, data: object) -> None:
        super().__init__(message, do="read the node's output")
        self.number = number
        self.data = data


class NodeEvm:
    """A chain behind a URL. ``now_s`` is the clock: unix seconds. Raises as the rehearsal's does, and ``ServiceError``."""

    def __init__(self, url: str, http: Http, now_s: Callable[[], int]) -> None:
        self._url, self._http, self._now_s = url, http, now_s
        self._ids = counting(1)

    def block_number(self) -> int:
        """Return the number of the latest block."""
        return self._number("eth_blockNumber")

    def block(self, number: int) -> EvmBlock:
        """Return a block that is there."""
        found = self._ask("eth_getBlockByNumber", hex(number), False)
        return EvmBlock(_integer(found["timestamp"]), tuple(str(h).lower() for h in found["transactions"]))

    def timestamp(self) -> int:
        """Return the unix second at which a block would be made now."""
        return max(self._now_s(), _integer(self._ask("eth_getBlockByNumber", "latest", False)["timestamp"]) + 1)

    def balance(self, account: str) -> int:
        """Return an account's wei."""
        return self._number("eth_getBalance", account, "latest")

    def transaction_count(self, account: str, block: int | None = None) -> int:
        """Return the account's next nonce, now or after a block."""
        return self._number("eth_getTransactionCount", account, "latest" if block is None else hex(block))

    def code(self, account: str) -> bytes:
        """Return a contract's code."""
        return _bytes(self._ask("eth_getCode", account, "latest"))

    def base_fee(self) -> int:
        """Return the next block's base fee, in wei a gas."""
        return _integer(self.fee_history(1)["baseFeePerGas"][-1])

    def fee_history(self, count: int) -> dict[str, Any]:
        """Return the fees of the latest blocks, ``count`` at most, as ``eth_feeHistory`` tells them."""
        told = self._ask("eth_feeHistory", hex(count), "latest", [])
        return {name: told[name] for name in ("oldestBlock", "baseFeePerGas", "gasUsedRatio")}

    def call(self, sender: str, to: str, data: bytes, value: int = 0, *, block: int | None = None) -> bytes:
        """Return what a call would return now, or after a block, changing nothing. Raises ``Reverted``."""
        return _bytes(self._simulated("eth_call", sender, to, data, value, block))

    def estimate_gas(self, sender: str, to: str, data: bytes, value: int = 0) -> int:
        """Return the gas that the node estimates and a quarter more. Raises ``Reverted``."""
        used = _integer(self._simulated("eth_estimateGas", sender, to, data, value))
        return used + used // 4

    def _simulated(
        self, method: str, sender: str, to: str, data: bytes, value: int, block: int | None = None
    ) -> object:
        asked = {"from": sender, "to": to, "data": "0x" + data.hex(), "value": hex(value), "gasPrice": "0x0"}
        if block is None:
            self._set_clock()
        try:
            return self._ask(method, asked, "pending" if block is None else hex(block))
        except _RpcError as error:
            raise _reverted(error) from error

    def send_raw_transaction(self, raw: bytes) -> str:
        """Mine a signed transaction, reverting or not; return its hash. Raises ``NotTaken``."""
        return self.send_together([raw])[0]

    def send_together(self, raws: Sequence[bytes]) -> list[str]:
        """Mine signed transactions in one block; return their hashes. Raises ``NotTaken``."""
        with self._one_block():
            hashes = [self._sent(raw) for raw in raws]
        for transaction_hash in hashes:
            if self._ask("eth_getTransactionReceipt", transaction_hash) is None:
                self._ask("anvil_dropAllTransactions")
                raise NotTaken("not mined: its nonce is too high, or the block is full")
        return hashes

    @contextmanager
    def _one_block(self) -> Iterator[None]:
        """Mine what is sent within, and nothing before: a node that mines by itself answers before it has mined."""
        self._set_clock()
        self._ask("evm_setAutomine", False)
        try:
            yield
            self._ask("evm_mine")
        finally:
            self._ask("evm_setAutomine", True)

    def _sent(self, raw: bytes) -> str:
        try:
            return str(self._ask("eth_sendRawTransaction", "0x" + raw.hex())).lower()
        except _RpcError as error:
            raise NotTaken(error.what) from error

    def _set_clock(self) -> None:
        self._ask("evm_setNextBlockTimestamp", hex(self.timestamp()))

    def receipt(self, transaction_hash: str) -> EvmReceipt | None:
        """Return what became of a transaction; ``None`` when it is unknown. What it reverted with is simulated again."""
        found = self._ask("eth_getTransactionReceipt", transaction_hash)
        if found is None:
            return None
        ok = _integer(found["status"]) == 1
        return EvmReceipt(
            str(found["transactionHash"]).lower(), _address(found["from"]), _address(found["to"]),
            _address(found["contractAddress"]), _integer(found["blockNumber"]), str(found["blockHash"]).lower(), ok,
            _integer(found["gasUsed"]), _integer(found["effectiveGasPrice"]), tuple(map(_log, found["logs"])),
            b"" if ok else self._revert_of(transaction_hash),
        )  # fmt: skip

    def _revert_of(self, transaction_hash: str) -> bytes:
        mined = self._ask("eth_getTransactionByHash", transaction_hash)
        names = {"from": "from", "to": "to", "data": "input", "value": "value", "gas": "gas"}
        before = hex(_integer(mined["blockNumber"]) - 1)
        try:
            self._ask("eth_call", {name: mined[of] for name, of in names.items()}, before)
        except _RpcError as error:
            return _reverted(error).data
        return b""

    def transaction(self, transaction_hash: str) -> EvmTransaction | None:
        """Return a transaction; ``None`` when it is unknown."""
        found = self._ask("eth_getTransactionByHash", transaction_hash)
        if found is None:
            return None
        return EvmTransaction(
            str(found["hash"]).lower(), _address(found["from"]), _address(found["to"]), _integer(found["nonce"]),
            _integer(found["gas"]), _integer(found["maxFeePerGas"]), _integer(found["maxPriorityFeePerGas"]),
            _integer(found["value"]), _bytes(found["input"]), _integer(found["chainId"]),
        )  # fmt: skip

    def fund(self, account: str, wei: int) -> None:
        """Give an account wei, for gas, from the node's first unlocked account."""
        faucet = self._ask("eth_accounts")[0]
        with self._one_block():
            self._ask("eth_sendTransaction", {"from": faucet, "to": account, "value": hex(wei), "gas": hex(21_000)})

    def _number(self, method: str, *params: object) -> int:
        return _integer(self._ask(method, *params))

    def _ask(self, method: str, *params: object) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}).encode()
        reply = self._http.exchange(HttpCall("POST", self._url, body=body), max_bytes=MAX_REPLY_BYTES)
        try:
            document = parse_json(reply.body)
        except DocumentError as error:
            raise ServiceError(f"the node's answer to {method} is not JSON", do="check what listens there") from error
        if type(document) is not dict or not ("result" in document or type(document.get("error")) is dict):
            raise ServiceError(f"the node's answer to {method} is not JSON-RPC", do="check what listens there")
        if "result" in document:
            return document["result"]
        told = document["error"]
        raise _RpcError(told.get("code"), safe(str(told.get("message")), limit=500), told.get("data"))


def _reverted(error: _RpcError) -> Reverted:
    if error.number != _REVERTED:
        return Reverted(error.what, b"")
    return reverted(_bytes(error.data) if type(error.data) is str else b"")


def _integer(value: object) -> int:
    return int(str(value), 16)


def _bytes(value: object) -> bytes:
    return bytes.fromhex(str(value)[2:])


def _address(value: object) -> str:
    return str(to_checksum_address(str(value))) if value else ""


def _log(log: dict[str, Any]) -> Log:
    return Log(_address(log["address"]), tuple(map(_bytes, log["topics"])), _bytes(log["data"]))
