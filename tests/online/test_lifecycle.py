"""The order's lifecycle: merging, terminal events, anomalies, and what an outcome ends a command with."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_online.clients import sse
from airlock_online.delivery.outcome import OrderOutcome, outcome_error
from airlock_online.delivery.routes.batched import from_status, from_stream
from airlock_online.journal.order_states import (
    ANOMALIES,
    MAX_EVENTS,
    KnownOrder,
    OrderEvent,
    OrderState,
    is_end_of_view,
    merge,
    terminal_state,
)
from airlock_shared.errors import AirlockError, ExecutionFailed, Expired, MarketDeclined, OutcomeUnknown, ServiceError

ACCEPTED = OrderEvent(0, "MarketOrderAccepted", {"trackingId": "t-1"})
ATTEMPT = OrderEvent(1, "AttemptFailed", {"attempt": 1, "code": "NO_PRICE", "message": "m", "willRetry": True})
INITIATED = OrderEvent(2, "MarketOrderInitiated", {"orderId": 5})
EXECUTED = OrderEvent(3, "MarketOrderExecuted", {"orderId": 5})
CANCELED = OrderEvent(3, "MarketOrderCanceled", {"orderId": 5})
INCREASE = OrderEvent(2, "IncreasePositionRequested", {"orderId": 5})
INCREASED = OrderEvent(3, "PositionSizeIncreased", {"orderId": 5})
TIMED_OUT = OrderEvent(None, "Error", {"status": "failed", "code": "STREAM_TIMEOUT", "trackingId": "t-1"})
TRADE = {"trader": "0x" + "AB" * 20, "pairIndex": 1, "index": 3, "buy": True, "leverage": "20000000000"}
ADDED: dict[str, object] = {
    "type": "IncreasePositionRequested", "trader": "0x" + "ab" * 20, "pairIndex": 1, "index": 0,
}  # fmt: skip


def failed(code: object = "ATTEMPTS_EXHAUSTED", seq: int | None = 3) -> OrderEvent:
    return OrderEvent(
        seq, "Error", {"status": "failed", "code": code, "message": "STREAM_TIMEOUT", "trackingId": "t-1"}
    )


def run(*events: OrderEvent, **signed: object) -> tuple[KnownOrder, list[str]]:
    order, kinds = KnownOrder(signed), []
    for event in events:
        merged = merge(order, event)
        order = merged.order
        kinds += [anomaly.kind for anomaly in merged.anomalies]
    return order, kinds


@pytest.mark.parametrize(
    ("event", "state"),
    [
        (ACCEPTED, None),
        (TIMED_OUT, None),
        (OrderEvent(3, "PriceSelected", {}), None),
        (EXECUTED, OrderState.FILLED),
        (CANCELED, OrderState.MARKET_DECLINED),
        (failed("WrongSl"), OrderState.FAILED),
        (failed(7), OrderState.FAILED),
        (failed("stream_timeout"), OrderState.FAILED),
    ],
)
def test_what_is_terminal_by_type_and_code_and_never_by_a_message(event: OrderEvent, state: OrderState | None) -> None:
    assert terminal_state(event) is state
    assert is_end_of_view(event) is (event.payload.get("code") == "STREAM_TIMEOUT")


def test_an_event_seen_twice_counts_once_and_so_does_an_error_that_had_no_seq() -> None:
    order, anomalies = run(ACCEPTED, ATTEMPT, ACCEPTED, ATTEMPT, ATTEMPT._replace(at_ms=12))
    assert (order.events, order.last_seq, anomalies) == ((ACCEPTED, ATTEMPT), 1, [])
    order, anomalies = run(failed("ENQUEUE_FAILED", seq=None), failed("ENQUEUE_FAILED", seq=1))
    assert (len(order.events), order.last_seq, anomalies) == (1, 1, [])


@given(st.permutations([ACCEPTED, ATTEMPT, INITIATED, EXECUTED]), st.integers(0, 3))
def test_any_order_and_any_repetition_give_the_same_outcome(events: list[OrderEvent], again: int) -> None:
    order, _ = run(*events, *events[again:])
    assert order.state is OrderState.FILLED
    assert sorted(order.events) == sorted([ACCEPTED, ATTEMPT, INITIATED, EXECUTED])
    assert (order.last_seq, order.tracking_id) == (3, "t-1")


@pytest.mark.parametrize(
    ("events", "kinds"),
    [
        ([ACCEPTED, INITIATED, ATTEMPT], ["seq-went-back"]),
        ([ACCEPTED, ATTEMPT, ATTEMPT._replace(payload={"attempt": 2})], ["different-duplicate"]),
        ([ACCEPTED, EXECUTED, OrderEvent(4, "PriceSelected", {})], ["event-after-terminal"]),
        ([ACCEPTED, EXECUTED, CANCELED], ["different-duplicate"]),
        ([ACCEPTED, EXECUTED, CANCELED._replace(seq=4)], ["second-terminal"]),
        ([ACCEPTED, EXECUTED, failed(seq=None)], ["end-without-seq"]),
        ([ACCEPTED, failed(seq=None)], ["end-without-seq"]),
        ([ACCEPTED, INITIATED, EXECUTED._replace(payload={"orderId": 6})], ["not-as-before"]),
        ([ACCEPTED, INITIATED, EXECUTED._replace(payload={"orderId": "5"})], []),
        ([ACCEPTED, EXECUTED, CANCELED._replace(seq=2)], ["seq-went-back", "second-terminal"]),
        ([ACCEPTED, ACCEPTED._replace(seq=1, payload={"trackingId": "t-2"})], ["other-tracking-id"]),
        ([ACCEPTED, EXECUTED._replace(payload={"trackingId": "t-2"})], ["other-tracking-id"]),
        ([ACCEPTED, INITIATED._replace(seq=None)], ["event-without-seq"]),
        ([INITIATED], ["accepted-missing"]),
        ([ACCEPTED, INITIATED, ATTEMPT._replace(seq=3), CANCELED._replace(seq=4)], []),
        ([ACCEPTED, INCREASE, INCREASED], []),
        ([failed("ENQUEUE_FAILED", seq=None)], []),
        ([ACCEPTED, ATTEMPT, TIMED_OUT], []),
    ],
)
def test_what_a_correct_service_does_not_do_is_named(events: list[OrderEvent], kinds: list[str]) -> None:
    order, anomalies = run(*events)
    assert (anomalies, set(anomalies) <= ANOMALIES.keys()) == (kinds, True)
    assert kinds or order.state is terminal_state(events[-1])


OPENED: dict[str, object] = {
    "type": "MarketOrderInitiated", "trader": "0x" + "ab" * 20, "pairIndex": 1, "open": True, "isBuy": True, "buy": True,
    "isPnl": False,
}  # fmt: skip
"""What an open's message decides: its slot is the venue's."""
FULL = {
    "orderId": 5, "trader": "0x" + "AB" * 20, "pairIndex": 1, "open": True, "isBuy": True, "isPnl": False,
    "transactionHash": "0x" + "01" * 32,
}  # fmt: skip


def of_open(**changes: object) -> OrderEvent:
    return INITIATED._replace(payload=FULL | changes)


def filled(**changes: object) -> OrderEvent:
    payload = {"orderId": "5", "open": True, "isPnl": False, "transactionHash": "0x" + "02" * 32, "t": TRADE}
    return EXECUTED._replace(payload=payload | changes)


def test_what_agrees_with_the_signed_message_ends_the_order_and_nothing_behind_it_undoes_that() -> None:
    order, anomalies = run(ACCEPTED, of_open(), filled(), **OPENED)
    assert (order.state, anomalies) == (OrderState.FILLED, [])
    order, anomalies = run(ACCEPTED, of_open(pairIndex="1", orderId="5"), filled(orderId=5), **OPENED)
    assert (order.state, anomalies) == (OrderState.FILLED, [])
    order, anomalies = run(ACCEPTED, of_open(), filled(), of_open(pairIndex=9)._replace(seq=4), **OPENED)
    assert (order.state, anomalies) == (OrderState.FILLED, ["not-what-was-signed"])
    attempts = [
        OrderEvent(seq, "AttemptFailed", {"orderId": seq, "transactionHash": f"0x{seq:064x}"}) for seq in (1, 2)
    ]
    order, anomalies = run(ACCEPTED, *attempts, of_open()._replace(seq=3), filled()._replace(seq=4), **OPENED)
    assert (order.state, anomalies) == (OrderState.FILLED, [])  # each attempt has a transaction of its own
    closing = of_open(open=False, isBuy=False), filled(open=False)
    order, anomalies = run(ACCEPTED, *closing, open=False)  # closing a long is a sale
    assert (order.state, anomalies) == (OrderState.FILLED, [])
    odd = OrderEvent(3, "PriceSelected", {"pairIndex": 9, "trader": "somebody"})
    order, anomalies = run(ACCEPTED, odd, of_open(), filled()._replace(seq=4), **OPENED)
    assert (order.state, anomalies) == (OrderState.FILLED, ["seq-went-back"])


OTHERS: dict[str, object] = {
    "trader": "0x" + "cd" * 20, "pairIndex": 2, "open": False, "isBuy": False, "isPnl": True,
}  # fmt: skip


@pytest.mark.parametrize(("member", "told"), [*OTHERS.items(), ("open", 1), ("isBuy", "true"), ("trader", None),
                                              ("pairIndex", "x"), ("pairIndex", True), ("trader", ["0x"])])  # fmt: skip
def test_an_event_of_another_order_than_the_signed_one_decides_nothing(member: str, told: object) -> None:
    order, anomalies = run(ACCEPTED, of_open(**{member: told}), filled(), **OPENED)
    assert (order.state, anomalies) == (None, ["not-what-was-signed", "end-beside-contradiction"])
    assert [event.type for event in order.events] == ["MarketOrderAccepted"]


@pytest.mark.parametrize(
    "end",
    [
        filled(open=False),
        filled(isPnl=True),
        filled(t=TRADE | {"trader": "0x" + "cd" * 20}),
        filled(t=TRADE | {"buy": False}),
        CANCELED._replace(payload={"pairIndex": 7}),
        INCREASED,
    ],
)
def test_an_end_of_another_order_than_the_signed_one_is_none(end: OrderEvent) -> None:
    order, anomalies = run(ACCEPTED, of_open(), end, **OPENED)
    assert (order.state, anomalies) == (None, ["not-what-was-signed"])


@pytest.mark.parametrize("end", [INCREASED._replace(payload={"t": TRADE}), EXECUTED, INITIATED])
def test_an_increase_is_that_of_its_slot_and_no_open(end: OrderEvent) -> None:
    order, anomalies = run(ACCEPTED, INCREASE, end, **ADDED)
    assert (order.state, anomalies) == (None, ["not-what-was-signed"])
    order, anomalies = run(ACCEPTED, INCREASE, INCREASED._replace(payload={"t": TRADE | {"index": "0"}}), **ADDED)
    assert (order.state, anomalies) == (OrderState.FILLED, [])


@pytest.mark.parametrize(
    "second",
    [filled(orderId=6), filled(t=TRADE | {"trader": "0x" + "cd" * 20}), filled(isPnl=True),
     of_open(transactionHash="0x" + "03" * 32)._replace(seq=3), INCREASED],
)  # fmt: skip
def test_an_event_that_contradicts_an_earlier_one_or_itself_decides_nothing(second: OrderEvent) -> None:
    itself = filled(trader="0x" + "cd" * 20)
    for told in ((of_open(), second), (itself,)):
        order, anomalies = run(ACCEPTED, *told)
        assert (order.state, anomalies) == (None, ["not-as-before"])


@pytest.mark.parametrize(
    "second", [CANCELED._replace(seq=4), failed(seq=5), failed(seq=None), CANCELED._replace(seq=1)]
)
def test_the_first_terminal_wins(second: OrderEvent) -> None:
    order, _ = run(ACCEPTED, EXECUTED, second)
    assert (order.state, order.terminal) == (OrderState.FILLED, EXECUTED)


def test_an_endless_life_is_summarised_and_its_end_is_kept() -> None:
    order = KnownOrder(events=tuple(OrderEvent(seq, "X", {}) for seq in range(MAX_EVENTS)), last_seq=MAX_EVENTS - 1)
    more = merge(order, OrderEvent(MAX_EVENTS, "X", {}))
    assert (more.fresh, [anomaly.kind for anomaly in more.anomalies]) == (False, ["too-many-events"])
    ended = merge(more.order, EXECUTED._replace(seq=MAX_EVENTS + 1))
    assert (ended.fresh, ended.order.state) == (True, OrderState.FILLED)
    again = merge(ended.order, CANCELED._replace(seq=MAX_EVENTS + 2))
    assert (again.fresh, again.order.state) == (False, OrderState.FILLED)


@pytest.mark.parametrize("odd", [-7, True, 7.0, None, "", "x" * 201, "a\nb", "a\ud800", {"id": "x"}])
def test_a_tracking_id_that_cannot_be_asked_for_is_none(odd: object) -> None:
    assert OrderEvent(0, "MarketOrderAccepted", {"trackingId": odd}).tracking_id == ""
    assert OrderEvent(0, "MarketOrderAccepted", {"trackingId": 4711}).tracking_id == "4711"


def test_a_time_that_is_none_is_left_out() -> None:
    times = (None, "5", -1, True, 1.5, 10**30)
    assert {event.at_ms for event in from_status({"events": [entry(at=at) for at in times]}, "t-1").events} == {None}


def on_stream(data: str, kind: str = "Error", own_id: str | None = "1") -> sse.SseEvent:
    return sse.SseEvent(kind, data, own_id)


def test_both_wires_give_the_same_event_and_an_unknown_one_may_hold_anything() -> None:
    streamed = from_stream(on_stream('{"code":"NO_PRICE"}', own_id="4"))
    told = {"events": [{"seq": 4, "type": "Error", "payload": {"code": "NO_PRICE"}, "at": 99}]}
    [replayed] = from_status(told, "t-1").events
    assert from_status(told | {"trackingId": 7}, "7").events == (replayed,)
    assert replayed == streamed._replace(at_ms=99)
    assert from_stream(on_stream("not json", kind="Hello")).payload == {"value": "not json"}
    assert from_stream(on_stream("[1]", kind="Hello", own_id=None)) == OrderEvent(None, "Hello", {"value": [1]})


@pytest.mark.parametrize("data", ["not json", "[]", '{"code":"A","code":"B"}', '{"a":NaN}'])
def test_streamed_data_of_another_shape_are_a_service_error(data: str) -> None:
    with pytest.raises(ServiceError):
        from_stream(on_stream(data))


@pytest.mark.parametrize(
    ("kind", "own_id"),
    [("E", "-1"), ("E", "01"), ("E", "٣"), ("x" * 101, "1"), ("a\x1b[2J", "1"), ("FoundOnChain", "1")],
)
def test_a_streamed_event_with_another_id_or_type_is_a_service_error(kind: str, own_id: str) -> None:
    with pytest.raises(ServiceError):
        from_stream(on_stream("{}", kind, own_id))


def entry(**changes: object) -> dict[str, object]:
    return {"seq": 1, "type": "Error", "payload": {}, "at": 5} | changes


@pytest.mark.parametrize(
    "document", [{}, {"events": {}}, {"events": [], "trackingId": "t-2"}, {"events": [], "trackingId": 1}]
)
def test_a_status_of_another_shape_or_order_is_a_service_error(document: Any) -> None:
    with pytest.raises(ServiceError):
        from_status(document, "t-1")


@pytest.mark.parametrize(
    "odd",
    [{"seq": "1"}, {"seq": True}, {"seq": -1}, {"seq": 10**18}, {"type": ""}, {"type": "a\nb"}, {"payload": "x"},
     {"type": "FoundOnChain"}, {"type": "TransactionConfirmed"}],  # this machine's own names
)  # fmt: skip
def test_an_entry_that_cannot_be_read_hides_no_other(odd: dict[str, Any]) -> None:
    reply = from_status({"events": [entry(seq=0), entry(**odd), entry(seq=2)]}, "t-1")
    assert ([event.seq for event in reply.events], len(reply.unreadable)) == ([0, 2], 1)


@pytest.mark.parametrize("place", [0, MAX_EVENTS - 1, MAX_EVENTS, MAX_EVENTS + 500])
def test_among_too_many_entries_the_end_is_kept(place: int) -> None:
    entries = [entry(seq=seq, type="Hello") for seq in range(MAX_EVENTS + 1000)]
    entries[place] = entry(seq=place, type="MarketOrderExecuted")
    reply = from_status({"events": entries}, "t-1")
    assert [event.seq for event in reply.events if event.type == "MarketOrderExecuted"] == [place]
    assert len(reply.events) + reply.left_out == MAX_EVENTS + 1000
    assert len(reply.events) <= MAX_EVENTS + 1


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (OrderState.MARKET_DECLINED, MarketDeclined),
        (OrderState.FAILED, ExecutionFailed),
        (OrderState.EXPIRED_UNUSED, Expired),
        (OrderState.REJECTED, ServiceError),
        (OrderState.PREPARED, ServiceError),
        (OrderState.SENDING, OutcomeUnknown),
        (OrderState.ACCEPTED, OutcomeUnknown),
        (OrderState.UNKNOWN, OutcomeUnknown),
    ],
)
def test_every_state_but_success_ends_a_command_with_its_error(state: OrderState, error: type[AirlockError]) -> None:
    raised = outcome_error(OrderOutcome("0x", state, code="WrongSl", reason="because"))
    assert type(raised) is error
    assert ("because" in str(raised), bool(raised.do)) == (True, True)
    for success in (OrderState.FILLED, OrderState.CONFIRMED):
        assert outcome_error(OrderOutcome("0x", success)) is None
