"""A plan of many steps as people read it: what is alike stands once, and nothing of a step is left out."""

from __future__ import annotations

import re

import pytest

from airlock_shared.cli.comparison_lines import plan_lines
from airlock_shared.plan.reader import parse_plan
from shared.world import PLAN_TEXT

HEAD, STEP = PLAN_TEXT[: PLAN_TEXT.index("[[steps]]")], (
    '[[steps]]\nid = "step-{n}"\naction = "delegate"\nsigner = "treasury"\n[steps.fields]\n'
    'trader = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"\ndelegate = "{delegate}"\nexpiry = {expiry}\n'
)  # fmt: skip


def text_of(count: int, *, at: int = -1, expiry: str = "2027-03-31T00:00:00Z", more: str = "") -> str:
    rows = [
        STEP.format(n=n, delegate="0x" + f"{n + 1:040x}", expiry=expiry if n == at else "2027-03-31T00:00:00Z")
        + (more if n == at else "")
        for n in range(count)
    ]
    return "\n".join(plan_lines(parse_plan((HEAD + "".join(rows)).encode())))


def test_steps_that_are_alike_take_a_line_each() -> None:
    lines = text_of(30).splitlines()
    own = [line for line in lines if line.startswith("step ")]
    assert len(own) == 30
    assert all(re.fullmatch(r"step \d+: step-\d+; delegate 0x[0-9a-fA-F]{40}", line) for line in own)
    assert sum("2027-03-31" in line for line in lines) == sum("0xf39Fd6" in line for line in lines) - 2 == 1
    assert "30 steps, each signed by treasury, alike in this:" in lines
    assert [line.split(" at ")[0].strip() for line in lines if " at most " in line] == [
        "deadline"
    ]  # fees: of calls alone


@pytest.mark.parametrize("at", [0, 3, 7])
def test_a_value_that_differs_in_one_step_stands_in_each_line(at: int) -> None:
    text = text_of(8, at=at, expiry="2028-03-31T00:00:00Z")
    assert (text.count("2027-03-31"), text.count("2028-03-31")) == (7, 1)
