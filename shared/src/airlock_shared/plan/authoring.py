"""A plan written by asking, and the text that it becomes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

from airlock_shared.errors import quoted
from airlock_shared.plan.known import Choices, KnownValues, literal_at
from airlock_shared.plan.model import APART, Signer
from airlock_shared.plan.questions import (
    Back,
    People,
    Question,
    ask_fields,
    surely_meant,
)
from airlock_shared.plan.reader import PLAN_FORMAT, read_limits, read_roles, read_signer, read_text
from airlock_shared.plan.values import LINE, plan_error
from airlock_shared.text.safe import labelled_rows
from airlock_shared.venue.actions import ACTIONS, Action, Parameter
from airlock_shared.venue.calls import CALLS
from airlock_shared.venue.structs import AUTHORIZATION, CATALOGUE
from airlock_shared.wire.strict_json import NAME, Table

# ---- wizard ---------------------------------------------------------------------------------------------------------
# A plan written by asking: one question after another, each answer checked at once as the reader of plans will check
# it. The answers are collected in a table as ``tomllib`` would read it. Nothing is written before the end: half a plan
# is no plan. What an action cannot use is not asked: a limit is asked for by the first step that it binds.


LIMITS = {
    "deadline_at_most": ("30m", "how long a signature may stay valid: a number with s, m, h or d"),
    "slippage_percent_at_most": ("1", "how far a fill may be from its price, in percent"),
    "max_fee_gwei_at_most": ("5", "the highest fee of a transaction, in gwei a unit of gas"),
    "remaining_at_least": ("3m", "how much of that time must be left at signing: a number with s, m, h or d"),
}
_DEFAULT_PATH = "m/44'/60'/0'/0/0"


def ask_plan(people: People, known: KnownValues) -> Table:
    """Ask for a whole plan, and return it as the table that ``tomllib`` would read. ``ask`` may raise to end it.

    ``known`` is offered where it fits. What these people answered before is not asked again.
    """
    people.begin()
    people.tell(
        "Enter takes the value in [ ]. Type ? for an example, < to go back. Ctrl-C ends.",
        "Nothing is written before the end, after you have seen the plan.",
    )
    while True:
        try:
            return _ask_all(people, known)
        except Back:
            went_back = people.back()
            people.begin()
            if not went_back:
                people.tell("    This is the first question.")


def _ask_all(people: People, known: KnownValues) -> Table:
    deployments = tuple((name, "") for name in known.pairs)
    ceremony = {name: _ceremony_text(people, name, meaning, offered) for name, meaning, offered in (
        ("id", "a short name of the ceremony: small letters, digits, dashes", ()),
        ("title", "its purpose, in one line of at most 200 characters", ()),
        ("deployment", "the name of the pinned deployment that it is for", deployments),
    )}  # fmt: skip
    meaning = "the roles that take part, separated by commas; people's names are given on the day"
    question = Question("roles", meaning, default="signer, facilitator, witness")
    roles = list(people.answer(question, _roles_in))
    table: Table = {"format": PLAN_FORMAT, "ceremony": {**ceremony, "roles": roles, **_witness(roles)}}
    table |= {"limits": {}, "signers": {}, "steps": []}
    asked: dict[str, str | None] = {}
    while action := _action(people, more=bool(table["steps"])):
        for name in _limits_of(action):
            if name not in asked:
                asked[name] = _limit(people, name, {name: text for name, text in asked.items() if text is not None})
        table["limits"] = {name: asked[name] for name in LIMITS if asked.get(name) is not None}
        table["steps"].append(_step(people, action, table, known))
    return table


def _limits_of(action: Action) -> list[str]:
    """Return the plan's limits that can bind this action, in the order in which they are asked for."""
    intent = CATALOGUE.get(action.primary_type)
    slippage = action.parameter("slippagePercent") is not None
    timed = intent is not None and bool(intent.deadline)
    binds = {
        "deadline_at_most": timed,
        "slippage_percent_at_most": slippage,
        "max_fee_gwei_at_most": bool(action.call),
        "remaining_at_least": timed,
    }
    return [name for name in LIMITS if binds[name]]


