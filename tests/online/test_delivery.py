"""Delivering over real HTTP against replies that are wrong byte by byte: sent once, written down first, never guessed."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event, Semaphore, Thread
from typing import Any

import pytest

from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.admission import shares_nonce
from airlock_online.delivery.outcome import OrderOutcome
from airlock_online.delivery.resolution import EXPIRY_MARGIN_MS
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.posting import MISSING_AT_MOST
from airlock_online.delivery.submit import (
    _record,
    export_delivery,
    follow_submission,
    submit_delivery,
)
from airlock_online.journal.engine import JournalError
from airlock_online.journal.journal import Journal, open_journal
from airlock_online.journal.order_states import OPEN, OrderEvent, OrderState
from airlock_online.journal.schema import Record, Submission
from airlock_shared.errors import Expired, OutcomeUnknown, Refusal, ServiceError
from online.delivering_machine import NOW, Desk, delivering_machine, unsent
from online.fake_chain import FakeChain
from online.loopback import Answer, Seen, Wire, frame, http, reply, stream
from online.node import CHAIN_ID
from online.test_journal import put

SUBMIT = "POST /market/execute-batched"
STATUS = "GET /tracking-id/t-1/status"
RELAY, RELAYED = "POST /intents", "GET /intents/r-1"
ACCEPTED = frame("MarketOrderAccepted", {"trackingId": "t-1"}, 0)
EXECUTED = frame("MarketOrderExecuted", {"orderId": 1}, 2)
TIMED_OUT = frame("Error", {"status": "failed", "code": "STREAM_TIMEOUT", "message": "m", "trackingId": "t-1"})
TX = "0x" + "ee" * 32
EIP7702 = '{"chainId": "31337", "to": "0x1", "data": "0x", "gas": "1", "authorizationList": []}'
REFERRAL = {"primary_type": "SetTraderReferralCodeByUserReq", "route": "relayer", "order_type": None}
AFTER = unsent().deadline_ms or 0
FIRST, SECOND = _record(unsent(), "POST", ""), "0x" + "cd" * 32
TAKEN_T1: tuple[int, str, dict[str, object]] = (0, "MarketOrderAccepted", {"trackingId": "t-1"})
TAKEN = reply(202, {"ok": True, "data": {"id": "r-1", "status": "pending"}})


def replayed(*entries: tuple[int, str, dict[str, object]]) -> Answer:
    return reply(200, {"events": [{"seq": s, "type": t, "payload": p, "at": NOW + s} for s, t, p in entries]})


FILLED = replayed(TAKEN_T1, (1, "MarketOrderInitiated", {"orderId": 1}), (2, "MarketOrderExecuted", {"orderId": 1}))


def deliver(desk: Desk, script: Mapping[str, Sequence[Answer]], **changes: object) -> tuple[OrderOutcome, list[Seen]]:
    with Wire(script) as wire:
        outcome = submit_delivery(unsent(wire.url, **changes), desk.world)
    return outcome, wire.seen


def test_the_body_is_as_the_specification_says_and_its_hash_is_in_the_journal(desk: Desk) -> None:
    outcome, [seen, *_] = deliver(desk, {SUBMIT: [stream(ACCEPTED, EXECUTED)]})
    erc712 = {"userIntent": unsent().encoded_intent, "userSignature": unsent().signature}
    assert json.loads(seen.body) == {"orderType": 0, "erc712": erc712}
    assert seen.headers["accept"] == "text/event-stream"
    assert outcome.state is OrderState.FILLED
    assert desk.world.journal.get(unsent().digest).record.body_sha256 == hashlib.sha256(seen.body).hexdigest()
    text = EIP7702.replace("[]", '[ {"nonce": 1, "é": 1.50}\n]')
    _, [seen, *_] = deliver(
        desk, {SUBMIT: [stream(ACCEPTED, EXECUTED)]}, digest=SECOND, step="other", nonce="9", eip7702=text
    )
    assert seen.body.endswith(b',"eip7702":' + text.encode() + b"}")
    assert list(json.loads(seen.body)) == ["orderType", "erc712", "eip7702"]


def test_the_claim_is_durable_before_the_post_and_the_tracking_id_before_anybody_sees_an_event(path: Path) -> None:
    at_post: list[OrderState] = []
    at_event: list[tuple[OrderState, str]] = []

    def look(seen: Seen) -> None:
        if seen.method != "POST":
            return
        with open_journal(str(path), lambda: NOW) as other:
            at_post.append(other.get(unsent().digest).state)

    def show(_: OrderEvent) -> None:
        with open_journal(str(path), lambda: NOW) as other:
            known = other.get(unsent().digest)
            at_event.append((known.state, known.tracking_id))

    with delivering_machine(path) as desk, Wire({SUBMIT: [stream(ACCEPTED, EXECUTED)]}, look) as wire:
        submit_delivery(unsent(wire.url), desk.world._replace(on_event=show))
    assert at_post == [OrderState.SENDING]
    assert at_event == [(OrderState.ACCEPTED, "t-1"), (OrderState.FILLED, "t-1")]


def test_what_is_told_again_waits_for_no_disk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[tuple[str, bool]] = []
    record = Journal.record

    def spy(journal: Journal, digest: str, event: OrderEvent, **told: Any) -> bool:
        waited.append((event.type, not told["readable_again"]))
        return record(journal, digest, event, **told)

    monkeypatch.setattr(Journal, "record", spy)
    deliver(desk, {SUBMIT: [stream(ACCEPTED, EXECUTED)]})
    assert waited == [("MarketOrderAccepted", True), ("MarketOrderExecuted", False)]


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"route": "relayer", "order_type": None}, "ROUTE-STRUCT"),
        ({"order_type": None}, "ORDER-TYPE"),
        ({"order_type": False}, "ORDER-TYPE"),
        (REFERRAL | {"order_type": 0}, "ORDER-TYPE"),
        (REFERRAL | {"eip7702": EIP7702}, "ORDER-EIP7702"),
        ({"order_type": 14, "primary_type": "IncreasePositionSizeReq"}, "ORDER-TYPE"),
        ({"eip7702": EIP7702.replace('"31337"', "31337")}, "ORDER-EIP7702"),
        ({"eip7702": EIP7702 + '},"orderType":{}'}, "ORDER-EIP7702"),
        ({"eip7702": "\ud800"}, "ORDER-EIP7702"),
        ({"replaces": "e-1"}, "ROUTE-FORM"),
        ({"raw_transaction": "0x02"}, "ROUTE-FORM"),
        ({"route": "relay", "order_type": None}, "ROUTE-STRUCT"),
        ({"signature": "0x" + "5a" * 64 + "00"}, "SIG-FORM"),
        ({"signature": "0x" + "5A" * 64 + "1b"}, "SIG-FORM"),
        ({"digest": "0x" + "AB" * 32}, "ROUTE-FORM"),
        ({"encoded_intent": "0x0"}, "ROUTE-FORM"),
        ({"nonce": "0x1"}, "ROUTE-FORM"),
        ({"signer": "treasury"}, "ROUTE-FORM"),
        ({"deadline_ms": None}, "ROUTE-FORM"),
        ({"deadline_ms": NOW // 1000 + 600}, "TIME-UNIT"),
    ],
)
def test_what_may_not_go_there_is_refused_and_not_sent(desk: Desk, changes: dict[str, object], check: str) -> None:
    with Wire({}) as wire, pytest.raises(Refusal) as caught:
        submit_delivery(unsent(wire.url, **changes), desk.world)
    assert (caught.value.check, wire.seen, desk.world.journal.submissions()) == (check, [], [])
    assert unsent().signature not in str(caught.value)


@pytest.mark.parametrize("late_ms", [0, 10**9])
def test_what_is_expired_is_not_sent(desk: Desk, late_ms: int) -> None:
    with Wire({}) as wire, pytest.raises(Expired, match=r"by this machine.s clock: .* UTC"):
        submit_delivery(unsent(wire.url, deadline_ms=NOW - late_ms), desk.world)
    assert wire.seen == []


@pytest.mark.parametrize(
    "changes", [{"nonce": "6"}, {"signer": "0x" + "12" * 20}, {"deadline_ms": NOW + 1}, {"contract": "0x" + "9" * 40}]
)
def test_a_known_digest_with_another_content_is_refused(desk: Desk, changes: dict[str, object]) -> None:
    deliver(desk, {SUBMIT: [reply(400, {})]})
    with Wire({}) as wire, pytest.raises(Refusal, match="ROUTE-JOURNAL"):
        submit_delivery(unsent(wire.url, **changes), desk.world)
    assert wire.seen == []


@pytest.mark.parametrize("status", [400, 422, 429])
def test_a_4xx_is_a_rejection_and_may_be_sent_again(desk: Desk, status: int) -> None:
    """It is then kept, and its events are judged, by what it is sent with now."""
    end, states = frame("MarketOrderExecuted", {"orderId": 1, "isPnl": True}, 2), []
    with Wire({SUBMIT: [reply(status, {"message": "HighSlippage"}), stream(ACCEPTED, end)]}) as wire:
        for deployment, kind in (("a" * 64, '{"isPnl": false}'), ("b" * 64, '{"isPnl": true}')):
            delivery = unsent(wire.url, deployment=deployment, signed=kind)
            states.append(submit_delivery(delivery, desk.world).state)
    record = desk.world.journal.get(unsent().digest).record
    assert (states, record.deployment, record.signed) == ([OrderState.REJECTED, OrderState.FILLED], "b" * 64, kind)
    assert wire.count("POST", "/market/execute-batched") == 2


@pytest.mark.parametrize("status", [400, 404, 408, 409, 425, 429, 499])
@pytest.mark.parametrize("used", [True, False, None])
def test_a_4xx_of_the_market_is_a_rejection_unless_its_nonce_is_used_or_it_may_be_a_proxys_or_a_conflict(
    desk: Desk, status: int, used: bool | None
) -> None:
    told = iter([False])  # before the sending
    desk.world = desk.reading(lambda *_: next(told, used))
    outcome, seen = deliver(desk, {SUBMIT: [reply(status, {"message": "nonce consumed"})]})
    unknown = used or status in (408, 409, 425, 499)
    assert (outcome.state, len(seen)) == (OrderState.UNKNOWN if unknown else OrderState.REJECTED, 1)
    assert f"HTTP {status}" in outcome.reason
    with Wire({}) as wire:
        if unknown:
            assert submit_delivery(unsent(wire.url), desk.world).state is OrderState.UNKNOWN
        assert wire.seen == []


def test_a_nonce_that_the_chain_has_as_used_leaves_a_refusal_open(desk: Desk) -> None:
    chain = FakeChain(0, finalized=0)
    chain.spent[(unsent().signer, 12345)] = 0
    with chain.node() as node:
        desk.world = desk.reading(lambda *_: False)._replace(node=RpcClient(node.url, desk.world.http))
        outcome, _ = deliver(desk, {SUBMIT: [reply(400, {})]}, chain_id=CHAIN_ID)
    assert outcome.state is OrderState.UNKNOWN


@pytest.mark.parametrize(
    "answer",
    [
        http(400, b"\xff\xfe", "application/json"),
        http(400, b"x" * 100_000, "text/html"),
        Answer(b"HTTP/1.1 400 X\r\ncontent-length: 50\r\n\r\nhalf"),
        Answer(b"HTTP/1.1 400 X\r\ncontent-type: text/event-stream\r\n\r\n" + ACCEPTED),
    ],
)
def test_a_400_is_a_rejection_whatever_its_body_is(desk: Desk, answer: Answer) -> None:
    outcome, seen = deliver(desk, {SUBMIT: [answer]})
    assert (outcome.state, len(seen), outcome.reason.isprintable()) == (OrderState.REJECTED, 1, True)
    assert outcome.reason.startswith("HTTP 400: ")


SILENCE = [
    Answer(b""),
    Answer(b"", reset=True),
    reply(500, {"message": "no"}),
    reply(503, {}, "retry-after: 1"),
    reply(307, {}, "location: /market/execute-batched"),
    reply(200, {"ok": True}),
    stream(ACCEPTED, EXECUTED, content_type="text/plain"),
    Answer(stream(ACCEPTED, EXECUTED).data.replace(b" 200 ", b" 500 ", 1)),
    stream(),
    stream(ACCEPTED[:-1]),
    stream(TIMED_OUT),
    stream(b"data: " + b"x" * (300 << 10) + b"\n\n"),
    Answer(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n\r\n" + ACCEPTED),
]


@pytest.mark.parametrize("answer", SILENCE)
def test_without_an_event_and_without_a_4xx_nobody_knows_and_it_is_never_sent_again(desk: Desk, answer: Answer) -> None:
    with Wire({SUBMIT: [answer, stream(ACCEPTED, EXECUTED)]}) as wire:
        first = submit_delivery(unsent(wire.url), desk.world)
        again = submit_delivery(unsent(wire.url), desk.world)
        followed = follow_submission(unsent().digest, desk.world)
    assert {outcome.state for outcome in (first, again, followed)} == {OrderState.UNKNOWN}
    assert (len(wire.seen), desk.events, bool(first.reason), first.reason.isprintable()) == (1, [], True, True)


@pytest.mark.parametrize(
    "answer",
    [
        stream(ACCEPTED),
        stream(ACCEPTED, TIMED_OUT),
        stream(ACCEPTED, EXECUTED[:-1]),
        stream(ACCEPTED, b"event: MarketOrderExecuted\nid: 2\ndata: {not json}\n\n"),
        stream(ACCEPTED, b"data: " + b"x" * (300 << 10)),
        Answer(stream(ACCEPTED).data, reset=True),
    ],
)
def test_an_accepted_order_is_polled_to_its_end_and_posted_once(desk: Desk, answer: Answer) -> None:
    outcome, seen = deliver(desk, {SUBMIT: [answer], STATUS: [replayed(), FILLED]})
    assert (outcome.state, outcome.tracking_id, outcome.anomalies) == (OrderState.FILLED, "t-1", ())
    assert desk.types == ["MarketOrderAccepted", "MarketOrderInitiated", "MarketOrderExecuted"]
    assert [s.target.partition("?")[2] for s in seen] == ["", "afterSeq=0", "afterSeq=0"]
    assert [s.method for s in seen] == ["POST", "GET", "GET"]
    assert set(desk.naps) <= {1.5}


def test_a_mute_stream_is_left_for_polling(path: Path) -> None:
    with delivering_machine(path, silence_s=0.1) as desk:
        outcome, _ = deliver(desk, {SUBMIT: [Answer(stream(ACCEPTED).data, hold=True)], STATUS: [FILLED]})
    assert outcome.state is OrderState.FILLED


def test_a_stream_that_may_not_be_read_on_is_left_once_the_order_is_named(desk: Desk) -> None:
    desk.world = desk.world._replace(streams=Semaphore(0))
    held = Answer(stream(b": keep-alive\n\n", ACCEPTED).data, hold=True)  # as long as anybody reads it
    outcome, wire = deliver(desk, {SUBMIT: [held], STATUS: [FILLED]})
    assert (outcome.state, outcome.tracking_id) == (OrderState.FILLED, "t-1")
    assert desk.types == ["MarketOrderAccepted", "MarketOrderInitiated", "MarketOrderExecuted"]
    assert [seen.method for seen in wire] == ["POST", "GET"]
    assert "as many streams are read already as may be at once" in desk.notices


def test_a_stream_that_is_read_to_its_end_makes_room_and_one_that_is_left_takes_none(desk: Desk) -> None:
    one = Semaphore(1)
    desk.world = desk.world._replace(streams=one)
    for number, end in enumerate(
        [stream(ACCEPTED, EXECUTED), stream(ACCEPTED), Answer(stream(ACCEPTED).data[:-2], reset=True)]
    ):
        own = {"digest": f"0x{number:064x}", "step": f"step-{number}", "nonce": str(number)}
        deliver(desk, {SUBMIT: [end], STATUS: [FILLED]}, **own)
        assert one.acquire(blocking=False)
        one.release()


def test_no_more_than_so_many_ask_other_services_at_once(desk: Desk) -> None:
    deliver(desk, {SUBMIT: [Answer(b"", reset=True)]})
    [known] = desk.world.journal.submissions()
    assert known.state is OrderState.UNKNOWN
    others, asked = Semaphore(0), Event()

    def nonce_used(*_: object) -> None:
        asked.set()

    world = desk.reading(nonce_used)._replace(others=others)
    following = Thread(target=follow_submission, args=(known.record.digest, world))
    following.start()
    assert not asked.wait(0.2)
    others.release()
    assert asked.wait(10)
    following.join()
    assert others.acquire(blocking=False)


@pytest.mark.parametrize(
    "broken",
    [
        reply(404, {}),
        reply(200, {"events": {}}),
        http(200, b'{"events":[', "application/json"),
        Answer(b"", reset=True),
    ],
)
def test_a_status_that_cannot_be_read_is_asked_for_again(desk: Desk, broken: Answer) -> None:
    outcome, seen = deliver(desk, {SUBMIT: [stream(ACCEPTED)], STATUS: [broken, broken, FILLED]})
    assert (outcome.state, len(seen)) == (OrderState.FILLED, 4)


@pytest.mark.parametrize(("status", "asked"), [(404, MISSING_AT_MOST + 1), (503, 41)])
def test_a_tracking_id_that_stays_unknown_is_not_asked_for_without_end(desk: Desk, status: int, asked: int) -> None:
    outcome, seen = deliver(desk, {SUBMIT: [stream(ACCEPTED)], STATUS: [reply(status, {})]})
    assert (outcome.state, len(seen)) == (OrderState.ACCEPTED, 1 + asked)
    assert ("does not know" in outcome.reason) is (status == 404)


def test_what_was_sent_before_holds_up_no_other(desk: Desk) -> None:
    told: list[str] = []
    world = desk.world._replace(on_answered=lambda: told.append("next"), on_asked=lambda *_: told.append("asked"))
    with Wire({SUBMIT: [stream(ACCEPTED)], STATUS: [replayed()]}) as wire:
        submit_delivery(unsent(wire.url), desk.world)
        submit_delivery(unsent(wire.url), world)
    assert told[:2] == ["next", "asked"]


def test_a_clock_that_is_set_back_makes_no_wait_longer_than_the_patience(desk: Desk) -> None:
    desk._nap = lambda _: setattr(desk, "now_ms", 0)
    outcome, _ = deliver(desk, {SUBMIT: [stream(ACCEPTED)], STATUS: [replayed(), reply(503, {}, "retry-after: 86400")]})
    assert (outcome.state, desk.naps) == (OrderState.ACCEPTED, [1.5])


def test_patience_ends_and_following_goes_on_later_without_loss_or_repetition(desk: Desk) -> None:
    with Wire({SUBMIT: [stream(ACCEPTED)], STATUS: [replayed()]}) as wire:
        outcome = submit_delivery(unsent(wire.url), desk.world)
        assert outcome.state is OrderState.ACCEPTED
        assert sum(desk.naps) == 60
        desk.now_ms = AFTER + 1
        wire._server.script[STATUS] = [FILLED]
        assert follow_submission(unsent().digest, desk.world).state is OrderState.FILLED
        assert submit_delivery(unsent(wire.url), desk.world).state is OrderState.FILLED
    assert desk.types == ["MarketOrderAccepted", "MarketOrderInitiated", "MarketOrderExecuted"]
    assert wire.count("POST", "/market/execute-batched") == 1


def test_a_hostile_tracking_id_stays_one_segment_of_the_path(desk: Desk) -> None:
    hostile = frame("MarketOrderAccepted", {"trackingId": "../../admin?x=#"}, 0)
    _, seen = deliver(desk, {SUBMIT: [stream(hostile)]})
    assert {s.target.partition("?")[0] for s in seen[1:]} == {"/tracking-id/..%2F..%2Fadmin%3Fx%3D%23/status"}


@pytest.mark.parametrize(
    ("frames", "state", "code"),
    [
        ([ACCEPTED, frame("MarketOrderCanceled", {"orderId": 1}, 2)], OrderState.MARKET_DECLINED, ""),
        ([ACCEPTED, frame("Error", {"code": "WrongSl", "message": "m"}, 1)], OrderState.FAILED, "WrongSl"),
        ([frame("Error", {"code": "ENQUEUE_FAILED", "trackingId": "t-1"})], OrderState.FAILED, "ENQUEUE_FAILED"),
        ([ACCEPTED, frame("Error", {"message": "STREAM_TIMEOUT"}, 1)], OrderState.FAILED, ""),
        ([ACCEPTED, frame("Error", {"code": "\x1b[2J\ud800"}, 1)], OrderState.FAILED, "\x1b[2J\\ud800"),
    ],
)
def test_the_outcome_tells_the_end(desk: Desk, frames: list[bytes], state: OrderState, code: str) -> None:
    outcome, seen = deliver(desk, {SUBMIT: [stream(*frames)]})
    assert (outcome.state, outcome.code, sum(s.method == "POST" for s in seen)) == (state, code, 1)
    assert submit_delivery(unsent("http://127.0.0.1:1"), desk.world) == outcome


class BrokenJournal(Journal):
    """A journal whose disk is full from the first event on."""

    def record(self, *_: object, **__: object) -> bool:
        raise JournalError("the journal cannot be written (disk full)")


def test_a_journal_that_fails_after_the_post_still_tells_the_tracking_id(desk: Desk) -> None:
    broken = BrokenJournal(desk.world.journal._engine, lambda: NOW)
    with Wire({SUBMIT: [stream(ACCEPTED, EXECUTED)]}) as wire, pytest.raises(OutcomeUnknown, match="t-1"):
        submit_delivery(unsent(wire.url), desk.world._replace(journal=broken))
    assert submit_delivery(unsent("http://127.0.0.1:1"), desk.world).state is OrderState.PRESUMED_UNKNOWN


def test_a_nonce_is_read_for_the_signer_and_for_the_trader(desk: Desk) -> None:
    asked = []

    def read(record: Record, account: str) -> bool:
        asked.append((record.contract, account, record.nonce))
        return account == "0x" + "77" * 20

    desk.now_ms = NOW
    deliver(desk, {SUBMIT: [reply(500, {})]}, trader="0x" + "77" * 20)
    desk.now_ms = AFTER + EXPIRY_MARGIN_MS + 1
    assert follow_submission(unsent().digest, desk.reading(read)).state is OrderState.UNKNOWN
    assert asked == [(unsent().contract, account, "12345") for account in (unsent().signer, "0x" + "77" * 20)]

    def fail(*_: object) -> bool:
        raise ServiceError("no node")

    assert follow_submission(unsent().digest, desk.reading(fail)).state is OrderState.UNKNOWN
    assert any("no node" in notice for notice in desk.notices)


def test_an_accepted_order_that_never_reached_the_chain_expires_too(desk: Desk) -> None:
    with Wire({SUBMIT: [stream(ACCEPTED)], STATUS: [replayed()]}) as wire:
        submit_delivery(unsent(wire.url, chain_id=CHAIN_ID), desk.world)
        with FakeChain(AFTER // 1000 + 1, finalized=0).node() as node:
            world = desk.world._replace(node=RpcClient(node.url, desk.world.http))
            assert follow_submission(unsent().digest, world).state is OrderState.EXPIRED_UNUSED


def relayed(status: object, **more: object) -> Answer:
    return reply(200, {"ok": True, "data": {"id": "r-1", "status": status} | more})


def test_a_relayed_intent_is_posted_once_and_polled_to_its_end(desk: Desk) -> None:
    script = {
        RELAY: [TAKEN],
        RELAYED: [relayed("pending"), relayed("new-word"), relayed("confirmed", transactionHash=TX)],
    }
    outcome, seen = deliver(desk, script, **REFERRAL)
    assert json.loads(seen[0].body) == {
        "primaryType": "SetTraderReferralCodeByUserReq",
        "userIntent": unsent().encoded_intent,
        "userSignature": unsent().signature,
    }
    assert (outcome.state, outcome.tracking_id) == (OrderState.CONFIRMED, "r-1")
    assert desk.types == ["RelayAccepted", "RelayConfirmed"]
    assert [s.method for s in seen] == ["POST", "GET", "GET", "GET"]


@pytest.mark.parametrize("word", ["confirmed", "reverted"])
def test_a_relayer_that_names_no_id_is_told_and_ends_nothing(desk: Desk, word: str) -> None:
    asked: list[str] = []
    desk.world = desk.world._replace(on_asked=lambda _, answer: asked.append(answer), patience_s=0)
    nameless = reply(200, {"ok": True, "data": {"status": word, "transactionHash": TX, "blockNumber": 7}})
    outcome, _ = deliver(desk, {RELAY: [TAKEN], RELAYED: [nameless]}, **REFERRAL)
    assert outcome.state is OrderState.ACCEPTED
    assert f"by the service's word, which names nothing: {word}" in asked
    assert desk.types == ["RelayAccepted"]


@pytest.mark.parametrize("state", sorted({*OPEN, OrderState.FILLED, OrderState.CONFIRMED}))
@pytest.mark.parametrize(
    "changes",
    [{"nonce": "9"}, {"signer": "0x" + "33" * 20}, {"contract": "0x" + "44" * 20}, {"trader": "0x" + "55" * 20}],
)
def test_no_second_digest_is_sent_beside_the_first_or_once_the_step_is_done(
    desk: Desk, state: OrderState, changes: dict[str, object]
) -> None:
    put(desk.world.journal, state, FIRST)
    with Wire({}) as wire, pytest.raises(Refusal, match="ROUTE-STEP"):
        submit_delivery(unsent(wire.url)._replace(digest=SECOND, **changes), desk.world)  # type: ignore[arg-type]
    assert wire.seen == []
    with pytest.raises(Refusal, match="ROUTE-STEP"):
        export_delivery(unsent()._replace(digest=SECOND, **changes), desk.world)  # type: ignore[arg-type]
    assert desk.world.journal.find(SECOND) is None


def test_a_second_digest_that_another_process_sends_meanwhile_is_refused_by_the_claim(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(desk.world.journal, OrderState.PREPARED, FIRST)
    prepare = desk.world.journal.prepare

    def prepared(record: Record) -> Submission:
        made = prepare(record)
        assert desk.world.journal.claim(FIRST.digest)  # after this one has looked, and before it claims
        return made

    monkeypatch.setattr(desk.world.journal, "prepare", prepared)
    with Wire({}) as wire, pytest.raises(Refusal, match="ROUTE-STEP"):
        submit_delivery(unsent(wire.url)._replace(digest=SECOND, nonce="9"), desk.world)
    assert wire.seen == []
    assert desk.world.journal.get(SECOND).state is OrderState.PREPARED


@pytest.mark.parametrize(
    ("state", "change"),
    [
        (OrderState.PREPARED, {}),
        (OrderState.MARKET_DECLINED, {}),
        (OrderState.EXPIRED_UNUSED, {}),
        (OrderState.FILLED, {"step": "other"}),
        (OrderState.UNKNOWN, {"step": "other"}),
        (OrderState.UNKNOWN, {"ceremony": "other"}),
        (OrderState.UNKNOWN, {"ceremony": "other", "nonce": FIRST.nonce, "contract": "0x" + "44" * 20}),
    ],
)
def test_a_second_digest_is_sent_where_it_may_be(desk: Desk, state: OrderState, change: dict[str, object]) -> None:
    put(desk.world.journal, state, FIRST)
    outcome, seen = deliver(desk, {SUBMIT: [stream(ACCEPTED, EXECUTED)]}, **{"digest": SECOND, "nonce": "9"} | change)
    assert (outcome.state, sum(s.method == "POST" for s in seen)) == (OrderState.FILLED, 1)


@pytest.mark.parametrize("change", [{}, {"step": "other"}, {"signer": "0x" + "11" * 20}])
def test_one_with_the_firsts_nonce_is_told_as_a_replacement(desk: Desk, change: dict[str, object]) -> None:
    put(desk.world.journal, OrderState.UNKNOWN, FIRST)
    outcome, _ = deliver(desk, {SUBMIT: [stream(ACCEPTED, EXECUTED)]}, digest=SECOND, **change)
    assert outcome.state is OrderState.FILLED
    assert any(FIRST.digest in notice and "Either of the two may execute" in notice for notice in desk.notices)


@pytest.mark.parametrize(
    ("state", "given"),
    [(OrderState.EXPIRED_UNUSED, submit_delivery), (OrderState.VOIDED, export_delivery)],
)
def test_nobody_is_told_that_either_may_execute_where_the_first_cannot(
    desk: Desk, state: OrderState, given: Callable[[Delivery, DeliveryContext], object]
) -> None:
    put(desk.world.journal, state, FIRST)
    with Wire({SUBMIT: [stream(ACCEPTED, EXECUTED)]}) as wire:
        given(unsent(wire.url)._replace(digest=SECOND), desk.world)
    assert "Either of the two" not in "".join(desk.notices)


def test_nobody_is_told_that_either_may_execute_where_their_nonce_is_used(desk: Desk) -> None:
    put(desk.world.journal, OrderState.UNKNOWN, FIRST)
    with Wire({}) as wire:
        submit_delivery(unsent(wire.url)._replace(digest=SECOND), desk.reading(lambda *_: True))
    assert "Either of the two" not in "".join(desk.notices)
    assert "nonce is used already" in "".join(desk.notices)


@pytest.mark.parametrize(
    ("changes", "shared"),
    [
        ({}, True),
        ({"contract": "0x" + "44" * 20, "trader": "0x" + "55" * 20}, True),  # an account's count knows neither
        ({"chain_id": 8453}, False),
        ({"nonce": "2"}, False),
        ({"signer": "0x" + "33" * 20}, False),
        ({"route": "relayer"}, False),  # an intent's nonce is another number
    ],
)
def test_transactions_share_a_nonce_by_their_sender(changes: dict[str, str | int], shared: bool) -> None:
    one = Record("0x1", "step", "ceremony", "approve", "relay", "", "0xAb", "0xaB", "0x2", "1", None, "", 84532)
    assert shares_nonce(one, one._replace(**({"route": "rpc", "signer": "0xab"} | changes))) is shared  # type: ignore[arg-type]
