"""The error catalogue is complete, is what the specification says, and is what `explain` tells."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import airlock_online
import airlock_rehearsal
from airlock_online.cli.machine import DELIVERY_CHECKS, everything
from airlock_online.cli.main import program
from airlock_online.delivery.outcome import OrderOutcome, outcome_error
from airlock_online.error_codes import CODE_PLACES, ERROR_CODES, SPEC, VENUES, known_code
from airlock_online.journal.order_states import ANOMALIES, OrderEvent, OrderState, is_end_of_view
from airlock_shared.checks.catalogue import CHECKS_BY_ID
from airlock_shared.cli.explain import explanations_of
from airlock_shared.cli.program import run
from airlock_shared.errors import ExitCode

VECTORS = Path(__file__).parents[1] / "vectors/errors/spec-codes.txt"
SOURCES = Path(airlock_online.__file__).parent
REHEARSAL = Path(airlock_rehearsal.__file__).parent
RAISED = re.compile(r'\b(?:Refusal|DocumentError|PlanError)\(\s*"([A-Z]+-[A-Z0-9-]+)"')
SERVED = re.compile(r'\bRefused\([^)]*?,\s*"([A-Z_]+)"')


def listed() -> list[tuple[str, str, str]]:
    """Return (where, code, source) of each line of the vectors."""
    source, rows = SPEC, []
    for line in VECTORS.read_text().splitlines():
        if line == "# venues":
            source = VENUES
        elif not line.startswith("#"):
            where, code = line.split()
            rows.append((where, code, source))
    return rows


def outcome(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(program, ["explain", *words])
    out, err = capsys.readouterr()
    return code, out, err


# ---- the catalogue -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("where", "code", "source"), listed(), ids=lambda part: str(part))
def test_every_code_of_the_specification_is_in_the_catalogue(where: str, code: str, source: str) -> None:
    known = known_code(code)
    assert known is not None
    assert (known.where, known.source) == (where, source)


def test_no_entry_claims_the_specification_for_a_code_that_is_not_in_it() -> None:
    named = {code for _, code, source in listed() if source == SPEC}
    assert sorted(code for code, known in ERROR_CODES.items() if known.source == SPEC) == sorted(named)


def test_the_catalogue_and_the_life_of_an_order_agree_on_what_ends_it() -> None:
    for code, known in ERROR_CODES.items():
        if known.where in ("batched", "contract"):
            assert is_end_of_view(OrderEvent(None, "Error", {"code": code})) is not known.terminal


def test_what_ends_an_order_ends_the_command_with_execution_failed() -> None:
    assert {known.exit_code for known in ERROR_CODES.values() if known.terminal} == {ExitCode.EXECUTION_FAILED}


def test_nothing_known_ends_a_command_with_done() -> None:
    assert ExitCode.DONE not in {known.exit_code for known in ERROR_CODES.values()}


def test_every_entry_says_what_it_means_and_what_to_do() -> None:
    for known in ERROR_CODES.values():
        assert known.where in CODE_PLACES
        assert known.meaning.endswith(".")
        assert known.do.endswith(".")
        assert "|" not in known.meaning + known.do  # they are cells of a table


@pytest.mark.parametrize("code", ["", "no_price", " NO_PRICE", "NO_PRICE\n", "Nothing", "\x1b[31m"])
def test_a_code_that_is_not_written_exactly_so_is_not_known(code: str) -> None:
    assert known_code(code) is None


def test_every_code_that_the_rehearsal_services_answer_is_known() -> None:
    served = {code for path in REHEARSAL.rglob("*.py") for code in SERVED.findall(path.read_text())}
    assert served
    assert sorted(served - set(ERROR_CODES)) == []


def test_every_check_that_the_online_half_raises_is_explained() -> None:
    raised = {check for path in SOURCES.rglob("*.py") for check in RAISED.findall(path.read_text())}
    assert set(DELIVERY_CHECKS) <= raised
    assert sorted(raised - set(CHECKS_BY_ID) - set(DELIVERY_CHECKS)) == []


# ---- explanations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [*ERROR_CODES, *CHECKS_BY_ID, *DELIVERY_CHECKS, *ANOMALIES, *(str(int(c)) for c in ExitCode)]
)
def test_everything_with_a_name_is_explained(name: str) -> None:
    assert explanations_of(everything(), name)


@pytest.mark.parametrize("state", list(OrderState))
def test_a_state_on_the_screen_is_explained_with_the_exit_code_that_a_command_ends_with(state: OrderState) -> None:
    [item] = [item for item in explanations_of(everything(), state.value) if item.kind == "outcome"]
    error = outcome_error(OrderOutcome("0x", state))
    assert item.exit_code == (error.exit_code if error else ExitCode.DONE)


# ---- the command ---------------------------------------------------------------------------------------------------


def test_explain_tells_meaning_advice_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "SPREAD_BLOCKED")
    assert (code, err) == (0, "")
    assert "SPREAD_BLOCKED: batched code" in out
    assert "exit code 11" in out
    assert "order     has ended" in out


@pytest.mark.parametrize(
    "words", [(), ("NO_PRICE",), ("3",), ("DOMAIN-CHAIN",), ("PLAN-FIELD",), ("429",), ("UNKNOWN",)]
)
def test_explain_keeps_to_80_columns(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    _, out, _ = outcome(capsys, *words)
    assert max(map(len, out.splitlines())) <= 80


def test_explain_as_json_has_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, "STREAM_TIMEOUT", "--json")
    [told] = json.loads(out)
    assert (code, told["exit_code"], told["ends_order"]) == (0, 9, False)


def test_an_unknown_code_ends_with_2_and_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "SPREAD_BLOKED")
    assert (code, out) == (2, "")
    assert "the nearest names: SPREAD_BLOCKED" in " ".join(err.split())


def test_an_unknown_code_is_shown_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = outcome(capsys, "\x1b[31mred")
    assert code == 2
    assert "\x1b" not in err


def test_every_end_of_an_order_says_that_its_signature_stays_valid() -> None:
    for each in ERROR_CODES.values():
        if each.terminal and each.where != "relay":
            assert each.do.endswith("The old one is valid until its deadline: wait for it if two fills would do harm.")