# ---- the ceremony and its limits ------------------------------------------------------------------------------------


def _ceremony_text(people: People, name: str, meaning: str, offered: tuple[tuple[str, str], ...]) -> str:
    pattern = LINE if name == "title" else NAME
    question = Question(name, meaning, literal_at(f"ceremony.{name}").strip('"'), known=offered)
    text: str = people.answer(question, lambda text: read_text({name: text}, "ceremony", name, pattern))
    return text


def _roles_in(text: str) -> tuple[str, ...]:
    """Return the roles that were typed. Raises ``PlanError``, also where somebody says whether a witness is required."""
    if text in ("required", "none"):
        raise plan_error("PLAN-FORM", f"{text} is no role: a plan that names a witness requires one", "ceremony.roles")
    return read_roles([role.strip() for role in text.split(",")])


def _witness(roles: list[str]) -> dict[str, str]:
    """Return what the plan says of a witness: whoever names one wants one."""
    if "witness" not in roles:
        return {"witness": "none"}
    return {"witness": "required"} if set(APART) <= set(roles) else {}


def _limit(people: People, name: str, before: dict[str, str]) -> str | None:
    default, meaning = LIMITS[name]
    none = "" if name == "remaining_at_least" else "; none: a step that uses it fixes the value itself"

    def read(text: str) -> str | None:
        if text == "none" and none:
            return None
        soon = {"remaining_at_least": "1s"} if name == "deadline_at_most" else {}  # it is asked for later
        read_limits({**before, **soon, name: text})
        return text

    value: str | None = people.answer(Question(name, meaning + none, default, default), read)
    return value


# ---- steps ----------------------------------------------------------------------------------------------------------


def _action(people: People, *, more: bool) -> Action | None:
    """Ask for the next step's action; None when there is to be no further one."""
    people.tell("")
    listed = () if more else ACTIONS.values()
    people.show([row for each in listed for row in labelled_rows(f"    {each.name:<26} ", each.title)])
    name, none = ("action of the next step", "none") if more else ("action", None)
    meaning = "what is signed, by its name" + ("; none: no further step" if more else "")
    question = Question(name, meaning, "delegate", none, ", ".join(ACTIONS) if more else "")

    def read(text: str) -> Action | None:
        if more and text == "none":
            return None
        if text not in ACTIONS:
            raise plan_error("PLAN-ACTION", "unknown action", "", quoted(text))
        return ACTIONS[text]

    chosen: Action | None = people.answer(question, read)
    return chosen


def _step(people: People, action: Action, table: Table, known: KnownValues) -> Table:
    people.tell(f"{action.title}:")
    taken = [step["id"] for step in table["steps"]]

    def read_id(text: str) -> str:
        if text in taken:
            raise plan_error("PLAN-FORM", "two steps have the same id", "", text)
        return read_text({"id": text}, "steps", "id", NAME)

    default, number = action.name, 1
    while default in taken:
        number += 1
        default = f"{action.name}-{number}"
    question = Question("id", "a name for this step that no other step has", "desk-key", default)
    step_id = people.answer(question, read_id)
    signer = _signer(people, table["signers"], known, may_be_delegate=_delegates_may(action))
    offered = partial(known.for_field, deployment=table["ceremony"]["deployment"])
    fields = ask_fields(people, action, signer, read_limits(table["limits"]), offered)
    return {"id": step_id, "action": action.name, "signer": signer.name, "fields": fields}


def _delegates_may(action: Action) -> bool:
    """Tell whether a delegate's key may sign this for an account."""
    if action.call:
        return CALLS[action.call].delegable
    return action.name != AUTHORIZATION and CATALOGUE[action.primary_type].signer_rule == "trader-or-delegate"


def _signer(people: People, signers: Table, known: KnownValues, *, may_be_delegate: bool) -> Signer:
    """Ask which signer signs; one that the plan does not have yet is described by the next answers."""
    first = next(iter(signers), None)
    question = Question("signer", "a short name of the key that signs; a new name adds a key", "treasury", first)
    name: str = people.answer(question, lambda text: read_text({"name": text}, "signers", "name", NAME))
    if name not in signers:
        signers[name] = _new_signer(people, name, known, may_be_delegate=may_be_delegate)
    return read_signer(name, signers[name])


