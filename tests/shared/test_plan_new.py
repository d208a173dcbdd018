"""``plan new``: what is answered is what the plan says, a wrong answer is asked again, nothing is half-written."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from airlock_shared.cli.plan import new_plan
from airlock_shared.cli.terminal import ask
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import Declined, PlanError, UsageError
from airlock_shared.host.files import write_new
from airlock_shared.plan.authoring import ask_plan, toml, write_plan
from airlock_shared.plan.known import NOTHING, known_from, literal
from airlock_shared.plan.model import Bounds, Exact, Plan
from airlock_shared.plan.questions import ANSWER_AGAIN, People, Question
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.actions import ACTIONS, SIDES
from shared.world import DEPLOYMENT_TEXT

TREASURY = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
DESK = "0x52908400098527886E0F7030069857D2E4169EE7"
CEREMONY = ["desk-2027", "Delegate keys", "mainnet", ""]
LIMITS = ["", ""]  # of an intent: the deadline, and what must be left of it
SIGNER = ["treasury", TREASURY, ""]
DELEGATE = ["delegate", *LIMITS, "", *SIGNER, "", DESK, "2027-03-31T00:00:00Z", "", "", "", ""]
ANSWERS = [*CEREMONY, *DELEGATE, ""]


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

    def people(self) -> People:
        return People(self.ask, self.told.append, self.mistakes.append, self.told.extend)

    def table(self) -> dict[str, Any]:
        return ask_plan(self.people(), NOTHING)

    def plan(self) -> Plan:
        table = self.table()
        assert self.answers == []
        text = write_plan(table)
        assert tomllib.loads(text) == table
        return parse_plan(text.encode())


def test_the_answers_are_what_the_plan_says() -> None:
    plan = Room(ANSWERS).plan()
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
        (1, b"M\xe4rz".decode(errors="surrogateescape"), "PLAN-FORM"),  # of another encoding: no TOML can say it
        (3, "Signer", "PLAN-FORM"),
        (3, "required", "PLAN-FORM"),  # a plan that names a witness requires one
        (4, "steal", "PLAN-ACTION"),
        (5, "soon", "PLAN-FORM"),
        (6, "365d", "PLAN-OWN-LIMIT"),
        (6, "none", "PLAN-FORM"),
        (8, "Treasury", "PLAN-FORM"),
        (9, TREASURY.lower().replace("0xd", "0xD"), "PLAN-ADDRESS"),
        (9, "0x" + "0" * 40, "PLAN-ADDRESS"),
        (9, "#1", "PLAN-ADDRESS"),
        (10, "44/60", "PLAN-FORM"),
        (12, "none", "PLAN-ADDRESS"),
        (13, "2027-02-29", "PLAN-FIELD"),
        (13, "20270331x", "PLAN-FIELD"),
        (13, "2027-03-31T00:00:00", "PLAN-FIELD"),
        (13, "1806451200000", "PLAN-FIELD"),
        (13, "0", "PLAN-FIELD"),
        (14, "5A" * 32, "PLAN-FIELD"),
    ],
)
def test_a_wrong_answer_is_explained_and_asked_again(position: int, wrong: str, check: str) -> None:
    room = Room([*ANSWERS[:position], wrong, *ANSWERS[position:]])
    assert room.plan() == Room(ANSWERS).plan()
    assert [(error.check, bool(error.expected), error.do) for error in room.mistakes] == [(check, True, ANSWER_AGAIN)]
    questions = [line for line in room.told if line.endswith(": ")]
    assert questions[position] == questions[position + 1]


@pytest.mark.parametrize("position", [9, 11, 12])
def test_an_address_without_a_checksum_is_compared_first(position: int) -> None:
    meant = ANSWERS[position] or TREASURY
    for typed in {meant.lower(), "0x" + meant[2:].upper()} - {meant}:  # some are all capitals with their checksum
        room = Room([*ANSWERS[:position], typed, "", "yes", "y", meant, "Yes", *ANSWERS[position + 1 :]])
        assert room.plan() == Room(ANSWERS).plan()
        assert f"    {meant}" in room.told
        assert [error.check for error in room.mistakes] == ["PLAN-ADDRESS"] * 3
        assert all(meant not in str(error.as_json()["expected"]) for error in room.mistakes)


def test_who_presses_enter_for_ever_writes_no_address_without_a_checksum() -> None:
    room = Room([*CEREMONY, "delegate", *LIMITS, "", "treasury", TREASURY.lower(), *[""] * 40])
    with pytest.raises(Declined, match="no usable answer"):
        room.table()
    assert len(room.answers) == 20


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

    table = ask_plan(People(ask, room.told.append, lambda error: pytest.fail(str(error)), room.told.extend), NOTHING)
    text = write_plan(table)
    assert tomllib.loads(text) == table
    assert list(parse_plan(text.encode()).steps) == [name]
    for parameter in ACTIONS[name].parameters:
        if parameter.name in table["steps"][0]["fields"]:
            assert f"{parameter.meaning}" in text


def _questions(room: Room) -> list[str]:
    return [line.split(" [")[0].split(" (")[0].rstrip(": ") for line in room.told if line.endswith(": ")]


def test_going_back_asks_the_question_before_and_enter_takes_what_was_said() -> None:
    for position in range(1, len(ANSWERS)):
        room = Room([*ANSWERS[:position], "<", "", *ANSWERS[position:]])
        assert room.plan() == Room(ANSWERS).plan(), position
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
    plan = parse_plan(write_plan(ask_plan(room.people(), known)).encode())
    assert plan.signers["treasury"][1:3] == (bytes.fromhex(TREASURY[2:]), "m/44'/60'/7'/0/0")
    assert plan.steps["delegate"].values["delegate"].raw == bytes.fromhex(OTHER[2:])  # type: ignore[union-attr]
    assert f"    #2  {OTHER}" in room.told
    assert not any(line.startswith("delegate [") for line in room.told)
    assert max(map(len, room.told)) <= 80


def _run(path: Path, answers: list[str], *words: str) -> Any:
    """Answer by a pipe, for once; that the command itself takes answers from a terminal alone is tested in one."""
    with mock.patch("airlock_shared.cli.plan._ask", partial(ask, piped=True)):
        return _invoke(path, answers, *words)


def test_a_pipe_answers_no_question_of_a_plan(tmp_path: Path) -> None:
    ended = _invoke(tmp_path / "plan.toml", [*ANSWERS, "Yes"])
    assert isinstance(ended.exception, Declined)
    assert "answers come from a terminal" in str(ended.exception)
    assert list(tmp_path.iterdir()) == []


def _invoke(path: Path, answers: list[str], *words: str) -> Any:
    return CliRunner().invoke(new_plan, ["-o", str(path), *words], input="".join(f"{answer}\n" for answer in answers))


def test_it_is_written_after_yes_and_the_summary_says_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    ended = _run(path, [*ANSWERS, "Yes"])
    assert ended.exit_code == 0, ended.output
    plan = parse_plan(path.read_bytes())
    assert "plan fingerprint" in ended.stderr
    assert DESK in ended.stderr
    assert plan.id == "desk-2027"
    assert path.stat().st_mode & 0o777 == 0o600
    assert max(map(len, path.read_text().splitlines())) <= 160
    before = path.read_bytes()
    again = _run(path, ["x"])  # told before the first question
    assert "exists already" in str(again.exception)
    assert ("title" in again.output, path.read_bytes()) == (False, before)


@pytest.mark.parametrize("answers", [[*ANSWERS, last] for last in ("yes", "y", "", "No")] + [CEREMONY])
def test_anything_but_yes_writes_nothing(tmp_path: Path, answers: list[str]) -> None:
    assert isinstance(_run(tmp_path / "plan.toml", answers).exception, Declined)
    assert list(tmp_path.iterdir()) == []


def test_at_the_end_a_slip_loses_nothing_and_every_answer_can_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    changed = ["", "Another title", *[""] * (len(ANSWERS) - 2)]
    writes = [UsageError("the stick was pulled out"), mock.DEFAULT]
    with mock.patch("airlock_shared.cli.plan.write_new", side_effect=writes, wraps=write_new):
        ended = _run(path, [*ANSWERS, "yes", "", "<", "<", "", "", "no", *changed, "Yes", "Yes"])
    assert ended.exit_code == 0, ended.output
    assert "pulled out" in ended.stderr
    plan = parse_plan(path.read_bytes())
    assert "pulled out" in ended.stderr
    assert (plan.id, plan.title) == ("desk-2027", "Another title")
    assert plan.steps["delegate"].values["delegate"].raw == bytes.fromhex(DESK[2:])  # type: ignore[union-attr]
    assert "Your answers are kept" in ended.stderr


def test_every_line_of_the_questions_fits_the_screen(tmp_path: Path) -> None:
    ended = _run(tmp_path / "plan.toml", [*CEREMONY, "?", *DELEGATE, "?", "", "Yes"])
    assert ended.exit_code == 0
    lines = ended.stderr.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert f"    Enter takes {TREASURY}" in lines
    assert f"trader [Enter]: {TREASURY}" not in lines
    assert "increase-" not in {line.split()[-1] for line in lines if line.split()}


def test_an_earlier_answer_that_no_longer_fits_is_not_offered() -> None:
    room = Room([*CEREMONY, "delegate", "30m", "20m", "<", "<", "10m", "5m", *DELEGATE[3:], ""])
    assert room.plan().limits == (600_000, None, None, None, 300_000)
    offered = [line for line in room.told if line.startswith("remaining_at_least")]
    assert offered == ["remaining_at_least [3m]: ", "remaining_at_least [20m]: ", "remaining_at_least [3m]: "]


def test_who_goes_back_is_told_nothing_again_of_what_stays_answered() -> None:
    room = Room([*CEREMONY, DELEGATE[0], "<", *ANSWERS[len(CEREMONY) :]])
    lists: list[Sequence[str]] = []
    ask_plan(People(room.ask, room.told.append, room.mistakes.append, lists.append), NOTHING)
    assert sum(line.startswith("Nothing is written before the end") for line in room.told) == 1
    assert [len(each) >= len(ACTIONS) for each in lists] == [True, True, False]  # the question that is asked again
    room = Room([*CEREMONY, *DELEGATE[:2], "<", *ANSWERS[len(CEREMONY) + 1 :]])
    lists.clear()
    ask_plan(People(room.ask, room.told.append, room.mistakes.append, lists.append), NOTHING)
    assert [len(each) >= len(ACTIONS) for each in lists] == [True, False]
    assert room.told.count("") == 2  # above the one step, and above the question for another


def test_a_list_longer_than_a_screen_is_given_as_one() -> None:
    room = Room(ANSWERS)
    lists: list[Sequence[str]] = []
    ask_plan(People(room.ask, room.told.append, room.mistakes.append, lists.append), NOTHING)
    assert len(lists[0]) >= len(ACTIONS)
    assert lists[1:] == [[]]
    assert not any(name in line for name in ACTIONS for line in room.told[:12] if line.startswith("    "))


def test_a_second_step_knows_the_first_ones_signer_and_id() -> None:
    second = ["delegate", "delegate", "", "", "", DESK, "1806451200", "", "", "", ""]
    room = Room([*CEREMONY, *DELEGATE, *second, ""])
    plan = room.plan()
    assert list(plan.steps) == ["delegate", "delegate-2"]
    assert [error.what for error in room.mistakes] == ["two steps have the same id"]
    assert len(plan.signers) == 1


def test_a_pair_is_asked_for_by_name_then_by_number_and_amounts_may_be_bounds() -> None:
    begin = [*CEREMONY, "close", *LIMITS, "", *SIGNER, "", ""]
    by_name = Room([*begin, "BTC/USD", "3", "250.5", "60000..64000", "", "", "", ""]).plan().steps["close"].values
    by_number = Room([*begin, "none", "0", "3", "250.5", "1..64000", "", "", "", ""]).plan().steps["close"].values
    assert "pairIndex" not in by_name
    assert by_name["expectedPrice"] == Bounds(60000 * 10**10, 64000 * 10**10, "at least 60000, at most 64000")
    assert by_number["pairIndex"] == Exact(0, "0")
    assert by_number["expectedPrice"] == Bounds(10**10, 64000 * 10**10, "at least 1, at most 64000")
    assert not by_number["expectedPrice"].holds(0)  # to the venue 0 is any price
    edges = (60000 * 10**10 - 1, 60000 * 10**10, 64000 * 10**10, 64000 * 10**10 + 1)
    assert [by_name["expectedPrice"].holds(raw) for raw in edges] == [False, True, True, False]


@pytest.mark.parametrize(
    ("kind", "asked", "not_asked"), [("fixed", "price", "percentage"), ("percentage", "percentage", "price")]
)
def test_a_trigger_asks_for_what_its_type_needs(kind: str, asked: str, not_asked: str) -> None:
    head = [*CEREMONY, "tpsl-partial", "", *SIGNER, "", "", "BTC/USD", "0", "take_profit", "0.5", next(iter(SIDES))]
    plan = Room([*head, kind, "70000" if kind == "fixed" else "25", "", "", "", ""]).plan()
    assert asked in plan.steps["tpsl-partial"].values
    assert not_asked not in plan.steps["tpsl-partial"].values


@example('"\\')
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_is_written_as_itself_in_ascii(text: str) -> None:
    written = toml(text)
    assert tomllib.loads(f"x = {written}") == {"x": text}
    assert written.isascii()
    assert "\n" not in written


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("delegate", {"deadline_at_most", "remaining_at_least"}),
        ("position-increase", {"slippage_percent_at_most", "max_fee_gwei_at_most"}),
        ("tpsl-partial", set()),
        ("open", {"deadline_at_most", "slippage_percent_at_most", "remaining_at_least"}),
    ],
)
def test_only_limits_that_the_action_can_use_are_asked_for(name: str, asked: set[str]) -> None:
    room = Room([*CEREMONY, name, "", "", ""])
    with pytest.raises(Declined):
        room.table()
    assert {question for question in _questions(room) if question.endswith(("_at_most", "_at_least"))} == asked


def test_whether_a_key_is_a_delegates_is_asked_only_where_a_delegate_may_sign() -> None:
    for name, asked in (("delegate", False), ("twap-cancel", True)):
        room = Room([*CEREMONY, name, "", "", "", *SIGNER])
        with pytest.raises(Declined):
            room.table()
        assert ("treasury: delegate_of" in _questions(room)) == asked
    answers = [*CEREMONY, "twap-cancel", *LIMITS, "", "desk", DESK, "m/44'/60'/1'/0/0", TREASURY, "", "41", "", "", ""]
    plan = Room(answers).plan()
    assert plan.signers["desk"].delegate_of == bytes.fromhex(TREASURY[2:])
    assert plan.steps["twap-cancel"].values["trader"].raw == bytes.fromhex(TREASURY[2:])  # type: ignore[union-attr]


@pytest.mark.parametrize("typed", ["2027-03-31", "2027-03-31T02:00:00+02:00", "2027-03-31 00:00:00Z"])
def test_a_time_is_shown_in_full_and_in_utc(typed: str) -> None:
    room = Room([typed if answer.startswith("2027-03-31") else answer for answer in ANSWERS])
    assert room.plan().steps["delegate"].values["expiry"].raw == 1806451200  # type: ignore[union-attr]
    assert "    = 2027-03-31 00:00:00 UTC" in room.told
    assert "00:00:00 UTC" in " ".join(room.told[: room.told.index("expiry (a time in UTC): ")])


def test_the_pairs_of_the_deployment_are_offered() -> None:
    deployment = parse_deployment(DEPLOYMENT_TEXT.encode())
    known = known_from([deployment], [])
    ceremony = [*CEREMONY[:2], "#1", ""]
    room = Room([*ceremony, "close", *LIMITS, "", *SIGNER, "", "", "#1"])
    with pytest.raises(Declined):
        ask_plan(room.people(), known)
    first = next(iter(deployment.pairs.values())).name
    assert f"    #1  {deployment.name}" in room.told
    assert f"    #1  {first}" in room.told
    assert not room.mistakes


@pytest.mark.parametrize(
    ("typed", "taken"), [(["1", "#1"], "BTC/USD"), (["1", "1"], "1"), (["2", "1", "#1"], "BTC/USD")]
)
def test_a_bare_number_beside_offers_is_asked_about_before_it_is_an_answer(typed: list[str], taken: str) -> None:
    question = Question("pair", "the pair", known=(("BTC/USD", ""), ("ETH/USD", "")))
    room = Room(typed)
    assert room.people().answer(question, str) == taken
    assert "    Did you mean number 1, BTC/USD? Type #1. Else type 1 once more." in room.told


def test_going_back_to_the_first_question_and_beyond_loses_nothing() -> None:
    answers = [*CEREMONY, *DELEGATE, ""]
    room = Room([*answers[:9], *["<"] * 12, "desk-2028", *[""] * 8, *answers[9:]])
    plan = room.plan()
    assert (plan.id, plan.title) == ("desk-2028", "Delegate keys")
    assert plan.steps == Room(answers).plan().steps
    assert "    This is the first question." in room.told


def test_limits_may_be_none_but_for_the_remaining_time() -> None:
    plan = Room([*CEREMONY, "delegate", "none", "90s", *DELEGATE[3:], ""]).plan()
    assert plan.limits == (None, None, None, None, 90_000)
