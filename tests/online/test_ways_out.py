"""Ways out of UNKNOWN: the operator's own node finds what executed an intent, a person gives an id, a hash or a note."""

from typing import Any
from unittest.mock import Mock

import pytest

from airlock_online.clients.rpc import ChainBlock, RpcClient
from airlock_online.delivery import chain_search
from airlock_online.delivery.chain_evidence import confirmed_block
from airlock_online.delivery.chain_search import ORDER_ENDS, search, settle_by_transaction
from airlock_online.delivery.resolution import is_proved
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.relayer import transaction_on_chain
from airlock_online.delivery.routes.struct import executing_call
from airlock_online.delivery.submit import _record, follow_submission, submit_delivery
from airlock_online.journal.order_states import OrderState
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.ethereum.signatures import keccak256
from online.crash.orders import order
from online.delivering_machine import NOW, Desk
from online.fake_chain import FakeChain, Mined
from online.loopback import Wire, reply
from online.test_chain_evidence import lost
from online.test_hidden_ends import ACCEPTED, EXECUTED, INITIATED, Market, streamed

TX, OTHER = "0x" + "aa" * 32, "0x" + "bb" * 32
KEEPER, STORAGE = "0x" + "07" * 20, "0x" + "08" * 20
ORDER_ID = f"0x{7:064x}"
REGISTERED = "0x" + keccak256(b"MarketOrderInitiated(uint256,address,uint256,bool,bool,bool)").hex()
WAYS = ("relayer", "twap", "core-api-post")
TRADER, STRANGER = order("batched-market", "https://venue.example").trader.lower(), "0x" + "99" * 20


def nested(delivery: Delivery) -> str:
    """Return an input that carries an intent inside other calls."""
    return "0x" + "ac9650d8" + "00" * 31 + delivery.encoded_intent[2:] + "ff" * 7


def chain_with(delivery: Delivery, *mined: Mined, block: int = 5, spent: int | None = 5) -> FakeChain:
    chain = FakeChain(*range(1_780_000_000, 1_780_000_100, 10), finalized=8)
    chain.mine(block, *mined)
    if spent is not None:
        chain.spent[(delivery.trader.lower(), int(delivery.nonce))] = spent
    return chain


def world(desk: Desk, delivery: Delivery, url: str, **changes: Any) -> DeliveryContext:
    settings: dict[str, Any] = {
        "node": RpcClient(url, desk.world.http),
        "patience_s": 0,
        "encoded": lambda _: delivery.encoded_intent[2:],
        "contracts_of": lambda _: frozenset({STORAGE}),
    }
    return desk.world._replace(**settings | changes)


def log(kind: str, address: str = STORAGE, order_id: str = ORDER_ID, trader: str = TRADER) -> dict[str, Any]:
    topics = [kind, order_id, f"0x{trader[2:]:0>64}"]
    return {"address": address, "topics": topics, "data": "0x", "transactionHash": OTHER}


def carrier(delivery: Delivery, **changes: Any) -> Mined:
    return Mined(TX, KEEPER, 1, nested(delivery), logs=(log("0x" + "00" * 32),))._replace(**changes)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("block", [0, 5, 8])
def test_what_executed_an_intent_is_found_by_its_nonce_s_block(desk: Desk, way: str, block: int) -> None:
    delivery = lost(desk, way)
    noise, reverted = Mined(OTHER, KEEPER, 0, "0x1234"), carrier(delivery, tx_hash="0x" + "cc" * 32, ok=False)
    with chain_with(delivery, noise, reverted, carrier(delivery), block=block, spent=block).node() as node:
        outcome = follow_submission(delivery.digest, world(desk, delivery, node.url))
    assert (outcome.state, f"{TX} executed it in block {block}" in outcome.reason) == (OrderState.CONFIRMED, True)


def test_a_stored_trigger_s_execution_is_an_event_once_and_ends_nothing_else(desk: Desk) -> None:
    with Wire({"POST /price-triggers": [reply(201, {"entityId": "e-1"})]}) as wire:
        delivery = order("core-api-post", wire.url)
        assert submit_delivery(delivery, desk.world).state is OrderState.CONFIRMED
    chain = chain_with(delivery, carrier(delivery), spent=None)
    with chain.node() as node:
        context = world(desk, delivery, node.url)
        waiting = follow_submission(delivery.digest, context)
        assert (waiting.state, "can be executed until the nonce" in waiting.reason) == (OrderState.CONFIRMED, True)
        chain.spent[(delivery.trader.lower(), int(delivery.nonce))] = 5
        told = [follow_submission(delivery.digest, context) for _ in range(2)]
    assert [each.state for each in told] == [OrderState.CONFIRMED] * 2
    assert desk.types == ["TriggerStored", "FoundOnChain"]