def _new_signer(people: People, name: str, known: KnownValues, *, may_be_delegate: bool) -> Table:
    signer: Table = {"address": f"0x{'11' * 20}", "path": _DEFAULT_PATH}

    def ask(member: str, meaning: str, default: str | None = None, offered: Choices = ()) -> str:
        def read(text: str) -> str:
            if (member, text) != ("delegate_of", "none"):
                read_signer(name, {**signer, member: text})
            return text

        example = literal_at(f"signers.{name}.{member}").strip('"')
        told: str = people.answer(Question(f"{name}: {member}", meaning, example, default, known=offered), read)
        return told if told == "none" or member == "path" else surely_meant(people, f"{name}: {member}", told)

    meaning = "its address, with capitals as the wallet shows it (EIP-55)"
    signer["address"] = ask("address", meaning, offered=known.addresses)
    signer["path"] = ask("path", "its derivation path", known.paths.get(signer["address"], _DEFAULT_PATH))
    if may_be_delegate:
        meaning = "the account for which this key acts as a delegate; none: it signs for its own"
        account = ask("delegate_of", meaning, "none", known.addresses)
        signer |= {} if account == "none" else {"delegate_of": account}
    return signer


# ---- writer ---------------------------------------------------------------------------------------------------------
# A plan's table written as TOML that people read: what each value means and its unit stand beside it.


_LIMITS = {
    "deadline_at_most": "how long a signature may stay valid, counted from when it is signed",
    "slippage_percent_at_most": "how far a fill may be from its price, in percent",
    "max_fee_gwei_at_most": "the highest fee of a transaction, in gwei a unit of gas",
    "native_fee_at_most": "the highest fee in native currency that a call of this venue may be sent with",
    "remaining_at_least": "how much of its time a request must have left when it is signed",
}


def write_plan(table: Table) -> str:
    """Return the TOML text of a plan's table, which ``tomllib`` reads as the same table."""
    return "\n".join(_lines(table)) + "\n"


def _lines(table: Table) -> Iterator[str]:
    yield "# A ceremony plan: what people agree to sign. Read every line, then: plan check FILE, plan show FILE."
    yield f"format = {toml(table['format'])}"
    yield from ("", "[ceremony]")
    for name, value in table["ceremony"].items():
        yield f"{name} = {toml(value)}"
    yield from ("", "[limits] # for the builder's choices; without a limit here, the builder may not choose")
    for name, value in table["limits"].items():
        yield f"{name} = {toml(value)} # {_LIMITS[name]}"
    for name, signer in table["signers"].items():
        yield from ("", f"[signers.{name}]")
        for member, value in signer.items():
            yield f"{member} = {toml(value)}"
    for step in table["steps"]:
        action = ACTIONS[step["action"]]
        yield from ("", f"[[steps]] # {action.title}")
        yield from (f"{name} = {toml(step[name])}" for name in ("id", "action", "signer", "replaces") if name in step)
        yield "[steps.fields]"
        for parameter in action.parameters:
            if parameter.name in step["fields"]:
                yield f"{parameter.name} = {toml(step['fields'][parameter.name])} # {_meaning(parameter)}"


def _meaning(parameter: Parameter) -> str:
    unit = f"{parameter.unit.name}: " if parameter.unit.is_amount else ""
    return f"{unit}{parameter.meaning}"


def toml(value: Any) -> str:
    """Return a value of a plan as TOML. Texts are in ASCII, with escapes for the rest, so that nothing hides in them."""
    if type(value) is datetime:
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if type(value) is dict:
        return "{ " + ", ".join(f"{name} = {toml(member)}" for name, member in value.items()) + " }"
    if type(value) is list:
        return "[" + ", ".join(map(toml, value)) + "]"
    return "".join(map(_character, value)).join('""') if type(value) is str else json.dumps(value)


def _character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if " " <= character <= "~" else f"\\U{ord(character):08x}"
