"""``plan check``: every mistake of a plan by its line and column, none hidden by another, and none where there is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.cli.plan import plan_check_command
from airlock_shared.errors import PlanError
from airlock_shared.plan.mistakes import MAX_MISTAKES, find_mistakes
from airlock_shared.plan.reader import parse_plan
from shared.world import PLAN_TEXT

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
    ("text", "line", "column", "what"),
    [
        ("a = 1\nb = 0x1 x\n", 2, 9, "Expected newline"),
        ('a = "x\n', 1, 7, "Illegal character"),
        ("a = [1,\n2", 2, 2, "Unclosed array"),
        ("[a\n", 1, 3, "Expected ']'"),
        ("a = 1\na = 2\n", 2, 6, "Cannot overwrite"),
        ("a = 1\n[b]\n[b]\n", 3, 3, "Cannot declare"),
        ("a = 1\nb = \xff\n", 2, 5, "not UTF-8"),
        ("", 1, 1, "the table is missing"),
    ],
)
def test_what_is_not_toml_is_told_by_its_place(text: str, line: int, column: int, what: str) -> None:
    mistake = find_mistakes(text.encode("latin-1"))[0]
    if text:
        assert (mistake.span.line, mistake.span.column) == (line, column)
        assert what in mistake.error.what


@given(st.data())
def test_mistakes_are_found_exactly_where_the_reader_of_plans_refuses(data: st.DataObject) -> None:
    text = PLAN_TEXT
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 12))
        text = (
            text[:start]
            + data.draw(st.sampled_from(["", '"', "x", "1.5", "\n", "[", "=", "-1", "é"]))
            + text[start + length :]
        )
    try:
        parse_plan(text.encode())
        refused = False
    except PlanError:
        refused = True
    mistakes = find_mistakes(text.encode())
    assert bool(mistakes) == refused
    lines = text.split("\n")
    assert all(1 <= m.span.line <= len(lines) and m.span.column >= 1 for m in mistakes)


def test_a_plan_full_of_mistakes_is_told_up_to_a_number() -> None:
    text = PLAN_TEXT + "[[steps]]\nid = 1\n" * 400
    assert len(find_mistakes(text.encode())) == MAX_MISTAKES


def _checked(path: Path, *words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(plan_check_command(lambda *_: []), [str(path), *words])
    return ended.exit_code, ended.output


def test_the_line_is_quoted_with_a_caret_below_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(WRONG)
    code, shown = _checked(path)
    assert code == 2
    assert (
        'plan.toml:25:18: PLAN-AMOUNT: more decimals than USDC holds; nothing is rounded\n    collateralUsdc = "250.'
        in shown
    )
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    at = next(n for n, line in enumerate(lines) if line.startswith("plan.toml:25:18"))
    begin = lines[at + 1].index('"250')
    assert lines[at + 2] == " " * begin + "^" * 13
    assert '  example:  collateralUsdc = "250.5"' in lines
    assert "16 mistakes in plan.toml" in shown


def test_no_character_of_the_plan_acts_on_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN_TEXT.replace("[limits]", '[limits]\n"\\u001b[2J\u202e" = "\u202e\u0085" # \u202e'))
    code, shown = _checked(path)
    assert code == 2
    assert re.fullmatch(r"[\n -~]*", shown), shown


# ---- times ----------------------------------------------------------------------------------------------------------

TIME = "expiry = 2027-03-31T00:00:00Z"


@pytest.mark.parametrize(
    "written",
    ["2027-3-31", '"2027-03-31T00:00:00Z"', "2027-03-31", "2027-03-31T00:00:00", "2027-03-31 0:00Z", "31.3.2027",
     "2027/03/31", "2027-03-31T00:00Z", "2027-02-30T00:00:00Z", "00:00:00", '"31 March 2027"'],
)  # fmt: skip
def test_the_advice_for_a_time_leads_to_one_that_is_taken(written: str) -> None:
    wrong = PLAN_TEXT.replace(TIME, f"expiry = {written}", 1)
    (mistake,) = find_mistakes(wrong.encode())
    said = f"{mistake.error.do} {mistake.example}"
    assert "without quotes" in said
    assert mistake.example.startswith(TIME)
    assert not find_mistakes(wrong.replace(f"expiry = {written}", TIME).encode())


def test_fields_that_contradict_each_other_are_told_beside_other_mistakes() -> None:
    own = """[[steps]]
id = "trigger"
action = "tpsl-partial"
signer = "treasury"
[steps.fields]
trader = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
pairIndex = 0
tradeIndex = 0
kind = "take_profit"
coinExposure = "1"
side = "long"
triggerType = "percentage"
price = "64000"
"""
    told = find_mistakes((PLAN_TEXT.replace("[limits]", "[limits]\nmore = 1") + own).encode())
    assert [m.error.what for m in told] == ["unknown name", "this triggerType needs percentage, and not price"]
