"""Comparisons that are proved by typing: nobody gets through who did not read the other machine's screen."""

import json
import re
import secrets
from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from airlock_shared.ceremony.roles import wrong_words
from airlock_shared.ceremony.sections import BY_PAPER, BY_WORDS, proved_by_words
from airlock_shared.cli import terminal as keyboard
from airlock_shared.cli.ceremony import by_screens
from airlock_shared.cli.ceremony import compare as compare_module
from airlock_shared.cli.ceremony.by_screens import ASKED_AT_MOST, UNANSWERED_AT_MOST, WRONG_AT_MOST
from airlock_shared.cli.ceremony.compare import BY_TYPING
from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.cli.terminal import BACK, ENDED, FORWARD, NONE, advice, explain_error
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import Declined, DocumentError, Refusal, UsageError
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.safe import BYTEWORDS, spoken
from refusals import check_of
from shared.test_roles_commands import BOTH, PEOPLE, PLAN_TEXT, Table
from shared.world import DEPLOYMENT_TEXT

PLAN = parse_plan(PLAN_TEXT.encode())
PLAYED = Path(__file__).parents[1] / "vectors/report/market-close"
WORDS = spoken(PLAN.fingerprint).split()
STRANGE = [word for word in BYTEWORDS if word not in WORDS]
Typist = Callable[[str], str]


