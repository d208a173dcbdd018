"""``plan show --html``: a plan as a page, for those who agree on it days before; all that the screen tells stands on it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

from airlock_shared.cli.comparison_lines import plan_lines
from airlock_shared.cli.plan import show_plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.report.page.labels import label
from airlock_shared.report.page.page import plan_page
from airlock_shared.text.words import spoken
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
    layout = """ceremony on deployment roles: witness: limits for the builder's choices: signer signed by step device shows
        as delegate of 1 13 plan fingerprint hex and""".split()
    for word in " ".join(plan_lines(plan)).split():
        bare = word.strip(':,;()"')
        assert bare in told or word in layout or bare in names, word
    for step in plan.steps.values():
        assert f"({step.id}, {step.action.name})" in told
        for name, value in step.values.items():
            assert label(name) in told
            assert " ".join(value.text.split()) in told


def test_its_words_are_numbered_and_its_page_loads_and_runs_nothing() -> None:
    plan = parse_plan(PLAN_TEXTS["requests"].encode())
    html = plan_page(plan).decode()
    words = re.findall(r"<li>(\w{4})</li>", html.partition('<ol class="words">')[2].partition("</ol>")[0])
    assert " ".join(words) == spoken(plan.fingerprint)
    assert "counter-increment: word" in html
    assert "default-src 'none'; style-src 'sha256-" in html
    assert not re.search("<(script|img|iframe|link|a|form|object)[ >]", html)
    assert html.count("<svg") == 1


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


def test_it_is_written_into_a_new_file_and_the_screen_says_the_same_as_without_it(tmp_path: Path) -> None:
    plan, page = PLAYED / "plan.toml", tmp_path / "plan.html"
    alone = CliRunner().invoke(show_plan, [str(plan)])
    ended = CliRunner().invoke(show_plan, [str(plan), "--html", str(page)])
    assert (ended.exit_code, ended.stdout) == (0, alone.stdout)
    made = page.read_bytes()
    assert made == plan_page(parse_plan(plan.read_bytes()))
    assert page.stat().st_mode & 0o777 == 0o600
    again = CliRunner().invoke(show_plan, [str(plan), "--html", str(page)])
    assert again.exit_code != 0
    assert page.read_bytes() == made
