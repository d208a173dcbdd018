"""Questions that people answer, one line each: explained when asked for, and asked again until the answer can be used."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

from airlock_shared.errors import Declined, PlanError

TRIES = 20
"""After so many answers without use it is no person who answers, or one who needs a pause."""


class People(NamedTuple):
    """The people who answer: ``ask`` gives a question and returns the answer's line, ``tell`` shows a line to them.

    ``mistake`` shows why an answer cannot be used.
    """

    ask: Callable[[str], str]
    tell: Callable[[str], None]
    mistake: Callable[[PlanError], None]


class Question(NamedTuple):
    """A question: its name, what the answer means, an example, what an empty answer stands for; None: it needs one."""

    name: str
    meaning: str
    example: str = ""
    default: str | None = None


def answer_to(people: People, question: Question, read: Callable[[str], Any]) -> Any:
    """Ask until ``read`` takes the answer, and return what it made of it; a ``PlanError`` is shown, and it is asked again.

    Raises ``Declined`` after ``TRIES`` answers without use.
    """
    default = "" if question.default is None else f" [{question.default}]"
    for _ in range(TRIES):
        text = people.ask(f"{question.name}{default}: ").strip()
        if text == "?" or (not text and question.default is None):
            for line in (question.meaning, *([f"for example: {question.example}"] if question.example else [])):
                for row in textwrap.wrap(line, 74, break_long_words=False):
                    people.tell(f"    {row}")
            continue
        try:
            return read(text or question.default or "")
        except PlanError as error:
            people.mistake(error)
    raise Declined(f"no answer to {question.name!r} that can be used", do="find out what to answer, and begin again")
