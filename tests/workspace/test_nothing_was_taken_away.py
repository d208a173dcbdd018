"""What the scripts of a desk rely on is there still: no command, option, check id, exit code or format was taken away.

``commands.json`` was read from an earlier state with ``tree``. What is new stands in ``SINCE``, what has another
name, without anything else changed, in ``RENAMED``.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from airlock_shared.checks.catalogue import CHECKS_BY_ID
from airlock_shared.cli.mistyped import OF_ONE
from airlock_shared.errors import ExitCode
from airlock_software_ledger.server import program as software_ledger
from workspace import man_pages
from workspace.man_pages import ROOT

RENAMED = {"STATION": "CHECKPOINT", "--station": "--checkpoint", '"course"': '"workflow"'}
BEFORE: dict[str, Any] = json.loads(
    re.sub("|".join(RENAMED), lambda found: RENAMED[found[0]], (ROOT / "tests/workspace/commands.json").read_text())
)
SOURCES = [ROOT / half for half in ("shared/src", "online/src", "online/rehearsal/src", "offline/src")]
SINCE: dict[str, set[str]] = {
    "commands": {
        "airlock-offline ceremony compare --by",
        "airlock-online ceremony compare --by",
        "airlock-online rehearse air-gapped --channel",
    },
    "checks": set(),
    "exit_codes": set(),
    "formats": set(),
}
"""What was added since then, a command for all below it; nothing that was there before.

What went is no more in ``commands.json``: ``ceremony confirm``, since ``ceremony compare --by`` does the same;
``--as gif`` and ``--as sheet``, since no guide, page or decision names them.
"""

FORMAT = re.compile(r'"(airlock/[a-z-]+@[0-9]+)"')
PROGRAMS = man_pages.PROGRAMS | {"airlock-software-ledger": software_ledger}


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


def _rows(node: dict[str, Any], words: str) -> Iterator[tuple[str, object]]:
    """Yield a command and each of its parameters, by their words."""
    yield words, "command" if "commands" not in node else "group"
    for name, parameter in node["parameters"].items():
        yield f"{words} {name}", parameter
    for name, member in node.get("commands", {}).items():
        yield from _rows(member, f"{words} {name}")


THEN = {words: row for name, node in BEFORE["commands"].items() for words, row in _rows(node, name)}
NOW = {words: row for name, program in PROGRAMS.items() for words, row in _rows(tree(program, name), name)}


def _is_kept(then: object, now: object) -> bool:
    """Tell whether a parameter is as it was; it may have more choices."""
    if not isinstance(then, dict) or not isinstance(now, dict):
        return then == now
    are_there = set(then.get("choices", ())) <= set(now.get("choices", ()))
    return are_there and then | {"choices": ()} == now | {"choices": ()}


def test_every_command_option_and_argument_is_as_it_was_and_in_its_place() -> None:
    assert len(THEN) > 250
    assert {words: NOW.get(words) for words, row in THEN.items() if not _is_kept(row, NOW.get(words))} == {}


def test_every_check_id_exit_code_and_format_is_as_it_was() -> None:
    assert sorted(set(BEFORE["checks"]) - set(CHECKS_BY_ID)) == []
    assert {name: code for name, code in BEFORE["exit_codes"].items() if ExitCode.__members__.get(name) != code} == {}
    assert sorted(set(BEFORE["formats"]) - set(formats(SOURCES))) == []


@pytest.mark.parametrize(
    ("what", "then", "now"),
    [
        ("commands", set(THEN), set(NOW)),
        ("checks", set(BEFORE["checks"]), set(CHECKS_BY_ID)),
        ("exit_codes", set(BEFORE["exit_codes"]), set(ExitCode.__members__)),
        ("formats", set(BEFORE["formats"]), set(formats(SOURCES))),
    ],
    ids=SINCE,
)
def test_what_was_added_since_is_listed(what: str, then: set[str], now: set[str]) -> None:
    added = now - then
    assert {words for words in added if words.rpartition(" ")[0] not in added} == SINCE[what]


def _of_one_machine(here: str, there: str) -> set[str]:
    """Return the commands of one program that the other has not, without those below a group that is one itself."""
    found = {
        program: {words.partition(" ")[2] for words in NOW if words.startswith(program) and type(NOW[words]) is str}
        for program in (here, there)
    }
    alone = found[here] - found[there]
    return {command for command in alone if " " not in command or command.split()[0] not in alone}


def test_each_command_of_one_machine_is_listed_with_it() -> None:
    online_alone = _of_one_machine("airlock-online", "airlock-offline")
    offline_alone = _of_one_machine("airlock-offline", "airlock-online")
    assert {"online": online_alone, "offline": offline_alone} == OF_ONE, "OF_ONE is in shared/…/cli/mistyped.py"
