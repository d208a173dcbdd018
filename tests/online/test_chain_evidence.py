"""What the operator's node proves, and what it does not: a confirmed block, the contract's bitmap, another transaction."""

from typing import Any

import pytest

from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.event_lines import FOUND
from airlock_online.delivery.outcome import OrderOutcome, outcome_error
from airlock_online.delivery.resolution import is_proved
from airlock_online.delivery.routes.context import Delivery
from airlock_online.delivery.routes.rpc import chain_hash
from airlock_online.delivery.submit import follow_submission, submit_delivery
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_shared.errors import ExitCode
from online.crash.orders import order
from online.delivering_machine import Desk
from online.fake_chain import FakeChain, Mined
from online.loopback import Answer, Script, Wire, frame, reply, stream
from online.node import CHAIN_ID, Failure

POSTS = [f"POST {path}" for path in "/market/execute-batched /price-triggers /twaps/cancel /intents /v2/relay".split()]
INTENTS = ("batched-market", "relayer", "twap")
OURS = order("relay", "https://venue.example")
SENDER, NUMBER = OURS.signer.lower(), int(OURS.nonce)
PRESIGNED = '{"chainId":"84532","to":"0x","data":"0x","gas":"1","authorizationList":[]}'
THEIRS = "0x" + "cd" * 32


def lost(desk: Desk, way: str, **changes: Any) -> Delivery:
    with Wire({name: [reply(500, {})] for name in POSTS}) as wire:
        delivery = order(way, wire.url)._replace(**changes)
        assert submit_delivery(delivery, desk.world._replace(patience_s=0)).state is OrderState.UNKNOWN
    return delivery


def followed(desk: Desk, delivery: Delivery, chain: FakeChain, **changes: Any) -> OrderOutcome:
    with chain.node() as node:
        world = desk.world._replace(node=RpcClient(node.url, desk.world.http), patience_s=0, **changes)
        return follow_submission(delivery.digest, world)


def deadline_s(delivery: Delivery) -> int:
    assert delivery.deadline_ms is not None
    return delivery.deadline_ms // 1000


@pytest.mark.parametrize("way", INTENTS)
@pytest.mark.parametrize(
    ("after_s", "finalized", "state"),
    [
        ([-20, -10, 0], 2, OrderState.UNKNOWN),  # a block at the deadline may still execute it
        ([-20, -10, 1], 2, OrderState.EXPIRED_UNUSED),
        ([-20, -10, 1], 1, OrderState.UNKNOWN),  # the newest block is late enough, the confirmed one is not
        ([-20, 1, 3], 1, OrderState.EXPIRED_UNUSED),
    ],
)
def test_a_deadline_is_over_by_a_confirmed_block(
    desk: Desk, way: str, after_s: list[int], finalized: int, state: OrderState
) -> None:
    delivery = lost(desk, way)
    chain = FakeChain(*(deadline_s(delivery) + after for after in after_s), finalized=finalized)
    outcome = followed(desk, delivery, chain)
    assert outcome.state is state
    assert f"block {finalized}" in outcome.reason


def test_what_went_along_with_a_refused_sending_is_not_over_with_the_next_one(desk: Desk) -> None:
    with Wire({"POST /market/execute-batched": [reply(400, {"message": "stale"}), reply(500, {})]}) as wire:
        delivery = order("batched-market", wire.url)
        for eip7702 in (PRESIGNED, ""):
            submit_delivery(delivery._replace(eip7702=eip7702), desk.world._replace(patience_s=0))
    expired = followed(desk, delivery, FakeChain(deadline_s(delivery) + 1, finalized=0))
    assert (expired.state, "may still be relayed" in expired.reason) == (OrderState.EXPIRED_UNUSED, True)


