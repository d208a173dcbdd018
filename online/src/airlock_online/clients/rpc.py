"""The client of the operator's own node: JSON-RPC 2.0 over HTTP, one POST an ask, nothing ever asked twice.

The node is believed in what it counts (nonce, gas, fees), which the checks bound, and in nothing that is signed. Its
address may hold an access key in its path or query, so that messages name the host alone. Sources: the JSON-RPC 2.0
specification; the Ethereum execution API (``eth_…`` methods, "quantity" encoding); EIP-1559.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_online.addresses import http_address
from airlock_online.clients.connection import MAX_JSON_BYTES, HttpCall, NotSent, Reply, is_hash, json_of, unexpected
from airlock_online.secrets import keep_secret
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.ethereum.signatures import checksum_address, keccak256
from airlock_shared.text.safe import safe
from airlock_shared.wire.strict_json import JsonObject

if TYPE_CHECKING:
    from airlock_online.clients.http import Http
    from airlock_shared.documents.deployment import Deployment

MAX_REPLY_BYTES = 2 << 20
MAX_LOGS = 1000
BASE_FEE_BLOCKS = 2
"""``maxFeePerGas`` covers a base fee that doubles: six full blocks in a row raise it by 12.5 % each (EIP-1559)."""

_QUANTITY = re.compile(r"0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,63})", re.ASCII)
_BYTES = re.compile(r"0x(?:[0-9a-fA-F]{2})*", re.ASCII)
_NO_ADDRESS = "0x" + "00" * 20


class RpcError(ServiceError):
    """The node said no. ``number`` is its error code (``code`` the same as text), ``data`` revert data as 0x-hex or ""."""

    def __init__(self, what: str, *, number: int, data: str, message: str, status: int, do: str = "") -> None:
        super().__init__(what, code=str(number), status=status, do=do)
        self.number = number
        self.data = data
        self.message = message

    def as_json(self) -> dict[str, object]:
        """Return the error with the node's code and the revert data."""
        return super().as_json() | {"code": self.number, "data": self.data}


class RpcCall(NamedTuple):
    """A call of a contract: addresses and calldata as 0x-hex, ``value`` in wei."""

    sender: str
    to: str
    data: str
    value: int = 0

    def as_json(self) -> dict[str, str]:
        """Return the call object of ``eth_call`` and ``eth_estimateGas``."""
        return {"from": self.sender, "to": self.to, "data": self.data, "value": hex(self.value)}


class ChainReceipt(NamedTuple):
    """What became of a transaction that is in a block; ``ok`` is False when it reverted."""

    transaction_hash: str
    block_number: int
    ok: bool
    logs: list[JsonObject]


class ChainTransaction(NamedTuple):
    """A transaction in a block: hash and addresses as lower-case 0x-hex, ``data`` the input's hex after ``0x``."""

    transaction_hash: str
    sender: str
    to: str
    nonce: int
    data: str


class ChainBlock(NamedTuple):
    """A block; its transactions only where they were asked for. ``time_ms`` is unix ms, by the chain's own clock."""

    number: int
    time_ms: int
    transactions: tuple[ChainTransaction, ...] = ()


