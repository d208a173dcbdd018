"""Tables that code also holds are the code's."""

from __future__ import annotations

import pytest

from airlock_online.code_explanations import everything
from workspace.floors import ARCHITECTURE, with_floors
from workspace.tables import GENERATED, PAGES, PARTS, parts_of


@pytest.mark.parametrize("name", PAGES)
def test_the_documentation_says_what_the_code_says(name: str) -> None:
    assert (GENERATED / name).read_text() == PAGES[name](), "run `make docs`"


def test_nothing_else_is_among_the_generated_pages() -> None:
    assert {path.name for path in GENERATED.iterdir()} == set(PAGES)


@pytest.mark.parametrize(("page", "part"), PARTS)
def test_the_generated_part_of_a_page_says_what_the_code_says(page: str, part: str) -> None:
    assert parts_of(page).get(part) == PARTS[page, part](), "run `make docs`"


def test_the_floors_of_the_architecture_are_the_contracts() -> None:
    text = ARCHITECTURE.read_text()
    assert text == with_floors(text), "run `make docs`"


def test_everything_that_can_be_explained_is_told_on_one_page_and_once() -> None:
    told = {name: (GENERATED / name).read_text() for name in ("checks.md", "errors.md", "exit-codes.md")}
    wrong = (GENERATED / "when-it-goes-wrong.md").read_text()
    for item in everything():
        places = {
            "check": told["checks.md"].count(f"\n### {item.name}\n"),
            "exit code": told["exit-codes.md"].count(f"\n| {item.name} | "),
            "outcome": wrong.count(f"\n| {item.name} | "),
            "anomaly": wrong.count(f"\n| {item.name} | "),
        }
        assert (
            places.get(item.kind, told["errors.md"].count(f"\n| `{item.name}` | {item.http} | {item.meaning} |")) == 1
        )