@pytest.mark.parametrize("eip7702", ["", PRESIGNED])
def test_what_went_along_with_an_order_is_not_over_with_it(desk: Desk, eip7702: str) -> None:
    chain = FakeChain(deadline_s(order("batched-market", "https://a.example")) + 1, finalized=0)
    expired = followed(desk, lost(desk, "batched-market", eip7702=eip7702), chain)
    other = lost(desk, "batched-market", eip7702=eip7702, digest="0x" + "77" * 32, nonce="2")
    filled(desk, other)
    chain.spent[(other.trader.lower(), 2)] = 0
    voided = followed(desk, other, chain)
    assert [expired.state, voided.state] == [OrderState.EXPIRED_UNUSED, OrderState.VOIDED]
    assert ["may still be relayed" in each.reason for each in (expired, voided)] == [bool(eip7702)] * 2


@pytest.mark.parametrize("way", INTENTS)
def test_our_own_clock_ends_nothing(desk: Desk, way: str) -> None:
    delivery = lost(desk, way)
    desk.now_ms = 10**3 * deadline_s(delivery) + 3_600_000
    chain = FakeChain(deadline_s(delivery) - 1800, finalized=0)
    assert followed(desk, delivery, chain, nonce_used=lambda *_: False).state is OrderState.UNKNOWN
    by_word = follow_submission(delivery.digest, desk.reading(lambda *_: False))
    assert (by_word.state, "by the service's word" in by_word.reason) == (OrderState.UNKNOWN, True)


def test_a_trigger_has_no_deadline_and_does_not_expire(desk: Desk) -> None:
    delivery = lost(desk, "core-api-post")
    assert followed(desk, delivery, FakeChain(2**33, finalized=0)).state is OrderState.UNKNOWN


@pytest.mark.parametrize("depth", [1, 2, 3, 12])
def test_a_node_that_knows_no_final_block_is_asked_for_a_deep_one(desk: Desk, depth: int) -> None:
    delivery = lost(desk, "twap")
    late = deadline_s(delivery) + 1
    chain = FakeChain(late - 9, late, late + 9)  # the deadline is over from block 1 on
    state = followed(desk, delivery, chain, confirmations=depth).state
    assert state is (OrderState.UNKNOWN if depth >= 3 else OrderState.EXPIRED_UNUSED)


@pytest.mark.parametrize(
    ("code", "state"),
    [(-32601, OrderState.EXPIRED_UNUSED), (-32602, OrderState.EXPIRED_UNUSED), (-32005, OrderState.UNKNOWN)],
)
def test_only_without_the_word_a_deep_block_counts(desk: Desk, code: int, state: OrderState) -> None:
    delivery = lost(desk, "twap")
    chain = FakeChain(deadline_s(delivery) + 1, unfinal=Failure(code, "limit exceeded"))
    assert followed(desk, delivery, chain, confirmations=1).state is state


def test_the_operator_may_choose_the_depth_over_the_nodes_word(desk: Desk) -> None:
    delivery = lost(desk, "twap")
    chain = FakeChain(deadline_s(delivery) - 9, deadline_s(delivery) + 1, finalized=0)
    assert followed(desk, delivery, chain, confirmations=1).state is OrderState.UNKNOWN
    assert followed(desk, delivery, chain, confirmations=1, confirmed_by="depth").state is OrderState.EXPIRED_UNUSED


@pytest.mark.parametrize("chain_id", [1, 0])
def test_another_chains_node_is_not_believed(desk: Desk, chain_id: int) -> None:
    delivery = lost(desk, "twap")
    chain = FakeChain(deadline_s(delivery) + 9, finalized=0, chain_id=chain_id)
    assert followed(desk, delivery, chain).state is OrderState.UNKNOWN
    assert any(f"serves chain {chain_id}" in notice for notice in desk.notices)


