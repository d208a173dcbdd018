"""``actions``: what a plan can ask for, with fields, units and an example."""

from __future__ import annotations

import textwrap

import click

from airlock_shared.cli.terminal import json_option, show, show_all, show_json
from airlock_shared.plan.known import literal
from airlock_shared.text.safe import WIDTH
from airlock_shared.units import UNIX_MS, UNIX_S
from airlock_shared.venue.actions import ACTIONS, Action, Parameter
from airlock_shared.venue.structs import AUTHORIZATION


@click.command("actions")
@click.argument("name", required=False, metavar="[ACTION]", type=click.Choice(list(ACTIONS)))
@json_option
def actions(name: str | None, as_json: bool) -> None:
    r"""List the actions with their endpoints, fields, units and meanings, and an example; or those of one action.

    \b
    Example:
      airlock-online actions delegate
    """
    chosen = [ACTIONS[name]] if name else list(ACTIONS.values())
    if as_json:
        show_json([_as_json(action) for action in chosen])
        return
    for action in chosen:
        show(f"{action.name}")
        show(f"  {action.title}")
        given = action.name == AUTHORIZATION
        show(
            f"  {action.path or ('a plan says all of it' if given else 'no documented endpoint: airlock-online call')}"
        )
        show(f"  {'signs' if given else 'returns'} {_result(action)}")
        for parameter in action.parameters:
            show_all(_parameter_lines(parameter))
        if given:
            continue
        words = " ".join(["build", action.name, *example(action)])
        for line in textwrap.wrap(
            words, WIDTH - 6, break_long_words=False, break_on_hyphens=False, subsequent_indent="      "
        ):
            show(f"    {line}")


def _result(action: Action) -> str:
    if action.name == AUTHORIZATION:
        return f"an authorization of {action.primary_type}, which goes with its order"
    return f"a transaction that calls {action.call}" if action.call else f"an intent, {action.primary_type}"


def _parameter_lines(parameter: Parameter) -> list[str]:
    optional = "" if parameter.required else ", optional"
    default = f", {parameter.default} if left out" if parameter.default else ""
    told = [parameter.meaning]
    if parameter.choices:
        told.insert(0, f"one of {', '.join(parameter.choices)}")
    if parameter.sent != parameter.name:
        told.append(f"sent as {parameter.sent}" if parameter.sent else "not sent")
    indent = " " * 29
    wrapped = textwrap.wrap("; ".join(told), WIDTH, initial_indent=indent, subsequent_indent=indent)
    return [f"  {parameter.name:<26} {parameter.unit.name}{optional}{default}", *wrapped]


def example(action: Action) -> list[str]:
    """Return NAME=VALUE words that the action accepts: what it requires, and one of pair and pairIndex."""
    also = {"pairIndex", "price"} if action.name == "tpsl-partial" else {"pairIndex"}
    needed = [p for p in action.parameters if (p.required and not p.default) or p.name in also]
    return [f"{p.name}={_value(p)}" for p in needed]


def _value(parameter: Parameter) -> str:
    if parameter.unit in (UNIX_S, UNIX_MS):
        return "1806451200" if parameter.unit is UNIX_S else "1806451200000"
    return literal(parameter).strip('"')


def _as_json(action: Action) -> dict[str, object]:
    fields = [
        {
            "name": p.name, "sent_as": p.sent, "unit": p.unit.name, "required": p.required, "default": p.default,
            "choices": list(p.choices), "meaning": p.meaning,
        }
        for p in action.parameters
    ]  # fmt: skip
    return {
        "name": action.name,
        "title": action.title,
        "path": action.path,
        "struct": action.primary_type,
        "call": action.call,
        "fields": fields,
        "example": example(action),
    }
