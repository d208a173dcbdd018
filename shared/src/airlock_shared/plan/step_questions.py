"""The fields of a plan's step, asked for one by one: which must be given, which may, and how an answer is read."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from airlock_shared.catalogue.actions import Action, Parameter
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.plan.examples import literal
from airlock_shared.plan.known import Offered
from airlock_shared.plan.model import Limits, Signer
from airlock_shared.plan.own_limits import value_faults
from airlock_shared.plan.prompts import People, Question, answer_to
from airlock_shared.plan.values import plan_error, read_values
from airlock_shared.units import ADDRESS, CHOICE, CODE, COUNT, NONCE, UNIX_MS, UNIX_S, utc_text

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})")
_BOUNDS = re.compile(r"([^. ]\S*?)?\.\.(\S*[^. ])?")


def ask_fields(people: People, action: Action, signer: Signer, limits: Limits, offered: Offered) -> dict[str, Any]:
    """Ask for the fields of a step, and return them as a plan holds them; what is known is offered where it fits."""
    fields: dict[str, Any] = {}
    for parameter in _in_order(action):
        wanted = _wanted(parameter, fields)
        if wanted is not None:
            question = _question(parameter, signer, required=wanted)._replace(known=offered.for_field(parameter))
            value = _field(people, question, action, parameter, limits, required=wanted)
            if parameter.unit is ADDRESS and isinstance(value, str):
                value = surely_meant(people, parameter.name, value)
            if isinstance(value, datetime):
                people.tell(f"    = {utc_text(int(value.timestamp()) * 1000)}")
            if value is not None:
                fields[parameter.name] = value
    read_values(action, fields, "fields")
    return fields


def surely_meant(people: People, name: str, address: str) -> str:
    """Return an address with its checksum; one that was typed without is shown with it, and has to be compared.

    Without capitals nothing tells a wrong digit. Raises as ``answer_to``, also ``Back`` to the question before.
    """
    checksummed = checksum_address(parse_address(address))
    if address == checksummed:
        return address

    def read(text: str) -> None:
        if text != "Yes":
            raise plan_error("PLAN-ADDRESS", "not compared yet", "", got=text, expected="Yes, or < to type it again")

    people.tell("    This address has no checksum: nobody would notice a wrong digit. With it:")
    people.tell(f"    {checksummed}")
    answer_to(
        people,
        Question(f"{name}, as shown", "compare each digit with your source, then type Yes; < types it again"),
        read,
    )
    return checksummed


def _in_order(action: Action) -> list[Parameter]:
    """Return the fields as they are asked for: a pair by its name before the pair by its number."""
    order = list(action.parameters)
    names = [parameter.name for parameter in order]
    if "pair" in names:
        order.insert(names.index("pairIndex"), order.pop(names.index("pair")))
    return order


def _wanted(parameter: Parameter, fields: dict[str, Any]) -> bool | None:
    """Tell whether a field must be given, with what was answered before; None: it must not."""
    if parameter.name == "pairIndex":
        return None if "pair" in fields else True
    if "triggerType" in fields and parameter.name in ("price", "percentage"):
        return True if (parameter.name == "price") == (fields["triggerType"] == "fixed") else None
    return parameter.required


def _field(
    people: People, question: Question, action: Action, parameter: Parameter, limits: Limits, *, required: bool
) -> Any:
    alone = action._replace(name="", parameters=(parameter,))

    def read(text: str) -> Any:
        if not required and not parameter.default and text == "none":
            return None
        value = _value(parameter, text)
        if parameter.name not in ("pair", "pairIndex"):
            for fault in value_faults(read_values(alone, {parameter.name: value}, ""), limits, ""):
                raise fault
        else:  # its neighbour is not looked at
            read_values(alone._replace(parameters=(parameter._replace(name="tradeIndex"),)), {"tradeIndex": value}, "")
        return value

    return answer_to(people, question, read)


def _question(parameter: Parameter, signer: Signer, *, required: bool) -> Question:
    default = parameter.default or (None if required else "none")
    if parameter.name in ("trader", "caller", "referee", "referrer"):
        default = checksum_address(signer.delegate_of or signer.address)
    unit = "" if parameter.unit in (ADDRESS, CHOICE, COUNT, NONCE, CODE) else f" ({_unit(parameter)})"
    meaning = parameter.meaning
    if parameter.choices:
        meaning += f"; one of {', '.join(parameter.choices)}"
    if parameter.unit.is_amount and not required:
        meaning += "; LOW..HIGH, ..HIGH or LOW.. gives bounds for the builder's choice"
    if parameter.unit in (UNIX_S, UNIX_MS):
        meaning += "; a date alone, such as 2027-03-31, is its beginning, 00:00:00 UTC"
    return Question(f"{parameter.name}{unit}", meaning, literal(parameter).strip('"'), default)


def _unit(parameter: Parameter) -> str:
    return "a time in UTC" if parameter.unit in (UNIX_S, UNIX_MS) else parameter.unit.name


def _value(parameter: Parameter, text: str) -> Any:
    """Return an answer as a plan holds it: a time, a count, bounds, or the text itself."""
    if parameter.unit in (UNIX_S, UNIX_MS) and (_TIME.fullmatch(text) or _DATE.fullmatch(text)):
        try:
            when = datetime.fromisoformat(text)
            return when if when.tzinfo else when.replace(tzinfo=UTC)
        except ValueError as error:
            raise plan_error("PLAN-FIELD", "no such time", "", got=text, expected="2027-03-31T00:00:00Z") from error
    bounds = _BOUNDS.fullmatch(text) if parameter.unit.is_amount and not parameter.required else None
    if bounds and any(bounds.groups()):
        return {name: bound for name, bound in zip(("at_least", "at_most"), bounds.groups(), strict=True) if bound}
    return text
