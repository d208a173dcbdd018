"""The threat model and the claims name tests that are there, every check, and mutants that fit the sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from airlock_shared.checks.catalogue import CHECKS_BY_ID
from mutation.run import Mutant, read_mutants, why_unfit

ROOT = Path(__file__).parents[2]
THREATS, CLAIMS = ROOT / "docs/threat-model.md", ROOT / "docs/claims.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
ROW = re.compile(r"\| `([a-z-]+)` \| (.+) \| (.+) \|")
MUTANTS = read_mutants()


def _lines() -> list[str]:
    """Return the lines of the claims; the generated table of mutants comes after them."""
    return CLAIMS.read_text().partition("\n## Mutants\n")[0].splitlines()


def _rows() -> list[tuple[str, str, str]]:
    found = [ROW.fullmatch(line) for line in _lines()]
    return [(match[1], match[2], match[3]) for match in found if match]


@cache
def _tests_of(path: str) -> frozenset[str]:
    """Return the test functions of a file, read and not run."""
    tree = ast.parse((ROOT / path).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _is_there(path: str, name: str) -> bool:
    return (ROOT / path).is_file() and (not name or name in _tests_of(path))


def _missing(named: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{path}::{name}" for path, name in named if not _is_there(path, name)]


@pytest.mark.parametrize("page", [THREATS, CLAIMS], ids=lambda page: page.name)
def test_every_test_that_a_page_names_is_there(page: Path) -> None:
    named = NAMED.findall(page.read_text())
    assert len(named) > 30
    assert _missing(named) == []


def test_every_mention_of_a_test_is_in_the_form_that_is_looked_for() -> None:
    for page in (THREATS, CLAIMS):
        text = page.read_text().replace("`tests/…::test_…`", "")
        assert len(re.findall(r"::test_", text)) == len(NAMED.findall(text))


def test_every_check_is_in_the_threat_model_or_the_claims() -> None:
    text = THREATS.read_text() + CLAIMS.read_text()
    assert [check for check in CHECKS_BY_ID if f"`{check}`" not in text] == []


def test_no_page_names_a_check_that_there_is_not() -> None:
    families = {check.partition("-")[0] for check in CHECKS_BY_ID}
    named = re.findall(rf"`((?:{'|'.join(sorted(families))})-[A-Z0-9-]+)`", THREATS.read_text() + CLAIMS.read_text())
    assert sorted(set(named) - set(CHECKS_BY_ID)) == []


def test_every_attack_has_a_test() -> None:
    """Those that people wrote down name one; what each check protects from has the tests of its mutant."""
    written, _, generated = THREATS.read_text().partition("\n## Check by check\n")
    rows = [line for line in written.splitlines() if line.startswith("| ") and line.count(" | ") >= 2]
    attacks = [row for row in rows if not row.startswith(("| attack", "| mistake", "| fault", "| position"))]
    assert len(attacks) > 40
    assert [row[:60] for row in attacks if not NAMED.search(row)] == []
    checks = [line for line in generated.splitlines() if line.startswith("| `")]
    assert len(checks) >= len(CHECKS_BY_ID)
    assert [row[:60] for row in checks if not re.search(r"`tests/[\w/]+\.py", row)] == []


def test_every_claim_has_a_test() -> None:
    rows = _rows()
    assert len(rows) == len({claim for claim, *_ in rows}) > 30
    assert [claim for claim, _, shown in rows if not NAMED.search(shown)] == []
    lines = [line for line in _lines() if line.startswith("| `")]
    assert len(lines) == len(rows)  # no row is in another form


# ---- mutants --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_fits_the_sources_and_names_tests_that_are_there(mutant: Mutant) -> None:
    assert why_unfit(mutant) == ""
    assert mutant.tests
    assert _missing(_parts(test) for test in mutant.tests) == []


def _parts(test: str) -> tuple[str, str]:
    path, _, name = test.partition("::")
    return path, name


def test_every_mutant_belongs_to_a_claim_and_the_page_counts_them() -> None:
    assert {mutant.claim for mutant in MUTANTS} <= {claim for claim, *_ in _rows()}
    assert f"{len(MUTANTS)} mutants" in CLAIMS.read_text()


def test_every_check_has_a_mutant() -> None:
    assert sorted(set(CHECKS_BY_ID) - {mutant.id for mutant in MUTANTS}) == []
