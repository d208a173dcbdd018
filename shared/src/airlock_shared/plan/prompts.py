"""Questions that people answer, one line each: explained when asked for, and asked again until the answer can be used."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from airlock_shared.errors import Declined, PlanError
from airlock_shared.records import NamedTuple

TRIES = 20
"""After so many answers without use it is no person who answers, or one who needs a pause."""

LONG = 32
"""A default of more columns stands on a line of its own: an address beside an address is wider than a screen."""
AGAIN = "answer again, or type ? for an explanation"


class People(NamedTuple):
    """The people who answer: ``ask`` gives a question and returns the answer's line, ``tell`` shows a line to them.

    ``mistake`` shows why an answer cannot be used.
    """

    ask: Callable[[str], str]
    tell: Callable[[str], None]
    mistake: Callable[[PlanError], None]


class Question(NamedTuple):
    """A question: its name, what the answer means, an example, what an empty answer stands for; None: it needs one.

    ``more`` is what a question mark tells besides.
    """

    name: str
    meaning: str
    example: str = ""
    default: str | None = None
    more: str = ""


def answer_to(people: People, question: Question, read: Callable[[str], Any]) -> Any:
    """Ask until ``read`` takes the answer, and return what it made of it; a ``PlanError`` is shown, and it is asked again.

    Raises ``Declined`` after ``TRIES`` answers without use.
    """
    _tell(people, question.meaning)
    default = "" if question.default is None else f" [{question.default}]"
    if len(default) > LONG:
        _tell(people, f"Enter takes {question.default}")
        default = " [Enter]"
    for _ in range(TRIES):
        text = people.ask(f"{question.name}{default}: ").strip()
        if text == "?" or (not text and question.default is None):
            example = f"for example: {question.example}" if question.example else ""
            _tell(people, question.meaning, question.more, example)
            continue
        try:
            return read(text or question.default or "")
        except PlanError as error:
            error.do = AGAIN
            error.expected = error.expected or question.meaning
            people.mistake(error)
    raise Declined(f"no usable answer to {question.name!r}", do="find out what to answer, and begin again")


def _tell(people: People, *lines: str) -> None:
    for line in lines:
        for row in textwrap.wrap(line, 74, break_long_words=False, break_on_hyphens=False):
            people.tell(f"    {row}")
