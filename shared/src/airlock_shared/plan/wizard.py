"""A plan written by asking: one question after another, each answer checked at once as the reader of plans will check it.

The answers are collected in a table as ``tomllib`` would read it. Nothing is written before the end: half a plan is no plan.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from airlock_shared.catalogue.actions import ACTIONS, Action
from airlock_shared.plan.examples import example_at
from airlock_shared.plan.model import APART, Signer
from airlock_shared.plan.prompts import People, Question, answer_to
from airlock_shared.plan.reader import FORMAT, read_limits, read_roles, read_signer, read_text
from airlock_shared.plan.step_questions import ask_fields
from airlock_shared.plan.values import LINE, plan_error
from airlock_shared.text.safe import WIDTH
from airlock_shared.wire.members import NAME

LIMITS = {
    "deadline_at_most": ("30m", "how long a signature may stay valid: a number with s, m, h or d"),
    "slippage_percent_at_most": ("1", "how far a fill may be from its price, in percent"),
    "max_fee_gwei_at_most": ("5", "the highest fee of a transaction, in gwei a unit of gas"),
    "remaining_at_least": ("3m", "how much of that time must be left at signing: a number with s, m, h or d"),
}
DEFAULT_PATH = "m/44'/60'/0'/0/0"


def ask_plan(people: People) -> dict[str, Any]:
    """Ask for a whole plan, and return it as the table that ``tomllib`` would read. ``ask`` may raise to end it."""
    people.tell("Enter takes the value in [ ]. Type ? for an example. Ctrl-C ends.")
    people.tell("Nothing is written before the end, after you have seen the plan.")
    ceremony = {name: _ceremony_text(people, name, meaning) for name, meaning in (
        ("id", "a short name of the ceremony: small letters, digits, dashes"),
        ("title", "its purpose, in one line"),
        ("deployment", "the name of the pinned deployment that it is for"),
    )}  # fmt: skip
    roles = _roles(people)
    table: dict[str, Any] = {"format": FORMAT, "ceremony": {**ceremony, "roles": roles, **_witness(roles)}}
    table["limits"] = {}
    for name in LIMITS:
        if (value := _limit(people, name, table["limits"])) is not None:
            table["limits"][name] = value
    table["signers"] = {}
    table["steps"] = []
    while action := _action(people, more=bool(table["steps"])):
        table["steps"].append(_step(people, action, table))
    return table


# ---- the ceremony and its limits ------------------------------------------------------------------------------------


def _ceremony_text(people: People, name: str, meaning: str) -> str:
    pattern = LINE if name == "title" else NAME
    question = Question(name, meaning, example_at(f"ceremony.{name}").partition(" = ")[2].strip('"'))
    text: str = answer_to(people, question, lambda text: read_text({name: text}, "ceremony", name, pattern))
    return text


def _roles(people: People) -> list[str]:
    meaning = "the roles that take part, separated by commas; people's names are given on the day"
    question = Question("roles", meaning, default="signer, facilitator, witness")
    return list(answer_to(people, question, lambda text: read_roles([role.strip() for role in text.split(",")])))


def _witness(roles: list[str]) -> dict[str, str]:
    """Return what the plan says of a witness: whoever names one wants one."""
    if "witness" not in roles:
        return {"witness": "none"}
    return {"witness": "required"} if set(APART) <= set(roles) else {}


def _limit(people: People, name: str, before: dict[str, str]) -> str | None:
    default, meaning = LIMITS[name]
    none = "" if name == "remaining_at_least" else "; none: the plan must fix this value"

    def read(text: str) -> str | None:
        if text == "none" and none:
            return None
        soon = {"remaining_at_least": "1s"} if name == "deadline_at_most" else {}  # it is asked for later
        read_limits({**before, **soon, name: text})
        return text

    value: str | None = answer_to(people, Question(name, meaning + none, default, default), read)
    return value


# ---- steps ----------------------------------------------------------------------------------------------------------


def _action(people: People, *, more: bool) -> Action | None:
    """Ask for the next step's action; None when there is to be no further one."""
    people.tell("")
    for action in () if more else ACTIONS.values():
        for row in textwrap.wrap(f"    {action.name:<26} {action.title}", WIDTH, subsequent_indent=" " * 31):
            people.tell(row)
    name, none = ("action of the next step", "none") if more else ("action", None)
    meaning = "what is signed, by its name" + ("; none: no further step" if more else "")
    question = Question(name, meaning, "delegate", none, ", ".join(ACTIONS))

    def read(text: str) -> Action | None:
        if more and text == "none":
            return None
        if text not in ACTIONS:
            raise plan_error("PLAN-ACTION", "unknown action", "", got=repr(text)[:80])
        return ACTIONS[text]

    chosen: Action | None = answer_to(people, question, read)
    return chosen


def _step(people: People, action: Action, table: dict[str, Any]) -> dict[str, Any]:
    people.tell(f"{action.title}:")
    taken = [step["id"] for step in table["steps"]]

    def read_id(text: str) -> str:
        if text in taken:
            raise plan_error("PLAN-FORM", "two steps have the same id", "", got=text)
        return read_text({"id": text}, "steps", "id", NAME)

    default = next(
        name for name in (action.name, *(f"{action.name}-{n}" for n in range(2, 99999))) if name not in taken
    )
    step_id = answer_to(
        people, Question("id", "a name for this step that no other step has", "desk-key", default), read_id
    )
    signer = _signer(people, table["signers"])
    return {
        "id": step_id,
        "action": action.name,
        "signer": signer.name,
        "fields": ask_fields(people, action, signer, read_limits(table["limits"])),
    }


def _signer(people: People, signers: dict[str, Any]) -> Signer:
    """Ask which signer signs; one that the plan does not have yet is described by the next answers."""
    known = next(iter(signers), None)
    question = Question("signer", "a short name of the key that signs; a new name adds a key", "treasury", known)
    name: str = answer_to(people, question, lambda text: read_text({"name": text}, "signers", "name", NAME))
    if name not in signers:
        good: dict[str, Any] = {"address": f"0x{'11' * 20}", "path": DEFAULT_PATH}
        for member, meaning, default in (
            ("address", "its address, with upper and lower case as the wallet shows it (EIP-55)", None),
            ("path", "its derivation path", DEFAULT_PATH),
            ("delegate_of", "the account for which this key acts as a delegate; none: it signs for its own", "none"),
        ):
            example = example_at(f"signers.{name}.{member}").partition(" = ")[2].strip('"')
            value = answer_to(
                people, Question(f"{name}: {member}", meaning, example, default), _member_reader(name, member, good)
            )
            if value != "none":
                good[member] = value
        signers[name] = good
    return read_signer(name, signers[name])


def _member_reader(name: str, member: str, good: dict[str, Any]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if (member, text) != ("delegate_of", "none"):
            read_signer(name, {**good, member: text})
        return text

    return read