@pytest.mark.parametrize("way", [*INTENTS, "core-api-post"])
@pytest.mark.parametrize("whose", ["signer", "trader"])
def test_a_used_nonce_proves_neither_success_nor_failure(desk: Desk, way: str, whose: str) -> None:
    delivery = lost(desk, way)
    chain = FakeChain(2**33, finalized=0)
    chain.spent[(getattr(delivery, whose).lower(), int(delivery.nonce))] = 0
    outcome = followed(desk, delivery, chain)
    assert outcome.state is OrderState.UNKNOWN
    assert "never be executed again" in outcome.reason
    assert follow_submission(delivery.digest, desk.reading(lambda *_: True)).state is OrderState.UNKNOWN


@pytest.mark.parametrize("way", INTENTS)
def test_a_nonce_of_another_block_word_or_bit_is_another_nonce(desk: Desk, way: str) -> None:
    delivery = lost(desk, way)
    chain = FakeChain(deadline_s(delivery) + 1, deadline_s(delivery) + 2, finalized=0)
    nonce, account = int(delivery.nonce), delivery.signer.lower()
    chain.spent = {(account, nonce ^ 1): 0, (account, nonce ^ 256): 0, (account, nonce): 1}
    assert followed(desk, delivery, chain).state is OrderState.EXPIRED_UNUSED


def test_a_contract_without_the_view_proves_nothing(desk: Desk) -> None:
    delivery = lost(desk, "twap")
    chain = FakeChain(deadline_s(delivery) + 1, finalized=0)
    chain.views = False
    outcome = followed(desk, delivery, chain, nonce_used=lambda *_: False)
    assert (outcome.state, "service's word" in outcome.reason) == (OrderState.UNKNOWN, True)


def filled(desk: Desk, delivery: Delivery, **changes: Any) -> Delivery:
    """Send another signature like this one, which is filled."""
    frames = frame("MarketOrderAccepted", {"trackingId": "t-2"}, 0), frame("MarketOrderExecuted", {}, 1)
    with Wire({POSTS[0]: [stream(*frames)]}) as wire:
        other = delivery._replace(digest="0x" + "ef" * 32, step="other", base_url=wire.url, **changes)
        assert submit_delivery(other, desk.world).state is OrderState.FILLED
    return other


@pytest.mark.parametrize(("found", "state"), [(False, OrderState.VOIDED), (True, OrderState.UNKNOWN)])
def test_another_s_spent_nonce_voids_what_was_not_executed(desk: Desk, found: bool, state: OrderState) -> None:
    delivery = lost(desk, "batched-market")
    other = filled(desk, delivery)
    by_word = follow_submission(delivery.digest, desk.reading(lambda *_: True))
    assert by_word.state is OrderState.UNKNOWN
    chain = FakeChain(2**33, finalized=0)
    chain.spent[(delivery.trader.lower(), int(delivery.nonce))] = 0
    if found:
        desk.world.journal.record(
            delivery.digest, OrderEvent(None, FOUND, {"transactionHash": THEIRS, "confirmedBlock": 0})
        )
    outcome = followed(desk, delivery, chain)
    assert (outcome.state, f"{other.digest}, step" in outcome.reason) == (state, not found)
    assert found or "has spent it, by the service's word" in outcome.reason
    error = outcome_error(outcome)
    assert found or (outcome.code, error and error.exit_code) == ("NONCE_SPENT", ExitCode.EXECUTION_FAILED)


@pytest.mark.parametrize(
    "changes", [{"nonce": "9"}, {"signer": "0x" + "33" * 20}, {"contract": "0x" + "44" * 20}, {"chain_id": 5}]
)
def test_what_one_with_another_nonce_did_voids_nothing(desk: Desk, changes: dict[str, Any]) -> None:
    delivery = lost(desk, "batched-market")
    filled(desk, delivery, **changes)
    stored = lost(desk, "core-api-post", digest="0x" + "77" * 32, step="stored", nonce=delivery.nonce)
    desk.world.journal.move(stored.digest, OrderState.CONFIRMED)  # it waits, and has spent no nonce
    chain = FakeChain(2**33, finalized=0)
    chain.spent[(delivery.trader.lower(), int(delivery.nonce))] = 0
    assert followed(desk, delivery, chain).state is OrderState.UNKNOWN