@pytest.mark.parametrize("spent", [5, None])
def test_an_end_that_is_learnt_is_proved_at_once_and_never_said_to_be_to_come(desk: Desk, spent: int | None) -> None:
    with Market(*streamed(ACCEPTED), history=[ACCEPTED]) as market:
        delivery = order("batched-market", market.url)
        assert submit_delivery(delivery, desk.world._replace(patience_s=0)).state is OrderState.ACCEPTED
        market.history += [INITIATED, EXECUTED]
        with chain_with(delivery, carrier(delivery), spent=spent).node() as node:
            for _ in range(2):
                outcome = follow_submission(delivery.digest, world(desk, delivery, node.url))
                assert (outcome.state, "can be executed" in outcome.reason) == (OrderState.FILLED, False)
                assert is_proved(delivery.digest, desk.world.journal) is bool(spent)


@pytest.mark.parametrize(
    ("mined", "why"),
    [
        ({"ok": False}, "reverted"),
        ({"data": "0x" + "00" * 400}, "no transaction there is known"),
        ({"logs": ()}, "no contract of the venue has a log in it"),  # a decoy: something else spent the nonce
        ({"logs": (log("0x" + "00" * 32, address=KEEPER),)}, "no contract of the venue has a log in it"),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_what_reverted_executed_nothing(desk: Desk, way: str, mined: dict[str, Any], why: str) -> None:
    delivery = lost(desk, way)
    with chain_with(delivery, carrier(delivery, **mined)).node() as node:
        outcome = follow_submission(delivery.digest, world(desk, delivery, node.url))
    assert outcome.state is OrderState.UNKNOWN
    assert why in outcome.reason + " ".join(desk.notices)


@pytest.mark.parametrize(
    ("to", "within", "more", "state"),
    [
        ("", "", "", OrderState.CONFIRMED),
        (KEEPER, "", "", OrderState.UNKNOWN),
        ("", "", "00" * 32, OrderState.UNKNOWN),
        ("", "00" * 32, "", OrderState.UNKNOWN),  # another intent, in which ours stands
    ],
)
def test_the_executing_call_of_the_contract_needs_no_log(
    desk: Desk, to: str, within: str, more: str, state: OrderState
) -> None:
    delivery = lost(desk, "relayer")
    call = executing_call(delivery._replace(encoded_intent=delivery.encoded_intent + within))
    mined = carrier(delivery, to=to or call["to"], data=call["data"] + more, logs=())
    with chain_with(delivery, mined).node() as node:
        assert follow_submission(delivery.digest, world(desk, delivery, node.url)).state is state


def test_what_a_service_said_of_another_voids_none_that_the_chain_shows_executed(desk: Desk) -> None:
    delivery = lost(desk, "relayer")
    other = delivery._replace(digest="0x" + "ef" * 32, step="other")
    desk.world.journal.prepare(_record(other, "POST", ""))
    for state in (OrderState.SENDING, OrderState.ACCEPTED, OrderState.CONFIRMED):  # by the relayer's word
        desk.world.journal.move(other.digest, state)
    with chain_with(delivery, carrier(delivery)).node() as node:
        encodings = {delivery.digest: delivery.encoded_intent[2:]}
        context = world(desk, delivery, node.url, encoded=lambda record: encodings.get(record.digest, ""))
        outcome = follow_submission(delivery.digest, context)
    assert (outcome.state, outcome.reason.count(TX)) == (OrderState.CONFIRMED, 1)


def test_a_copy_of_the_bytes_in_another_block_than_the_nonces_proves_nothing(desk: Desk) -> None:
    delivery = lost(desk, "twap")
    chain = chain_with(delivery, carrier(delivery), block=6, spent=4)
    with chain.node() as node:
        context = world(desk, delivery, node.url)
        assert follow_submission(delivery.digest, context).state is OrderState.UNKNOWN
        with pytest.raises(ServiceError, match="another block"):
            by_hash(delivery, context)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("together", [True, False])
def test_of_two_with_one_nonce_neither_is_known_executed(desk: Desk, first: int, together: bool) -> None:
    one = lost(desk, "relayer")
    other = lost(desk, "relayer", digest="0x" + "cd" * 32, encoded_intent="0x" + "77" * 160, step="second")
    encodings = {each.digest: each.encoded_intent[2:] for each in (one, other)}
    data = (nested(one) + nested(other)[2:], "0x") if together else (nested(one), nested(other))
    chain = chain_with(one, carrier(one, data=data[0]), carrier(other, tx_hash=OTHER, data=data[1]))
    with chain.node() as node:
        context = world(desk, one, node.url, encoded=lambda record: encodings[record.digest])
        for each in (one, other)[:: -1 if first else 1]:
            assert follow_submission(each.digest, context).state is OrderState.UNKNOWN
    assert any(f"carries {one.digest} too" in notice for notice in desk.notices)


@pytest.mark.parametrize("changes", [{"nonce": "9"}, {"chain_id": 5}])
def test_a_signature_with_another_nonce_takes_nothing_from_it(desk: Desk, changes: dict[str, Any]) -> None:
    one = lost(desk, "relayer")
    lost(desk, "relayer", digest="0x" + "cd" * 32, step="second", **changes)
    with chain_with(one, carrier(one)).node() as node:
        assert follow_submission(one.digest, world(desk, one, node.url)).state is OrderState.CONFIRMED


def by_hash(delivery: Delivery, context: DeliveryContext, tx_hash: str = TX) -> str:
    assert context.node is not None
    record = context.journal.get(delivery.digest).record
    return settle_by_transaction(record, tx_hash, confirmed_block(context.node, record, context), context)


@pytest.mark.parametrize(
    ("changes", "block", "spent", "why"),
    [
        ({}, 9, 9, "no block up to 8"),
        ({}, 5, 9, "does not have the nonce as used"),
        ({"ok": False}, 5, 5, "reverted"),
        ({"data": "0xdeadbeef"}, 5, 5, "does not carry"),
    ],
)
def test_a_transaction_that_is_given_is_not_believed_unverified(
    desk: Desk, changes: dict[str, Any], block: int, spent: int | None, why: str
) -> None:
    delivery = lost(desk, "relayer")
    chain = chain_with(delivery, carrier(delivery, **changes), block=block, spent=spent)
    with chain.node() as node, pytest.raises(ServiceError, match=why):
        by_hash(delivery, world(desk, delivery, node.url))
    assert desk.world.journal.get(delivery.digest).state is OrderState.UNKNOWN


def test_without_the_request_or_a_node_nothing_is_verified(desk: Desk) -> None:
    delivery = lost(desk, "relayer")
    with chain_with(delivery, carrier(delivery)).node() as node:
        for changes in ({"encoded": lambda _: ""}, {"encoded": lambda _: "ab" * 40}):
            with pytest.raises(ServiceError):
                by_hash(delivery, world(desk, delivery, node.url, **changes))
        assert "executed it" in by_hash(delivery, world(desk, delivery, node.url))


def searched(delivery: Delivery, context: DeliveryContext, since_ms: int) -> str:
    assert context.node is not None
    record = context.journal.get(delivery.digest).record
    return search(record, since_ms, confirmed_block(context.node, record, context), context)


@pytest.mark.parametrize("way", WAYS)
def test_a_search_finds_it_where_the_node_has_no_past_state(desk: Desk, way: str) -> None:
    delivery = lost(desk, way)
    chain = chain_with(delivery, carrier(delivery))
    chain.pruned_before = 7
    with chain.node() as node:
        context = world(desk, delivery, node.url)
        assert follow_submission(delivery.digest, context).state is OrderState.UNKNOWN
        assert "executed it" in searched(delivery, context, 1_780_000_020_000)
    assert desk.world.journal.get(delivery.digest).state is OrderState.CONFIRMED
    assert any("searching block" in notice for notice in desk.notices)


@pytest.mark.parametrize("time_ms", [0, NOW, 1 << 60])
def test_a_search_ends_where_a_node_tells_of_more_blocks_than_there_can_be(desk: Desk, time_ms: int) -> None:
    delivery = lost(desk, "relayer")
    record = desk.world.journal.get(delivery.digest).record
    with chain_with(delivery, carrier(delivery)).node() as node:
        context = world(desk, delivery, node.url)._replace(on_notice=Mock(side_effect=AssertionError))
        with pytest.raises(ServiceError, match="contradicts itself"):
            search(record, NOW - 60_000, ChainBlock(1 << 60, time_ms), context)


@pytest.mark.parametrize(("since_s", "found"), [(1_780_000_000, True), (1_780_000_110, True), (1_780_000_200, False)])
def test_a_search_begins_at_the_sending_and_proves_no_absence(desk: Desk, since_s: int, found: bool) -> None:
    delivery = lost(desk, "core-api-post")
    with chain_with(delivery, carrier(delivery)).node() as node:
        told = searched(delivery, world(desk, delivery, node.url), since_s * 1000)
    assert ("executed it" in told, "proves nothing" in told) == (found, not found)
    assert (desk.world.journal.get(delivery.digest).state is OrderState.CONFIRMED) is found


def topic(state: OrderState) -> str:
    return "0x" + keccak256(next(name for name, ends in ORDER_ENDS.items() if ends is state).encode()).hex()


@pytest.mark.parametrize("state", [OrderState.FILLED, OrderState.MARKET_DECLINED])
@pytest.mark.parametrize("told", [None, OrderState.FILLED, OrderState.MARKET_DECLINED, OrderState.FAILED])
def test_a_market_order_is_found_with_its_id_and_its_end_whatever_the_market_told(
    desk: Desk, state: OrderState, told: OrderState | None
) -> None:
    delivery = lost(desk, "batched-market")
    if told:
        desk.world.journal.move(delivery.digest, told, code="X")
    chain = chain_with(delivery, carrier(delivery, logs=(log(REGISTERED),)))
    chain.mine(7, Mined(OTHER, KEEPER, 2, logs=(log(topic(state)),)))
    with chain.node() as node:
        outcome = follow_submission(delivery.digest, world(desk, delivery, node.url))
    assert (outcome.state, "as order 7" in outcome.reason, OTHER in outcome.reason) == (state, True, True)
    assert outcome.code == ("X" if told is state else "")


@pytest.mark.parametrize(
    ("registered", "ended", "block"),
    [
        ([log(REGISTERED)], [], 7),
        ([log(REGISTERED)], [log(topic(OrderState.FILLED))], 9),  # not confirmed
        ([log(REGISTERED)], [log(topic(OrderState.FILLED), order_id=f"0x{8:064x}")], 7),
        ([log(REGISTERED, order_id="0x")], [log(topic(OrderState.FILLED), order_id="0x")], 7),  # no topic of a chain
        ([log(REGISTERED)], [log(topic(OrderState.FILLED), address=KEEPER)], 7),
        ([log(REGISTERED, address=KEEPER)], [log(topic(OrderState.FILLED))], 7),
        ([log(REGISTERED, address=KEEPER), log("0x" + "00" * 32)], [log(topic(OrderState.FILLED))], 7),
        ([], [log(topic(OrderState.FILLED))], 7),
    ],
)
def test_without_its_own_orders_end_a_registered_order_is_not_filled(
    desk: Desk, registered: list[dict[str, Any]], ended: list[dict[str, Any]], block: int
) -> None:
    delivery = lost(desk, "batched-market")
    chain = chain_with(delivery, carrier(delivery, logs=tuple(registered)))
    chain.mine(block, Mined(OTHER, KEEPER, 2, logs=tuple(ended)))
    with chain.node() as node:
        outcome = follow_submission(delivery.digest, world(desk, delivery, node.url))
    ours = any(each["address"] == STORAGE for each in registered)  # else no contract of the venue did anything there
    assert (outcome.state, TX in outcome.reason) == (
        (OrderState.ACCEPTED, True) if ours else (OrderState.UNKNOWN, False)
    )


@pytest.mark.parametrize("state", [OrderState.FILLED, OrderState.MARKET_DECLINED])
@pytest.mark.parametrize("first", [1, -1])
@pytest.mark.parametrize(("trader", "known"), [(STRANGER, True), (TRADER, False)])
def test_another_order_in_the_same_transaction_is_not_ours_and_one_of_our_trader_leaves_it_open(
    desk: Desk, state: OrderState, first: int, trader: str, known: bool
) -> None:
    delivery, theirs = lost(desk, "batched-market"), f"0x{8:064x}"
    logs = [log(REGISTERED), log(REGISTERED, order_id=theirs, trader=trader)]
    chain = chain_with(delivery, carrier(delivery, logs=tuple(logs[::first])))
    chain.mine(7, Mined(OTHER, KEEPER, 2, logs=(log(topic(state), order_id=theirs),)))
    with chain.node() as node:
        outcome = follow_submission(delivery.digest, world(desk, delivery, node.url))
        assert (outcome.state, "order 7" in outcome.reason) == (OrderState.ACCEPTED, known)
        chain.mine(8, Mined(OTHER, KEEPER, 3, logs=(log(topic(state)),)))
        ended = follow_submission(delivery.digest, world(desk, delivery, node.url))
        assert ended.state is (state if known else OrderState.ACCEPTED)


@pytest.mark.parametrize("block", [504, 505, 1005, 1006])
def test_an_end_is_found_within_limits(desk: Desk, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(chain_search, "_ENDS_WITHIN", 1000)  # a chain that goes on is not read to its end
    delivery = lost(desk, "batched-market")
    chain = FakeChain(*range(1_780_000_000, 1_780_001_300), finalized=1250)
    chain.logs_of = 500
    chain.spent[(TRADER, int(delivery.nonce))] = 5
    chain.mine(5, carrier(delivery, logs=(log(REGISTERED),)))
    chain.mine(block, Mined(OTHER, KEEPER, 2, logs=(log(topic(OrderState.FILLED)),)))
    with chain.node() as node:
        outcome = follow_submission(delivery.digest, world(desk, delivery, node.url))
    found = (OrderState.FILLED, "as order 7") if block <= 1005 else (OrderState.ACCEPTED, "not ended by block 1005")
    assert (outcome.state, found[1] in outcome.reason) == (found[0], True)


def history(tracking_id: str, **payload: object) -> dict[str, Any]:
    accepted = {"seq": 0, "type": "MarketOrderAccepted", "payload": {"trackingId": tracking_id}}
    return {"events": [accepted, {"seq": 1, "type": "MarketOrderInitiated", "payload": payload}]}


@pytest.mark.parametrize(
    "document",
    [
        history("t-2", transactionHash=TX),
        history("t-1"),
        history("t-1", transactionHash="0x1"),
        {},
        history("t-1", transactionHash=TX, trader="0x" + "9" * 40),
        history("t-1", transactionHash=TX, pairIndex=7),
    ],
)
def test_an_id_without_its_transaction_is_not_believed(desk: Desk, document: dict[str, Any]) -> None:
    record = desk.world.journal.get(lost(desk, "batched-market").digest).record
    record = record._replace(signed='{"trader": "0x1", "pairIndex": 0}')
    with Wire({"GET /tracking-id/t-1/status": [reply(200, document)]}) as wire, pytest.raises(ServiceError):
        transaction_on_chain(record._replace(url=wire.url), "t-1", desk.world)


def test_a_tracking_id_leads_to_its_transaction(desk: Desk) -> None:
    record = desk.world.journal.get(lost(desk, "batched-market").digest).record
    with Wire({"GET /tracking-id/t-1/status": [reply(200, history("t-1", transactionHash=TX))]}) as wire:
        assert transaction_on_chain(record._replace(url=wire.url), "t-1", desk.world) == TX
    relayed = {"ok": True, "data": {"id": "r-1", "status": "confirmed", "transactionHash": TX}}
    with Wire({"GET /intents/r-1": [reply(200, relayed)]}) as wire:
        assert transaction_on_chain(record._replace(url=wire.url, route="relayer"), "r-1", desk.world) == TX
    with pytest.raises(UsageError):
        transaction_on_chain(record._replace(route="twap"), "t-1", desk.world)


def test_another_orders_tracking_id_is_found_out_by_its_transaction(desk: Desk) -> None:
    delivery, other = lost(desk, "batched-market"), order("twap", "https://venue.example")
    chain = chain_with(delivery, Mined(TX, KEEPER, 1, nested(other)))
    with chain.node() as node, pytest.raises(ServiceError, match="does not carry"):
        by_hash(delivery, world(desk, delivery, node.url))


def test_a_search_ends_with_the_node_s_answers(desk: Desk) -> None:
    delivery = lost(desk, "twap")
    with Wire({}) as gone:
        url = gone.url  # where nobody listens any more
    context = world(desk, delivery, url)
    with pytest.raises(ServiceError, match="no connection"):
        list(chain_search._blocks(RpcClient(url, desk.world.http), 0, 2**40, context))
