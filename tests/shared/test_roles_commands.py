"""The commands of a ceremony: what they record, what they refuse, and that nothing is recorded without a Yes."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from airlock_shared.ceremony.roles import Half, write_people
from airlock_shared.ceremony.sections import CEREMONY_BEGUN, CEREMONY_ENDED, CHECKPOINT_CONFIRMED, EXCEPTION
from airlock_shared.cli.ceremony import compare as naming
from airlock_shared.cli.ceremony.commands import CEREMONY_COMMANDS
from airlock_shared.cli.ceremony.compare import ask_names
from airlock_shared.cli.ceremony.status import CeremonyMachine
from airlock_shared.cli.ceremony.workflow import BRING_AGAIN, crossing_name, facts_of
from airlock_shared.documents.requests import parse_signatures
from airlock_shared.documents.transcript import SENDING
from airlock_shared.errors import Declined, DocumentError, Refusal, UsageError
from airlock_shared.host.files import TranscriptFile
from airlock_shared.plan.reader import parse_plan
from refusals import Kind, check_of
from shared.report import day
from shared.test_roles import FIRST, written

COMMANDS = {command.name: command for command in CEREMONY_COMMANDS}
PLAN_TEXT = written('"signer", "witness"').decode()
PEOPLE = ("--role", "signer=Ada Lovelace", "--role", "witness=Mary Somerville")
BOTH = ("--by", "signer", "--by", "witness")


class Table:
    """One machine: its transcript, and commands run there with what is typed."""

    def __init__(self, folder: Path, half: Half = "offline") -> None:
        folder.mkdir(exist_ok=True)
        self.plan = folder / "plan.toml"
        self.plan.write_text(PLAN_TEXT)
        self.transcript = TranscriptFile(folder / "home" / "transcript.jsonl")
        self.place = CeremonyMachine(
            half, self.transcript, lambda: 1_790_000_000_000, lambda name: "dd" * 32, lambda: True
        )

    def run(self, name: str, *words: str, typed: str = "Yes\n" * 2) -> Result:
        plan = ("--plan", str(self.plan))
        return CliRunner().invoke(COMMANDS[name], [*words, *plan], obj=self.place, input=typed)

    def carried(self, source: Path, folder: Path) -> None:
        """Carry a file into a folder; raises what the command raises."""
        ended = CliRunner().invoke(COMMANDS["carry"], [str(source), "-o", str(folder)], obj=self.place)
        if ended.exception is not None:
            raise ended.exception

    def done(self, name: str, *words: str, typed: str = "Yes\n" * 2) -> Result:
        ended = self.run(name, *words, typed=typed)
        assert ended.exit_code == 0, (ended.output, ended.exception)
        return ended

    def error(self, kind: type[Kind], name: str, *words: str, typed: str = "Yes\n" * 2) -> Kind:
        error = self.run(name, *words, typed=typed).exception
        assert isinstance(error, kind), error
        return error

    def refused(self, name: str, *words: str) -> str:
        """Return the check id of a refusal that records nothing."""
        before = self.events()
        check = self.error(Refusal, name, *words).check
        assert self.events() == before
        return check

    def events(self) -> list[str]:
        return [entry.event for entry in self.transcript.entries()]

    def record(self, event: str, **data: Any) -> None:
        self.transcript.record(event, data, 1_790_000_000_000)

    def sign(self) -> None:
        """Record what a whole day leaves, with nothing confirmed."""
        fingerprint = parse_plan(PLAN_TEXT.encode()).fingerprint
        self.record("preflight", network_up=[])
        self.record("address", path="m", address=FIRST, confirmed=True)
        self.record("sign-begun", requests="aa" * 32, plan=fingerprint, ceremony="demo")
        self.record("signatures-written", requests="aa" * 32, signatures="bb" * 32)
        self.record("sealed", ceremony="demo", entries=5, head="cc" * 32, address=FIRST, signature="0x")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = Table(tmp_path)
    made.done("begin", *PEOPLE)
    return made


CHECKPOINTS_HERE = ("plan", "deployment", "preflight", "address", "requests", "review", "signatures", "seal")


@pytest.mark.parametrize("without", ["", "plan", "seal"])
def test_a_day_ends_complete_and_without_the_witness_at_one_checkpoint_it_does_not(table: Table, without: str) -> None:
    table.sign()
    for name in CHECKPOINTS_HERE:
        table.done("compare", name, *(BOTH[:2] if name == without else BOTH))
    table.record("sealed", ceremony="another", entries=8, head="ee" * 32, address=FIRST, signature="0x")
    assert table.done("show").stdout.endswith("INCOMPLETE\n")  # it has not ended
    ended = table.run("end")
    assert "(the seal's: after 5)" in ended.stdout
    told = (ended.exit_code, "\nCOMPLETE\n" in ended.stdout, "ROLE-INCOMPLETE" in ended.stderr)
    assert told == ((3, False, True) if without else (0, True, False))
    missing = [f"checkpoint {without} is not confirmed by witness"] if without else []
    assert table.transcript.entries()[-1].data == {"ceremony": "demo", "complete": not missing, "missing": missing}


def test_an_end_is_not_undone_and_says_the_same_again(table: Table) -> None:
    told = [json.loads(table.run("end", "--json").stdout) for _ in range(2)]
    assert told[0] == told[1]
    assert (told[0]["ok"], told[0]["error"]["check"]) == (False, "ROLE-INCOMPLETE")
    assert told[0]["error"]["do"]
    assert table.events() == [CEREMONY_BEGUN, CEREMONY_ENDED]
    for words in (("compare", "plan", *BOTH), ("exception", "--by", "signer", "--reason", "x")):
        assert table.refused(*words) == "ROLE-OPEN"


@pytest.mark.parametrize(
    ("words", "check"),
    [
        (("--role", "auditor=Eve"), "ROLE-KNOWN"),
        (("--role", "signer=Ada", "--role", "witness=ADA"), "ROLE-SAME"),
        (("--role", "signer=\x1b[2J", "--role", "witness=Mary"), "ROLE-TEXT"),
    ],
)
def test_people_that_cannot_be_are_refused(tmp_path: Path, words: tuple[str, ...], check: str) -> None:
    table = Table(tmp_path)
    assert table.refused("begin", *words) == check
    for not_once in ((), ("--role", "signer=Ada"), ("--role", "signer"), (*PEOPLE, "--role", "signer=Eve")):
        table.error(UsageError, "begin", *not_once)  # there is no terminal to ask at
    assert table.events() == []


def test_begun_already_nothing_is_asked_and_other_people_are_refused(table: Table) -> None:
    assert "nothing to do" in table.done("begin", *PEOPLE, typed="").stderr
    assert table.refused("begin", "--role", "signer=Ada Lovelace", "--role", "witness=") == "ROLE-OPEN"
    assert table.events() == [CEREMONY_BEGUN]


@pytest.mark.parametrize("there", ["plan.ceremony", "stick"])
def test_other_people_than_began_here_are_told_before_anything_is_compared(table: Table, there: str) -> None:
    plan = parse_plan(PLAN_TEXT.encode())
    folder = table.plan.parent / there / (crossing_name(plan) if there == "stick" else "")
    folder.mkdir(parents=True)
    words = [str(table.plan), "--exchange", str(table.plan.parent / "stick")]
    for witness, check in (("Mary Somerville", None), ("Berta", "ROLE-OPEN")):
        (folder / "people.json").write_bytes(write_people(plan, {"signer": "Ada Lovelace", "witness": witness}))
        error = CliRunner().invoke(COMMANDS["workflow"], words, obj=table.place).exception
        assert getattr(error, "check", error) == check


@pytest.mark.parametrize(
    ("name", "words"),
    [(name, ()) for name in ("deployment.json", "requests.json", "signatures.json", "proofs.json")]
    + [("people.json", ("--people",))],
)
def test_a_document_cut_off_is_named_with_what_puts_it_right(tmp_path: Path, name: str, words: tuple[str, ...]) -> None:
    table = Table(tmp_path)
    (file := table.plan.with_name("plan.ceremony") / name).parent.mkdir()
    file.write_text('{"format"')
    if words:
        error = table.run("begin", *words, str(file)).exception
    else:
        error = CliRunner().invoke(COMMANDS["workflow"], [str(table.plan)], obj=table.place).exception
    assert isinstance(error, DocumentError)
    assert (error.where, error.do, "on the stick" in error.do) == (str(file), BRING_AGAIN, True)


@pytest.mark.parametrize("event", [SENDING, "exported"])
def test_signatures_of_which_one_went_out_are_not_called_unsent(tmp_path: Path, event: str) -> None:
    table = Table(tmp_path, "online")
    (file := table.plan.with_name("plan.ceremony") / "signatures.json").parent.mkdir()
    file.write_bytes(day.signatures_bytes())
    for unsent in (True, False):
        ended = CliRunner().invoke(COMMANDS["workflow"], [str(table.plan), "--json"], obj=table.place)
        assert json.loads(ended.stdout)["unsent"] is unsent
        gone = {"signatures": parse_signatures(file.read_bytes())[2]}
        table.record(event, **({"digest": day.digests()[-1]} if event == SENDING else gone))


@pytest.mark.parametrize("checkpoint", ["preflight", "address", "requests", "review", "signatures", "seal"])
def test_what_did_not_happen_is_not_confirmed(table: Table, checkpoint: str) -> None:
    assert table.refused("compare", checkpoint, *BOTH) == "ROLE-EARLY"


def test_confirmed_already_nothing_is_asked_and_after_a_change_it_is(table: Table) -> None:
    table.sign()
    table.done("compare", "requests", *BOTH)
    assert "confirmed already" in table.done("compare", "requests", "--by", "witness", typed="").stderr
    assert table.events().count(CHECKPOINT_CONFIRMED) == 2
    table.sign()  # the same requests again
    assert "confirmed already" in table.done("compare", "requests", *BOTH, typed="").stderr
    fingerprint = parse_plan(PLAN_TEXT.encode()).fingerprint
    table.record("sign-begun", requests="ee" * 32, plan=fingerprint, ceremony="demo")
    assert "the record changed since: confirm again" in table.done("show").stdout
    assert "eeee eeee" in table.done("compare", "requests", *BOTH).stderr


@pytest.mark.parametrize("typed", ["", "yes\n", "No\n"])
@pytest.mark.parametrize(
    "words",
    [("begin", *PEOPLE[:2], "--role", "witness=Eve"), ("compare", "plan", *BOTH), ("end",)],
    ids=lambda words: words[0],
)
def test_without_a_whole_yes_nothing_is_recorded(table: Table, words: tuple[str, ...], typed: str) -> None:
    if words[0] == "begin":
        table.run("end")
    before = table.events()
    table.error(Declined, *words, typed=typed)
    assert [event for event in table.events() if event != EXCEPTION] == before  # such as a No at a checkpoint


@pytest.mark.parametrize(
    ("half", "checkpoint", "there"), [("online", "review", "offline"), ("offline", "outcome", "online")]
)
def test_a_checkpoint_of_another_machine_stays_there(tmp_path: Path, half: Half, checkpoint: str, there: str) -> None:
    table = Table(tmp_path, half)
    table.done("begin", *PEOPLE)
    assert f"airlock-{there} ceremony compare" in table.error(UsageError, "compare", checkpoint, *BOTH).do
    assert table.events() == [CEREMONY_BEGUN]


# ---- who holds each role of a led ceremony: every role that confirms has a person, and a wrong name costs one key --

FOUR = parse_plan(PLAN_TEXT.replace('"signer", "witness"', '"signer", "facilitator", "witness", "guest"').encode())
ADA, GRACE, MARY = "Ada Lovelace", "Grace Hopper", "Mary Somerville"


class Room:
    """People at a terminal who answer from a list."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: Iterable[str]) -> None:
        self.answers, self.asked, self.said = list(answers), list[str](), list[str]()
        for question in ("led", "at_a_terminal"):
            monkeypatch.setattr(naming, question, lambda: True)
        monkeypatch.setattr(naming, "say", self.said.append)
        monkeypatch.setattr(naming, "ask", self._ask)

    def _ask(self, question: str, *, piped: bool) -> str:
        assert not piped
        self.asked.append(question)
        return self.answers.pop(0)


