"""The threat model, the claims, the assumptions and the table of endpoints name tests that are there; mutants fit."""

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import airlock_online.clients.rpc
from airlock_online.cli.main import program
from airlock_online.speech.sections import PATHS
from airlock_shared.checks.catalogue import CHECKS_BY_ID
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.structs import SERVICES
from mutation.run import Mutant, read_mutants, why_unfit
from workspace.endpoints import DONE, ENDPOINTS, GENERIC, SPEC_LIST

ROOT = Path(__file__).parents[2]
THREATS, CLAIMS = ROOT / "docs/threat-model.md", ROOT / "docs/claims.md"
ASSUMPTIONS = ROOT / "docs/reference/assumptions.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py::test_\w+)`")
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


def _missing(named: Iterable[str]) -> list[str]:
    """Return those of the named tests and files of tests that are not there."""
    parts = {test: test.partition("::") for test in named}
    return [
        test
        for test, (path, _, name) in parts.items()
        if not (ROOT / path).is_file() or (name and name not in _tests_of(path))
    ]


@pytest.mark.parametrize("page", [THREATS, CLAIMS, ASSUMPTIONS], ids=lambda page: page.name)
def test_every_test_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text().replace("`tests/…::test_…`", "")
    named = NAMED.findall(text)
    assert len(named) >= 20
    assert len(named) == text.count("::test_"), "one is named in another form than the one that is looked for"
    assert _missing(named) == []


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
    assert {row.split("`")[1] for row in checks} == set(CHECKS_BY_ID)
    assert [row[:60] for row in checks if not re.search(r"`tests/[\w/]+\.py", row)] == []


def test_every_claim_has_a_test() -> None:
    rows = _rows()
    assert len(rows) == len({claim for claim, *_ in rows}) > 30
    assert [claim for claim, _, shown in rows if not NAMED.search(shown)] == []
    assert len([line for line in _lines() if line.startswith("| `")]) == len(rows)  # no row is in another form


def test_every_assumption_has_its_four_parts_and_a_test() -> None:
    rows = [line.strip("| ").split(" | ") for line in ASSUMPTIONS.read_text().splitlines() if line.startswith("| ")]
    wrong = [row for row in rows if len(row) != 4 or not all(row) or not NAMED.fullmatch(row[-1])]
    assert {row[-1] for row in wrong} == {"test"}, "but for the headings of tables"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_fits_the_sources_and_names_tests_that_are_there(mutant: Mutant) -> None:
    assert why_unfit(mutant) == ""
    assert mutant.tests
    assert _missing(mutant.tests) == []


def test_every_mutant_belongs_to_a_claim_and_the_page_counts_them() -> None:
    assert {mutant.claim for mutant in MUTANTS} <= {claim for claim, *_ in _rows()}
    assert f"{len(MUTANTS)} mutants" in CLAIMS.read_text()


def test_every_check_has_a_mutant() -> None:
    assert sorted(set(CHECKS_BY_ID) - {mutant.id for mutant in MUTANTS}) == []


def test_every_endpoint_of_the_specification_and_of_an_action_is_in_the_table() -> None:
    table = {(row.service, method, row.path) for row in ENDPOINTS for method in (*row.method.split(", "), "ANY")}
    lines = [line.split() for line in SPEC_LIST.read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if tuple(line) not in table] == []
    paths = {action.path for action in ACTIONS.values() if action.path}
    assert sorted(path for path in paths if ("builder", "ANY", path) not in table) == []
    asked = set(re.findall(r'"(eth_\w+)"', Path(airlock_online.clients.rpc.__file__).read_text()))
    assert asked == {row.path for row in ENDPOINTS if row.service == "rpc"}
    shipped = {path for path in PATHS.values() if path} - {PATHS["referral"]}
    assert shipped <= {re.sub(r"\{\w+\}", "{id}", row.path) for row in ENDPOINTS}


def test_every_endpoint_names_a_command_and_a_test_that_are_there_and_what_is_not_done_is_reached_by_call() -> None:
    assert {row.command for row in ENDPOINTS} <= set(program.table)
    assert _missing(row.test for row in ENDPOINTS) == []
    assert [row.path for row in ENDPOINTS if "::test_" not in row.test] == []
    assert {row.state for row in ENDPOINTS} <= {DONE, GENERIC}
    assert {row.service for row in ENDPOINTS} == set(SERVICES)
    assert [row.path for row in ENDPOINTS if (row.state == GENERIC) is not (row.command == "call")] == []


def test_the_second_venue_shares_no_line_with_the_rehearsal_and_imports_nothing_of_the_product() -> None:
    files = [*(ROOT / "tests/second_venue").glob("*.py"), ROOT / "tests/venue_structs.py"]
    rehearsal = (ROOT / "online/rehearsal/src").rglob("*.py")
    ours, theirs = (
        {line.strip() for path in paths for line in path.read_text().splitlines()} for paths in (files, rehearsal)
    )
    assert not [line for line in ours if re.match(r"(from|import) airlock", line)]
    assert {line for line in ours & theirs if len(line) > 60} == set()
