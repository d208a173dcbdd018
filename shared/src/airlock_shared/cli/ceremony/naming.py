"""Who holds each role: names given with the command, or typed when it asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from airlock_shared.ceremony.checkpoints import STATIONS
from airlock_shared.ceremony.roles import check_holder, check_people
from airlock_shared.cli.ceremony.status import people_lines
from airlock_shared.cli.console import ask, explain, led, say
from airlock_shared.cli.keyboard import at_a_terminal
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.plan.model import APART, Plan

_SLIPS = 3
_BACK = "<"
_AGREED = f"Enter begins with these names, {_BACK} asks for them again: "


def names_given(given: Iterable[str]) -> dict[str, str]:
    """Return the names of arguments ROLE=NAME. Raises ``UsageError``."""
    names: dict[str, str] = {}
    for argument in given:
        role, equals, name = argument.partition("=")
        if not equals or role in names:
            raise UsageError(
                f"{argument!r} is not ROLE=NAME, once for a role", do='such as --role signer="Ada Lovelace"'
            )
        names[role] = name
    return names


def ask_names(plan: Plan, known: Mapping[str, str]) -> dict[str, str]:
    """Return the names that are known, and ask for each other role of the plan.

    Where a ceremony is led, the names are looked at before it begins. Raises ``Refusal``, and ``UsageError`` when nobody can
    type.
    """
    asked = [role for role in plan.roles if role not in known]
    while True:
        names = dict(known)
        for role in asked:
            names[role] = _ask_name(role, plan, names)
        check_people(names, plan)
        if not asked or not led() or _are_these(names):
            return names


def _ask_name(role: str, plan: Plan, given: Mapping[str, str]) -> str:
    """Return the name that is typed for a role; one that cannot be is asked again, a few times, and then refused."""
    if not at_a_terminal():
        lacking = [name for name in plan.roles if name not in given]
        raise UsageError(f"nobody is named as {', '.join(lacking)}",
                         do="give each as --role ROLE=NAME; an empty name says that nobody holds it")  # fmt: skip
    needed = _is_needed(role, plan)
    for left in reversed(range(_SLIPS)):
        name = ask(f"Who is the {role}?{'' if needed else ' (empty: nobody)'} ", piped=False).strip()
        try:
            check_people({**given, role: name}, plan)
            if needed:
                check_holder(role, {**given, role: name}, plan)
        except Refusal as error:
            if not left:
                raise
            say(explain(error))
        else:
            break
    return name


def _is_needed(role: str, plan: Plan) -> bool:
    """Tell whether somebody must hold a role: the plan requires it, or a ceremony is led in which this role confirms."""
    if plan.requires_witness and role in APART:
        return True
    return led() and any(role in station.needs(half, plan) for station in STATIONS.values() for half in station.by)


def _are_these(names: Mapping[str, str]) -> bool:
    """Show the names, and have people look at them; ``<`` says that one is wrong. Nothing is compared by it."""
    for line in people_lines(names):
        say(line)
    while (answer := ask(_AGREED, piped=False).strip()) != _BACK:
        if answer in ("", "Yes"):
            return True
    return False
