"""`submit FILE` has two words of the signatures typed before it sends, by everybody who has not done so on record."""

import re
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest

from airlock_online.cli import comparing
from airlock_online.cli.main import program
from airlock_online.home import COLLECTED, OnlineHome
from airlock_shared.ceremony.sections import CEREMONY_BEGUN, CEREMONY_ENDED, CHECKPOINT_CONFIRMED
from airlock_shared.cli.ceremony import by_screens as typed_words
from airlock_shared.documents.requests import parse_requests, parse_signatures
from airlock_shared.documents.transcript import Entry
from airlock_shared.text.safe import spoken
from commands import asked_words, run_here
from online.online_command import CODE, OnlineCommand

PEOPLE = {"facilitator": "Grace Hopper", "witness": "Mary Somerville", "signer": "Ada Lovelace"}


class Desk:
    """Signatures on a machine, people who type, and what is on record afterwards."""

    def __init__(self, machine: OnlineCommand) -> None:
        self.machine, self.said = machine, ""
        self.file = machine.signatures(code=CODE)
        _, _, self.mark = parse_signatures(self.file.read_bytes())
        self.plan = parse_requests((machine.folder / "signatures.json.requests.json").read_bytes())[0]
        self.transcript = OnlineHome(machine.home).transcript
        self.questions: list[str] = []
        self.said_before = ""
        self.screen = spoken(self.mark)

    def submit(self, typist: Callable[[str], str] | None = None, *, export_to: Path | None = None) -> int:
        """Submit or export with somebody who answers; return the exit code. The questions are those of this time alone."""
        words = ["export", str(self.file), "-o", str(export_to)] if export_to else ["submit", str(self.file)]
        self.questions.clear()

        def ask(question: str, _opens: object, *, piped: bool) -> str:
            assert piped
            assert isinstance(sys.stderr, StringIO)
            self.said_before = sys.stderr.getvalue()
            self.questions.append(question)
            return typist(question) if typist else asked_words(question, self.screen)

        with patch.object(typed_words, "ask_opening", ask):
            ended = run_here(program, "--home", self.machine.home, *words)
        self.said = ended.err
        return ended.code

    def begin(self, people: dict[str, str]) -> None:
        self.record(CEREMONY_BEGUN, ceremony="desk", plan=self.plan.plan, roles=people)

    def confirmed(self, role: str, **how: object) -> None:
        data = {"ceremony": "desk", "checkpoint": "signatures", "by": [role], "compared": self.mark}
        self.record(CHECKPOINT_CONFIRMED, **data, **how)

    def record(self, event: str, **data: object) -> None:
        self.transcript.record(event, data, 1_790_000_000_000)

    def entries(self, *events: str) -> list[Entry]:
        return [entry for entry in self.transcript.entries() if entry.event in events]

    @property
    def posts(self) -> int:
        return self.machine.services.posts["relayer"].total()


@pytest.fixture
def desk(machine: OnlineCommand) -> Desk:
    return Desk(machine)


def test_whoever_submits_types_two_words_once_for_a_document(desk: Desk) -> None:
    assert desk.submit() == 0
    row = "  ".join(f"{at} {word}" for at, word in enumerate(desk.screen.split()[:8], 1))
    assert (row in desk.said_before, row in desk.said) == (False, True)  # after the answer, and not before
    [question] = desk.questions
    assert re.sub(r"\d+", "N", question) == "Whoever submits, signatures: word N and word N: "
    [entry] = desk.entries(comparing.COMPARED)
    assert (entry.data["signatures"], entry.data["how"], len(entry.data["positions"])) == (desk.mark, "words", 2)
    [begun] = desk.entries("submit-begun")
    assert entry.seq < begun.seq
    assert desk.submit() == 0
    assert desk.questions == []
    assert desk.posts == 1


@pytest.mark.parametrize("typed", ["", "Yes", "able", "able acid also", "no paper"])
def test_who_never_types_two_words_sends_and_exports_nothing(desk: Desk, tmp_path: Path, typed: str) -> None:
    package = tmp_path / "package.json"
    assert desk.submit(lambda _question: typed) == 6
    assert desk.submit(lambda _question: typed, export_to=package) == 6
    assert desk.entries(comparing.COMPARED_WRONG, comparing.COMPARED, "submit-begun", "exported") == []
    assert (desk.posts, package.exists()) == (0, False)