@pytest.mark.parametrize("code", ["NO_PRICE", "ENQUEUE_FAILED"])
@pytest.mark.parametrize("before", [[], [("MarketOrderInitiated", {"orderId": 5})]])
@pytest.mark.parametrize(
    ("changes", "spent", "state"),
    [
        ({}, 0, OrderState.ACCEPTED),
        ({}, 1, OrderState.FAILED),  # by another nonce
        ({"chain_id": 5}, 0, OrderState.FAILED),
        ({"views": False}, 0, OrderState.FAILED),
    ],
)
def test_a_failure_is_never_told_against_a_nonce_that_our_node_has_as_used(
    desk: Desk, code: str, before: list[Any], changes: dict[str, Any], spent: int, state: OrderState
) -> None:
    told = [("MarketOrderAccepted", {"trackingId": "t-1"}), *before, ("Error", {"code": code, "trackingId": "t-1"})]
    history = [{"seq": seq, "type": kind, "payload": payload} for seq, (kind, payload) in enumerate(told)]
    delivery = order("batched-market", "https://a.example")
    chain, marked = FakeChain(2**33, finalized=0), (delivery.trader.lower(), int(delivery.nonce) ^ spent)
    vars(chain).update(changes)

    def post(_: object) -> Answer:
        chain.spent[marked] = 0
        return stream(*(frame(kind, payload, seq) for seq, (kind, payload) in enumerate(told)))

    script: Script = {POSTS[0]: post, "GET /tracking-id/t-1/status": [reply(200, {"events": history})] * 9}
    with Wire(script) as wire, chain.node() as node:
        world = desk.world._replace(node=RpcClient(node.url, desk.world.http), patience_s=0)
        outcome = submit_delivery(delivery._replace(base_url=wire.url), world)
        state = OrderState.FAILED if before else state  # what was initiated has its nonce used, and may fail later
        assert (outcome.state, "failed-and-executed" in outcome.anomalies) == (state, state is OrderState.ACCEPTED)
        chain.spent[(delivery.trader.lower(), int(delivery.nonce))] = 0
        later = follow_submission(delivery.digest, world)
        warned = "sign nothing in its place before" in later.reason
        assert (later.state, warned) == (state, state is OrderState.FAILED and not changes)


def chain_of_five() -> FakeChain:
    chain = FakeChain(*range(1_780_000_000, 1_780_000_050, 10), finalized=3)
    chain.mine(1, Mined("0x" + "01" * 32, SENDER, NUMBER - 1))
    return chain


@pytest.mark.parametrize(
    ("block", "ok", "state"),
    [
        (3, True, OrderState.CONFIRMED),
        (3, False, OrderState.FAILED),
        (4, True, OrderState.UNKNOWN),
        (4, False, OrderState.UNKNOWN),
    ],
)
def test_a_receipt_counts_once_confirmed(desk: Desk, block: int, ok: bool, state: OrderState) -> None:
    delivery, chain = lost(desk, "relay"), chain_of_five()
    tx_hash = desk.world.journal.get(delivery.digest).record.transaction_hash
    chain.mine(block, Mined(tx_hash, SENDER, NUMBER, ok=ok))
    assert followed(desk, delivery, chain).state is state
    assert is_proved(delivery.digest, desk.world.journal) is (state is not OrderState.UNKNOWN)


