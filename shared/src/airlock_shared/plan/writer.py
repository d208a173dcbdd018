"""A plan's table written as TOML that people read: what each value means and its unit stand beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from airlock_shared.catalogue.actions import ACTIONS, Parameter

_LIMITS = {
    "deadline_at_most": "how long a signature may stay valid, counted from when it is signed",
    "slippage_percent_at_most": "how far a fill may be from its price, in percent",
    "max_fee_gwei_at_most": "the highest fee of a transaction, in gwei a unit of gas",
    "native_fee_at_most": "the highest fee in native currency that a call of this venue may be sent with",
    "remaining_at_least": "how much of its time a request must have left when it is signed",
}


def write_plan(table: dict[str, Any]) -> str:
    """Return the TOML text of a plan's table, which ``tomllib`` reads as the same table."""
    return "\n".join(_lines(table)) + "\n"


def _lines(table: dict[str, Any]) -> Iterator[str]:
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