@pytest.mark.parametrize("typed", ["Yes Yes", "bald barn", "able acid"])
def test_who_types_anything_else_sends_and_exports_nothing(desk: Desk, tmp_path: Path, typed: str) -> None:
    """After nine wrong answers nothing is asked for this document."""
    package = tmp_path / "package.json"
    for tries, target in ((3, None), (6, package), (9, None)):
        assert desk.submit(lambda _question: typed, export_to=target) == 3
        assert ("ROLE-WORDS" in desk.said, typed_words.SIGN_AGAIN in " ".join(desk.said.split())) == (True, True)
        assert len(desk.questions) == 3
        assert len(desk.entries(comparing.COMPARED_WRONG)) == tries
    assert (desk.submit(), desk.questions) == (3, [])
    assert (desk.posts, package.exists(), desk.machine.states()) == (0, False, {})
    assert desk.entries("submit-begun", "exported", comparing.COMPARED) == []


def test_without_a_terminal_only_a_rehearsal_takes_the_words_from_a_pipe(desk: Desk) -> None:
    deployment = next((desk.machine.home / "deployments").glob("*.json"))
    real = deployment.read_text().replace('"name": "rehearsal"', '"name": "real"')
    (deployment.parent / "real.json").write_text(real.replace('"rehearsal": true', '"rehearsal": false'))
    ended = run_here(program, "--home", desk.machine.home, "submit", desk.file)
    assert (ended.code, "answers come from a terminal" in ended.err) == (6, True)
    assert (desk.posts, desk.entries("submit-begun")) == (0, [])


def test_in_a_ceremony_facilitator_and_witness_each_type_and_it_is_their_confirmation(desk: Desk) -> None:
    desk.begin(PEOPLE)
    assert desk.submit() == 0
    asked = [question.split(",")[0] for question in desk.questions]
    assert asked == ["Grace Hopper (facilitator)", "Mary Somerville (witness)"]
    done = desk.entries(CHECKPOINT_CONFIRMED)
    assert [entry.data["by"] for entry in done] == [["facilitator"], ["witness"]]
    assert {(entry.data["compared"], entry.data["how"]) for entry in done} == {(desk.mark, "words")}
    assert len({at for entry in done for at in entry.data["positions"]}) == 4
    assert desk.entries(comparing.COMPARED) == []


def test_what_each_role_has_typed_in_the_ceremony_is_not_asked_twice(desk: Desk) -> None:
    desk.begin(PEOPLE)
    desk.confirmed("facilitator", how="words", positions=[1, 2])
    assert desk.submit() == 0
    assert [question.split(",")[0] for question in desk.questions] == ["Mary Somerville (witness)"]
    assert desk.submit() == 0
    assert desk.questions == []


@pytest.mark.parametrize("how", [{}, {"how": "yes"}])
def test_a_yes_is_no_proof(desk: Desk, how: dict[str, object]) -> None:
    desk.begin(PEOPLE)
    for role in ("facilitator", "witness"):
        desk.confirmed(role, **how)
    assert desk.submit() == 0
    assert len(desk.questions) == 2


def test_what_was_typed_for_another_document_or_before_the_ceremony_is_no_proof(desk: Desk) -> None:
    assert desk.submit() == 0  # before the ceremony
    desk.begin(PEOPLE)
    for role in ("facilitator", "witness"):
        desk.confirmed(role, how="words", positions=[1, 2])  # and in an earlier one
    desk.record(CEREMONY_ENDED, ceremony="desk", complete=False, missing=["a seal"])
    desk.begin(PEOPLE)
    for role in ("facilitator", "witness"):
        data = {"ceremony": "desk", "checkpoint": "signatures", "by": [role], "compared": "ab" * 32}
        desk.record(CHECKPOINT_CONFIRMED, **data, how="words", positions=[1, 2])
    assert desk.submit() == 0
    assert len(desk.questions) == 2


def test_a_ceremony_with_another_plan_has_no_part_in_it(desk: Desk) -> None:
    desk.record(CEREMONY_BEGUN, ceremony="desk", plan="ab" * 32, roles=PEOPLE)
    assert desk.submit() == 0
    assert [question.split(",")[0] for question in desk.questions] == ["Whoever submits"]


def test_roles_that_nobody_holds_are_not_asked(desk: Desk) -> None:
    desk.begin({**PEOPLE, "facilitator": "", "witness": ""})
    assert desk.submit() == 0
    assert [question.split(",")[0] for question in desk.questions] == ["Ada Lovelace (signer)"]


def test_signatures_that_this_machine_put_together_have_no_other_screen(desk: Desk) -> None:
    desk.record(COLLECTED, requests="ab" * 32, signatures="cd" * 32)
    assert desk.submit() == 0
    assert len(desk.questions) == 1  # it was another document
    desk.record(COLLECTED, requests="ab" * 32, signatures=desk.mark)
    desk.begin(PEOPLE)
    assert desk.submit() == 0
    assert desk.questions == []