class RpcClient:
    """Asks of one node. Every method raises ``RpcError`` when the node says no, ``ServiceError`` for anything else."""

    def __init__(self, url: str, http: Http) -> None:
        self._url = url
        self._http = http
        self._ids = itertools.count(1)
        self.name = node_name(url)
        keep_secret(url.partition("://")[2].partition("/")[2])  # often an access key

    def require(self) -> None:
        """Refuse an address to which no request can be built, or may not be sent. Raises ``UsageError``."""
        self._http.require(HttpCall("POST", self._url, body=b"{}"))

    def chain_id(self) -> int:
        """Return the id of the node's chain."""
        return self._quantity("eth_chainId", [])

    def block_number(self) -> int:
        """Return the number of the newest block."""
        return self._quantity("eth_blockNumber", [])

    def block(self, which: str | int, *, whole: bool = False) -> ChainBlock | None:
        """Return the block of a number or of a word such as ``finalized``, None where the node has none.

        ``whole`` asks for its transactions too; an entry that cannot be read is left out.
        """
        method = "eth_getBlockByNumber"
        told = self._ask(method, [_name_of(which), whole], max_bytes=MAX_JSON_BYTES)
        if told is None:
            return None
        if type(told) is not dict:
            raise self._odd(method, "no block")
        number = self._read_quantity(method, told.get("number"))
        if type(which) is int and number != which:
            raise self._odd(method, f"block {number}, and {which} was asked for")
        time_ms = 1000 * self._read_quantity(method, told.get("timestamp"))
        entries = told.get("transactions") if whole else []
        if type(entries) is not list:
            raise self._odd(method, "a block without its transactions")
        return ChainBlock(number, time_ms, tuple(found for found in map(_transaction_in, entries) if found))

    def transaction_count(self, account: str, *, block: str | int = "pending") -> int:
        """Return how many transactions an account has sent, those that wait included: its next nonce.

        With a block's number or ``latest`` as ``block``, those that wait are left out.
        """
        return self._quantity("eth_getTransactionCount", [account, _name_of(block)])

    def estimate_gas(self, call: RpcCall) -> int:
        """Return the gas that a call would use now. Raises ``RpcError`` with the revert's data when it would revert."""
        return self._quantity("eth_estimateGas", [call.as_json()])

    def fees(self, most_wei: int | None = None, priority_wei: int | None = None) -> tuple[int, int]:
        """Return the most and the priority fee of EIP-1559, in wei a unit of gas, for one of the next blocks.

        They are the node's priority fee, over a base fee that may double. What is given is not asked for.
        """
        if priority_wei is None:
            try:
                priority_wei = self._quantity("eth_maxPriorityFeePerGas", [])
            except RpcError as error:  # not every node has this method, and none of its others tells a priority fee
                error.do = "give it by hand with --priority-fee-gwei, or use another node"
                raise
        if most_wei is None:
            most_wei = BASE_FEE_BLOCKS * self._base_fee() + priority_wei
        return most_wei, priority_wei

    def _base_fee(self) -> int:
        """Return the base fee of the block to come; of the newest one by a node that has no ``eth_feeHistory``."""
        method = "eth_feeHistory"
        try:
            history = self._ask(method, ["0x1", "latest", []])
            base_fees = history.get("baseFeePerGas") if type(history) is dict else None
        except RpcError:
            method = "eth_getBlockByNumber"
            block = self._ask(method, ["latest", False])
            base_fees = [block["baseFeePerGas"]] if type(block) is dict and "baseFeePerGas" in block else None
        if type(base_fees) is not list or not base_fees:
            raise self._odd(method, "no baseFeePerGas: the chain has no EIP-1559 fees")
        return self._read_quantity(method, base_fees[-1])

    def call(self, call: RpcCall, *, block: str | int = "latest") -> bytes:
        """Return what a call would return at a block, without sending anything."""
        result = self._ask("eth_call", [call.as_json(), _name_of(block)])
        if type(result) is not str or not _BYTES.fullmatch(result):
            raise self._odd("eth_call", "no bytes in hex")
        return bytes.fromhex(result[2:])

    def view(self, contract: str, signature: str, *arguments: bytes, block: str | int = "latest") -> bytes | None:
        """Return the word that a view of a contract tells at a block; arguments are filled up to words.

        None where the contract has no such view, or the node not that block.
        """
        data = keccak256(signature.encode())[:4] + b"".join(argument.rjust(32, b"\0") for argument in arguments)
        try:
            word = self.call(RpcCall(_NO_ADDRESS, contract, "0x" + data.hex()), block=block)
        except RpcError:
            return None
        return word if len(word) == 32 else None

    def send_raw_transaction(self, raw: str) -> str:
        """Send a signed transaction, once, and return the hash that the node gives it.

        Raises ``NotSent`` when no byte left this machine, ``RpcError`` when the node refused it; any other
        ``ServiceError`` leaves it unknown whether the node has it.
        """
        result = self._ask("eth_sendRawTransaction", [raw])
        if not is_hash(result):
            raise self._odd("eth_sendRawTransaction", "no transaction hash")
        return result.lower()

    def knows(self, tx_hash: str) -> bool:
        """Tell whether the node has a transaction, in a block or waiting for one."""
        return self._ask("eth_getTransactionByHash", [tx_hash]) is not None

    def receipt(self, tx_hash: str) -> ChainReceipt | None:
        """Return the receipt of a transaction, or None while no block has it."""
        method = "eth_getTransactionReceipt"
        result = self._ask(method, [tx_hash])
        if result is None or (type(result) is dict and result.get("blockNumber", "") is None):
            return None
        if type(result) is not dict or str(result.get("transactionHash")).lower() != tx_hash.lower():
            raise self._odd(method, "a receipt for another transaction")
        status = self._read_quantity(method, result.get("status"))
        logs = result.get("logs", [])
        whole = type(logs) is list and len(logs) <= MAX_LOGS and all(type(log) is dict for log in logs)
        if status not in (0, 1) or not whole:
            raise self._odd(method, "a receipt without status or logs")
        return ChainReceipt(tx_hash.lower(), self._read_quantity(method, result.get("blockNumber")), status == 1, logs)

    def logs(self, first: int, last: int, kinds: list[str], topic: str) -> list[JsonObject]:
        """Return the logs of these blocks whose first topic is one of ``kinds`` and the second ``topic``, oldest first."""
        asked = {"fromBlock": hex(first), "toBlock": hex(last), "topics": [kinds, topic]}
        found = self._ask("eth_getLogs", [asked])
        if type(found) is not list or not all(type(log) is dict for log in found):
            raise self._odd("eth_getLogs", "no list of logs")
        return found

    def _quantity(self, method: str, params: list[Any]) -> int:
        return self._read_quantity(method, self._ask(method, params))

    def _read_quantity(self, method: str, value: object) -> int:
        if type(value) is not str or not _QUANTITY.fullmatch(value):
            raise self._odd(method, "no quantity in hex")
        return int(value, 16)

    def _ask(self, method: str, params: list[Any], *, max_bytes: int = MAX_REPLY_BYTES) -> Any:
        number = next(self._ids)
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
        try:
            reply = self._http.exchange(HttpCall("POST", self._url, body=body), max_bytes=max_bytes)
            return self._result(method, number, reply)
        except RpcError:
            raise
        except ServiceError as error:  # its text may hold the node's address, and with it an access key
            kind = NotSent if isinstance(error, NotSent) else ServiceError
            told = kind(error.what.replace(self._url, self.name), status=error.status, do=error.do)
            told.retry_after_s, told.unanswered = error.retry_after_s, error.unanswered
            raise told from None

    def _result(self, method: str, number: int, reply: Reply) -> Any:
        if reply.status == 429:
            wait = "" if reply.retry_after_s is None else f" for {reply.retry_after_s} s"
            limited = ServiceError(f"{self.name} asks to wait{wait}", status=429, do="wait, then run it again")
            limited.retry_after_s = reply.retry_after_s
            raise limited
        if reply.location or (reply.status != 200 and not reply.content_type.endswith("json")):
            origin = "/".join(reply.location.split("/")[:3])  # its path may hold an access key
            do = "check the node's address ([rpc] in config.toml, AIRLOCK_RPC or --rpc)"
            raise unexpected(reply._replace(location=origin), f"{self.name} answered {reply.status}", do)
        document = json_of(reply, self.name)
        if type(document) is not dict or document.get("jsonrpc") != "2.0":
            raise self._odd(method, "no JSON-RPC 2.0 reply")
        error, whose = document.get("error"), document.get("id")
        if (type(whose) is not int or whose != number) and not (whose is None and error is not None):
            raise self._odd(method, "the reply to another request")
        if (error is None and "result" not in document) or (error is not None and document.get("result") is not None):
            raise self._odd(method, "not one of a result and an error")
        if error is not None:
            raise self._refused(method, error, reply.status)
        return document["result"]

    def _refused(self, method: str, error: object, status: int) -> ServiceError:
        if type(error) is not dict or type(error.get("code")) is not int:
            return self._odd(method, "an error without a code")
        message = error["message"] if type(error.get("message")) is str else "no message"
        return RpcError(
            f"{self.name} refused {method}: {safe(message, limit=500)} (code {error['code']})",
            number=error["code"],
            data=_revert_data(error.get("data")),
            message=message,
            status=status,
            do="read the message; if it does not help, ask the node's operator",
        )

    def _odd(self, method: str, what: str) -> ServiceError:
        return ServiceError(
            f"{self.name} answered {method} with {what}", do="check that the address is an Ethereum node's"
        )


