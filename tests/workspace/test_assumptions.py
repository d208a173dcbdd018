"""``docs/reference/assumptions.md`` names, for each thing that the specification leaves open, a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/assumptions.md").read_text()
TABLED = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
ROWS = [row for row in TABLED if row[-1] != "test"]


def test_every_row_has_its_four_parts() -> None:
    assert len(ROWS) >= 20
    assert [row[0] for row in ROWS if len(row) != 4 or not all(row)] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[0]))
def test_the_test_that_a_row_names_is_there(row: list[str]) -> None:
    named = re.fullmatch(r"`(tests/[\w/]+\.py)::(test_\w+)`", row[-1])
    assert named is not None, row[-1]
    functions = {
        node.name for node in ast.walk(ast.parse((ROOT / named[1]).read_text())) if isinstance(node, ast.FunctionDef)
    }
    assert named[2] in functions


def test_the_second_venue_shares_no_line_with_the_rehearsal_and_imports_nothing_of_the_product() -> None:
    ours = {
        line.strip() for path in (ROOT / "tests/second_venue").glob("*.py") for line in path.read_text().splitlines()
    }
    assert not [line for line in ours if re.match(r"(from|import) airlock", line)]
    rehearsal = (ROOT / "online/rehearsal/src").rglob("*.py")
    theirs = {line.strip() for path in rehearsal for line in path.read_text().splitlines()}
    said = {line for line in ours & theirs if len(line) > 60}
    assert said == set()