@pytest.mark.parametrize("said", ["confirmed", "reverted"])
@pytest.mark.parametrize(("block", "ok"), [(3, True), (3, False), (4, True), (4, False), (None, True)])
def test_the_relay_s_word_is_no_proof_until_the_node_has_the_receipt(
    desk: Desk, said: str, block: int | None, ok: bool
) -> None:
    told = {"hash": chain_hash(OURS), "status": said, "blockNumber": 3}
    answer, chain = reply(200, {"ok": True, "data": told}), chain_of_five()
    with Wire({POSTS[-1]: [answer], f"GET /v2/relay/{chain_hash(OURS)}": [answer]}) as wire:
        delivery = order("relay", wire.url)
        state = submit_delivery(delivery, desk.world).state
    assert state is {"confirmed": OrderState.CONFIRMED, "reverted": OrderState.FAILED}[said]
    assert not is_proved(delivery.digest, desk.world.journal)
    if block is not None:
        chain.mine(block, Mined(chain_hash(OURS), SENDER, NUMBER, ok=ok))
    proved = (OrderState.CONFIRMED if ok else OrderState.FAILED) if block == 3 else state
    outcome = followed(desk, delivery, chain)
    assert (outcome.state, outcome.code) == (proved, "" if proved is OrderState.CONFIRMED else "REVERTED")
    assert is_proved(delivery.digest, desk.world.journal) is (block == 3)


def test_a_transaction_that_a_lagging_node_does_not_tell_of_is_not_called_replaced(desk: Desk) -> None:
    delivery, chain = lost(desk, "relay"), chain_of_five()
    tx_hash = desk.world.journal.get(delivery.digest).record.transaction_hash
    chain.mine(3, Mined(tx_hash, SENDER, NUMBER))
    chain.lags = 2
    assert followed(desk, delivery, chain).state is OrderState.UNKNOWN
    chain.lags = None
    assert followed(desk, delivery, chain).state is OrderState.CONFIRMED


def test_without_the_past_nobody_says_who_took_the_nonce(desk: Desk) -> None:
    delivery, chain = lost(desk, "relay"), chain_of_five()
    chain.mine(2, Mined(THEIRS, SENDER, NUMBER))
    chain.pruned_before = 3
    outcome = followed(desk, delivery, chain)
    assert (outcome.state, "cannot be read at this node" in outcome.reason) == (OrderState.UNKNOWN, True)


@pytest.mark.parametrize("block", range(5))
def test_whoever_took_the_nonce_is_found_in_any_block(desk: Desk, block: int) -> None:
    delivery = lost(desk, "relay")
    desk.world.journal.move(delivery.digest, OrderState.CONFIRMED)  # by the relay's word
    chain = FakeChain(*range(5), finalized=4)
    chain.mine(block, Mined("0x" + "77" * 32, "0x" + "77" * 20, NUMBER), Mined(THEIRS, SENDER, NUMBER))
    outcome = followed(desk, delivery, chain)
    assert (outcome.state, outcome.code) == (OrderState.VOIDED, "REPLACED")
    assert f"{THEIRS} in block {block}" in outcome.reason


def test_where_the_nonce_is_taken_the_chain_is_asked_and_not_the_relay(desk: Desk) -> None:
    chain = chain_of_five()
    chain.mine(2, Mined(THEIRS, SENDER, NUMBER))
    with Wire({}) as wire, chain.node() as node:
        desk.world = desk.world._replace(node=RpcClient(node.url, desk.world.http))
        outcome = submit_delivery(order("relay", wire.url)._replace(chain_id=CHAIN_ID), desk.world)
    assert (outcome.state, outcome.code, wire.seen) == (OrderState.VOIDED, "REPLACED", [])


@pytest.mark.parametrize("chain_id", [1, 10])
def test_another_chains_receipt_is_no_receipt(desk: Desk, chain_id: int) -> None:
    delivery, chain = lost(desk, "relay"), chain_of_five()
    chain.chain_id = chain_id
    tx_hash = desk.world.journal.get(delivery.digest).record.transaction_hash
    chain.mine(2, Mined(tx_hash, SENDER, NUMBER))
    assert followed(desk, delivery, chain).state is OrderState.UNKNOWN
