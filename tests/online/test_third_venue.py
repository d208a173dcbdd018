"""What the third venue's relayer may not achieve, case by case; and 300 hostile services files, one delivery each.

None lets a changed byte be signed or sent, a signature go to another origin, or a state be final on less evidence.
"""

from __future__ import annotations

import copy
import json
import random
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from airlock_online.clients.builder import shaped
from airlock_online.clients.builder_reads import used_in
from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.outcome import outcome_error
from airlock_online.delivery.routes.rpc import chain_hash
from airlock_online.delivery.routes.struct import body_of, executing_call
from airlock_online.delivery.submit import submit_delivery
from airlock_online.journal.order_states import OrderState
from airlock_online.preparing.prepare import is_built, planned_ask
from airlock_online.speech.forms import resolve_services
from airlock_online.speech.sections import BODIES, PARTS, PATHS, REPLIES, SHIPPED, Speech
from airlock_shared.errors import UsageError
from airlock_shared.venue.structs import CATALOGUE
from draws import draws
from online.crash.orders import order
from online.delivering_machine import Desk, delivering_machine
from online.fake_chain import FakeChain, Mined
from online.loopback import Answer, Wire, http, reply
from online.node import CHAIN_ID, Node
from second_venue.other_speech import SERVICES as SECOND
from serving import QuietHandler, serving
from shared.world import plan, situation
from third_venue.venue import BUSY_WORD, SERVICES

FILE: dict[str, Any] = tomllib.loads(SERVICES)
SPEECH = resolve_services(FILE)
TX = "0x" + "ee" * 32
TAKEN = reply(200, {"requestId": "r-1"})
BLOCK = {"number": "0x9", "timestamp": "0x1", "transactions": []}
DONE = {"requestId": "r-1", "status": "Finalised"}
RECEIPT = {"transactionHash": TX, "status": 1}
MUTATIONS = draws(60, 300)
OPEN = {OrderState.ACCEPTED, OrderState.UNKNOWN, OrderState.REJECTED, OrderState.PREPARED}
WAYS = ("relayer", "twap", "core-api-post", "core-api-put", "relay", "batched-market")
WORDS = ("Inflight", "Failed", "queued", "reverted", "failed", "Done")
VALUES: tuple[Any, ...] = (
    "$signature", "$executing.data", "$encoded_intent", "$raw_transaction", "signature", "$message", "$nothing", "$account",
    "$trader", "$message.nonce as number", True, 0, 1.5, [], {}, "confirmed", "https://other.example/relays", "//other",
    "PUT /x", "/v2/relay", "/{id}/{id}", "/../x", "status", "requestId", "receipt.status", "not used", "a?", "\u202e",
)  # fmt: skip


def relayed(desk: Desk, taken: Answer, *told: object, node: Node | None = None, times: int = 1) -> Any:
    """Relay a delegate's intent, and again; return the last outcome, and the requests that were sent."""
    answers = [each if isinstance(each, Answer) else reply(200, each) for each in told]
    with Wire({"POST /relays": [taken, TAKEN], "GET /relays/r-1": answers}) as wire:
        asked = RpcClient(node.url, desk.world.http) if node else None
        desk.world = desk.world._replace(speech=SPEECH, patience_s=3, node=asked)
        outcomes = [submit_delivery(order("relayer", wire.url), desk.world) for _ in range(times)]
        return outcomes[-1], wire.seen


def test_the_call_that_executes_the_intent_is_sent_with_the_signature_in_it_once(desk: Desk) -> None:
    outcome, seen = relayed(desk, TAKEN, {"requestId": "r-1", "status": "Inflight"})
    delivery = order("relayer", "https://venue.example")
    call = executing_call(delivery)
    sent = json.loads(seen[0].body)
    assert sent["txParams"] == {
        "to": delivery.contract, "data": call["data"], "value": "0", "gasLimit": "600000", "chainId": CHAIN_ID,
        "transactionType": 2,
    }  # fmt: skip
    assert (sent["wallet"], outcome.state) == (delivery.signer, OrderState.ACCEPTED)
    signature, intent = delivery.signature[2:], delivery.encoded_intent[2:]
    assert seen[0].body.count(signature.encode()) == 1
    assert call["data"].index(signature) < call["data"].index(intent)


