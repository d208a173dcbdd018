"""What a person's scripts rely on, read from the code: commands with their options, check ids, exit codes, format names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

FORMAT = re.compile(r'"(airlock/[a-z-]+@[0-9]+)"')


def tree(command: click.Command, name: str) -> dict[str, Any]:
    """Return a command's parameters, and those of the commands below it, as JSON."""
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    places = {parameter: {"place": place} for place, parameter in enumerate(arguments, start=1)}
    parameters = {_key(p): {**_parameter(p), **places.get(p, {})} for p in command.params}  # type: ignore[call-overload]
    node: dict[str, Any] = {"parameters": parameters}
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        members = {member: command.get_command(context, member) for member in sorted(command.list_commands(context))}
        node["commands"] = {member: tree(found, name) for member, found in members.items() if found is not None}
    return node


def _key(parameter: click.Parameter) -> str:
    """``--json`` of an option, ``FILE`` of an argument."""
    if isinstance(parameter, click.Argument):
        return (parameter.name or "").upper()
    return max([*parameter.opts, *parameter.secondary_opts], key=len)


def _parameter(parameter: click.Parameter) -> dict[str, Any]:
    kind = parameter.type
    choices = list(map(str, kind.choices)) if isinstance(kind, click.Choice) else []
    told = {
        "names": sorted([*parameter.opts, *parameter.secondary_opts]) if isinstance(parameter, click.Option) else [],
        "type": kind.name,
        "choices": choices,
        "limits": [kind.min, kind.max] if isinstance(kind, click.IntRange | click.FloatRange) else [],
        "default": _default(parameter.default),
        "required": parameter.required,
        "multiple": parameter.multiple,
        "values": parameter.nargs,
        "flag": isinstance(parameter, click.Option) and parameter.is_flag,
    }
    return {
        name: value for name, value in told.items() if value not in ([], False, None) and (name, value) != ("values", 1)
    }


def _default(value: Any) -> Any:
    """Return a default as JSON; none when click has none."""
    if isinstance(value, list | tuple):
        return [_default(member) for member in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return None if "UNSET" in repr(value) or callable(value) else str(value)


def formats(folders: Iterable[Path]) -> list[str]:
    """Return the names of the document formats that the sources write or read."""
    texts = (path.read_text() for folder in folders for path in folder.rglob("*.py"))
    return sorted({name for text in texts for name in FORMAT.findall(text)})
