"""``plan check``: every mistake by its place, and what the gate will refuse whatever payload comes."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.checks.foreseen import foreseen, foreseen_anywhere
from airlock_shared.checks.model import Situation
from airlock_shared.cli.comparison_lines import plan_lines
from airlock_shared.cli.plan import plan_check_command
from airlock_shared.errors import PlanError
from airlock_shared.plan.decisions import directions, odd_directions
from airlock_shared.plan.mistakes import MAX_MISTAKES, find_mistakes
from airlock_shared.plan.model import CUSTOM, AsSigned
from airlock_shared.plan.reader import parse_plan
from airlock_shared.plan.toml_positions import lines_by_path
from shared import test_own_structs as own
from shared.world import PLAN_TEXT, PLAN_TEXTS, deployment, plan_text_of, situation

WRONG = """format = "airlock/plan@1"
[ceremony]
id = "Bad Id"
title = "a title"
deployment = "mainnet"
rolls = ["signer"]
[limits]
deadline_at_most = "soon"
slippage_percent_at_most = 1.5
[signers.treasury]
address = "0xdad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
path = "m/44'/60'/0'/0/0"
shows = "fields"
[[steps]]
id = "a"
action = "delegate"
signer = "tresury"
fields = { trader = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D", delegat = "0x1", expiry = 12.5 }
[[steps]]
id = "a"
action = "open"
signer = "treasury"
[steps.fields]
trader = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
collateralUsdc = "250.1234567"
leverage = 10
side = "up"
[[steps]]
id = "c"
action = "delegat"
"""


def test_a_fault_of_the_reader_is_no_mistake_of_the_plan() -> None:
    with pytest.raises(ZeroDivisionError):
        find_mistakes(PLAN_TEXT.encode(), lambda _: [1 // 0])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a = 1\nb = 0x1 x\n", 2, "Expected newline"),
        ("a = [1,\n2", 2, "Unclosed array"),
        ("a = 1\na = 2\n", 2, "Cannot overwrite"),
        ("a = 1\nb = \xff\n", 2, "not UTF-8"),
        ("", 1, "the table is missing"),
    ],
)
def test_what_is_not_toml_is_told_by_its_place(text: str, line: int, what: str) -> None:
    mistake = find_mistakes(text.encode("latin-1"))[0]
    if text:
        assert mistake.line == line
        assert what in mistake.error.what


@given(st.data())
def test_mistakes_are_found_exactly_where_the_reader_of_plans_refuses(data: st.DataObject) -> None:
    text = PLAN_TEXT
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 12))
        written = data.draw(st.sampled_from(["", '"', "x", "1.5", "\n", "[", "=", "-1", "é"]))
        text = text[:start] + written + text[start + length :]
    mistakes = find_mistakes(text.encode())
    with pytest.raises(PlanError) if mistakes else nullcontext():
        parse_plan(text.encode())
    assert all(1 <= mistake.line <= len(text.split("\n")) for mistake in mistakes)


@pytest.mark.parametrize(("empty", "known"), [("", True), ("\n" * 2000, False)])
def test_a_value_of_many_lines_imitates_no_table_and_one_of_thousands_costs_no_time(empty: str, known: bool) -> None:
    lines = f'more = [\n["limits"],{empty}"""\n[[steps]]\nid = 1\n"""]\n[limits]\nmost = 1'
    told = find_mistakes(PLAN_TEXT.replace("[limits]", lines, 1).encode())
    written = ("more = [", "most = 1") if known else ("", "")
    assert {m.error.where: m.text for m in told} == dict(zip(("ceremony.more", "limits.most"), written, strict=True))
    assert lines_by_path("\n" * 70_000) == {}


def test_a_plan_full_of_mistakes_is_told_up_to_a_number() -> None:
    text = PLAN_TEXT + "[[steps]]\nid = 1\n" * 400
    assert len(find_mistakes(text.encode())) == MAX_MISTAKES


def _checked(folder: Path, text: str) -> tuple[int, str]:
    path = folder / "plan.toml"
    path.write_text(text)
    ended = CliRunner().invoke(plan_check_command(lambda *_: []), [str(path)])
    return ended.exit_code, ended.output


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('maxLeverage = "15"', 'maxLeverage = "4"', "maxLeverage is below minLeverage"),
        ("0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "is the trader"),
    ],
)
def test_what_a_plan_says_against_itself_is_told(tmp_path: Path, old: str, new: str, what: str) -> None:
    for text, told in ((PLAN_TEXT, (0, False)), (PLAN_TEXT.replace(old, new), (2, True))):
        code, shown = _checked(tmp_path, text)
        assert (code, what in shown) == told


def test_the_line_is_quoted_below_what_is_wrong(tmp_path: Path) -> None:
    code, shown = _checked(tmp_path, WRONG)
    assert code == 2
    assert (
        "plan.toml:25: PLAN-AMOUNT: more decimals than USDC holds; nothing is rounded\n"
        '    collateralUsdc = "250.1234567"\n  at:       steps[1].fields.collateralUsdc\n' in shown
    )
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert '  example:  collateralUsdc = "250.5"' in lines
    assert "16 mistakes in plan.toml" in shown


def test_a_role_that_no_checkpoint_asks_for_is_named_beside_those_that_are(tmp_path: Path) -> None:
    for role, said in (("facilitater", 1), ("facilitator", 0)):
        code, shown = _checked(tmp_path, PLAN_TEXT.replace("facilitator", role))
        told = f"alone: {role}. Checkpoints ask for signer, witness, facilitator"
        assert (code, " ".join(shown.split()).count(told)) == (0, said)


def test_no_character_of_the_plan_acts_on_the_terminal(tmp_path: Path) -> None:
    acting = PLAN_TEXT.replace("[limits]", '[limits]\n"\\u001b[2J\u202e" = "\u202e\u0085" # \u202e')
    code, shown = _checked(tmp_path, acting)
    assert code == 2
    assert re.fullmatch(r"[\n -~]*", shown), shown


TIME = "expiry = 2027-03-31T00:00:00Z"


@pytest.mark.parametrize(
    "written",
    ["2027-3-31", '"2027-03-31T00:00:00Z"', "2027-03-31", "2027-03-31T00:00:00", "2027-03-31 0:00Z", "31.3.2027",
     "2027/03/31", "2027-03-31T00:00Z", "2027-02-30T00:00:00Z", "00:00:00", '"31 March 2027"'],
)  # fmt: skip
def test_the_advice_for_a_time_leads_to_one_that_is_taken(written: str) -> None:
    wrong = PLAN_TEXT.replace(TIME, f"expiry = {written}", 1)
    (mistake,) = find_mistakes(wrong.encode())
    assert "without quotes" in f"{mistake.error.do} {mistake.example}"
    assert mistake.example.startswith(TIME)
    assert not find_mistakes(wrong.replace(f"expiry = {written}", TIME).encode())


# ---- what ``plan check`` foresees: what the gate refuses whatever payload comes, and nothing that it takes ----------


REQUESTS, TRANSACTIONS = "requests", "transactions"
NOW_MS = situation().now_ms
OTHER = '"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"'
TRADER = 'trader = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"'


def _changed(folder: str, step: str, *changes: tuple[str, str]) -> str:
    text = plan_text_of(step, folder=folder)
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


FORESEEN = [
    # times
    (REQUESTS, "desk-key", (("expiry = 2027-03-31T00:00:00Z", "expiry = 2026-03-31T00:00:00Z"),), "TIME-EXPIRY", "expiry"),
    (REQUESTS, "close-coin", (("openTimestamp = 2026-09-01", "openTimestamp = 2030-09-01"),), "TIME-OPENED",
     "openTimestamp"),
    (REQUESTS, "close", ((TRADER, f"{TRADER}\ndeadlineMs = 2026-09-01T00:00:00Z"),), "TIME-REMAINING", "deadlineMs"),
    (TRANSACTIONS, "delegate-set", (("expiry = 2027", "expiry = 2025"),), "TIME-EXPIRY", "expiry"),
    # values
    (REQUESTS, "open", (('pair = "btc-usd"', 'pair = "doge-usd"'),), "PLAN-FIELD", "pair"),
    (REQUESTS, "open", (('pair = "btc-usd"', "pairIndex = 99"),), "ORDER-TYPE", "pairIndex"),
    (REQUESTS, "open", (('pair = "btc-usd"', "pairIndex = 7"),), "ORDER-OPEN", "orderType"),
    (REQUESTS, "open-pnl", (('orderType = "market_pnl"', 'orderType = "market"'),), "ORDER-OPEN", "orderType"),
    (REQUESTS, "increase", (("pairIndex = 0", "pairIndex = 7"),), "ORDER-TYPE", "pairIndex"),
    (REQUESTS, "close", (('"250.000001"', '{ at_least = "1", at_most = "250" }'),), "PLAN-FIELD", "collateralToCloseUsdc"),
    (REQUESTS, "close", ((TRADER, f"trader = {OTHER}"),), "SIGNER-ALLOWED", "trader"),
    (REQUESTS, "open", (('slippage_percent_at_most = "1"\n', ""),), "PLAN-LIMIT", ""),
    (REQUESTS, "close", (('deadline_at_most = "30m"\n', ""),), "PLAN-LIMIT", ""),
    (REQUESTS, "open", (("openPrice = { at_least", "#"),), "PLAN-UNDECIDED", "openPrice"),
    # transactions
    (TRANSACTIONS, "approve", (("spender = ", "spender = " + OTHER + " # "),), "TX-SPENDER", "spender"),
    (TRANSACTIONS, "approve", (('max_fee_gwei_at_most = "5"\n', ""),), "TX-FEES", None),
    (TRANSACTIONS, "position-increase", (('pair = "btc-usd"', "pairIndex = 7"),), "TX-PAIR", "pairIndex"),
    (TRANSACTIONS, "position-increase", ((TRADER, f"trader = {OTHER}"),), "TX-TRADER", "trader"),
    (TRANSACTIONS, "position-increase", (("openPrice = { at_least", "#"),), "PLAN-UNDECIDED", "openPrice"),
    (TRANSACTIONS, "approve", (('"25000.5"', '"1000000000000000"'),), "TX-UNLIMITED", "amountUsdc"),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "step", "changes", "check", "place"), FORESEEN)
def test_what_no_payload_can_keep_is_told(
    folder: str, step: str, changes: tuple[tuple[str, str], ...], check: str, place: str | None
) -> None:
    where = "limits" if place is None else f"steps[0].fields.{place}".rstrip(".")
    text = _changed(folder, step, *changes)
    (error,) = foreseen(Situation(parse_plan(text.encode()), deployment(), NOW_MS))
    assert (error.check, error.where) == (check, where)
    if check in ("PLAN-UNDECIDED", "PLAN-LIMIT"):
        assert not error.got, "no builder has said anything yet"
    if check.startswith("TIME"):  # told without a deployment too
        (error,) = foreseen_anywhere(parse_plan(text.encode()), NOW_MS)
        assert (error.check, error.where) == (check, where)
        assert "this machine's clock says 2026-09-21 14:13:20 UTC" in error.expected


@pytest.mark.parametrize(
    "path", ["m/0", "m/44'/0'/0'/0/0", "m/44'/60/0'/0/0", "m/44/60'/0'", "m/43'/60'/0'", "m/450'", "m/44'/600'/0'"]
)
def test_a_path_at_which_the_ledger_signs_nothing_is_told(path: str) -> None:
    text = PLAN_TEXTS[REQUESTS].replace("m/44'/60'/0'/0/0", path)
    assert _told(text) == [("PLAN-PATH", "signers.treasury.path")]
    assert [error.check for error in foreseen_anywhere(parse_plan(text.encode()), NOW_MS)] == ["PLAN-PATH"]


def _step(step: str, *changes: tuple[str, str]) -> object:
    return next(iter(parse_plan(_changed(REQUESTS, step, *changes).encode()).steps.values()))


SHORT, STOP = ('side = "long"', 'side = "short"'), ('kind = "take_profit"', 'kind = "stop_loss"')
INSIDE = ('stopLoss = "58000"', 'stopLoss = "62001"')  # between the ends of a bounded price
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
        ((BY_PERCENT, LOSS), "the take profit waits for a loss of 10 %", "a take profit at a loss"),
        ((BY_PERCENT, STOP), "the stop loss waits for a profit of 10 %", "a stop loss at a profit"),
    ],
)
def test_a_trigger_says_which_way_it_looks(changes: tuple[tuple[str, str], ...], said: str, odd: str) -> None:
    step: Any = _step("take-profit", *changes)
    assert list(directions(step)) == [said]
    assert list(odd_directions(step)) == ([f"{odd}: check the percentage's sign"] if odd else [])


@pytest.mark.parametrize(
    ("changes", "odd"),
    [
        ((), ""),
        ((("stopLoss", "takeProfit"),), "take profit of this long lies below"),
        ((SHORT,), "stop loss of this short lies below"),
        ((INSIDE,), "stop loss of this long lies above"),
        ((SHORT, ("stopLoss", "takeProfit")), ""),
    ],
)
@pytest.mark.parametrize("price", ['"62000"', '{ at_least = "60000", at_most = "64000" }'])
def test_a_trigger_that_is_hit_at_once_is_told(price: str, changes: tuple[tuple[str, str], ...], odd: str) -> None:
    opened = ('openPrice = { at_least = "60000", at_most = "64000" }', f"openPrice = {price}")
    step: Any = _step("open", opened, *changes)
    assert list(odd_directions(step)) == ([f"the {odd} its open price: it would be hit at once"] if odd else [])


def test_fields_that_contradict_each_other_are_told_beside_other_mistakes() -> None:
    both = ('price = "70000"', 'triggerType = "percentage"\nprice = "70000"')
    told = find_mistakes(_changed(REQUESTS, "take-profit", both, ("[limits]", "[limits]\nmore = 1")).encode())
    assert [m.error.what for m in told] == ["unknown name", "this triggerType needs percentage, and not price"]


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
        ('delta = "-5"', f'delta = "{2**255}"', "MSG-RANGE", "delta"),
        ("urgent = true", 'urgent = "yes"', "MSG-BOOL", "urgent"),
        ('note = "by hand"', 'more = "1"', "PLAN-FIELD", "more"),
        ('note = "by hand"', "", "PLAN-UNDECIDED", "note"),
        ('struct = "MoveReq"', 'struct = "MoveRe"', "PLAN-FIELD", "struct"),
        (f'trader = "{own.TRADER}"', f'trader = "{own.OTHER}"', "SIGNER-ALLOWED", "trader"),
    ],
)
def test_a_raw_value_that_its_type_cannot_hold_is_told(old: str, new: str, check: str, place: str) -> None:
    pinned = own._situation()
    for text, told in ((own.PLAN, []), (own.PLAN.replace(old, new), [(check, f"steps[0].fields.{place}".rstrip("."))])):
        errors = list(foreseen(pinned._replace(plan=parse_plan(text.encode()))))
        assert [(error.check, error.where) for error in errors][:1] == told


# ---- A plan of many steps as people read it: what is alike stands once, and nothing of a step is left out -----------


HEAD, STEP = PLAN_TEXT[: PLAN_TEXT.index("[[steps]]")], (
    '[[steps]]\nid = "step-{n}"\naction = "delegate"\nsigner = "treasury"\n[steps.fields]\n'
    'trader = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"\ndelegate = "{delegate}"\nexpiry = {year}-03-31T00:00:00Z\n'
)  # fmt: skip


def text_of(count: int, at: int = -1) -> str:
    """Return the lines of so many steps, of which the one at a place expires a year later."""
    years = [2028 if n == at else 2027 for n in range(count)]
    rows = [STEP.format(n=n, delegate=f"0x{n + 1:040x}", year=year) for n, year in enumerate(years)]
    return "\n".join(plan_lines(parse_plan((HEAD + "".join(rows)).encode())))


def test_steps_that_are_alike_take_a_line_each() -> None:
    lines = text_of(30).splitlines()
    own = [line for line in lines if line.startswith("step ")]
    assert len(own) == 30
    assert all(re.fullmatch(r"step \d+: step-\d+; delegate 0x[0-9a-fA-F]{40}", line) for line in own)
    assert sum("2027-03-31" in line for line in lines) == sum("0xf39Fd6" in line for line in lines) - 2 == 1
    assert "30 steps, each signed by treasury, alike in this:" in lines
    for at in (0, 7):  # a value that differs in one step stands in each line
        text = text_of(8, at)
        assert (text.count("2027-03-31"), text.count("2028-03-31")) == (7, 1)
    limits = [line.split(" at ")[0].strip() for line in lines if " at most " in line]
    assert limits == ["deadline"]  # fees: of calls alone