def test_the_order_in_the_call_is_the_one_of_the_venue_s_profile() -> None:
    usual = order("relayer", "https://venue.example")
    struct = CATALOGUE[usual.primary_type]
    swapped = struct.executing.replace("bytes signature,bytes intent", "bytes intent,bytes signature")
    assert swapped != struct.executing
    delivery = usual._replace(intent=struct._replace(executing=swapped))
    data = executing_call(delivery)["data"]
    assert data.index(usual.encoded_intent[2:]) < data.index(usual.signature[2:])
    assert (data[:10], data) == (executing_call(usual)["data"][:10], body_of({"d": "$executing.data"}, delivery)["d"])


@pytest.mark.parametrize("way", ["twap", "core-api-post", "batched-market"])
def test_a_struct_that_no_contract_call_executes_is_not_sent_so(way: str) -> None:
    delivery = order(way, "https://venue.example")
    assert not CATALOGUE[delivery.primary_type].executing
    with pytest.raises(UsageError, match="no contract call is known"):
        executing_call(delivery)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (reply(503, {"code": BUSY_WORD}), OrderState.REJECTED),
        (reply(503, {"error": {"code": BUSY_WORD}}), OrderState.REJECTED),
        (reply(503, {"code": f"{BUSY_WORD} "}), OrderState.UNKNOWN),
        (reply(503, {"a": {"b": {"code": BUSY_WORD}}}), OrderState.UNKNOWN),
        (http(503, b"<html>503 Service Temporarily Unavailable</html>", "text/html"), OrderState.UNKNOWN),
        (reply(500, {"code": BUSY_WORD}), OrderState.UNKNOWN),
        (reply(200, {"code": BUSY_WORD}), OrderState.UNKNOWN),
        (reply(200, {"requestId": ""}), OrderState.UNKNOWN),
        (reply(200, {"requestId": True}), OrderState.UNKNOWN),
        (reply(200, {"ok": False, "requestId": "r-1"}), OrderState.UNKNOWN),
        (reply(200, {"error": "x", "requestId": "r-1"}), OrderState.UNKNOWN),
        (reply(400, {"code": "VALIDATION_ERROR"}), OrderState.REJECTED),
    ],
)
def test_nothing_was_taken_by_the_relayer_s_own_word_alone(desk: Desk, answer: Answer, state: OrderState) -> None:
    outcome, seen = relayed(desk, answer, {"requestId": "r-1", "status": "Inflight"})
    assert outcome.state is state, outcome.reason
    assert [each.method for each in seen] == ["POST"]


def test_after_its_word_for_busy_it_is_sent_again_once_and_then_no_more(desk: Desk) -> None:
    read = {"requestId": "r-1", "status": "Inflight"}
    outcome, seen = relayed(desk, reply(503, {"code": BUSY_WORD}), read, times=2)
    assert (outcome.state, [each.method for each in seen].count("POST")) == (OrderState.ACCEPTED, 2)
    bodies = {each.body for each in seen if each.method == "POST"}
    assert len(bodies) == 1


