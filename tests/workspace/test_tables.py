"""Tables that code also holds are the code's."""

from __future__ import annotations

import pytest

from workspace.tables import DOCS, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_the_documentation_says_what_the_code_says(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name](), "run `make docs`"
