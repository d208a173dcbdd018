"""``plan show --html``: a plan as a page, for those who agree on it days before; all that the screen tells stands on it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from airlock_shared.cli.comparison_lines import plan_lines
from airlock_shared.plan.reader import parse_plan
from airlock_shared.report.page.labels import label
from airlock_shared.report.page.page import plan_page
from shared.report.day import HOSTILE, PLAYED
from shared.world import PLAN_TEXTS, VECTORS

GOOD = sorted((VECTORS / "plans/good").glob("*.toml"))


def shown(html: str) -> str:
    inline = re.sub(r"</?(?:span|strong|wbr)[^>]*>", "", html.partition("<main>")[2])
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", inline)).split())


@pytest.mark.parametrize(
    "path", [*GOOD, *PLAYED.parent.glob("*/plan.toml")], ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_all_that_the_screen_tells_stands_on_it(path: Path) -> None:
    """Word for word, but for the raw names of fields, which have their labels, and for what the layout adds."""
    plan = parse_plan(path.read_bytes())
    told = shown(plan_page(plan).decode())
    names = {name for step in plan.steps.values() for name in step.values}
    layout = (
        """ceremony on deployment roles: witness: limits for the builder's choices: signer signed by step device shows
        as delegate of plan fingerprint hex and""".split()
        + list(map(str, range(1, 25)))
    )
    for word in " ".join(plan_lines(plan)).split():
        bare = word.strip(':,;()"')
        assert bare in told or word in layout or bare in names, word
    for step in plan.steps.values():
        assert f"({step.id}, {step.action.name})" in told
        for name, value in step.values.items():
            assert label(name) in told
            assert " ".join(value.text.split()) in told


def test_a_hostile_title_is_text() -> None:
    text = PLAN_TEXTS["requests"]
    title = re.search(r'(?m)^title = "(.*)"$', text)
    assert title
    hostile = HOSTILE.replace('"', "")
    html = plan_page(parse_plan(text.replace(title[1], hostile).encode())).decode()
    assert "<script" not in html
    assert "<img" not in html
    assert " ".join(hostile.split()) in shown(html)
    assert {character for character in html if not character.isprintable()} == {"\n"}
