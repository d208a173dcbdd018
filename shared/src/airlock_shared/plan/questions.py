"""Questions that people answer, one line each, and which of them each step of a plan asks."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from airlock_shared.errors import Declined, PlanError
from airlock_shared.ethereum.signatures import checksum_address, in_eip55
from airlock_shared.plan.known import Choices, literal
from airlock_shared.plan.model import Limits, Signer
from airlock_shared.plan.values import TRIGGERS, plan_error, read_value, value_faults
from airlock_shared.units import ADDRESS, CHOICE, CODE, COUNT, NONCE, UNIX_MS, UNIX_S, utc_text
from airlock_shared.venue.actions import Action, Parameter
from airlock_shared.wire.strict_json import Table

# ---- prompts --------------------------------------------------------------------------------------------------------
# Questions that people answer, one line each: explained when asked for, and asked again until the answer can be used.
# People go back with ``<``. What they answered is kept: the questions before are answered silently again, and the one
# that was gone back to offers what was said.


TRIES = 20
"""After so many answers without use it is no person who answers, or one who needs a pause."""

LONG = 32
"""A default of more columns stands on a line of its own: an address beside an address is wider than a screen."""
ANSWER_AGAIN = "answer again, or type ? for an explanation"
_BACK = "<"


class Back(Exception):
    """People want to answer the question before once more."""


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


class People:
    """The people who answer, and what they answered so far.

    A question is known by its name, and by how many of that name were asked before it.
    """

    def __init__(
        self,
        ask: Callable[[str], str],
        tell: Callable[[str], None],
        mistake: Callable[[PlanError], None],
        show: Callable[[Sequence[str]], None],
    ) -> None:
        """``ask`` gives a question and returns the answer's line, ``tell`` shows a line to them, ``show`` a long list.

        ``mistake`` shows why an answer cannot be used.
        """
        self._ask, self._tell, self._mistake, self._show = ask, tell, mistake, show
        self._given: list[str] = []
        self._kept: dict[tuple[str, int], str] = {}
        self._asked: Counter[str] = Counter()

    def begin(self) -> None:
        """Ask from the first question on; those that were answered are not asked again."""
        self._asked.clear()

    def back(self) -> bool:
        """Take the last answer back; False when there is none."""
        if not self._given:
            return False
        self._given.pop()
        return True

    def restart(self) -> None:
        """Take every answer back: each question then offers what was said."""
        self._given.clear()

    def _replays(self) -> bool:
        """Tell whether the next question was answered already: what is told before it was read."""
        return self._asked.total() < len(self._given)

    def tell(self, *lines: str) -> None:
        """Show lines."""
        for line in () if self._replays() else lines:
            self._tell(line)

    def tell_rows(self, *lines: str) -> None:
        """Show lines below a question, in rows."""
        for line in lines:
            rows = textwrap.wrap(line, 74, break_long_words=False, break_on_hyphens=False)
            self.tell(*(f"    {row}" for row in rows))

    def show(self, lines: Sequence[str]) -> None:
        """Show a long list."""
        if not self._replays():
            self._show(lines)

    def answer(self, question: Question, read: Callable[[str], Any]) -> Any:
        """Ask until ``read`` takes the answer, and return what it made of it; a ``PlanError`` is shown, and it asks again.

        Raises ``Back`` when people go back, ``Declined`` after ``TRIES`` answers without use.
        """
        replays = self._replays()
        self._asked[question.name] += 1
        if replays:
            return read(self._given[self._asked.total() - 1])
        key = question.name, self._asked[question.name]
        question = _with_what_was_said(question, self._kept.get(key), read)
        self.tell_rows(question.meaning)
        for number, (value, what) in enumerate(question.known, start=1):
            self.tell(f"    #{number}  {value}")
            self.tell_rows(f"    {what}")
        default = "" if question.default is None else f" [{question.default}]"
        if len(default) > LONG:
            self.tell_rows(f"Enter takes {question.default}")
            default = " [Enter]"
        hinted = ""
        for _ in range(TRIES):
            text = self._ask(f"{question.name}{default}: ").strip()
            if text == _BACK:
                raise Back
            text, meant = _offered(question, text)
            if meant and meant != hinted:
                hinted = meant
                self.tell(f"    {meant}")
                continue
            if text == "?" or (not text and question.default is None):
                example = f"for example: {question.example}" if question.example else ""
                self.tell_rows(question.meaning, question.more, example)
                continue
            text = text or question.default or ""
            try:
                value = read(text)
            except PlanError as error:
                error.do = ANSWER_AGAIN
                error.expected = error.expected or question.meaning
                self._mistake(error)
                continue
            self._given.append(text)
            self._kept[key] = text
            return value
        raise Declined(f"no usable answer to {question.name!r}", do="find out what to answer, and begin again")


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


# ---- step questions -------------------------------------------------------------------------------------------------
# The fields of a plan's step, asked for one by one: which must be given, which may, and how an answer is read.


_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2}))?")
_BOUNDS = re.compile(r"([^. ]\S*?)?\.\.(\S*[^. ])?")


def ask_fields(
    people: People, action: Action, signer: Signer, limits: Limits, offered: Callable[[Parameter], Choices]
) -> Table:
    """Ask for the fields of a step, and return them as a plan holds them; ``offered`` gives what is known for each."""
    fields: Table = {}
    for parameter in _in_order(action):
        wanted = _wanted(parameter, fields)
        if wanted is not None:
            question = _question(parameter, signer, required=wanted)._replace(known=offered(parameter))
            value = _field(people, question, parameter, limits, required=wanted)
            if parameter.unit is ADDRESS and isinstance(value, str):
                value = surely_meant(people, parameter.name, value)
            if isinstance(value, datetime):
                people.tell(f"    = {utc_text(int(value.timestamp()) * 1000)}")
            if value is not None:
                fields[parameter.name] = value
    return fields


def surely_meant(people: People, name: str, address: str) -> str:
    """Return an address with its checksum; one that was typed without is shown with it, and has to be compared.

    Without capitals nothing tells a wrong digit. Raises as :meth:`People.answer`, also ``Back`` to the question before.
    """
    with_capitals = in_eip55(address)
    if address == with_capitals:
        return address

    def read(text: str) -> None:
        if text != "Yes":
            raise plan_error("PLAN-ADDRESS", "not compared yet", "", text, "Yes, or < to type it again")

    people.tell("    This address has no checksum: nobody would notice a wrong digit. With it:", f"    {with_capitals}")
    meaning = "compare each digit with your source, then type Yes; < types it again"
    people.answer(Question(f"{name}, as shown", meaning), read)
    return with_capitals


def _in_order(action: Action) -> list[Parameter]:
    """Return the fields as they are asked for: a pair by its name before the pair by its number."""
    order = list(action.parameters)
    names = [parameter.name for parameter in order]
    if "pair" in names:
        order.insert(names.index("pairIndex"), order.pop(names.index("pair")))
    return order


def _wanted(parameter: Parameter, fields: Table) -> bool | None:
    """Tell whether a field must be given, with what was answered before; None: it must not."""
    if parameter.name == "pairIndex":
        return None if "pair" in fields else True
    if parameter.name == "orderType" and not parameter.sent:
        return None  # of a close: preparing says when a plan must have it
    if "triggerType" in fields and parameter.name in ("price", "percentage"):
        return True if (parameter.name == "price") == (fields["triggerType"] == "fixed") else None
    return parameter.required


def _field(people: People, question: Question, parameter: Parameter, limits: Limits, *, required: bool) -> Any:
    def read(text: str) -> Any:
        if not required and not parameter.default and text == "none":
            return None
        value = _value(parameter, text)
        for fault in value_faults({parameter.name: read_value(parameter, value, "")}, limits, ""):
            raise fault
        return value

    return people.answer(question, read)


def _question(parameter: Parameter, signer: Signer, *, required: bool) -> Question:
    default = parameter.default or (None if required else "none")
    if parameter.name in ("trader", "caller", "referee", "referrer"):
        default = checksum_address(signer.delegate_of or signer.address)
    timed = parameter.unit in (UNIX_S, UNIX_MS)
    unit = "a time in UTC" if timed else parameter.unit.name
    name = parameter.name if parameter.unit in (ADDRESS, CHOICE, COUNT, NONCE, CODE) else f"{parameter.name} ({unit})"
    meaning = parameter.meaning
    if parameter.choices:
        meaning += f"; one of {', '.join(parameter.choices)}"
    if parameter.unit.is_amount and not required and parameter.name not in TRIGGERS:
        meaning += "; LOW..HIGH gives bounds for the builder's choice"
    if timed:
        meaning += "; a date alone, such as 2027-03-31, is its beginning, 00:00:00 UTC"
    return Question(name, meaning, literal(parameter).strip('"'), default)


def _value(parameter: Parameter, text: str) -> Any:
    """Return an answer as a plan holds it: a time, a count, bounds, or the text itself."""
    if parameter.unit in (UNIX_S, UNIX_MS) and _TIME.fullmatch(text):
        try:
            when = datetime.fromisoformat(text)
            return when if when.tzinfo else when.replace(tzinfo=UTC)
        except ValueError as error:
            raise plan_error("PLAN-FIELD", "no such time", "", text, "2027-03-31T00:00:00Z") from error
    bounds = _BOUNDS.fullmatch(text) if parameter.unit.is_amount and not parameter.required else None
    if bounds and any(bounds.groups()):
        return {name: bound for name, bound in zip(("at_least", "at_most"), bounds.groups(), strict=True) if bound}
    return text
