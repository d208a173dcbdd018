"""Questions that people answer, one line each: explained when asked for, and asked again until the answer can be used.

People go back with ``<``. What they answered is kept: the questions before are answered silently again, and the one that was
gone back to offers what was said.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from airlock_shared.errors import Declined, PlanError

TRIES = 20
"""After so many answers without use it is no person who answers, or one who needs a pause."""

LONG = 32
"""A default of more columns stands on a line of its own: an address beside an address is wider than a screen."""
AGAIN = "answer again, or type ? for an explanation"
BACK = "<"


class Back(Exception):
    """People want to answer the question before once more."""


class GivenAnswers:
    """What was answered so far. A question is known by its name, and by how many of that name were asked before it."""

    def __init__(self) -> None:
        self._given: list[tuple[tuple[str, int], str]] = []
        self._kept: dict[tuple[str, int], str] = {}
        self._asked: Counter[str] = Counter()
        self._replayed = 0

    def begin(self) -> None:
        """Ask from the first question on; those that were answered are not asked again."""
        self._asked.clear()
        self._replayed = 0

    def back(self) -> bool:
        """Take the last answer back; False when there is none."""
        if self._given:
            self._given.pop()
            return True
        return False

    def restart(self) -> None:
        """Take every answer back: each question then offers what was said."""
        self._given.clear()

    @property
    def replays(self) -> bool:
        """Whether the next question was answered already."""
        return self._replayed < len(self._given)

    def key(self, name: str) -> tuple[str, int]:
        """Return what the next question of this name is known by."""
        self._asked[name] += 1
        return name, self._asked[name]

    def replayed(self) -> str:
        """Return the answer that was given already."""
        self._replayed += 1
        return self._given[self._replayed - 1][1]

    def kept(self, key: tuple[str, int]) -> str | None:
        """Return what was once said to this question, or None."""
        return self._kept.get(key)

    def keep(self, key: tuple[str, int], text: str) -> None:
        """Keep an answer that can be used."""
        self._given.append((key, text))
        self._kept[key] = text
        self._replayed += 1


class People(NamedTuple):
    """The people who answer: ``ask`` gives a question and returns the answer's line, ``tell`` shows a line to them.

    ``mistake`` shows why an answer cannot be used. ``answers`` keeps what was said; without it nobody goes back. ``show``
    shows a list that may be longer than a screen; without it each line is told.
    """

    ask: Callable[[str], str]
    tell: Callable[[str], None]
    mistake: Callable[[PlanError], None]
    answers: GivenAnswers | None = None
    show: Callable[[Sequence[str]], None] | None = None


class Question(NamedTuple):
    """A question: its name, what the answer means, an example, what an empty answer stands for; None: it needs one.

    ``more`` is what a question mark tells besides. ``known`` has answers that this machine knows, each with what it is: they
    are offered by number.
    """

    name: str
    meaning: str
    example: str = ""
    default: str | None = None
    more: str = ""
    known: tuple[tuple[str, str], ...] = ()


def answer_to(people: People, question: Question, read: Callable[[str], Any]) -> Any:
    """Ask until ``read`` takes the answer, and return what it made of it; a ``PlanError`` is shown, and it is asked again.

    Raises ``Back`` when people go back, ``Declined`` after ``TRIES`` answers without use.
    """
    answers = people.answers or GivenAnswers()
    key = answers.key(question.name)
    if answers.replays:
        return read(answers.replayed())
    question = _with_what_was_said(question, answers.kept(key), read)
    _tell(people, question.meaning)
    for number, (value, what) in enumerate(question.known, start=1):
        people.tell(f"    #{number}  {value}")
        _tell(people, *([f"    {what}"] if what else []))
    default = "" if question.default is None else f" [{question.default}]"
    if len(default) > LONG:
        _tell(people, f"Enter takes {question.default}")
        default = " [Enter]"
    hinted = ""
    for _ in range(TRIES):
        text = people.ask(f"{question.name}{default}: ").strip()
        if text == BACK and people.answers is not None:
            raise Back
        text, meant = _offered(question, text)
        if meant and meant != hinted:
            hinted = meant
            people.tell(f"    {meant}")
            continue
        if text == "?" or (not text and question.default is None):
            example = f"for example: {question.example}" if question.example else ""
            _tell(people, question.meaning, question.more, example)
            continue
        text = text or question.default or ""
        try:
            value = read(text)
            answers.keep(key, text)
            return value
        except PlanError as error:
            error.do = AGAIN
            error.expected = error.expected or question.meaning
            people.mistake(error)
    raise Declined(f"no usable answer to {question.name!r}", do="find out what to answer, and begin again")


def tell_all(people: People, lines: Sequence[str]) -> None:
    """Show a list that may be longer than a screen."""
    if people.show is not None:
        people.show(lines)
        return
    for line in lines:
        people.tell(line)


def _offered(question: Question, text: str) -> tuple[str, str]:
    """Return the answer, of an offer its value; and for a bare number that may mean an offer, how that is taken."""
    for number, (value, _) in enumerate(question.known, start=1):
        if text == f"#{number}":
            return value, ""
        if text == str(number) and all(text != other for other, _ in question.known):
            return text, f"Did you mean number {number}, {value}? Type #{number}. Else type {number} once more."
    return text, ""


def _with_what_was_said(question: Question, said: str | None, read: Callable[[str], Any]) -> Question:
    """Return the question with the earlier answer as what Enter takes, when that can still be used."""
    if said is None:
        return question
    try:
        read(said)
    except PlanError:
        return question
    return question._replace(default=said)


def _tell(people: People, *lines: str) -> None:
    for line in lines:
        for row in textwrap.wrap(line, 74, break_long_words=False, break_on_hyphens=False):
            people.tell(f"    {row}")
