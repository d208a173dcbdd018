"""``plan new``: what is answered is what the plan says, a wrong answer is asked again, nothing is half-written."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner

from airlock_shared.cli.plan import new_plan
from airlock_shared.cli.terminal import ask
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import Declined, PlanError
from airlock_shared.plan.authoring import ask_plan, write_plan
from airlock_shared.plan.known import known_from, literal
from airlock_shared.plan.model import Exact, Plan
from airlock_shared.plan.questions import People
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.actions import ACTIONS

TREASURY = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
DESK = "0x52908400098527886E0F7030069857D2E4169EE7"
CEREMONY = ["desk-2027", "Delegate keys", "mainnet", ""]
LIMITS = ["", ""]  # of an intent: the deadline, and what must be left of it
SIGNER = ["treasury", TREASURY, ""]
DELEGATE = ["delegate", *LIMITS, "", *SIGNER, "", DESK, "2027-03-31T00:00:00Z", "", "", "", ""]


class Room:
    """People who answer from a list; what they were told is kept."""

    def __init__(self, answers: Iterable[str]) -> None:
        self.answers = list(answers)
        self.told: list[str] = []
        self.mistakes: list[PlanError] = []

    def ask(self, question: str) -> str:
        self.told.append(question)
        if not self.answers:
            raise Declined(f"no answer to {question}")
        return self.answers.pop(0)

    def table(self) -> dict[str, Any]:
        return ask_plan(People(self.ask, self.told.append, self.mistakes.append))

    def plan(self) -> Plan:
        table = self.table()
        assert self.answers == []
        text = write_plan(table)
        assert tomllib.loads(text) == table
        return parse_plan(text.encode())


def test_the_answers_are_what_the_plan_says() -> None:
    plan = Room([*CEREMONY, *DELEGATE, ""]).plan()
    assert (plan.id, plan.title, plan.deployment) == ("desk-2027", "Delegate keys", "mainnet")
    assert plan.roles == ("signer", "facilitator", "witness")
    assert plan.limits == (1_800_000, None, None, None, 180_000)
    step = plan.steps["delegate"]
    assert (step.action.name, step.signer.path) == ("delegate", "m/44'/60'/0'/0/0")
    assert step.values["trader"] == Exact(bytes.fromhex(TREASURY[2:]), TREASURY)
    assert step.values["delegate"] == Exact(bytes.fromhex(DESK[2:]), DESK)
    assert step.values["expiry"].raw == 1806451200  # type: ignore[union-attr]
    assert set(step.values) <= {"trader", "delegate", "expiry", "possession"}


@pytest.mark.parametrize(
    ("position", "wrong", "check"),
    [
        (0, "Desk 2027", "PLAN-FORM"),
        (1, "\x1b[2J", "PLAN-FORM"),
        (2, "main net", "PLAN-FORM"),
        (3, "Signer", "PLAN-FORM"),
        (4, "steal", "PLAN-ACTION"),
        (5, "soon", "PLAN-FORM"),
        (6, "365d", "PLAN-OWN-LIMIT"),
        (6, "none", "PLAN-FORM"),
        (7, "Two words", "PLAN-FORM"),
        (8, "Treasury", "PLAN-FORM"),
        (9, TREASURY.lower().replace("0xd", "0xD"), "PLAN-ADDRESS"),
        (9, "0x" + "0" * 40, "PLAN-ADDRESS"),
        (9, "#1", "PLAN-ADDRESS"),
        (10, "44/60", "PLAN-FORM"),
        (11, "0x1", "PLAN-ADDRESS"),
        (12, "none", "PLAN-ADDRESS"),
        (13, "tomorrow", "PLAN-FIELD"),
        (13, "2027-13-31T00:00:00Z", "PLAN-FIELD"),
        (13, "2027-02-29", "PLAN-FIELD"),
        (13, "2027-3-31", "PLAN-FIELD"),
        (13, "20270331x", "PLAN-FIELD"),
        (13, "2027-03-31T00:00:00", "PLAN-FIELD"),
        (13, "1806451200000", "PLAN-FIELD"),
        (13, "0", "PLAN-FIELD"),
        (14, "5A" * 32, "PLAN-FIELD"),
    ],
)
def test_a_wrong_answer_is_explained_and_asked_again(position: int, wrong: str, check: str) -> None:
    answers = [*CEREMONY, *DELEGATE, ""]
    room = Room([*answers[:position], wrong, *answers[position:]])
    assert room.plan() == Room(answers).plan()
    assert [error.check for error in room.mistakes] == [check]
    questions = [line for line in room.told if line.endswith(": ")]
    assert questions[position] == questions[position + 1]


def _without_checksum(address: str) -> list[str]:
    """Return the address in one case; some addresses are all capitals with their checksum."""
    return [text for text in (address.lower(), "0x" + address[2:].upper()) if text != address]


@pytest.mark.parametrize("position", [9, 11, 12])
def test_an_address_without_a_checksum_is_compared_first(position: int) -> None:
    answers = [*CEREMONY, *DELEGATE, ""]
    meant = answers[position] or TREASURY
    for typed in _without_checksum(meant):
        room = Room([*answers[:position], typed, "", "yes", "y", meant, "Yes", *answers[position + 1 :]])
        assert room.plan() == Room(answers).plan()
        assert f"    {meant}" in room.told
        assert [error.check for error in room.mistakes] == ["PLAN-ADDRESS"] * 3
        assert all(meant not in str(error.as_json()["expected"]) for error in room.mistakes)


def test_who_presses_enter_for_ever_writes_no_address_without_a_checksum() -> None:
    room = Room([*CEREMONY, "delegate", *LIMITS, "", "treasury", TREASURY.lower(), *[""] * 40])
    with pytest.raises(Declined, match="no usable answer"):
        room.table()
    assert len(room.answers) == 20


def test_bounds_the_wrong_way_round_are_asked_again() -> None:
    room = Room([*CEREMONY, "close", *LIMITS, "", *SIGNER, "", "", "BTC/USD", "3", "9", "2..1", "1..2", "", "", "", ""])
    room.plan()
    assert [error.what for error in room.mistakes] == ["at_least is above at_most"]


@pytest.mark.parametrize("name", list(ACTIONS))
def test_every_action_can_be_asked_for_with_its_examples(name: str) -> None:
    examples = {p.name: literal(p).strip('"') for p in ACTIONS[name].parameters}
    room = Room([])

    def ask(question: str) -> str:
        label = question.split(" [")[0].split(" (")[0].rstrip(": ")
        fixed = {
            "id": name, "title": "t", "deployment": "mainnet", "action": name, "signer": "treasury",
            "treasury: address": TREASURY, "action of the next step": "none",
        }  # fmt: skip
        if label in fixed:
            return fixed[label]
        return examples[label] if label in examples and "[" not in question else ""

    table = ask_plan(People(ask, room.told.append, lambda error: pytest.fail(str(error))))
    text = write_plan(table)
    assert tomllib.loads(text) == table
    assert list(parse_plan(text.encode()).steps) == [name]
    for parameter in ACTIONS[name].parameters:
        if parameter.name in table["steps"][0]["fields"]:
            assert f"{parameter.meaning}" in text


# ---- going back, and what is known ------------------------------------------------------------------------------------


def _questions(room: Room) -> list[str]:
    return [line.split(" [")[0].split(" (")[0].rstrip(": ") for line in room.told if line.endswith(": ")]


def test_going_back_asks_the_question_before_and_enter_takes_what_was_said() -> None:
    answers = [*CEREMONY, *DELEGATE, ""]
    for position in range(1, len(answers)):
        room = Room([*answers[:position], "<", "", *answers[position:]])
        assert room.plan() == Room(answers).plan(), position
        asked = _questions(room)
        assert asked[position + 1] == asked[position - 1]
        assert asked[position + 2] == asked[position]


OTHER = "0x463e4e114AA57F54f2Fd2C3ec03572C6f75d84C2"
ENTRIES = [
    Entry(1, 1, "address", {"path": "m/44'/60'/7'/0/0", "address": TREASURY, "confirmed": True}, ""),
    Entry(2, 2, "address", {"path": "m/44'/60'/8'/0/0", "address": DESK, "confirmed": False}, ""),
    Entry(3, 3, "proved", {"delegate": OTHER, "note": "0x1", "code": "0x" + "ab" * 32}, ""),
    Entry(4, 4, "other", {"deep": [{"delegate": "0x" + "0" * 40}, {"delegate": OTHER.lower()}]}, ""),
]


def test_what_is_known_is_offered_by_number_and_taken_only_when_it_is_typed() -> None:
    known = known_from([], ENTRIES)
    assert [address for address, _ in known.addresses] == [TREASURY, OTHER, DESK]
    assert known.codes == (("0x" + "ab" * 32, "used before"),)
    answers = [*CEREMONY, "delegate", *LIMITS, "", "treasury", "#1", "", "", "#2", "2027-03-31", "", "", "", "", ""]
    room = Room(answers)
    plan = parse_plan(write_plan(ask_plan(People(room.ask, room.told.append, room.mistakes.append), known)).encode())
    assert plan.signers["treasury"][1:3] == (bytes.fromhex(TREASURY[2:]), "m/44'/60'/7'/0/0")
    assert plan.steps["delegate"].values["delegate"].raw == bytes.fromhex(OTHER[2:])  # type: ignore[union-attr]
    assert f"    #2  {OTHER}" in room.told
    assert not any(line.startswith("delegate [") for line in room.told)
    assert max(map(len, room.told)) <= 80


# ---- the command ----------------------------------------------------------------------------------------------------


def _run(path: Path, answers: list[str], *words: str) -> Any:
    """Answer by a pipe, for once; that the command itself takes answers from a terminal alone is tested in one."""
    with mock.patch("airlock_shared.cli.plan._ask", partial(ask, piped=True)):
        return _invoke(path, answers, *words)


def test_a_pipe_answers_no_question_of_a_plan(tmp_path: Path) -> None:
    ended = _invoke(tmp_path / "plan.toml", [*CEREMONY, *DELEGATE, "", "Yes"])
    assert isinstance(ended.exception, Declined)
    assert "answers come from a terminal" in str(ended.exception)
    assert list(tmp_path.iterdir()) == []


def _invoke(path: Path, answers: list[str], *words: str) -> Any:
    return CliRunner().invoke(new_plan, ["-o", str(path), *words], input="".join(f"{answer}\n" for answer in answers))


def test_it_is_written_after_yes_and_the_summary_says_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    ended = _run(path, [*CEREMONY, *DELEGATE, "", "Yes"])
    assert ended.exit_code == 0, ended.output
    plan = parse_plan(path.read_bytes())
    assert "plan fingerprint" in ended.stderr
    assert DESK in ended.stderr
    assert plan.id == "desk-2027"
    assert path.stat().st_mode & 0o777 == 0o600
    assert max(map(len, path.read_text().splitlines())) <= 160


@pytest.mark.parametrize("last", ["yes", "y", "", "No"])
def test_anything_but_yes_writes_nothing(tmp_path: Path, last: str) -> None:
    ended = _run(tmp_path / "plan.toml", [*CEREMONY, *DELEGATE, "", last])
    assert isinstance(ended.exception, Declined)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("answered", range(0, 20, 3))
def test_an_input_that_ends_writes_nothing(tmp_path: Path, answered: int) -> None:
    ended = _run(tmp_path / "plan.toml", [*CEREMONY, *DELEGATE, ""][:answered])
    assert isinstance(ended.exception, Declined)
    assert list(tmp_path.iterdir()) == []


def test_every_line_of_the_questions_fits_the_screen(tmp_path: Path) -> None:
    answers = [*CEREMONY, "?", *DELEGATE, "?", "", "Yes"]
    ended = _run(tmp_path / "plan.toml", answers)
    assert ended.exit_code == 0
    lines = ended.stderr.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert f"    Enter takes {TREASURY}" in lines
    assert f"trader [Enter]: {TREASURY}" not in lines
    assert "increase-" not in {line.split()[-1] for line in lines if line.split()}


def test_an_earlier_answer_that_no_longer_fits_is_not_offered() -> None:
    room = Room([*CEREMONY, "delegate", "30m", "20m", "<", "<", "10m", "5m", *DELEGATE[3:], ""])
    plan = room.plan()
    assert plan.limits == (600_000, None, None, None, 300_000)
    offered = [line for line in room.told if line.startswith("remaining_at_least")]
    assert offered == ["remaining_at_least [3m]: ", "remaining_at_least [20m]: ", "remaining_at_least [3m]: "]
