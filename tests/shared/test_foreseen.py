"""What ``plan check`` foresees: what the gate refuses whatever payload comes, and nothing that it takes."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.checks.foreseen import foreseen, foreseen_anywhere
from airlock_shared.checks.model import Situation
from airlock_shared.plan.decisions import directions, odd_directions
from airlock_shared.plan.model import CUSTOM, AsSigned
from airlock_shared.plan.reader import parse_plan
from shared import test_pinned_structs as own
from shared.world import PLAN_TEXTS, deployment, situation

REQUESTS, TRANSACTIONS = "requests", "transactions"
NOW_MS = situation().now_ms
OTHER = '"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"'
TRADER = 'trader = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"'


def _changed(folder: str, step: str, *changes: tuple[str, str]) -> str:
    """Return the plan with one step of it alone, changed."""
    head, *steps = PLAN_TEXTS[folder].split("[[steps]]")
    text = head + "[[steps]]" + next(each for each in steps if f'id = "{step}"\n' in each)
    for old, new in changes:
        assert old in text, (old, text)
        text = text.replace(old, new, 1)
    return text


def _told(text: str, now_ms: int = NOW_MS) -> list[tuple[str, str]]:
    plan = parse_plan(text.encode())
    return [(error.check, error.where) for error in foreseen(Situation(plan, deployment(), now_ms))]


@pytest.mark.parametrize("folder", PLAN_TEXTS)
def test_nothing_is_foreseen_of_a_plan_that_can_be_signed(folder: str) -> None:
    assert _told(PLAN_TEXTS[folder]) == []
    assert list(foreseen_anywhere(parse_plan(PLAN_TEXTS[folder].encode()), NOW_MS)) == []


WRONG = [
    # times
    (REQUESTS, "desk-key", (("expiry = 2027-03-31T00:00:00Z", "expiry = 2026-03-31T00:00:00Z"),), "TIME-EXPIRY", "expiry"),
    (REQUESTS, "desk-key", (("expiry = 2027-03-31T00:00:00Z", "expiry = 1"),), "TIME-EXPIRY", "expiry"),
    (REQUESTS, "close-coin", (("openTimestamp = 2026-09-01", "openTimestamp = 2030-09-01"),), "TIME-OPENED",
     "openTimestamp"),
    (REQUESTS, "close", ((TRADER, f"{TRADER}\ndeadlineMs = 2026-09-01T00:00:00Z"),), "TIME-REMAINING", "deadlineMs"),
    (TRANSACTIONS, "delegate-set", (("expiry = 2027", "expiry = 2025"),), "TIME-EXPIRY", "expiry"),
    # values
    (REQUESTS, "open", (('pair = "btc-usd"', 'pair = "doge-usd"'),), "PLAN-FIELD", "pair"),
    (REQUESTS, "open", (('pair = "btc-usd"', "pairIndex = 99"),), "ORDER-TYPE", "pairIndex"),
    (REQUESTS, "open", (('pair = "btc-usd"', "pairIndex = 7"),), "ORDER-OPEN", "orderType"),
    (REQUESTS, "open-pnl", (("pairIndex = 7", "pairIndex = 0"),), "ORDER-OPEN", "orderType"),
    (REQUESTS, "open-pnl", (('orderType = "market_pnl"', 'orderType = "limit"'),), "ORDER-OPEN", "orderType"),
    (REQUESTS, "increase", (("pairIndex = 0", "pairIndex = 7"),), "ORDER-TYPE", "pairIndex"),
    (REQUESTS, "close", (('"250.000001"', '{ at_least = "1", at_most = "250" }'),), "PLAN-FIELD", "collateralToCloseUsdc"),
    (REQUESTS, "close", ((TRADER, f"trader = {OTHER}"),), "SIGNER-ALLOWED", "trader"),
    (REQUESTS, "increase", ((TRADER, f"trader = {OTHER}"),), "SIGNER-ALLOWED", "trader"),
    (REQUESTS, "open", (('slippage_percent_at_most = "1"\n', ""),), "PLAN-LIMIT", ""),
    (REQUESTS, "close", (('deadline_at_most = "30m"\n', ""),), "PLAN-LIMIT", ""),
    (REQUESTS, "open", (("openPrice = { at_least", "#"),), "PLAN-UNDECIDED", ""),
    # transactions
    (TRANSACTIONS, "approve", (("spender = ", "spender = " + OTHER + " # "),), "TX-SPENDER", "spender"),
    (TRANSACTIONS, "approve", (('max_fee_gwei_at_most = "5"\n', ""),), "TX-FEES", None),
    (TRANSACTIONS, "position-increase", (('pair = "btc-usd"', "pairIndex = 7"),), "TX-PAIR", "pairIndex"),
    (TRANSACTIONS, "position-increase", ((TRADER, f"trader = {OTHER}"),), "TX-TRADER", "trader"),
    (TRANSACTIONS, "position-increase", (("openPrice = { at_least", "#"),), "PLAN-UNDECIDED", ""),
    (TRANSACTIONS, "position-increase", (('slippage_percent_at_most = "1"\n', ""),), "PLAN-LIMIT", ""),
    (TRANSACTIONS, "approve", (('"25000.5"', '"1000000000000000"'),), "TX-UNLIMITED", "amountUsdc"),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "step", "changes", "check", "place"), WRONG)
def test_what_no_payload_can_keep_is_told(
    folder: str, step: str, changes: tuple[tuple[str, str], ...], check: str, place: str | None
) -> None:
    where = "limits" if place is None else f"steps[0].fields.{place}".rstrip(".")
    assert _told(_changed(folder, step, *changes)) == [(check, where)]


@pytest.mark.parametrize(
    "path", ["m/0", "m/44'/0'/0'/0/0", "m/44'/60/0'/0/0", "m/44/60'/0'", "m/43'/60'/0'", "m/450'", "m/44'/600'/0'"]
)
def test_a_path_at_which_the_ledger_signs_nothing_is_told(path: str) -> None:
    text = PLAN_TEXTS[REQUESTS].replace("m/44'/60'/0'/0/0", path)
    assert _told(text) == [("PLAN-PATH", "signers.treasury.path")]
    assert [error.check for error in foreseen_anywhere(parse_plan(text.encode()), NOW_MS)] == ["PLAN-PATH"]


@pytest.mark.parametrize(
    ("folder", "step", "changes", "check", "place"), [each for each in WRONG if each[3].startswith("TIME")]
)
def test_a_time_is_told_without_a_deployment_too(
    folder: str, step: str, changes: tuple[tuple[str, str], ...], check: str, place: str
) -> None:
    plan = parse_plan(_changed(folder, step, *changes).encode())
    (error,) = foreseen_anywhere(plan, NOW_MS)
    assert (error.check, error.where) == (check, f"steps[0].fields.{place}")
    assert "this machine's clock says 2026-09-21 14:13:20 UTC" in error.expected


def _step(step: str, *changes: tuple[str, str]) -> object:
    return next(iter(parse_plan(_changed(REQUESTS, step, *changes).encode()).steps.values()))


SHORT, STOP = ('side = "long"', 'side = "short"'), ('kind = "take_profit"', 'kind = "stop_loss"')
BY_PERCENT = ('price = "70000"', 'triggerType = "percentage"\npercentage = "10"')
LOSS = ('percentage = "10"', 'percentage = "-10"')


@pytest.mark.parametrize(
    ("changes", "said", "odd"),
    [
        ((), "the take profit of this long waits for a price that rises to 70000", ""),
        ((SHORT,), "the take profit of this short waits for a price that falls to 70000", ""),
        ((STOP,), "the stop loss of this long waits for a price that falls to 70000", ""),
        ((STOP, SHORT), "the stop loss of this short waits for a price that rises to 70000", ""),
        ((BY_PERCENT,), "the take profit waits for a profit of 10 %", ""),
        ((BY_PERCENT, STOP, LOSS), "the stop loss waits for a loss of 10 %", ""),
        ((BY_PERCENT, LOSS), "the take profit waits for a loss of 10 %", "a take profit at a loss: is the sign"),
        ((BY_PERCENT, STOP), "the stop loss waits for a profit of 10 %", "a stop loss at a profit: is the sign"),
    ],
)
def test_a_trigger_says_which_way_it_looks(changes: tuple[tuple[str, str], ...], said: str, odd: str) -> None:
    step: Any = _step("take-profit", *changes)
    assert list(directions(step)) == [said]
    assert [text.startswith(odd) for text in odd_directions(step)] == ([True] if odd else [])


@pytest.mark.parametrize(
    ("changes", "odd"),
    [
        ((), []),
        (
            (("stopLoss", "takeProfit"),),
            ["the take profit of this long lies below its open price: it would be hit at once"],
        ),
        ((SHORT,), ["the stop loss of this short lies below its open price: it would be hit at once"]),
        ((SHORT, ("stopLoss", "takeProfit")), []),
    ],
)
@pytest.mark.parametrize("price", ['"62000"', '{ at_least = "60000", at_most = "64000" }'])
def test_a_trigger_that_would_be_hit_at_once_is_told(
    price: str, changes: tuple[tuple[str, str], ...], odd: list[str]
) -> None:
    opened = ('openPrice = { at_least = "60000", at_most = "64000" }', f"openPrice = {price}")
    step: Any = _step("open", opened, *changes)
    assert list(odd_directions(step)) == odd


def test_a_trigger_within_the_bounds_of_its_price_is_told() -> None:
    step: Any = _step("open", ('stopLoss = "58000"', 'stopLoss = "60001"'))
    assert list(odd_directions(step)) == [
        "the stop loss of this long lies above its open price: it would be hit at once"
    ]


def test_nothing_is_said_of_the_direction_of_a_venue_s_own_leaves() -> None:
    given = {name: AsSigned(text) for name, text in (("side", "true"), ("takeProfit", "7"), ("stopLoss", "0"))}
    step: Any = _step("open")
    own = step._replace(action=step.action._replace(name=CUSTOM), values=given)
    assert [*directions(own), *odd_directions(own)] == []


def test_a_deadline_of_the_venue_s_own_struct_needs_the_plan_s_limit_and_that_is_told_at_once() -> None:
    pinned = own._situation()
    fixed = own.PLAN.replace("urgent = true", f'urgent = true\ndeadline = "{pinned.now_ms + 600_000}"')
    without = fixed.replace('deadline_at_most = "30m"\n', "")
    for text, told in ((fixed, []), (without, [("TIME-HORIZON", "steps[0].fields.deadline")])):
        errors = list(foreseen(pinned._replace(plan=parse_plan(text.encode()))))
        assert [(error.check, error.where) for error in errors] == told


@pytest.mark.parametrize(
    ("old", "new", "check", "place"),
    [
        ('tag = "0xAABBCCDD"', 'tag = "0xAABBCC"', "MSG-BYTES", "tag"),
        ('delta = "-5"', 'delta = "+5"', "MSG-INT", "delta"),
        ('delta = "-5"', f'delta = "{2**255}"', "MSG-RANGE", "delta"),
        ('"to.slot" = "7"', '"to.slot" = "-7"', "MSG-RANGE", "to.slot"),
        ("urgent = true", 'urgent = "yes"', "MSG-BOOL", "urgent"),
        (f'"to.account" = "{own.OTHER}"', '"to.account" = "0x12"', "MSG-ADDRESS", "to.account"),
        ('note = "by hand"', 'more = "1"', "PLAN-FIELD", "more"),
        ('note = "by hand"', "", "PLAN-UNDECIDED", ""),
        (f'trader = "{own.TRADER}"', f'trader = "{own.OTHER}"', "SIGNER-ALLOWED", "trader"),
    ],
)
def test_a_raw_value_that_its_type_cannot_hold_is_told(old: str, new: str, check: str, place: str) -> None:
    pinned = own._situation()
    for text, told in ((own.PLAN, []), (own.PLAN.replace(old, new), [(check, f"steps[0].fields.{place}".rstrip("."))])):
        errors = list(foreseen(pinned._replace(plan=parse_plan(text.encode()))))
        assert [(error.check, error.where) for error in errors][:1] == told