class AskedTable(Table):
    """A machine whose ceremony has begun, and whose questions a typist answers."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(folder)
        self.done("begin", *PEOPLE)
        self.patch = patch

    def typing(self, typist: Typist | str) -> list[str]:
        """Have a typist answer every question of the command, or the same be typed; return the questions."""
        questions: list[str] = []

        def ask(question: str, *, piped: bool) -> str:
            assert piped
            if "the ceremony" in question:  # it begins, or ends
                return "Yes"
            questions.append(question)
            return typist if isinstance(typist, str) else typist(question)

        self.patch.setattr(keyboard, "ask", ask)
        return questions


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AskedTable:
    return AskedTable(tmp_path, monkeypatch)


def reader_of(fingerprint: str) -> Typist:
    """Return somebody who has these words before them, and types those that a question asks for."""
    words = spoken(fingerprint).split()
    return lambda question: " ".join(words[int(at) - 1] for at in re.findall(r"word (\d+)", question))


honest = reader_of(PLAN.fingerprint)


def refused(table: AskedTable) -> str:
    """Return the check id of a comparison that is refused after wrong answers, which are recorded."""
    return table.error(Refusal, "compare", "plan").check


def confirmations(table: Table) -> list[dict[str, Any]]:
    return [entry.data for entry in table.transcript.entries() if entry.event == "checkpoint-confirmed"]


def hows(table: Table) -> list[tuple[list[str], str]]:
    return [(each["by"], each["how"]) for each in confirmations(table)]


def test_each_role_types_its_own_words_and_each_is_recorded(table: AskedTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "randbelow", lambda _below: 0)  # the first that are left
    questions = table.typing(honest)
    shown = table.done("compare", "plan").stderr
    assert len(questions) == 2
    assert questions[0] == "Ada Lovelace (signer), plan, YOUR PAPER: word 1 and word 2: "
    assert questions[1] == "Mary Somerville (witness), plan, YOUR PAPER: word 3 and word 4: "
    assert hows(table) == [(["signer"], "paper"), (["witness"], "paper")]
    done = confirmations(table)
    assert [each["compared"] for each in done] == [PLAN.fingerprint] * 2
    assert [each["positions"] for each in done] == [[1, 2], [3, 4]]  # nobody's words serve another role
    assert proved_by_words(table.transcript.entries(), PLAN, "plan", PLAN.fingerprint, BY_PAPER)
    assert not proved_by_words(table.transcript.entries(), PLAN, "plan", PLAN.fingerprint, BY_WORDS)
    assert [f"{at} {word}" in " ".join(shown.split()) for at, word in enumerate(WORDS, 1)] == [True] * 24


@pytest.mark.parametrize("typed", ["Yes Yes", "\x03 \x03", f"{STRANGE[0]} {STRANGE[1]}", "no papers", "nopaper yes"])
def test_who_types_anything_else_does_not_get_through(table: AskedTable, typed: str) -> None:
    questions = table.typing(typed)
    assert refused(table) == "ROLE-WORDS"
    assert len(questions) == ASKED_AT_MOST
    assert confirmations(table) == []


@pytest.mark.parametrize("typed", ["", "\t", "Yes", "able", " ".join(WORDS), "no paper here", "zawn able", "икуц офяя"])
def test_an_empty_line_one_word_or_many_are_nobodys_answer_and_never_get_through(table: AskedTable, typed: str) -> None:
    questions = table.typing(typed)
    for _ in range(6):
        table.error(Declined, "compare", "plan")
    assert len(questions) == 6 * UNANSWERED_AT_MOST
    assert len(set(questions[:UNANSWERED_AT_MOST])) == 1  # the same is asked again: nothing was guessed
    assert len(set(questions)) > 1  # places are drawn, and not known before
    assert (confirmations(table), wrongs(table)) == ([], [])


def test_one_word_another_order_or_another_place_is_wrong(table: AskedTable, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = count()
    monkeypatch.setattr(secrets, "randbelow", lambda below: (next(draws) + 3) % below)
    typists: list[Typist] = [
        lambda question: f"{honest(question).split()[0]} able",
        lambda question: " ".join(reversed(honest(question).split())),
        lambda _question: f"{WORDS[0]} {WORDS[1]}",
    ]
    for typist in typists:
        table.typing(typist)
        assert refused(table) == "ROLE-WORDS"


def wrongs(table: AskedTable) -> list[tuple[str, list[str]]]:
    return [(e.data["checkpoint"], e.data["by"]) for e in table.transcript.entries() if e.event == "words-wrong"]


def test_a_wrong_answer_is_recorded_and_after_nine_nothing_is_asked_for_that_document(table: AskedTable) -> None:
    questions = table.typing("able acid")
    for given in range(1, 4):
        assert refused(table) == "ROLE-WORDS"
        assert wrongs(table) == [("plan", ["signer"])] * 3 * given
    assert (len(questions), len(set(questions))) == (9, 1)  # who guesses gets no other draw, on another day neither
    questions = table.typing(honest)
    assert refused(table) == "ROLE-WORDS"
    assert (questions, confirmations(table)) == ([], [])
    assert len(wrong_words(table.transcript.entries(), PLAN)) == WRONG_AT_MOST
    table.run("end")
    table.done("begin", *PEOPLE)  # they were those of one ceremony
    assert wrong_words(table.transcript.entries(), PLAN) == []
    table.done("compare", "plan")
    assert len(questions) == 2


def test_who_answered_is_not_asked_again_after_an_interruption(table: AskedTable) -> None:
    def leaves(question: str) -> str:
        if "witness" in question:
            raise Declined("not answered")
        return honest(question)

    table.typing(leaves)
    assert table.run("compare", "plan").exit_code == 1
    assert not proved_by_words(table.transcript.entries(), PLAN, "plan", PLAN.fingerprint, BY_PAPER)
    questions = table.typing(honest)
    table.done("compare", "plan")
    assert [question.split(",")[0] for question in questions] == ["Mary Somerville (witness)"]
    assert table.typing(honest) == []
    table.done("compare", "plan")


def test_a_proof_counts_for_its_document_its_checkpoint_and_its_open_ceremony_alone(table: AskedTable) -> None:
    table.typing(honest)
    table.done("compare", "plan")
    entries = table.transcript.entries()
    assert not proved_by_words(entries, PLAN, "plan", "00" * 32, BY_PAPER)
    assert not proved_by_words(entries, PLAN, "requests", PLAN.fingerprint, BY_PAPER)
    assert not proved_by_words(entries[:-1], PLAN, "plan", PLAN.fingerprint, BY_PAPER)  # the witness has not answered
    table.run("end")
    assert not proved_by_words(table.transcript.entries(), PLAN, "plan", PLAN.fingerprint, BY_PAPER)
    table.done("begin", *PEOPLE)
    table.typing("Yes")
    table.done("compare", "plan", *BOTH)
    assert not proved_by_words(table.transcript.entries(), PLAN, "plan", PLAN.fingerprint, BY_PAPER)  # a Yes is none


def test_what_cannot_be_compared_here_is_refused(table: AskedTable, tmp_path: Path) -> None:
    assert table.refused("compare", "review") == "ROLE-EARLY"
    (tmp_path / "x.json").write_text("{}")
    file = ("--file", str(tmp_path / "x.json"))
    for words in (("requests",), ("plan", *file), ("plan", *file, *BOTH), ("signatures", "--file", "x.json")):
        table.error(UsageError, "compare", *words)
    for by in ((), BOTH):
        table.error(DocumentError, "compare", "requests", *file, *by)
    early = table.error(Refusal, "compare", "requests", "--by", "signer")
    assert (early.check, "--file" in early.do) == ("ROLE-EARLY", True)
    Table(tmp_path, "online").error(UsageError, "compare", "plan")
    assert BY_TYPING == ("plan", "deployment", "requests", "signatures")
    other = Table(tmp_path / "other")
    assert other.refused("compare", "plan") == "ROLE-OPEN"
    other.done("begin", "--role", "signer=Ada Lovelace", "--role", "witness=")
    assert other.refused("compare", "plan") == "ROLE-KNOWN"


def test_names_that_came_begin_a_ceremony_without_words_and_answer_nothing(table: AskedTable, tmp_path: Path) -> None:
    table.done("gather", "-o", str(tmp_path / "out"), typed="")
    other = Table(tmp_path / "other")
    people = ("--people", str(tmp_path / "out" / "ready.json"))
    shown = other.done("begin", *people, typed="").stderr
    assert "Mary Somerville" in shown
    assert WORDS[0] not in shown.split()
    assert confirmations(other) == []
    changed = (tmp_path / "out" / "ready.json").read_text().replace(PLAN.fingerprint, "00" * 32)
    (tmp_path / "out" / "wrong.json").write_text(changed)
    assert other.error(Refusal, "begin", "--people", str(tmp_path / "out" / "wrong.json")).check == "DOC-FORMAT"


def test_what_is_carried_is_whole_and_never_over_another(table: AskedTable, tmp_path: Path) -> None:
    source, stick = tmp_path / "a.json", tmp_path / "stick"
    stick.mkdir()
    source.write_text("one")
    for _ in range(2):
        table.carried(source, stick)
        assert (stick / "a.json").read_text() == "one"
    source.write_text("two")
    with pytest.raises(UsageError):
        table.carried(source, stick)
    assert (stick / "a.json").read_text() == "one"
    (tmp_path / "b.json").symlink_to(source)
    with pytest.raises(DocumentError):
        table.carried(tmp_path / "b.json", stick)
    (pins := tmp_path / "pins").mkdir()
    (stick / "ceremony").symlink_to(pins)  # whoever had the stick before
    assert check_of(table.carried, source, stick / "ceremony") == "DOC-LINK"
    assert list(pins.iterdir()) == []


OTHER_PLAN = PLAN_TEXT.replace("00A1", "00b2").replace("00a1", "00b2")
"""Of the same id and title."""


@pytest.mark.parametrize("role", ["signer", "witness"])
def test_another_plan_is_refused_by_each_paper(table: AskedTable, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    monkeypatch.setattr(secrets, "randbelow", lambda _below: 7)
    genuine = reader_of(parse_plan(OTHER_PLAN.encode()).fingerprint)  # agreed to; this machine was given PLAN_TEXT
    assert OTHER_PLAN != PLAN_TEXT
    table.typing(lambda question: genuine(question) if f"({role})" in question else "no paper")
    assert refused(table) == "ROLE-WORDS"
    assert role not in {each for entry in confirmations(table) for each in entry["by"]}
    assert wrongs(table) == [("plan", [role])] * ASKED_AT_MOST


@pytest.mark.parametrize("checkpoint", ["plan", "deployment"])
def test_nothing_puts_a_paper_right_that_differed(table: AskedTable, tmp_path: Path, checkpoint: str) -> None:
    file = tmp_path / "deployment.json"
    file.write_text(DEPLOYMENT_TEXT)
    words = (checkpoint, *(("--file", str(file)) if checkpoint == "deployment" else ()))
    table.typing("able acid")
    table.error(Refusal, "compare", *words)
    recorded = wrongs(table)
    table.typing("no paper")
    ended = table.run("compare", *words)  # it is no answer any more, and costs none
    assert (type(ended.exception), wrongs(table)) == (Declined, recorded)
    assert "before a wrong answer" in ended.stderr
    error = table.error(Refusal, "compare", *words, *BOTH)
    assert (error.check, "your whole paper" in advice(error)) == ("ROLE-WORDS", True)
    assert confirmations(table) == []


def test_who_has_no_paper_is_on_record_as_not_compared_with_it(table: AskedTable) -> None:
    table.typing(lambda question: " No  PAPER " if "signer" in question else honest(question))
    table.done("compare", "plan")
    assert hows(table) == [(["signer"], "no-paper"), (["witness"], "paper")]
    assert not proved_by_words(table.transcript.entries(), PLAN, "plan", PLAN.fingerprint, BY_PAPER)
    shown = table.done("show").stdout
    assert "  signer, not compared with paper\n" in shown
    assert "  witness, compared with paper\n" in shown
    checkpoints = json.loads(table.done("show", "--json").stdout)["checkpoints"]
    assert [each["how"] for each in checkpoints[0]["confirmed"]] == ["no-paper", "paper"]


def test_of_what_is_made_in_the_ceremony_nobody_has_a_paper(table: AskedTable) -> None:
    questions = table.typing("no paper")
    table.error(Declined, "compare", "requests", "--file", str(PLAYED / "requests.json"))
    assert (confirmations(table), wrongs(table), "PAPER" in questions[0]) == ([], [], False)


def test_the_kit_is_compared_with_its_paper_where_there_is_one(table: AskedTable) -> None:
    kit = spoken("cd" * 32).split()
    table.record("preflight", installed={"fingerprint": "cd" * 32})
    for typed, check in (("able acid", "ROLE-WORDS"), (f"{kit[0]} {kit[1]}", "")):
        questions = table.typing(typed)
        assert getattr(table.run("compare", "preflight").exception, "check", "") == check
        assert questions[0].startswith("Mary Somerville (witness), kit, YOUR PAPER: word ")
    assert hows(table) == [(["witness"], "paper")]


def test_a_program_from_source_has_no_paper_and_says_so(table: AskedTable) -> None:
    table.record("preflight", installed={"kit": "", "fingerprint": ""})
    table.typing("Yes")
    assert "No kit: the report will say 'not compared with paper'.\n" in table.done("compare", "preflight").output
    assert hows(table) == [(["witness"], "no-paper")]
    assert "No kit" not in table.done("compare", "preflight", "--by", "signer").output
    assert "how" not in confirmations(table)[-1], "who has compared the whole answers for it, with a paper or without"


def _led_screen(monkeypatch: pytest.MonkeyPatch, pressed: list[str]) -> None:
    """Have these keys pressed beforehand; after the last one the terminal is gone."""
    monkeypatch.setattr(by_screens, "led", lambda: True)
    monkeypatch.setattr(keyboard, "screen_rows", lambda: 24)
    keys = SimpleNamespace(forget=lambda: None, key=lambda _until=None: pressed.pop(0) if pressed else ENDED)
    monkeypatch.setattr(by_screens, "SingleKeys", lambda: nullcontext(keys))


@pytest.mark.parametrize(
    ("pressed", "stays", "shown"),
    [([FORWARD, NONE, FORWARD, BACK, FORWARD], 0, [20, 20, 10, 0]), ([FORWARD, FORWARD], 1, [20, 20, 10])],
    ids=["every screen is turned", "what stays above a question is not"],
)
def test_where_it_is_led_no_line_scrolls_away_before_somebody_pressed_enter(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pressed: list[str],
    stays: int,
    shown: list[int],
) -> None:
    _led_screen(monkeypatch, pressed)
    by_screens.show_by_screens([f"line {number}" for number in range(50)], stays=stays)
    screens = re.split(r"-- \d of 3 -- Enter: on --", capsys.readouterr().err)
    assert [screen.count("line ") for screen in screens] == shown
    _led_screen(monkeypatch, [FORWARD])
    with pytest.raises(Declined, match="not answered"):  # its reader has gone
        by_screens.show_by_screens([f"line {number}" for number in range(50)], stays=stays)


def test_its_own_words_are_shown_after_the_last_answer_and_not_before(
    table: AskedTable, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    for module in (compare_module, by_screens):
        monkeypatch.setattr(module, "say", lambda text="": said.append(text))

    def typist(question: str) -> str:
        assert not [line for line in said if any(word in line.split() for word in set(WORDS))]
        return honest(question)

    table.typing(typist)
    table.done("compare", "plan")
    assert f" 7 {WORDS[6]}  8 {WORDS[7]}" in "\n".join(said)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Enter alone is no answer: two words are needed."),
        ("able", "The second word is missing: two words are needed."),
        ("able yoom", "keys Y and Z have changed places"),
    ],
)
def test_after_what_is_no_answer_the_words_are_still_right(table: AskedTable, typed: str, said: str) -> None:
    lines = count()
    questions = table.typing(lambda question: typed if next(lines) % 2 == 0 else honest(question).upper())
    shown = table.done("compare", "plan").stderr
    assert (len(questions), wrongs(table)) == (4, [])
    assert said in shown


@pytest.mark.parametrize("written", ["{},{}.", " {} / {} ", "{}; {}", "6 {} 7 {}"])
def test_marks_and_the_papers_numbers_beside_two_right_words_cost_no_answer(table: AskedTable, written: str) -> None:
    table.typing(lambda question: written.format(*honest(question).split()))
    table.done("compare", "plan")
    assert wrongs(table) == []


def test_other_checkpoints_are_answered_by_each_role_with_the_whole_word(table: AskedTable) -> None:
    table.sign()
    questions = table.typing("Yes")
    table.done("compare", "review")
    assert len(questions) == 2
    assert [each["by"] for each in confirmations(table)] == [["signer"], ["witness"]]
    assert all("how" not in each for each in confirmations(table))


@pytest.mark.parametrize(("typed", "asked"), [("yes", 4), ("", 4), ("y", 1), ("no", 1), ("Yes Yes", 1)])
def test_a_slip_of_yes_is_asked_again_and_any_other_answer_ends(table: AskedTable, typed: str, asked: int) -> None:
    table.record("preflight", network_up=[])
    questions = table.typing(typed)
    table.error(Declined, "compare", "preflight")
    assert (len(questions), confirmations(table)) == (asked, [])
    said = [entry.data["reason"] for entry in table.transcript.entries() if entry.event == "exception"]
    assert said == ["not confirmed: the answer was not Yes"] * bool(typed)  # an empty line is nobody's No
    answers = iter(["yes", "YES.", "Yes"])
    table.typing(lambda _question: next(answers))
    table.done("compare", "preflight")
    assert [each["by"] for each in confirmations(table)] == [["witness"]]


def test_after_wrong_words_what_is_advised_works_for_a_document_that_is_not_on_record(
    table: AskedTable,
) -> None:
    file = PLAYED / "requests.json"
    mark = parse_requests(file.read_bytes())[2]
    table.typing("able acid")
    error = table.error(Refusal, "compare", "requests", "--file", str(file))
    assert (error.check, "--file" in advice(error), "--file" in explain_error(error)) == ("ROLE-WORDS", True, True)
    table.typing("Yes")
    assert spoken(mark).split()[0] in table.done("compare", "requests", "--file", str(file), *BOTH).stderr
    assert [(each["by"], each["compared"]) for each in confirmations(table)] == [
        (["signer"], mark),
        (["witness"], mark),
    ]


@pytest.mark.parametrize("asks", [0, 3])
def test_where_it_is_led_a_question_mark_shows_everything_and_answers_nothing(
    table: AskedTable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asks: int
) -> None:
    deployment = parse_deployment(DEPLOYMENT_TEXT.encode())
    file = tmp_path / "deployment.json"
    file.write_text(DEPLOYMENT_TEXT)
    lines, reader = count(), reader_of(deployment.fingerprint)
    questions = table.typing(lambda question: "?" if next(lines) < asks else reader(question))
    monkeypatch.setattr(compare_module, "led", lambda: True)
    shown = table.done("compare", "deployment", "--file", str(file)).stderr
    assert shown.count("trading domain: ") == asks
    first = next(deployment_lines(deployment, words=False))
    assert (shown.count(first), "? and Enter, below, shows all " in shown) == (
        1 + asks,
        True,
    )  # what they decide, unasked
    assert len(set(questions)) == len(questions) - asks
    assert [each["how"] for each in confirmations(table)] == [BY_PAPER] * 2


def test_who_goes_back_from_the_first_name_changes_none_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ["<", "Mary", "<", "Grace"]
    monkeypatch.setattr(compare_module, "_ask_name", lambda *_: typed.pop(0))
    given, *others = PLAN.roles
    named = compare_module.ask_names(PLAN, {given: "Ada"})
    assert (named[given], typed[2:], set(named)) == ("Ada", [], {given, *others})