@pytest.mark.parametrize("node", [False, True])
@pytest.mark.parametrize(
    "told",
    [
        {"requestId": "r-1", "status": "Inflight", "receipt": RECEIPT, "blockNumber": 8},
        DONE,
        DONE | {"receipt": RECEIPT},
        DONE | {"receipt": {"transactionHash": "0x1", "status": 1}, "blockNumber": 8},
        DONE | {"receipt": RECEIPT, "blockNumber": "8f"},
        DONE | {"receipt": RECEIPT | {"status": 0}, "blockNumber": 8},
        DONE | {"receipt": RECEIPT | {"status": "reverted"}, "blockNumber": 8},
        DONE | {"receipt": RECEIPT | {"revertReason": "no"}, "blockNumber": 8},
        DONE | {"receipt": RECEIPT, "blockNumber": 8, "requestId": "r-2"},
        {"status": "Finalised", "receipt": RECEIPT, "blockNumber": 8},
        {"requestId": "r-1", "status": "Failed"},
        {"requestId": "r-1", "status": "FINALISED", "receipt": RECEIPT, "blockNumber": 8},
        {"requestId": "r-1", "receipt": RECEIPT, "blockNumber": 8},
        reply(302, {}, "location: https://other.example/relays/r-1"),
    ],
)
def test_no_word_of_it_ends_what_was_not_executed(desk: Desk, told: object, node: bool) -> None:
    answers = {
        "eth_getTransactionReceipt": {"transactionHash": TX, "blockNumber": "0x8", "status": "0x0", "logs": []},
        "eth_getBlockByNumber": BLOCK, "eth_call": "0x" + "00" * 32,
    }  # fmt: skip
    with Node(answers) as asked:
        outcome, seen = relayed(desk, TAKEN, told, node=asked if node else None)
    error = outcome_error(outcome)
    assert outcome.state is OrderState.ACCEPTED, outcome.reason
    assert error is not None
    assert "sign a new" not in error.do.lower()
    assert [each.method for each in seen].count("POST") == 1


@pytest.mark.parametrize(
    ("carries", "ok", "number", "used", "state"),
    [
        (True, True, 8, True, OrderState.CONFIRMED),
        ("other order", True, 8, True, OrderState.CONFIRMED),
        (False, True, 8, True, OrderState.ACCEPTED),
        (True, False, 8, True, OrderState.ACCEPTED),
        (True, True, 10, True, OrderState.ACCEPTED),
        (True, True, 8, False, OrderState.ACCEPTED),
    ],
)
def test_without_a_block_the_operator_s_node_proves_that_its_transaction_executed_this_very_intent(
    desk: Desk, carries: bool | str, ok: bool, number: int, used: bool, state: OrderState
) -> None:
    delivery = order("relayer", "https://venue.example")
    struct = CATALOGUE[delivery.primary_type]
    if carries == "other order":
        struct = struct._replace(executing=struct.executing.replace("signature,bytes intent", "intent,bytes signature"))
    data = executing_call(delivery._replace(intent=struct))["data"] if carries else "0x1234"
    contract = delivery.contract.lower()
    log = {"address": contract, "topics": ["0x" + "00" * 32], "data": "0x", "transactionHash": TX}
    chain = FakeChain(*range(12), finalized=9)

    def executed() -> None:
        chain.mine(number, Mined(TX, "0x" + "11" * 20, 1, data, ok, (log,)))
        if used:
            chain.spent[(delivery.trader.lower(), int(delivery.nonce))] = 8

    with chain.node() as asked:
        desk.world = desk.world._replace(
            on_answered=executed,
            encoded=lambda _: delivery.encoded_intent[2:],
            contracts_of=lambda _: frozenset({contract}),
        )
        outcome, _ = relayed(desk, TAKEN, DONE | {"receipt": RECEIPT}, node=asked)
    assert outcome.state is state, outcome.reason


