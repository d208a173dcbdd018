"""What a person sees of an order's events: units and hashes whole, 80 columns, nothing that acts on the terminal."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_online.cli.delivery_context import OutcomeSummary, tally_lines
from airlock_online.delivery.event_lines import MEMBERS_SHOWN, event_json, event_lines
from airlock_online.error_codes import ERROR_CODES
from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import FINAL, OrderEvent, OrderState
from airlock_online.report_rows import timeline_of
from airlock_online.speech.sections import ROUTES
from airlock_shared.cli.terminal import worst
from airlock_shared.errors import ExitCode
from airlock_shared.report.evidence.timeline import parse_timeline
from airlock_shared.text.safe import columns, is_visible
from airlock_shared.venue.structs import BATCHED_MARKET, CORE_API, RELAY
from online.online_command import CLOSE, CODE, OnlineCommand
from online.test_journal import DIGEST, put, record

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
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists)
DONE, UNKNOWN = ExitCode.DONE, ExitCode.UNKNOWN


def lines(kind: str, payload: dict[str, Any], *, seq: int | None = 1, at_ms: int | None = NOW) -> list[str]:
    return event_lines(OrderEvent(seq, kind, payload, at_ms), now_ms=NOW, route=BATCHED_MARKET)


def text_of(shown: list[str]) -> str:
    return " ".join(" ".join(shown).split())


def test_an_event_begins_with_its_time_its_seq_and_its_type_and_a_code_has_its_meaning() -> None:
    first = "    2026-09-21 14:13:20 UTC    {}: {}; this ends it"
    assert event_lines(EXECUTED, now_ms=NOW, route=BATCHED_MARKET)[0] == first.format(
        "3  MarketOrderExecuted", "filled"
    )
    bare = lines("Error", {"code": "ENQUEUE_FAILED"}, seq=None, at_ms=None)
    assert bare[0] == first.format("-  Error", "failed")
    shown = lines("AttemptFailed", {"attempt": 1, "code": "SPREAD_BLOCKED", "message": "wide", "willRetry": True})
    assert f"code SPREAD_BLOCKED: {ERROR_CODES['SPREAD_BLOCKED'].meaning}" in text_of(shown)
    assert f"      {'message':<22} NO_PRICE" in lines("Error", {"code": "", "message": "NO_PRICE"})


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("price", "64000.5 USD, raw 640005000000000"),
        ("percentProfit", "-10 %, raw -100000000000"),
        ("t.leverage", "10 x, raw 100000000000"),
        ("t.buy", "false (short)"),
        ("t.timestamp", "2026-09-21 14:13:20 UTC, raw 1790000000"),
        ("orderId", "7"),
    ],
)
def test_an_amount_is_told_human_and_raw_with_its_unit(name: str, told: str) -> None:
    shown = event_lines(EXECUTED, now_ms=NOW, route=BATCHED_MARKET)
    assert f"      {name:<22} {told}" in shown
    assert f"        {HASH}" in shown
    assert "2026-09-21 14:13:20 UTC, raw" in text_of(lines("X", {"timestamp": 1790000000000}))


def test_the_end_of_the_view_is_not_told_as_a_failure_and_the_last_attempt_as_the_last() -> None:
    shown = text_of(lines("Error", {"code": "STREAM_TIMEOUT"}, seq=None))
    assert "this stream ended, the order did not" in shown
    assert "this ends it" not in shown
    assert "this was the last attempt" in text_of(lines("AttemptFailed", {"willRetry": False}))
    assert "this was the last attempt" not in text_of(lines("AttemptFailed", {"willRetry": 0}))


@pytest.mark.parametrize(
    ("at_ms", "said"),
    [(NOW - 59_999, ""), (NOW - 60_000, "(1 min ago)"), (NOW + 3_600_000, "(its clock is 1 h ahead of ours)")],
)
def test_a_time_far_from_ours_is_said_to_be(at_ms: int, said: str) -> None:
    shown = text_of(lines("MarketOrderAccepted", {}, at_ms=at_ms))
    assert said in shown
    assert ("ago" in shown or "ahead" in shown) is bool(said)


HOSTILE = [
    {"message": "\x1b[2J\x1b]0;gone\x07"},
    {"message": "done\n    2026-09-21 14:13:20 UTC    4  MarketOrderExecuted: filled"},
    {"message": "x" * 100_000},
    {"名" * 30: "漢" * 60},
    {"t": {"\n": {"deep": ["\x00"]}}},
    {"transactionHash": "0x" + "\x1b" * 64},
    {"value": 10**4000},
]


@pytest.mark.parametrize("payload", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_that_a_service_sends_acts_on_the_terminal_or_leaves_its_column(payload: dict[str, Any]) -> None:
    shown = lines("X\n    2026-09-21 14:13:20 UTC    4  MarketOrderExecuted", payload)
    assert all(is_visible(character) for line in shown for character in line)
    assert max(map(columns, shown)) <= 80
    assert all(line.startswith("      ") for line in shown[1:])  # only our own first line begins further left
    assert len(shown) < 60


def test_endless_members_are_counted_and_the_json_has_the_payload_as_it_came() -> None:
    shown = lines("Error", {f"m{n}": n for n in range(5_000)})
    assert len(shown) == MEMBERS_SHOWN + 2
    assert shown[-1] == f"      and {5_000 - MEMBERS_SHOWN} more members, not shown; --json has them"
    told = event_json(
        OrderEvent(4, "Error", {"code": "NO_PRICE", "message": "\x1b"}, NOW - 5), now_ms=NOW, route=BATCHED_MARKET
    )
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


@given(st.dictionaries(st.text(max_size=60), VALUES, max_size=6), st.text(max_size=100))
def test_any_payload_is_shown_within_80_columns(payload: dict[str, Any], kind: str) -> None:
    shown = lines(kind, payload)
    assert max(map(columns, shown)) <= 80
    assert all(is_visible(character) for line in shown for character in line)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("kind", ["RelayConfirmed", "TwapCancelled", "TriggerStored", "TransactionReverted"])
def test_what_ends_a_submission_says_so_on_its_own_route_and_never_on_the_markets(route: str, kind: str) -> None:
    event = OrderEvent(1, kind, {})
    terminal = event_json(event, now_ms=NOW, route=route)["terminal"]
    said = any("this ends it" in line for line in event_lines(event, now_ms=NOW, route=route))
    assert terminal is said is (route != "batched-market")


@pytest.mark.parametrize(
    ("seq", "kind", "payload"),
    [
        (None, "MarketOrderExecuted", {}),
        (None, "Error", {"code": "WrongSl"}),
        (2, "Error", {"code": "STREAM_TIMEOUT"}),
        (1, "MarketOrderInitiated", {}),
    ],
)
def test_an_end_that_is_not_believed_is_not_terminal(seq: int | None, kind: str, payload: dict[str, Any]) -> None:
    assert event_json(OrderEvent(seq, kind, payload), now_ms=NOW, route=BATCHED_MARKET)["terminal"] is False


def test_what_is_open_wrong_or_odd_is_named() -> None:
    told = [
        OutcomeSummary("a", "FILLED", 1, DONE),
        OutcomeSummary("b", "UNKNOWN", 0, UNKNOWN),
        OutcomeSummary("c\x1b[2J", "", 0, ExitCode.SERVICE),
        OutcomeSummary("d", "FILLED", 0, DONE),
    ]
    first, second, *rest = tally_lines(told)
    assert first == "4 orders: 2 FILLED, 1 UNKNOWN, 1 stopped by an error."
    assert second.startswith("3 need a person: airlock-online resolve")
    assert rest[:2] == ["  a: FILLED, 1 anomaly", "  b: UNKNOWN"]
    assert "\x1b" not in rest[2]
    assert rest[2].endswith(": stopped by an error")


def test_an_unknown_outcome_is_worse_than_a_refusal_and_a_long_list_is_cut() -> None:
    assert worst([DONE, ExitCode.REFUSED, UNKNOWN, ExitCode.EXECUTION_FAILED]) is UNKNOWN
    assert worst([DONE, ExitCode.REFUSED, ExitCode.SERVICE]) is ExitCode.REFUSED
    lines = list(tally_lines([OutcomeSummary(f"s{number}", "UNKNOWN", 0, UNKNOWN) for number in range(25)]))
    assert (len(lines), lines[-1]) == (23, "  and 5 more: airlock-online status")


def test_submit_and_follow_end_with_it_and_json_stays_as_it_is(machine: OnlineCommand) -> None:
    signatures = machine.signatures(sell=CLOSE, code=CODE)
    (machine.home / "config.toml").write_text("")
    ended = machine.submit(signatures, "drop-before-accepted@batched", "drop-before-accepted@relayer")
    followed = machine("follow", "--patience", 0, "--json")
    assert "2 orders: " in ended.err
    for told in (ended, followed):
        assert ("2 need a person" in told.err, "need a person" in told.out) == (True, False)


# ---- the report's timeline: whose signature is no secret any more ------------------------------------------------------


KINDS: dict[str, tuple[str, int | None, str]] = {
    "transaction": (RELAY, None, "TransactionReverted"),
    "order": (BATCHED_MARKET, NOW, "FoundOnChain"),
    "trigger": (CORE_API, None, "FoundOnChain"),
}
"""Of each kind the route, the deadline, and the event by which the operator's node ends it."""


@pytest.mark.parametrize("proof", [{}, {"confirmedBlock": 9}])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", list(OrderState))
def test_only_a_signature_whose_outcome_is_final_and_that_can_execute_no_more_is_no_secret(
    path: Path, state: OrderState, kind: str, late: bool, proof: dict[str, int]
) -> None:
    route, deadline_ms, event = KINDS[kind]
    by_node = bool(proof) or state in {OrderState.EXPIRED_UNUSED, OrderState.VOIDED}
    over = by_node or (late and deadline_ms is not None)
    with open_journal(str(path), lambda: NOW) as journal:
        put(journal, state, record()._replace(route=route, deadline_ms=deadline_ms))
        journal.record(DIGEST, OrderEvent(1, event, proof))
        told, ended = timeline_of(journal, record().ceremony, {DIGEST}, NOW + 10**6 * late)
    assert ended == ({DIGEST} if state in FINAL and over else set())
    (sent,) = parse_timeline(told).values()
    assert (sent.row["state"], sent.row["final"]) == (state.value, state in FINAL)
    stored = state is OrderState.CONFIRMED and route == CORE_API
    assert ("stored" in sent.row["meaning"], "of an order" in sent.row["meaning"]) == (stored, False)