def node_name(url: str) -> str:
    """Return a node's scheme, host and port, which may be shown. Raises ``UsageError`` for what is no address.

    A name and password before the host are refused: they would be sent as a credential and end in logs.
    """
    parts = http_address(url)
    if parts is None or "@" in parts.netloc or parts.fragment:
        raise UsageError(
            "the node's address is not a plain http(s) address",
            do="give it as [rpc] url in config.toml, in AIRLOCK_RPC or with --rpc, such as http://127.0.0.1:8545",
        )
    return f"{parts.scheme}://{parts.netloc}"


def _name_of(block: str | int) -> str:
    """Return a block's number as a quantity, or its word."""
    return block if isinstance(block, str) else hex(block)


def _transaction_in(entry: object) -> ChainTransaction | None:
    """Return a transaction of a whole block, or None when it cannot be read."""
    members: JsonObject = entry if type(entry) is dict else {}
    tx_hash, sender, nonce, data = (str(members.get(name)).lower() for name in ("hash", "from", "nonce", "input"))
    if not (is_hash(tx_hash) and sender.startswith("0x") and _QUANTITY.fullmatch(nonce) and _BYTES.fullmatch(data)):
        return None
    return ChainTransaction(tx_hash, sender, str(members.get("to")).lower(), int(nonce, 16), data[2:])


def _revert_data(data: object) -> str:
    """Return revert data as 0x-hex; some nodes wrap it in an object, or write a word before it."""
    if type(data) is dict:
        return _revert_data(data.get("data"))
    if type(data) is not str:
        return ""
    text = data.removeprefix("Reverted ").strip()
    return text.lower() if len(text) > 2 and _BYTES.fullmatch(text) else ""


class ContractViews:
    """The views of a pinned contract at one node; ``troubles`` says what is not told.

    Raises ``ServiceError`` when the node serves another chain than the pinned one, or cannot be asked.
    """

    def __init__(self, node: RpcClient, deployment: Deployment, contract: bytes) -> None:
        if (chain := node.chain_id()) != deployment.chain_id:
            raise ServiceError(f"it serves chain {chain}, but chain {deployment.chain_id} is pinned")
        self._node, self._contract = node, checksum_address(contract)
        self.troubles: list[str] = []

    def word(self, signature: str, *arguments: bytes) -> bytes | None:
        """Return the word of a view, None where the contract has no such view."""
        word = self._node.view(self._contract, signature, *arguments)
        if word is None:
            self.troubles.append(f"the contract has no view {signature}")
        return word