def _mutations(seed: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    for number in range(MUTATIONS):
        made = copy.deepcopy(FILE if number % 2 else tomllib.loads(SECOND))
        for _ in range(draw.randint(1, 2)):
            section = draw.choice(["paths", "bodies", "replies", "requests", "words"])
            table: dict[str, Any] = made.setdefault(section, {})
            if section == "words":
                table[draw.choice(WORDS)] = draw.choice(["confirmed", "pending", "failed", "reverted", "FILLED"])
                continue
            known: Any = {"paths": PATHS, "bodies": BODIES, "replies": REPLIES, "requests": PATHS}[section]
            name = draw.choice([*table, *known])
            if section == "paths":
                table[name] = draw.choice([each for each in VALUES if type(each) is str] + ["/x", "/x/{id}"])
                continue
            inner = table.setdefault(name, copy.deepcopy(dict(known.get(name, {}))) if section != "requests" else {})
            if not isinstance(inner, dict):
                continue
            member = draw.choice([*inner, *REPLIES.get(name, {}), "x", *PARTS])
            way = draw.randrange(3)
            if way == 0:
                inner.pop(member, None)
            elif way == 1 and inner:
                inner[member] = inner[draw.choice([*inner])]
            else:
                inner[member] = draw.choice(VALUES)
        yield made


@contextmanager
def _stub(draw: random.Random) -> Iterator[tuple[str, list[tuple[str, str, bytes]]]]:
    """Serve whatever is asked for with words that prove nothing; keep method, host and body of each request."""
    seen: list[tuple[str, str, bytes]] = []
    words = {"status": draw.choice(WORDS), "state": draw.choice(WORDS), "outcome": {"state": draw.choice(WORDS)}}
    told = {"requestId": "r-1", "id": "r-1", "queued": True, **words, "receipt": {"status": 0, "state": "failed"}}

    class Handler(QuietHandler):
        def answer(self) -> None:
            body = self.body()
            seen.append((self.command, str(self.headers["host"]), body))
            document = {} if self.command in ("POST", "PUT") and b"coinSize" in body else told
            named = {"hash": chain_hash(order("relay", "https://venue.example"))} if b"rawTransaction" in body else {}
            self.reply_json(document | named)

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as url:
        yield url, seen


def _nothing_else_is_signed(speech: Speech) -> None:
    """Require that what goes to the signing machine of a request is what goes there without a file."""
    for step in plan().steps.values():
        if not is_built(step, SHIPPED) or not step.action.parameters:
            continue
        usual = planned_ask(step, situation(), SHIPPED)
        asked = planned_ask(step, situation(), speech)
        assert (asked.path, asked.fields) == (usual.path, usual.fields)
        sent = shaped(asked.fields, asked.members)
        assert {str(value) for value in usual.fields.values()} >= {
            str(value) for name, value in sent.items() if name in usual.fields and name not in asked.members
        }


def test_a_hostile_file_is_refused_or_sends_and_says_nothing_false(tmp_path: Path) -> None:
    draw, refused, taken, delivered = random.Random(60), 0, 0, 0
    for number, made in enumerate(_mutations(28)):
        try:
            speech = resolve_services(made)
        except UsageError:
            refused += 1
            continue
        taken += 1
        _nothing_else_is_signed(speech)
        for used in (True, False):
            answer = {"nonce": "7", "trader": "0x1", "used": used, "state": {"isAvailable": not used}}
            assert used_in(answer, "0x1", "7", "trading", speech.replies["nonce"]) in (used, None), made
        with _stub(draw) as (url, seen), delivering_machine(tmp_path / f"{number}") as desk:
            delivery = order(WAYS[number % len(WAYS)], url)
            desk.world = desk.world._replace(speech=speech, patience_s=1.5)
            try:
                outcome = submit_delivery(delivery, desk.world)
            except UsageError:  # a part that this struct does not have: before anything was sent
                assert not any(method != "GET" for method, _, _ in seen), made
                continue
            error_told = outcome_error(outcome)
            assert outcome.state in OPEN, (outcome, made)
            assert error_told is None or "sign a new" not in error_told.do, (outcome, made)
        sent = [body for method, _, body in seen if method != "GET"]
        assert len(sent) <= 1, made
        assert {host for _, host, _ in seen} <= {url.removeprefix("http://")}, made
        secret = delivery.raw_transaction or delivery.signature
        assert [body.count(secret[2:].encode()) for body in sent] == [1] * len(sent), made
        assert not any(secret[2:].encode() in body for method, _, body in seen if method == "GET"), made
        delivered += len(sent)
    assert min(refused, taken, delivered) > MUTATIONS // 5, (refused, taken, delivered)
    assert refused + taken == MUTATIONS
