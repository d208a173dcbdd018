"""What a person sees of an order's events: units and hashes whole, 80 columns, nothing that acts on the terminal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_online.delivery.event_lines import MEMBERS_SHOWN, event_json, event_lines
from airlock_online.error_codes import ERROR_CODES
from airlock_online.journal.order_states import OrderEvent
from airlock_online.route_table import ROUTES
from airlock_shared.text.safe import columns, is_visible

NOW = 1_790_000_000_000
HASH = "0x" + "ab" * 32
TRADE = {
    "trader": "0x" + "aB" * 20, "pairIndex": 0, "index": 2, "initialPosToken": "100500000",
    "positionSizeUSDC": "1005000000", "openPrice": "640005000000000", "buy": False, "leverage": "100000000000",
    "tp": "0", "sl": "0", "timestamp": 1_790_000_000,
}  # fmt: skip
EXECUTED = OrderEvent(
    3, "MarketOrderExecuted",
    {"orderId": 7, "price": "640005000000000", "percentProfit": "-100000000000", "usdcSentToTrader": "90000000", "t": TRADE,
     "transactionHash": HASH},
    NOW,
)  # fmt: skip


def lines(kind: str, payload: dict[str, Any], *, seq: int | None = 1, at_ms: int | None = NOW) -> list[str]:
    return event_lines(OrderEvent(seq, kind, payload, at_ms), now_ms=NOW)


def text_of(shown: list[str]) -> str:
    return " ".join(" ".join(shown).split())


# ---- what is told --------------------------------------------------------------------------------------------------


def test_an_event_begins_with_its_time_its_seq_and_its_type() -> None:
    assert event_lines(EXECUTED, now_ms=NOW)[0] == (
        "    2026-09-21 14:13:20 UTC    3  MarketOrderExecuted: filled; this ends it"
    )


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("price", "64000.5 USD, raw 640005000000000"),
        ("percentProfit", "-10 %, raw -100000000000"),
        ("usdcSentToTrader", "90 USDC, raw 90000000"),
        ("t.initialPosToken", "100.5 USDC, raw 100500000"),
        ("t.leverage", "10 x, raw 100000000000"),
        ("t.buy", "false (short)"),
        ("t.timestamp", "2026-09-21 14:13:20 UTC, raw 1790000000"),
        ("orderId", "7"),
    ],
)
def test_an_amount_is_told_human_and_raw_with_its_unit(name: str, told: str) -> None:
    assert f"      {name:<22} {told}" in event_lines(EXECUTED, now_ms=NOW)


def test_a_hash_is_whole_on_one_line() -> None:
    assert f"        {HASH}" in event_lines(EXECUTED, now_ms=NOW)


def test_a_code_is_told_with_its_meaning() -> None:
    shown = lines("AttemptFailed", {"attempt": 1, "code": "SPREAD_BLOCKED", "message": "wide", "willRetry": True})
    assert f"code SPREAD_BLOCKED: {ERROR_CODES['SPREAD_BLOCKED'].meaning}" in text_of(shown)


def test_a_message_never_gets_the_meaning_of_a_code() -> None:
    assert f"      {'message':<22} NO_PRICE" in lines("Error", {"code": "", "message": "NO_PRICE"})


def test_an_unknown_type_says_that_it_ends_nothing() -> None:
    assert "MarketOrderFinished: a type that this version does not know; it ends nothing" in text_of(
        lines("MarketOrderFinished", {})
    )


def test_the_end_of_the_view_is_not_told_as_a_failure() -> None:
    shown = text_of(lines("Error", {"code": "STREAM_TIMEOUT"}, seq=None))
    assert "this stream ended, the order did not" in shown
    assert "this ends it" not in shown


def test_the_last_attempt_is_told_as_the_last() -> None:
    assert "this was the last attempt" in text_of(lines("AttemptFailed", {"willRetry": False}))
    assert "this was the last attempt" not in text_of(lines("AttemptFailed", {"willRetry": 0}))


def test_an_event_without_a_seq_or_a_time_is_told_with_ours() -> None:
    assert (
        lines("Error", {"code": "ENQUEUE_FAILED"}, seq=None, at_ms=None)[0]
        == "    2026-09-21 14:13:20 UTC    -  Error: failed; this ends it"
    )


@pytest.mark.parametrize(
    ("at_ms", "said"),
    [(NOW - 59_999, ""), (NOW - 60_000, "(1 min ago)"), (NOW + 3_600_000, "(its clock is 1 h ahead of ours)")],
)
def test_a_time_far_from_ours_is_said_to_be(at_ms: int, said: str) -> None:
    shown = text_of(lines("MarketOrderAccepted", {}, at_ms=at_ms))
    assert said in shown
    assert ("ago" in shown or "ahead" in shown) is bool(said)


# ---- what a service may send ---------------------------------------------------------------------------------------

HOSTILE = [
    {"message": "\x1b[2J\x1b]0;gone\x07"},
    {"message": "done\n    2026-09-21 14:13:20 UTC    4  MarketOrderExecuted: filled"},
    {"message": "\u202egnol"},
    {"message": "x" * 100_000},
    {"message": "漢" * 300},
    {"名" * 30: "漢" * 60},
    {"\u202e" * 300: HASH},
    {"price": int("9" * 300)},
    {"price": "--1"},
    {"price": True},
    {"timestamp": "9" * 70},
    {"t": {"\n": {"deep": ["\x00"]}}},
    {"code": {"x": "\u2028"}},
    {"transactionHash": "0x" + "\x1b" * 64},
    {"value": 10**4000},
]


@pytest.mark.parametrize("payload", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_that_a_service_sends_acts_on_the_terminal_or_leaves_its_column(payload: dict[str, Any]) -> None:
    shown = lines("Error", payload)
    assert all(is_visible(character) for line in shown for character in line)
    assert max(map(columns, shown)) <= 80
    assert all(line.startswith("      ") for line in shown[1:])  # only our own first line begins further left
    assert len(shown) < 60


def test_a_type_cannot_pretend_to_be_another_line() -> None:
    shown = lines("X\n    2026-09-21 14:13:20 UTC    4  MarketOrderExecuted", {})
    assert len([line for line in shown if line.startswith("    2026")]) == 1
    assert max(map(columns, shown)) <= 80


def test_endless_members_are_counted_and_not_shown() -> None:
    shown = lines("Error", {f"m{n}": n for n in range(5_000)})
    assert len(shown) == MEMBERS_SHOWN + 2
    assert shown[-1] == f"      and {5_000 - MEMBERS_SHOWN} more members, not shown; --json has them"


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists)


@given(st.dictionaries(st.text(max_size=60), VALUES, max_size=6), st.text(max_size=100))
def test_any_payload_is_shown_within_80_columns(payload: dict[str, Any], kind: str) -> None:
    shown = lines(kind, payload)
    assert max(map(columns, shown)) <= 80
    assert all(is_visible(character) for line in shown for character in line)


# ---- JSON ----------------------------------------------------------------------------------------------------------


def test_the_json_has_the_payload_as_it_came_and_what_it_means() -> None:
    told = event_json(OrderEvent(4, "Error", {"code": "NO_PRICE", "message": "\x1b"}, NOW - 5), now_ms=NOW)
    assert json.loads(json.dumps(told)) == {
        "event": "Error",
        "seq": 4,
        "at_ms": NOW - 5,
        "told_ms": NOW,
        "terminal": True,
        "payload": {"code": "NO_PRICE", "message": "\x1b"},
        "meaning": ERROR_CODES["NO_PRICE"].meaning,
        "do": ERROR_CODES["NO_PRICE"].do,
    }


ENDINGS = (
    "RelayConfirmed",
    "RelayReverted",
    "TwapCancelled",
    "TriggerStored",
    "TransactionConfirmed",
    "TransactionReverted",
)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("kind", ENDINGS)
def test_what_ends_a_submission_says_so_on_its_own_route_and_never_on_the_markets(route: str, kind: str) -> None:
    event = OrderEvent(1, kind, {})
    terminal = event_json(event, now_ms=NOW, route=route)["terminal"]
    said = any("this ends it" in line for line in event_lines(event, now_ms=NOW, route=route))
    assert terminal is said is (route != "batched-market")


@pytest.mark.parametrize(
    ("event", "terminal"),
    [
        (OrderEvent(2, "MarketOrderExecuted", {}), True),
        (OrderEvent(None, "MarketOrderExecuted", {}), False),
        (OrderEvent(None, "Error", {"code": "WrongSl"}), False),
        (OrderEvent(None, "Error", {"code": "ENQUEUE_FAILED"}), True),
        (OrderEvent(2, "Error", {"code": "STREAM_TIMEOUT"}), False),
        (OrderEvent(1, "MarketOrderInitiated", {}), False),
    ],
)
def test_an_end_that_is_not_believed_is_not_called_terminal(event: OrderEvent, terminal: bool) -> None:
    assert event_json(event, now_ms=NOW)["terminal"] is terminal
