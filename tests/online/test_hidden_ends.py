"""No end of an order stays hidden, and none is told that the persisted history contradicts. Over real HTTP."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from airlock_online.delivery.outcome import OrderOutcome
from airlock_online.delivery.submit import _record, follow_submission, submit_delivery
from airlock_online.journal.order_states import MAX_EVENTS, OPEN, OrderState
from airlock_shared.errors import UsageError
from online.delivering_machine import Desk, unsent
from online.loopback import Answer, Seen, Wire, frame, reply, stream

SUBMIT, STATUS = "POST /market/execute-batched", "GET /tracking-id/t-1/status"
ACCEPTED = {"seq": 0, "type": "MarketOrderAccepted", "payload": {"trackingId": "t-1"}}
INITIATED = {"seq": 1, "type": "MarketOrderInitiated", "payload": {"orderId": 1}}
EXECUTED = {"seq": 2, "type": "MarketOrderExecuted", "payload": {"orderId": 1}}
CANCELED = {"seq": 2, "type": "MarketOrderCanceled", "payload": {"orderId": 1}}
ERROR = {"seq": 1, "type": "Error", "payload": {"status": "failed", "code": "WrongSl", "trackingId": "t-1"}}
WORDS = {"code": "WrongSl", "message": "m", "trackingId": "t-1"}
LOST = [Answer(b"", reset=True)]
SIGNED = json.dumps({"trader": "0x" + "11" * 20, "pairIndex": 1, "open": True, "isBuy": True})
OTHERS = [{"trader": "0x" + "22" * 20}, {"pairIndex": 0}, {"open": False}, {"isBuy": False}]


class Market(Wire):
    """A market that plays the specification: its history behind ``afterSeq``, and a stream that says what a test wants."""

    def __init__(self, *frames: bytes, history: list[Any], **more: Sequence[Answer]) -> None:
        self.history = history
        super().__init__({SUBMIT: [stream(*frames)], STATUS: self._status, **more})

    def _status(self, seen: Seen) -> Answer:
        after = parse_qs(urlsplit(seen.target).query).get("afterSeq")
        least = -1 if after is None else int(after[0])
        known = [entry for entry in self.history if _seq(entry) is None or _seq(entry) > least]
        return reply(200, {"events": known})


def _seq(entry: Any) -> Any:
    seq = entry.get("seq") if type(entry) is dict else None
    return seq if type(seq) is int else None


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.world = desk.world._replace(patience_s=12)
    return desk


def told(desk: Desk, *frames: bytes, history: list[Any]) -> OrderOutcome:
    with Market(*frames, history=history) as market:
        outcome = submit_delivery(unsent(market.url), desk.world)
        assert market.count("POST", "/market/execute-batched") == 1
    return outcome


def streamed(*entries: dict[str, Any]) -> list[bytes]:
    return [frame(entry["type"], entry["payload"], entry["seq"]) for entry in entries]


def test_what_a_market_says_is_escaped_once(desk: Desk) -> None:
    with Wire({SUBMIT: [reply(503, {"message": "a\nb"})]}) as wire:
        assert r": a\u{a}b; no" in submit_delivery(unsent(wire.url), desk.world).reason


@pytest.mark.parametrize("first", [[], [ACCEPTED], [ACCEPTED, INITIATED]])
def test_an_error_without_an_id_ends_nothing_alone(desk: Desk, first: list[dict[str, Any]]) -> None:
    frames = [*streamed(*first), frame("Error", WORDS)]
    outcome = told(desk, *frames, history=[ACCEPTED, INITIATED, EXECUTED])
    assert (outcome.state, outcome.tracking_id) == (OrderState.FILLED, "t-1")
    assert "end-without-seq" in outcome.anomalies


@pytest.mark.parametrize("kind", ["Error", "MarketOrderExecuted", "MarketOrderCanceled", "PositionSizeIncreased"])
def test_without_the_historys_word_no_end_without_an_id_counts(desk: Desk, kind: str) -> None:
    outcome = told(desk, *streamed(ACCEPTED), frame(kind, WORDS), history=[ACCEPTED])
    assert outcome.state is OrderState.ACCEPTED
    assert [event.type for event in desk.world.journal.events(outcome.digest)] == ["MarketOrderAccepted"]


@pytest.mark.parametrize("seq", [None, 2])
@pytest.mark.parametrize(
    "before", [INITIATED, {"seq": 1, "type": "AttemptFailed", "payload": {"attempt": 1, "code": "X"}}]
)
def test_of_one_that_was_attempted_the_history_is_asked(desk: Desk, before: dict[str, Any], seq: int | None) -> None:
    end = frame("Error", WORDS | {"code": "ENQUEUE_FAILED"}, seq)
    outcome = told(desk, *streamed(ACCEPTED, before), end, history=[ACCEPTED, before, EXECUTED | {"seq": 3}])
    assert outcome.state is OrderState.FILLED


@pytest.mark.parametrize(
    ("end", "history", "state"),
    [
        (EXECUTED, [ACCEPTED, INITIATED, CANCELED], OrderState.MARKET_DECLINED),
        (CANCELED, [ACCEPTED, INITIATED, EXECUTED], OrderState.FILLED),
        (EXECUTED, [ACCEPTED, ERROR], OrderState.FAILED),
        (ERROR, [ACCEPTED, INITIATED, EXECUTED], OrderState.FILLED),
        (ERROR | {"seq": 3}, [ACCEPTED, INITIATED, EXECUTED], OrderState.FILLED),
    ],
)
def test_an_end_that_the_history_contradicts_does_not_count(
    desk: Desk, end: dict[str, Any], history: list[Any], state: OrderState
) -> None:
    outcome = told(desk, *streamed(ACCEPTED, end), history=history)
    assert (outcome.state, "history-contradicts" in outcome.anomalies) == (state, True)


def test_an_end_that_the_history_does_not_have_is_not_told(desk: Desk) -> None:
    outcome = told(desk, *streamed(ACCEPTED, INITIATED, EXECUTED), history=[ACCEPTED, INITIATED])
    assert (outcome.state, "no end that counts" in outcome.reason) == (OrderState.ACCEPTED, True)
    with Market(history=[ACCEPTED, INITIATED, EXECUTED]) as market:
        later = follow_submission(outcome.digest, desk.world)
        assert later.state is OrderState.ACCEPTED  # another address: nobody answers there
        assert market.seen == []


@pytest.mark.parametrize("answer", [reply(500, {}), reply(200, {}), Answer(b"", reset=True)])
def test_where_the_history_cannot_be_asked_an_end_with_an_id_counts(desk: Desk, answer: Answer) -> None:
    with Wire({SUBMIT: [stream(*streamed(ACCEPTED, INITIATED, EXECUTED))], STATUS: [answer]}) as wire:
        assert submit_delivery(unsent(wire.url), desk.world).state is OrderState.FILLED


@pytest.mark.parametrize("denial", [reply(404, {}), reply(200, {"trackingId": "t-9", "events": []})])
@pytest.mark.parametrize("failure", [[], [reply(500, {})]])
def test_an_end_that_the_history_denies_does_not_count(desk: Desk, failure: list[Answer], denial: Answer) -> None:
    frames = streamed(ACCEPTED, INITIATED, EXECUTED)
    with Wire({SUBMIT: [stream(*frames)], STATUS: [denial, *failure * 2, denial]}) as wire:
        outcome = submit_delivery(unsent(wire.url), desk.world)
    assert (outcome.state, outcome.anomalies) == (OrderState.ACCEPTED, ("history-contradicts",))


@pytest.mark.parametrize(
    ("end", "state", "anomalies"),
    [(EXECUTED, OrderState.FILLED, ()), (CANCELED, OrderState.MARKET_DECLINED, ("history-contradicts",))],
)
@pytest.mark.parametrize(
    "first", [[reply(404, {}), *[reply(500, {})] * 2], [reply(200, {"events": [ACCEPTED, INITIATED]})]]
)
def test_an_end_that_the_history_has_later_is_compared_then(
    desk: Desk, first: list[Answer], end: dict[str, Any], state: OrderState, anomalies: tuple[str, ...]
) -> None:
    later = reply(200, {"events": [ACCEPTED, INITIATED, end]})
    with Wire({SUBMIT: [stream(*streamed(ACCEPTED, INITIATED, EXECUTED))], STATUS: [*first, later]}) as wire:
        outcome = submit_delivery(unsent(wire.url), desk.world)
    assert (outcome.state, outcome.anomalies) == (state, anomalies)


@pytest.mark.parametrize(
    "history", [[INITIATED, EXECUTED], [ACCEPTED | {"payload": {}}, INITIATED, EXECUTED], [EXECUTED]]
)
def test_a_history_that_was_asked_for_by_the_id_need_not_name_it(desk: Desk, history: list[Any]) -> None:
    assert told(desk, *streamed(ACCEPTED), history=history).state is OrderState.FILLED


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("place", ["initiated", "end", "behind"])
def test_an_end_beside_what_was_not_signed_is_none(desk: Desk, other: dict[str, Any], place: str) -> None:
    """In the stream and in the history, before, at and behind the end: it decides nothing, and a person is told first."""
    initiated = INITIATED | {"payload": {"orderId": 1, **(other if place == "initiated" else {})}}
    executed = EXECUTED | {"payload": {"orderId": 1, **(other if place == "end" else {})}}
    behind = [INITIATED | {"seq": 3, "payload": other}] if place == "behind" else []
    history = [ACCEPTED, initiated, executed, *behind]
    with Market(*streamed(ACCEPTED, initiated, executed), history=history) as market:
        outcome = submit_delivery(unsent(market.url, signed=SIGNED), desk.world)
    assert (outcome.state, "not-what-was-signed" in outcome.anomalies) == (OrderState.ACCEPTED, True)
    assert outcome.reason.startswith("a service tells of another order than the signed one")
    assert next(iter(other)) in outcome.reason


def test_an_end_beside_what_the_stream_contradicted_is_none_in_a_later_run_either(desk: Desk) -> None:
    other = INITIATED | {"payload": OTHERS[0]}
    with Market(*streamed(ACCEPTED, other), history=[ACCEPTED, EXECUTED]) as market:
        delivery = unsent(market.url, signed=SIGNED)
        first = submit_delivery(delivery, desk.world)
        later = follow_submission(delivery.digest, desk.world)
    for outcome in (first, later):
        assert (outcome.state, "end-beside-contradiction" in outcome.anomalies) == (OrderState.ACCEPTED, True)


def test_a_history_in_which_an_event_names_another_order_ends_nothing(desk: Desk) -> None:
    history = [ACCEPTED, INITIATED | {"payload": {"trackingId": "t-2"}}, EXECUTED]
    outcome = told(desk, *streamed(ACCEPTED), history=history)
    assert (outcome.state, "other-tracking-id" in outcome.anomalies) == (OrderState.ACCEPTED, True)


@pytest.mark.parametrize("huge", [99, MAX_EVENTS * 3, 10**15 - 1])
def test_one_huge_event_id_does_not_hide_the_end(desk: Desk, huge: int) -> None:
    noise = {"seq": huge, "type": "PriceSelected", "payload": {}}
    outcome = told(desk, *streamed(ACCEPTED, noise), history=[ACCEPTED, INITIATED, EXECUTED, noise])
    assert (outcome.state, "seq-gap" in outcome.anomalies) == (OrderState.FILLED, True)


def test_the_whole_history_is_asked_for_now_and_then(desk: Desk) -> None:
    desk.world = desk.world._replace(patience_s=30)
    with Market(*streamed(ACCEPTED), history=[ACCEPTED]) as market:
        submit_delivery(unsent(market.url), desk.world)
        asked = [urlsplit(seen.target).query for seen in market.seen[1:]]
    assert asked[:5] == ["afterSeq=0"] * 4 + [""]
    assert asked.count("") >= 3


@pytest.mark.parametrize("odd", [None, {}, {"seq": "1"}, {"seq": 1, "type": "\x1b[2J"}, {"seq": 10**30, "type": "X"}])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_one_unreadable_entry_does_not_hide_the_end(desk: Desk, odd: Any, place: int) -> None:
    history: list[Any] = [ACCEPTED, INITIATED, EXECUTED]
    history.insert(place, odd)
    outcome = told(desk, *streamed(ACCEPTED), history=history)
    assert (outcome.state, "unreadable-entry" in outcome.anomalies) == (OrderState.FILLED, True)


def test_thousands_of_events_do_not_hide_the_end(desk: Desk) -> None:
    noise = [{"seq": seq, "type": "PriceSelected", "payload": {}} for seq in range(1, MAX_EVENTS + 50)]
    history = [ACCEPTED, *noise, EXECUTED | {"seq": MAX_EVENTS + 50}]
    desk.world = desk.world._replace(patience_s=0)
    outcome = told(desk, *streamed(ACCEPTED), history=history)
    assert (outcome.state, "too-many-events" in outcome.anomalies) == (OrderState.FILLED, True)


def test_a_tracking_id_that_comes_with_a_repeated_seq_is_followed(desk: Desk) -> None:
    nameless = ACCEPTED | {"payload": {}}
    outcome = told(desk, *streamed(nameless, ACCEPTED), history=[ACCEPTED, INITIATED, EXECUTED])
    assert (outcome.state, outcome.tracking_id) == (OrderState.FILLED, "t-1")
    assert desk.world.journal.get(outcome.digest).tracking_id == "t-1"


@pytest.mark.parametrize("alone", [False, True])
def test_an_id_that_another_order_has_ends_no_second_one(desk: Desk, *, alone: bool) -> None:
    """Two orders of one content, one id for both: by its history the one fill would be told twice."""
    history = [ACCEPTED, INITIATED, EXECUTED]
    whole = streamed(*history)
    answers = [stream(*frames) for frames in (whole, [frame("MarketOrderExecuted", WORDS, 2)] if alone else whole)]
    with Market(history=history, **{SUBMIT: answers}) as market:
        first = unsent(market.url, signed=SIGNED)
        second = first._replace(digest="0x" + "cd" * 32, step="second", nonce="6")
        assert submit_delivery(first, desk.world).state is OrderState.FILLED
        outcome = submit_delivery(second, desk.world)
        assert (outcome.state in OPEN, outcome.tracking_id) == (True, "")
        assert alone or f"trackingId is that of {first.digest}" in outcome.reason
        with pytest.raises(UsageError, match=f"the tracking id of {first.digest}"):
            follow_submission(second.digest, desk.world, "t-1")


def followed(desk: Desk, given: str, *history: Any) -> OrderOutcome:
    """The outcome of an order whose answer was lost, followed by an id that a person gives."""
    with Market(history=[], **{SUBMIT: LOST}) as market:
        delivery = unsent(market.url, signed=SIGNED)
        assert submit_delivery(delivery, desk.world).state is OrderState.UNKNOWN
        market.history = list(history)
        return follow_submission(delivery.digest, desk.world, given)


@pytest.mark.parametrize("other", OTHERS)
def test_another_orders_id_decides_nothing_and_is_not_kept(desk: Desk, other: dict[str, Any]) -> None:
    outcome = followed(desk, "t-1", INITIATED | {"payload": other}, EXECUTED)
    assert (outcome.state, outcome.tracking_id) == (OrderState.UNKNOWN, "")
    assert outcome.reason.startswith("a service tells of another order than the signed one")


def test_another_orders_id_does_not_keep_the_right_one_from_its_end(desk: Desk) -> None:
    of_another = reply(200, {"events": [INITIATED | {"payload": OTHERS[0]}, EXECUTED]})
    script = {SUBMIT: LOST, "GET /tracking-id/t-2/status": [of_another]}
    with Market(history=[ACCEPTED, INITIATED, EXECUTED], **script) as market:
        delivery = unsent(market.url, signed=SIGNED)
        submit_delivery(delivery, desk.world)
        assert follow_submission(delivery.digest, desk.world, "t-2").state is OrderState.UNKNOWN
        outcome = follow_submission(delivery.digest, desk.world, "t-1")
        assert (outcome.state, outcome.tracking_id) == (OrderState.FILLED, "t-1")
        assert "id-from-a-person" in outcome.anomalies


@pytest.mark.parametrize("given", ["", " \n", "x" * 201, "a\x1bb"])
def test_what_is_no_id_is_refused(desk: Desk, given: str) -> None:
    with pytest.raises(UsageError, match="no tracking id"):
        followed(desk, given, ACCEPTED)


def test_an_order_that_has_its_id_or_its_end_takes_no_other(desk: Desk) -> None:
    outcome = told(desk, *streamed(ACCEPTED), history=[ACCEPTED])
    with pytest.raises(UsageError, match="has the tracking id t-1"):
        follow_submission(outcome.digest, desk.world, "t-2")
    again = follow_submission(outcome.digest, desk.world, "t-1")  # as is said when the journal breaks: its own id
    assert (again.state, again.anomalies) == (OrderState.ACCEPTED, ())
    desk.world.journal.move(outcome.digest, OrderState.FAILED)
    with pytest.raises(UsageError, match="already"):
        follow_submission(outcome.digest, desk.world, "t-2")
    other = unsent(route="relayer", digest="0x" + "cd" * 32)
    desk.world.journal.prepare(_record(other, "POST", ""))
    with pytest.raises(UsageError, match="only the batched market"):
        follow_submission(other.digest, desk.world, "t-2")
