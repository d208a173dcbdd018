"""Tables that code also holds are the code's."""

from __future__ import annotations

import pytest

from workspace.tables import DOCS, PAGES, PARTS, parts_of


@pytest.mark.parametrize("name", PAGES)
def test_the_documentation_says_what_the_code_says(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name](), "run `make docs`"


@pytest.mark.parametrize(("page", "part"), PARTS)
def test_the_generated_part_of_a_page_says_what_the_code_says(page: str, part: str) -> None:
    assert parts_of(page).get(part) == PARTS[page, part](), "run `make docs`"
