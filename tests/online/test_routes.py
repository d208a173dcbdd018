"""The TWAP service, the core API, the relay and the operator's node, over real HTTP that answers well, badly or not."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.outcome import OrderOutcome
from airlock_online.delivery.routes.context import Delivery
from airlock_online.delivery.routes.rpc import chain_hash
from airlock_online.delivery.submit import follow_submission, submit_delivery
from airlock_online.journal.order_states import OrderState
from airlock_online.speech.forms import resolve_services
from airlock_online.speech.sections import SERVICES_FORMAT as SERVICES
from airlock_shared.errors import Refusal, UsageError
from online.crash.orders import order
from online.delivering_machine import Desk
from online.loopback import Answer, Seen, Wire, http, reply
from online.node import Failure, Node, in_turn

TX = "0x" + "ee" * 32
CANCEL, STORE, REPLACE = "POST /twaps/cancel", "POST /price-triggers", "PUT /price-triggers/e-1"
RELAY, RPC = "POST /v2/relay", "POST /rpc"
APPROVAL = chain_hash(order("relay", "https://venue.example"))
INCREASE = chain_hash(order("rpc", "https://venue.example"))
RELAYED = f"GET /v2/relay/{APPROVAL}"
TWAP_ID = 41

LOST = [
    Answer(b"", reset=True),
    Answer(b"HTTP/1.1 201 X\r\ncontent-length: 99\r\n\r\n{"),
    reply(500, {"message": "no"}),
    *(reply(status, {}) for status in (408, 409, 425, 499)),  # which may come from elsewhere
    reply(307, {}, "location: /twaps/cancel"),
    reply(201, {}),
    reply(200, {"ok": False, "error": {"code": "X"}}),
    http(201, b'{"twapId":5,"twapId":5}', "application/json"),
]
"""What answers nothing: whatever was sent may have been taken."""
FIRST = {"twap": CANCEL, "core-api-post": STORE, "core-api-put": REPLACE, "relay": RELAY, "relayer": "POST /intents"}
NONCE = int(order("rpc", "https://venue.example").nonce)
REFUSAL = Failure(-32000, "intrinsic gas too low")


def sent(
    desk: Desk, way: str, script: Mapping[str, Sequence[Answer]], **changes: Any
) -> tuple[OrderOutcome, list[Seen]]:
    with Wire(script) as wire:
        if way == "rpc":
            desk.world = desk.world._replace(node=RpcClient(wire.url + "/rpc", desk.world.http))
        return submit_delivery(order(way, wire.url)._replace(**changes), desk.world), wire.seen


def cancelled(**changes: object) -> Answer:
    return reply(201, {"twapId": TWAP_ID, "transactionHash": TX, "blockNumber": 41} | changes)


@pytest.mark.parametrize("way", FIRST)
@pytest.mark.parametrize("answer", LOST)
def test_a_lost_answer_is_unknown_and_it_is_never_sent_again(desk: Desk, way: str, answer: Answer) -> None:
    desk.world = desk.world._replace(patience_s=0)
    with Wire({FIRST[way]: [answer]}) as wire:
        delivery = order(way, wire.url)
        states = [submit_delivery(delivery, desk.world).state for _ in range(2)]
        states.append(follow_submission(delivery.digest, desk.world).state)
        assert (set(states), desk.events) == ({OrderState.UNKNOWN}, [])
        assert sum(seen.method in ("POST", "PUT") for seen in wire.seen) == 1


@pytest.mark.parametrize("way", FIRST)
@pytest.mark.parametrize("status", [400, 401, 404, 422, 429, 451])
def test_a_4xx_is_a_rejection_whose_reason_is_kept(desk: Desk, way: str, status: int) -> None:
    refused = reply(status, {"ok": False, "error": {"code": "BAD_REQUEST", "message": "first"}})
    again = reply(status, {"ok": False, "error": {"code": "BAD_REQUEST", "message": "second"}})
    with Wire({FIRST[way]: [refused, again]}) as wire:
        delivery = order(way, wire.url)
        outcome = submit_delivery(delivery, desk.world)
        assert (outcome.state, outcome.code) == (OrderState.REJECTED, "BAD_REQUEST")
        assert submit_delivery(delivery, desk.world).state is OrderState.REJECTED
    kept = [dict(event.payload) for event in desk.world.journal.rejections(delivery.digest)]
    assert [(entry["attempt"], entry["status"]) for entry in kept] == [(1, status), (2, status)]
    assert ["first" in entry["reason"] for entry in kept] == [True, False]
    assert desk.world.journal.events(delivery.digest) == []


@pytest.mark.parametrize("way", ["twap", "core-api-post", "relay", "rpc"])
@pytest.mark.parametrize("route", ["batched-market", "relayer", "twap", "core-api", "relay", "rpc", ""])
def test_nothing_goes_a_way_that_is_not_its_own(desk: Desk, way: str, route: str) -> None:
    delivery = order(way, "http://127.0.0.1:1")
    if route == delivery.route or {route, delivery.route} == {"relay", "rpc"}:
        return
    with pytest.raises(Refusal, match=r"ROUTE-STRUCT|ROUTE-FORM"):
        submit_delivery(delivery._replace(route=route), desk.world)
    assert desk.world.journal.submissions() == []


@pytest.mark.parametrize("way", [*FIRST, "rpc", "batched-market"])
def test_a_signature_is_in_no_notice_no_repr_and_no_journal(desk: Desk, way: str, tmp_path: Path) -> None:
    desk.world = desk.world._replace(patience_s=0)
    sent(desk, way, {name: [reply(500, {})] for name in (*FIRST.values(), RPC, "POST /market/execute-batched")})
    delivery = order(way, "https://venue.example")
    secret = delivery.signature[2:66]
    assert secret not in repr(delivery) + str(desk.notices)
    for file in tmp_path.iterdir():
        assert secret.encode() not in file.read_bytes()
        assert bytes.fromhex(secret) not in file.read_bytes()


def test_a_twap_is_cancelled_with_the_struct_that_was_signed(desk: Desk) -> None:
    outcome, [seen] = sent(desk, "twap", {CANCEL: [cancelled()]})
    delivery = order("twap", "https://venue.example")
    assert json.loads(seen.body) == {
        "trader": delivery.trader,
        "twapId": str(TWAP_ID),
        "nonce": delivery.nonce,
        "deadline": str(delivery.deadline_ms),
        "signature": delivery.signature,
    }
    assert (outcome.state, desk.types) == (OrderState.CONFIRMED, ["TwapCancelled"])
    assert desk.events[0].payload == {"twapId": TWAP_ID, "transactionHash": TX, "blockNumber": 41}


@pytest.mark.parametrize(
    "changes", [{"twapId": 6}, {"twapId": None}, {"transactionHash": "0x1"}, {"blockNumber": "4f"}]
)
def test_an_answer_about_another_twap_decides_nothing(desk: Desk, changes: dict[str, object]) -> None:
    outcome, _ = sent(desk, "twap", {CANCEL: [cancelled(**changes)]})
    assert (outcome.state, desk.events) == (OrderState.UNKNOWN, [])


@pytest.mark.parametrize("way", ["twap", "core-api-post"])
def test_another_encoding_is_refused_before_anything_is_written(desk: Desk, way: str) -> None:
    with pytest.raises(Refusal, match="ENC-CANONICAL"):
        submit_delivery(order(way, "http://127.0.0.1:1")._replace(encoded_intent="0x" + "00" * 31), desk.world)
    assert desk.world.journal.submissions() == []


def test_a_trigger_is_stored_and_its_id_is_in_the_journal(desk: Desk) -> None:
    outcome, [seen] = sent(desk, "core-api-post", {STORE: [reply(201, {"entityId": "e-2"})]})
    body = json.loads(seen.body)
    numbers = ("pairIndex", "index", "triggerType", "timestamp", "signTimestamp", "orderType")
    assert {type(body.pop(name)) for name in numbers} == {int}
    assert {type(body.pop(name)) for name in ("coinSize", "price", "percentage", "nonce")} == {str}
    delivery = order("core-api-post", "https://venue.example")
    assert body == {"trader": delivery.trader, "buy": True, "signedMessage": delivery.signature}
    known = desk.world.journal.get(delivery.digest)
    assert (outcome.state, known.entity_id, known.record.method) == (OrderState.CONFIRMED, "e-2", "POST")
    assert desk.events[0].payload == {"entityId": "e-2"}


@pytest.mark.parametrize("answer", [{"oldEntityId": "e-1", "newEntityId": "e-2"}, {"entityId": "e-2"}])
def test_a_replaced_trigger_leaves_its_old_and_its_new_id(desk: Desk, answer: dict[str, str]) -> None:
    outcome, [seen] = sent(desk, "core-api-put", {REPLACE: [reply(200, answer)]})
    known = desk.world.journal.get(order("core-api-put", "https://venue.example").digest)
    assert (seen.method, outcome.state) == ("PUT", OrderState.CONFIRMED)
    assert (known.entity_id, known.record.old_entity_id, known.record.method) == ("e-2", "e-1", "PUT")
    assert desk.events[0].payload == {"entityId": "e-2", "oldEntityId": "e-1"}


def test_the_old_id_is_durable_before_the_put(desk: Desk) -> None:
    sent(desk, "core-api-put", {REPLACE: [reply(500, {})]})
    known = desk.world.journal.get(order("core-api-put", "https://venue.example").digest)
    assert (known.state, known.record.old_entity_id, known.entity_id) == (OrderState.UNKNOWN, "e-1", "")


@pytest.mark.parametrize(
    "answer",
    [
        {"oldEntityId": "e-9", "newEntityId": "e-2"},
        {"oldEntityId": "e-1", "newEntityId": "e-1"},
        {"oldEntityId": "e-1", "newEntityId": "a\nb"},
    ],
)
def test_an_answer_to_another_replacement_is_unknown(desk: Desk, answer: dict[str, object]) -> None:
    assert sent(desk, "core-api-put", {REPLACE: [reply(200, answer)]})[0].state is OrderState.UNKNOWN


def test_a_hostile_old_id_stays_one_segment_of_the_path_and_only_a_trigger_replaces(desk: Desk) -> None:
    _, [seen] = sent(desk, "core-api-put", {}, replaces="../twaps?x=#")
    assert seen.target == "/price-triggers/..%2Ftwaps%3Fx%3D%23"
    with pytest.raises(Refusal, match="ROUTE-FORM"):
        submit_delivery(order("twap", "http://127.0.0.1:1")._replace(replaces="e-1"), desk.world)


def relay_status(status: object, **more: object) -> Answer:
    return reply(200, {"ok": True, "data": {"hash": APPROVAL, "status": status} | more})


def taken(named: object = APPROVAL) -> Answer:
    return reply(200, {"ok": True, "data": {"hash": named}})


def test_a_transaction_is_relayed_once_and_followed_by_the_hash_computed_here(desk: Desk) -> None:
    outcome, seen = sent(
        desk, "relay", {RELAY: [taken()], RELAYED: [relay_status("pending"), relay_status("confirmed", blockNumber=7)]}
    )
    assert json.loads(seen[0].body) == {"rawTransaction": order("relay", "https://venue.example").raw_transaction}
    assert (outcome.state, outcome.anomalies) == (OrderState.CONFIRMED, ())
    assert desk.types == ["TransactionSent", "TransactionConfirmed"]
    assert desk.events[1].payload == {"transactionHash": APPROVAL, "blockNumber": 7}
    assert desk.world.journal.get(outcome.digest).record.transaction_hash == APPROVAL


@pytest.mark.parametrize("named", [TX, APPROVAL[:-1], "nonsense\x1b[2J"])
def test_another_hash_than_the_signed_one_is_an_anomaly_not_followed(desk: Desk, named: str) -> None:
    outcome, seen = sent(desk, "relay", {RELAY: [taken(named)], RELAYED: [relay_status("confirmed", blockNumber=7)]})
    assert (outcome.state, outcome.anomalies) == (OrderState.CONFIRMED, ("other-transaction-hash",))
    assert [s.target for s in seen[1:]] == [f"/v2/relay/{APPROVAL}"]
    assert all(notice.isprintable() for notice in desk.notices)


@pytest.mark.parametrize("named", [None, 7, ["x"]])
def test_a_relay_that_names_no_hash_leaves_it_to_the_status(desk: Desk, named: object) -> None:
    desk.world = desk.world._replace(patience_s=0)
    script = {RELAY: [taken(named)], RELAYED: [relay_status("pending"), relay_status("confirmed", blockNumber=7)]}
    with Wire(script) as wire:
        delivery = order("relay", wire.url)
        states = [submit_delivery(delivery, desk.world).state]
        states += [follow_submission(delivery.digest, desk.world).state for _ in range(2)]
    assert states == [OrderState.UNKNOWN, OrderState.UNKNOWN, OrderState.CONFIRMED]
    assert wire.count("POST", "/v2/relay") == 1


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_failed_simulation_is_a_rejection_that_shows_the_contracts_error(desk: Desk, status: int) -> None:
    details = {"target": "0x1", "revertData": "0x", "decodedError": "WrongSl()"}
    error = {"code": "SIMULATION_FAILED", "message": "reverted", "details": details}
    outcome, _ = sent(desk, "relay", {RELAY: [reply(status, {"ok": False, "error": error})]})
    assert (outcome.state, outcome.code) == (OrderState.REJECTED, "SIMULATION_FAILED")
    assert "decodedError: WrongSl()" in outcome.reason


@pytest.mark.parametrize(("way", "ok"), [("relay", True), ("relay", None), ("twap", False), ("relayer", False)])
def test_beside_another_ok_or_elsewhere_a_failed_simulation_refuses_nothing(desk: Desk, way: str, ok: object) -> None:
    answer = reply(200, {"ok": ok, "error": {"code": "SIMULATION_FAILED", "message": "reverted"}})
    outcome, _ = sent(desk, way, {FIRST[way]: [answer]})
    assert outcome.state is OrderState.UNKNOWN


def test_a_reverted_transaction_is_a_failure_with_the_contracts_error(desk: Desk) -> None:
    outcome, _ = sent(desk, "relay", {RELAY: [taken()], RELAYED: [relay_status("reverted", decodedError="Paused()")]})
    assert (outcome.state, outcome.code) == (OrderState.FAILED, "REVERTED")
    assert "Paused()" in outcome.reason
    assert desk.types == ["TransactionSent", "TransactionReverted"]


@pytest.mark.parametrize(
    "broken",
    [
        relay_status("confirmed", blockNumber="7f"),
        relay_status("confirmed", blockNumber=7, hash=TX),
        relay_status("reverted", hash=None),
        reply(200, {"ok": False, "error": {"code": "X"}}),
        Answer(b"", reset=True),
    ],
)
def test_a_relay_status_that_cannot_be_right_is_asked_for_again(desk: Desk, broken: Answer) -> None:
    outcome, seen = sent(
        desk, "relay", {RELAY: [taken()], RELAYED: [broken, broken, relay_status("confirmed", blockNumber=7)]}
    )
    assert (outcome.state, len(seen)) == (OrderState.CONFIRMED, 4)


def receipt(block: int = 40) -> dict[str, object]:
    return {"transactionHash": INCREASE, "blockNumber": hex(block), "status": "0x1", "logs": []}


def block(which: str, _whole: bool) -> object:
    """Return a block of a node that knows no word for a final one."""
    return None if which == "finalized" else {"number": which, "timestamp": "0x1", "transactions": []}


def node_with(**answers: Sequence[Any]) -> Node:
    """Return a node that has the transaction in a block, or answers some methods otherwise, in turn."""
    usual: dict[str, Sequence[Any]] = {
        "eth_sendRawTransaction": [INCREASE],
        "eth_getTransactionCount": [hex(NONCE)],
        "eth_getTransactionByHash": [None],
        "eth_getTransactionReceipt": [receipt()],
        "eth_blockNumber": ["0x28"],
    }
    told = {name: in_turn(*values) for name, values in (usual | answers).items()}
    return Node({"eth_getBlockByNumber": block, **told})


def sendings(node: Node) -> int:
    return node.methods.count("eth_sendRawTransaction")


def by_node(desk: Desk, node: Node, **changes: Any) -> OrderOutcome:
    settings: dict[str, Any] = {"node": RpcClient(node.url, desk.world.http), "confirmations": 1} | changes
    desk.world = desk.world._replace(**settings)
    return submit_delivery(order("rpc", "https://venue.example"), desk.world)


def test_confirmations_are_counted_and_a_stored_order_is_not_called_filled(desk: Desk) -> None:
    with node_with(eth_getTransactionReceipt=[None, receipt()], eth_blockNumber=["0x28", "0x29", "0x2a"]) as node:
        outcome = by_node(desk, node, confirmations=3)
    assert (outcome.state, "not a fill" in outcome.reason, sendings(node)) == (OrderState.CONFIRMED, True, 1)
    assert desk.events[1].payload == {"transactionHash": INCREASE, "blockNumber": 40, "confirmedBlock": 40}
    assert len(desk.naps) == 3


def test_a_receipt_that_goes_away_again_confirms_nothing(desk: Desk) -> None:
    receipts = [receipt(), None, receipt(block=41)]
    with node_with(eth_getTransactionReceipt=receipts, eth_blockNumber=["0x29", "0x2a"]) as node:
        by_node(desk, node, confirmations=2)
    assert desk.events[1].payload["blockNumber"] == 41


@pytest.mark.parametrize(
    ("count", "known", "state"),
    [
        (hex(NONCE), None, OrderState.REJECTED),
        (hex(NONCE), {"hash": INCREASE}, OrderState.UNKNOWN),
        (hex(NONCE + 1), None, OrderState.UNKNOWN),
        (REFUSAL, None, OrderState.UNKNOWN),
        (Answer(b"", reset=True), None, OrderState.UNKNOWN),
    ],
)
def test_a_node_that_refuses_is_believed_only_while_it_has_neither_transaction_nor_nonce(
    desk: Desk, count: object, known: object, state: OrderState
) -> None:
    counts = [hex(NONCE), count, hex(NONCE)]  # the first is read before the sending
    with node_with(
        eth_sendRawTransaction=[REFUSAL],
        eth_getTransactionCount=counts,
        eth_getTransactionByHash=[known],
        eth_getTransactionReceipt=[None],
    ) as node:
        assert by_node(desk, node).state is state


@pytest.mark.parametrize(
    ("message", "count", "known", "state"),
    [
        ("already known", hex(NONCE), None, OrderState.UNKNOWN),
        ("TX_REJECTED: the transaction was already submitted", None, None, OrderState.UNKNOWN),
        ("no", hex(99), None, OrderState.UNKNOWN),
        ("no", hex(NONCE), {"hash": APPROVAL}, OrderState.UNKNOWN),
        ("no", None, None, OrderState.REJECTED),
    ],
)
def test_a_relay_s_refusal_is_none_where_it_or_the_node_has_the_transaction(
    desk: Desk, message: str, count: str | None, known: object, state: OrderState
) -> None:
    counts = [hex(NONCE), count]
    with node_with(
        eth_getTransactionCount=counts, eth_getTransactionByHash=[known], eth_getTransactionReceipt=[None]
    ) as node:
        client = RpcClient(node.url, desk.world.http)
        desk.world = desk.world._replace(node=client, confirmations=1, patience_s=0)
        outcome, _ = sent(desk, "relay", {RELAY: [reply(400, {"error": {"code": "X", "message": message}})]})
    assert outcome.state is state, outcome.reason


@pytest.mark.parametrize(
    ("way", "taken"),
    [("core-api-post", {"entityId": "e-7"}), ("relayer", {"id": "r-7"}), ("relayer", {"id": "intents"})],  # its path
)
def test_an_id_that_another_one_has_is_none(desk: Desk, way: str, taken: dict[str, str]) -> None:
    desk.world = desk.world._replace(patience_s=0)
    script = {STORE: [reply(201, taken)], "POST /intents": [reply(201, taken)]}
    with Wire(script) as wire:
        first = order(way, wire.url)
        second = first._replace(digest="0x" + "cd" * 32, step="second", nonce="6")
        assert submit_delivery(first, desk.world).state is not OrderState.UNKNOWN
        outcome = submit_delivery(second, desk.world)
    assert (outcome.state, f"gave the id of {first.digest}" in outcome.reason) == (OrderState.UNKNOWN, True)


def test_an_id_that_the_request_itself_names_comes_each_time(desk: Desk) -> None:
    said = {"format": SERVICES, "paths": {"core-api-TpSlReq": "PUT /triggers/of-{trader}"}}
    context = desk.world._replace(speech=resolve_services(said))
    entity = f"of-{order('core-api-post', 'https://venue.example').trader}"
    with Wire({f"PUT /triggers/{entity}": [reply(200, {"entityId": entity})] * 2}) as wire:
        for nonce in ("6", "7"):
            again = order("core-api-post", wire.url)._replace(digest=f"0x{int(nonce):064x}", step=nonce, nonce=nonce)
            assert submit_delivery(again, context).state is OrderState.CONFIRMED


@pytest.mark.parametrize("way", ["twap", "core-api-post"])
def test_a_refusal_of_an_intent_whose_nonce_is_used_leaves_it_open(desk: Desk, way: str) -> None:
    used = iter([False, *[True] * 9])  # it is executed between the look before the sending and the answer
    desk.world = desk.reading(lambda *_: next(used))._replace(patience_s=0)
    outcome, _ = sent(desk, way, {FIRST[way]: [reply(400, {"message": "no"})]})
    assert (outcome.state, "its nonce is used" in outcome.reason) == (OrderState.UNKNOWN, True)


@pytest.mark.parametrize(
    ("answer", "known"),
    [
        ("already known", True),
        ("Transaction with the same hash was already imported.", True),
        ("nonce too low", True),
        (-32603, True),  # its handler may have broken off after it took it
        (reply(503, {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "upstream"}}), True),
        ("insufficient funds for gas * price + value", False),
    ],
)
def test_a_node_that_says_that_it_has_it_is_believed(desk: Desk, answer: Any, known: bool) -> None:
    if not isinstance(answer, Answer):
        code, message = (answer, "no") if type(answer) is int else (-32000, answer)
        answer = Failure(code, message)
    with node_with(eth_sendRawTransaction=[answer], eth_getTransactionReceipt=[None, receipt()]) as node:
        states = [by_node(desk, node, patience_s=0).state, by_node(desk, node).state]
    expected = [OrderState.UNKNOWN, OrderState.CONFIRMED] if known else [OrderState.REJECTED] * 2
    assert (states, sendings(node)) == (expected, 1 if known else 2)


@pytest.mark.parametrize("answer", [Answer(b"", reset=True), reply(502, {}), reply(200, {}), "0x1", None])
def test_a_node_whose_answer_is_lost_is_followed_and_sent_no_more(desk: Desk, answer: object) -> None:
    with node_with(eth_sendRawTransaction=[answer]) as node:
        outcome = by_node(desk, node)
        assert outcome.state is OrderState.CONFIRMED
        assert follow_submission(outcome.digest, desk.world).state is OrderState.CONFIRMED
    assert sendings(node) == 1


def test_a_node_that_names_another_hash_is_an_anomaly(desk: Desk) -> None:
    with node_with(eth_sendRawTransaction=[TX]) as node:
        outcome = by_node(desk, node)
    assert (outcome.state, outcome.anomalies) == (OrderState.CONFIRMED, ("other-transaction-hash",))


def test_the_count_is_read_in_the_confirmed_block_and_the_node_s_key_is_not_kept(desk: Desk, tmp_path: Path) -> None:
    with node_with(eth_getTransactionReceipt=[None]) as node:
        outcome = by_node(desk, node, patience_s=0, confirmations=3)
    counts = [params[1] for method, params in node.asked if method == "eth_getTransactionCount"]
    assert (outcome.state, counts) == (OrderState.ACCEPTED, ["latest", "0x26"])
    assert all(b"/rpc" not in file.read_bytes() for file in tmp_path.iterdir())


def test_without_a_node_nothing_is_sent_and_following_says_what_is_missing(desk: Desk) -> None:
    delivery = order("rpc", "http://127.0.0.1")
    with pytest.raises(UsageError, match="AIRLOCK_RPC"):
        submit_delivery(delivery, desk.world)
    assert desk.world.journal.submissions() == []
    with node_with(eth_getTransactionReceipt=[None]) as node:
        by_node(desk, node, patience_s=0)
    assert "AIRLOCK_RPC" in follow_submission(delivery.digest, desk.world._replace(node=None)).reason


def test_a_refused_relay_may_be_sent_by_the_node_and_never_the_other_way_round_at_once(desk: Desk) -> None:
    raw: Delivery = order("rpc", "https://venue.example")
    with Wire({RELAY: [reply(400, {})]}) as wire:
        assert submit_delivery(raw._replace(route="relay", base_url=wire.url), desk.world).state is OrderState.REJECTED
    with node_with() as node:
        assert by_node(desk, node).state is OrderState.CONFIRMED
    known = desk.world.journal.get(raw.digest)
    assert (known.record.route, known.record.method) == ("rpc", "eth_sendRawTransaction")
    with Wire({}) as wire:
        assert submit_delivery(raw._replace(route="relay", base_url=wire.url), desk.world).state is OrderState.CONFIRMED
        assert wire.seen == []