@pytest.mark.parametrize("role", [0, 2])
def test_a_role_that_confirms_is_not_left_empty_by_a_slip(monkeypatch: pytest.MonkeyPatch, role: int) -> None:
    people = [ADA, GRACE, MARY, ""]
    room = Room(monkeypatch, [*people[:role], "", " ", *people[role:], ""])
    assert list(ask_names(FOUR, {}).values()) == people
    assert sum("nobody holds the role" in line for line in room.said) == 2
    assert [question.count("nobody") for question in room.asked[:-1]] == [0] * 5 + [1]


def test_a_wrong_name_is_asked_again_and_one_person_in_two_roles_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Room(monkeypatch, [ADA, MARY, GRACE, "", "<", ADA, GRACE, MARY, "Eve", "what?", "Yes"])
    assert ask_names(FOUR, {}) == {"signer": ADA, "facilitator": GRACE, "witness": MARY, "guest": "Eve"}
    Room(monkeypatch, [ADA, GRACE, "ada  LOVELACE", "Аda Lovelace", "A D A Lovelace"])
    assert check_of(ask_names, FOUR, {}) == "ROLE-SAME"


def test_a_report_is_made_where_only_its_artefacts_were_copied(tmp_path: Path) -> None:
    place, evidence = Table(tmp_path).place, tmp_path / "c/evidence"
    (evidence / "artefacts").mkdir(parents=True)
    for files in (set[str](), {"evidence"}):
        assert facts_of(place, parse_plan(PLAN_TEXT.encode()), evidence.parent, None).files == files
        (evidence / "report.html").touch()
