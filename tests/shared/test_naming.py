"""Who holds each role of a led ceremony: every role that confirms has a person, and a wrong name costs one key."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from airlock_shared.cli.ceremony import compare as naming
from airlock_shared.cli.ceremony.compare import ask_names
from airlock_shared.errors import Declined, Refusal
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from shared.test_roles_commands import PLAN_TEXT

ADA, GRACE, MARY = "Ada Lovelace", "Grace Hopper", "Mary Somerville"


def plan(roles: str = '"signer", "facilitator", "witness", "guest"') -> Plan:
    text = "\n".join(f"roles = [{roles}]" if line.startswith("roles") else line for line in PLAN_TEXT.splitlines())
    return parse_plan(text.encode())


class Room:
    """People at a terminal who answer from a list."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: Iterable[str], *, is_led: bool = True) -> None:
        self.answers, self.asked, self.said = list(answers), list[str](), list[str]()
        monkeypatch.setattr(naming, "led", lambda: is_led)
        monkeypatch.setattr(naming, "at_a_terminal", lambda: True)
        monkeypatch.setattr(naming, "say", self.said.append)
        monkeypatch.setattr(naming, "ask", self._ask)

    def _ask(self, question: str, *, piped: bool) -> str:
        assert not piped
        self.asked.append(question)
        if not self.answers:
            raise Declined("nobody answers")
        return self.answers.pop(0)


def test_a_wrong_name_is_asked_again_with_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    Room(monkeypatch, [ADA, MARY, GRACE, "", "<", ADA, GRACE, MARY, "Eve", "what?", "Yes"])
    assert ask_names(plan(), {}) == {"signer": ADA, "facilitator": GRACE, "witness": MARY, "guest": "Eve"}


@pytest.mark.parametrize("role", [0, 1, 2])
def test_a_role_that_confirms_is_not_left_empty_by_a_slip(monkeypatch: pytest.MonkeyPatch, role: int) -> None:
    people = [ADA, GRACE, MARY, ""]
    room = Room(monkeypatch, [*people[:role], "", " ", *people[role:], ""])
    assert list(ask_names(plan(), {}).values()) == people
    assert sum("nobody holds the role" in line for line in room.said) == 2
    assert [question.count("nobody") for question in room.asked[:-1]] == [0] * 5 + [1]


def test_one_person_in_two_roles_is_asked_again_and_then_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Room(monkeypatch, [ADA, GRACE, "ada  LOVELACE", "Аda Lovelace", "A D A Lovelace"])
    with pytest.raises(Refusal) as caught:
        ask_names(plan(), {})
    assert caught.value.check == "ROLE-SAME"
