"""The client of a node over real HTTP: what is asked, every way in which an answer can be nonsense, and what is not said."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from eth_account import Account

from airlock_online.clients.connection import NotSent
from airlock_online.clients.http import Http, Timeouts
from airlock_online.clients.rpc import (
    MAX_REPLY_BYTES,
    ChainBlock,
    ChainReceipt,
    ChainTransaction,
    RpcCall,
    RpcClient,
    RpcError,
)
from airlock_online.delivery.deliveries import raw_transaction
from airlock_online.delivery.routes.rpc import transaction_hash
from airlock_online.preparing.gas_and_fees import reason
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.ethereum.signatures import Transaction, keccak256, signing_hash
from online.loopback import Answer, Wire, closed_port, http, reply
from online.node import GWEI, Failure, Node

HASH = "0x" + "ab" * 32
CALL = RpcCall("0x" + "11" * 20, "0x" + "22" * 20, "0x12345678")
RAW = "0x02" + "cd" * 100
SECRET = "/v3/do-not-show-me?token=nor-me"
RECEIPT: dict[str, object] = {"transactionHash": HASH, "blockNumber": "0x10", "status": "0x1", "logs": []}
BLOCK = {"number": "0x10", "timestamp": "0x65", "transactions": ["0x" + "ab" * 32]}
MINED = {"hash": "0x" + "AB" * 32, "from": "0x" + "Ee" * 20, "to": "0xFf", "nonce": "0x7", "input": "0xBEef"}
ANVIL_CHAIN = 31337
RICH = Account.from_key("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")  # "test … junk", 0
NOBODY, REVERTING = "0x" + "22" * 20, "0x" + "ca" * 20
REVERTS = "0x631234567860e01b60005260046000fd"  # PUSH4 12345678, shifted to a word's left, stored, REVERT with 4 bytes


def result(value: object, number: object = 1) -> Answer:
    return reply(200, {"jsonrpc": "2.0", "id": number, "result": value})


def failing(error: object) -> Answer:
    return reply(200, {"jsonrpc": "2.0", "id": 1, "error": error})


def asked(client: Http, answer: Answer, ask: Callable[[RpcClient], object]) -> object:
    with Wire({"POST /": [answer]}) as wire:
        try:
            return ask(RpcClient(wire.url + "/", client))
        finally:
            assert len(wire.seen) == 1  # never a second time, whatever came back


def test_an_ask_is_one_post_of_json_rpc(client: Http) -> None:
    with Wire({"POST /node": [result("0x14a34")]}) as wire:
        assert RpcClient(wire.url + "/node", client).chain_id() == 84532
    [seen] = wire.seen
    assert json.loads(seen.body) == {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
    assert "authorization" not in seen.headers


def test_every_ask_has_its_own_id(client: Http) -> None:
    with Wire({"POST /": [result("0x1", 1), result("0x2", 2)]}) as wire:
        node = RpcClient(wire.url + "/", client)
        assert (node.chain_id(), node.block_number()) == (1, 2)


def test_what_waits_counts_for_the_nonce(client: Http) -> None:
    with Node() as node:
        assert RpcClient(node.url, client).transaction_count(CALL.sender) == 7
    assert node.asked == [("eth_getTransactionCount", [CALL.sender, "pending"])]


def test_a_block_is_read_by_its_number_or_its_word(client: Http) -> None:
    with Node({"eth_getBlockByNumber": BLOCK}) as node:
        ours = RpcClient(node.url, client)
        assert [ours.block(which) for which in (16, "finalized")] == [ChainBlock(16, 101_000)] * 2
        with pytest.raises(ServiceError, match="17 was asked for"):
            ours.block(17)
    assert [params for _, params in node.asked] == [["0x10", False], ["finalized", False], ["0x11", False]]


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (MINED, [ChainTransaction("0x" + "ab" * 32, "0x" + "ee" * 20, "0xff", 7, "beef")]),
        (MINED | {"nonce": None}, []),
        (MINED | {"hash": "0x1"}, []),
        (MINED | {"from": 7}, []),
        (MINED | {"input": "beef"}, []),
        ("0x" + "ab" * 32, []),
    ],
)
def test_a_block_has_transactions_that_can_be_read(client: Http, entry: object, found: list[ChainTransaction]) -> None:
    with Node({"eth_getBlockByNumber": BLOCK | {"transactions": [entry]}}) as node:
        block = RpcClient(node.url, client).block(16, whole=True)
    assert block is not None
    assert list(block.transactions) == found


def test_logs_are_asked_for_by_kind_and_topic(client: Http) -> None:
    with Node({"eth_getLogs": [{"address": "0x1"}]}) as node:
        assert RpcClient(node.url, client).logs(1, 2, ["0xa"], "0xb") == [{"address": "0x1"}]
    assert node.asked == [("eth_getLogs", [{"fromBlock": "0x1", "toBlock": "0x2", "topics": [["0xa"], "0xb"]}])]


def test_the_fee_covers_a_base_fee_that_doubles(client: Http) -> None:
    with Node({"eth_maxPriorityFeePerGas": "0x5"}) as node:
        assert RpcClient(node.url, client).fees() == (2 * GWEI + 5, 5)


@pytest.mark.parametrize("code", [-32601, -32004, -32000])
def test_without_a_fee_history_the_newest_block_tells_the_base_fee(client: Http, code: int) -> None:
    answers = {"eth_feeHistory": Failure(code, "no"), "eth_getBlockByNumber": {"baseFeePerGas": hex(3 * GWEI)}}
    with Node(answers) as node:
        assert RpcClient(node.url, client).fees() == (6 * GWEI + GWEI // 10, GWEI // 10)
    assert ("eth_getBlockByNumber", ["latest", False]) in node.asked


def test_without_a_priority_fee_of_the_node_it_is_asked_for_by_hand(client: Http) -> None:
    with Node({"eth_maxPriorityFeePerGas": Failure(-32601, "the method does not exist")}) as node:
        with pytest.raises(RpcError) as caught:
            RpcClient(node.url, client).fees()
        assert "--priority-fee-gwei" in caught.value.do
        assert RpcClient(node.url, client).fees(priority_wei=7) == (2 * GWEI + 7, 7)


@pytest.mark.parametrize(
    ("given", "asked"), [({"priority_wei": 5}, ["eth_feeHistory"]), ({"most_wei": 9}, ["eth_maxPriorityFeePerGas"])]
)
def test_a_fee_by_hand_is_not_asked_for(client: Http, given: dict[str, int], asked: list[str]) -> None:
    with Node() as node:
        RpcClient(node.url, client).fees(**given)
    assert node.methods == asked


def test_a_call_is_estimated_and_called_as_it_would_be_sent(client: Http) -> None:
    with Node({"eth_call": "0xBEef"}) as node:
        rpc = RpcClient(node.url, client)
        assert (rpc.estimate_gas(CALL), rpc.call(CALL)) == (100_001, b"\xbe\xef")
    sent = {"from": CALL.sender, "to": CALL.to, "data": CALL.data, "value": "0x0"}
    assert node.asked == [("eth_estimateGas", [sent]), ("eth_call", [sent, "latest"])]


def test_a_transaction_is_sent_and_its_hash_returned(client: Http) -> None:
    with Node({"eth_sendRawTransaction": HASH.upper().replace("0X", "0x")}) as node:
        assert RpcClient(node.url, client).send_raw_transaction(RAW) == HASH
    assert node.asked == [("eth_sendRawTransaction", [RAW])]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (None, None),
        (RECEIPT | {"blockNumber": None}, None),
        (RECEIPT, ChainReceipt(HASH, 16, True, [])),
        (RECEIPT | {"status": "0x0", "logs": [{"data": "0x"}]}, ChainReceipt(HASH, 16, False, [{"data": "0x"}])),
    ],
)
def test_a_receipt_is_there_once_a_block_has_it(client: Http, told: object, expected: ChainReceipt | None) -> None:
    with Node({"eth_getTransactionReceipt": told}) as node:
        assert RpcClient(node.url, client).receipt(HASH) == expected


@pytest.mark.parametrize(("told", "known"), [(None, False), ({"hash": HASH}, True), ({}, True)])
def test_a_transaction_is_known_once_the_node_has_it(client: Http, told: object, known: bool) -> None:
    with Node({"eth_getTransactionByHash": told}) as node:
        assert RpcClient(node.url, client).knows(HASH) is known
        assert node.asked == [("eth_getTransactionByHash", [HASH])]


NONSENSE = {
    "the same member twice": http(200, b'{"jsonrpc":"2.0","id":1,"result":"0x1","result":"0x2"}'),
    "an error of another request": reply(200, {"jsonrpc": "2.0", "id": 2, "error": {"code": -32000, "message": "no"}}),
    "a result and an error": reply(
        200, {"jsonrpc": "2.0", "id": 1, "result": "0x1", "error": {"code": 1, "message": ""}}
    ),
    "another id": result("0x1", 2),
    "an id as text": result("0x1", "1"),
    "version 1": reply(200, {"id": 1, "result": "0x1"}),
    "a list": reply(200, [{"jsonrpc": "2.0", "id": 1, "result": "0x1"}]),
    "an error without a code": failing({"message": "no"}),
    "null": result(None),
    "a decimal": result("1"),
    "a leading zero": result("0x01"),
    "beyond 256 bits": result("0x1" + "0" * 64),
    "too large": http(200, b'{"x":"' + b"a" * MAX_REPLY_BYTES + b'"}'),
    "cut": Answer(b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"),
    "a reset": Answer(b"", reset=True),
    "silence": Answer(b"", hold=True),
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_is_a_service_error_and_is_not_asked_again(client: Http, answer: Answer) -> None:
    with pytest.raises(ServiceError) as caught:
        asked(client, answer, lambda node: node.chain_id())
    assert not isinstance(caught.value, RpcError | NotSent)
    assert caught.value.do


ASKS: dict[str, Callable[[RpcClient], object]] = {
    "eth_getBlockByNumber": lambda node: node.block(16, whole=True),
    "eth_getTransactionReceipt": lambda node: node.receipt(HASH),
    "eth_sendRawTransaction": lambda node: node.send_raw_transaction(RAW),
    "eth_feeHistory": lambda node: node.fees(),
    "eth_call": lambda node: node.call(CALL),
}
BAD_MEMBERS = [("transactionHash", "0x" + "cd" * 32), ("status", "0x2"), ("logs", ["0x"]), ("blockNumber", "16")]


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("eth_getBlockByNumber", ["0x10", {"number": "0x10"}, BLOCK | {"transactions": 1}]),
        ("eth_getTransactionReceipt", [{"root": "0x"}, *({**RECEIPT, name: bad} for name, bad in BAD_MEMBERS)]),
        ("eth_sendRawTransaction", ["0x", "0x" + "ab" * 31, "ok", None, 5]),
        ("eth_feeHistory", [None, [], {"baseFeePerGas": []}, {"baseFeePerGas": ["0x1", None]}]),
        ("eth_call", ["0xabc", "beef", None, ["0x"]]),
    ],
)
def test_what_cannot_be_read_is_no_answer(client: Http, method: str, told: list[object]) -> None:
    for answer in told:
        with Node({method: answer}) as node, pytest.raises(ServiceError, match=method) as caught:
            ASKS[method](RpcClient(node.url, client))
        assert not isinstance(caught.value, RpcError | NotSent)
        assert node.methods.count(method) == 1


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (None, ""),
        ("0xC5723B51", "0xc5723b51"),
        ("Reverted 0xc5723b51", "0xc5723b51"),
        ({"data": {"data": "0xc5723b51"}}, "0xc5723b51"),
        ("0xabc", ""),
    ],
)
def test_a_revert_keeps_its_data_in_whatever_form_the_node_wraps_it(client: Http, data: object, read: str) -> None:
    failure = Failure(3, "execution reverted \x1b[2J\r", data)
    with Node({"eth_estimateGas": failure}) as node, pytest.raises(RpcError, match="execution reverted") as caught:
        RpcClient(node.url, client).estimate_gas(CALL)
    assert (caught.value.number, caught.value.code, caught.value.data) == (3, "3", read)
    assert "\x1b" not in str(caught.value)


def test_an_error_with_a_status_a_closed_port_and_a_wait_are_told(client: Http) -> None:
    answer = reply(400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "parse error"}})
    with pytest.raises(RpcError, match="parse error"):
        asked(client, answer, lambda node: node.chain_id())
    with pytest.raises(NotSent, match="nothing was sent") as caught:
        RpcClient(f"http://127.0.0.1:{closed_port()}{SECRET}", client).send_raw_transaction(RAW)
    assert "do-not-show-me" not in str(caught.value)
    with pytest.raises(ServiceError, match="wait for 7 s") as told:
        asked(client, http(429, b"slow", "text/plain", "retry-after: 7"), lambda node: node.chain_id())
    assert (told.value.status, told.value.retry_after_s) == (429, 7)


@pytest.mark.parametrize(
    "answer",
    [http(500, b"oops"), result("1"), http(429, b""), *NONSENSE.values(), failing({"code": 3, "message": "no"})],
)
def test_an_access_key_in_the_address_is_never_shown(client: Http, answer: Answer) -> None:
    with Wire({f"POST {SECRET.partition('?')[0]}": [answer]}) as wire, pytest.raises(ServiceError) as caught:
        RpcClient(wire.url + SECRET, client).chain_id()
    assert wire.seen[0].target == SECRET
    shown = f"{caught.value}{caught.value.as_json()}"
    assert wire.url in shown
    assert not {"do-not-show-me", "nor-me"} & set(shown.replace("=", "/").replace("?", "/").split("/"))


@pytest.mark.parametrize(
    "url", ["", "//node", "ftp://node", "http://", "http://user:word@node", "http://node:x", "http://n\n"]
)
def test_what_is_no_plain_address_is_refused(client: Http, url: str) -> None:
    with pytest.raises(UsageError, match="address") as caught:
        RpcClient(url, client)
    assert "word" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("", "it gave no reason"),
        ("0x08c379a0" + f"{32:064x}{3:064x}" + b"hey".hex().ljust(64, "0"), "it says: hey"),
        ("0x08c379a0" + f"{32:064x}{4:064x}" + b"a\x1b\r\n".hex().ljust(64, "0"), "it says: a\\u{1b}\\u{d}\\u{a}"),
        ("0x08c379a0" + f"{64:064x}{3:064x}" + b"hey".hex().ljust(64, "0"), "a reason that cannot be read"),
        ("0x4e487b71" + f"{0x11:064x}", "panic 0x11: an arithmetic overflow"),
        ("0x4e487b71" + f"{0x77:064x}", "panic 0x77: a code that Solidity does not list"),
        ("0x12345678", "an error that Airlock does not know, selector 0x12345678"),
        ("0x" + keccak256(b"WrongSl()")[:4].hex(), "WrongSl: The stop loss"),
    ],
)
def test_revert_data_are_read_into_words(data: str, told: str) -> None:
    assert told in reason(data)


ANVIL = Path(__file__).parents[2] / ".tools/node/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil"


@pytest.fixture
def anvil() -> Iterator[RpcClient]:
    if not ANVIL.exists():
        pytest.skip("anvil is not installed")
    port = closed_port()
    words = [str(ANVIL), "--port", str(port), "--host", "127.0.0.1", "--chain-id", str(ANVIL_CHAIN)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        while "Listening on" not in (line := process.stdout.readline()):
            assert line, "anvil ended before it listened"
        with Http(Timeouts(connect=5, silence=10)) as client:
            yield RpcClient(f"http://127.0.0.1:{port}", client)
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def test_a_transaction_goes_through_anvil_under_our_hash_and_its_reverts_carry_their_data(anvil: RpcClient) -> None:
    payload = {"to": NOBODY, "data": "0x", "value": "0x0", "chainId": ANVIL_CHAIN}
    fees, nonce = anvil.fees(), anvil.transaction_count(RICH.address)
    gas = anvil.estimate_gas(RpcCall(RICH.address, NOBODY, "0x"))
    filled = Transaction(nonce, gas, *fees)
    raw = raw_transaction(payload, filled, bytes(RICH.unsafe_sign_hash(signing_hash(payload, filled)).signature))
    expected = "0x" + transaction_hash(raw).hex()
    assert anvil.send_raw_transaction("0x" + raw.hex()) == expected
    for _ in range(1_000):  # it mines beside its answers
        if receipt := anvil.receipt(expected):
            break
        time.sleep(0.01)
    assert receipt is not None
    assert (receipt.ok, receipt.transaction_hash, receipt.logs) == (True, expected, [])
    assert receipt.block_number == anvil.block_number()
    assert anvil.transaction_count(RICH.address) == nonce + 1
    anvil._ask("anvil_setCode", [REVERTING, REVERTS])
    for ask in (anvil.estimate_gas, anvil.call):
        with pytest.raises(RpcError) as caught:
            ask(RpcCall(RICH.address, REVERTING, "0x"))
        assert (caught.value.number, caught.value.data) == (3, "0x12345678")
        assert "selector 0x12345678" in reason(caught.value.data)
