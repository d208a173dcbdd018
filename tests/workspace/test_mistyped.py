"""The list of commands that only one machine has is what the two programs have."""

from __future__ import annotations

from collections.abc import Iterator

import click

from airlock_offline.cli.main import program as offline
from airlock_online.cli.main import program as online
from airlock_shared.cli.explain import OF_ONE


def _commands(program: click.Group) -> Iterator[str]:
    context = click.Context(program, info_name="airlock")
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        yield name
        if isinstance(command, click.Group):
            yield from (f"{name} {member}" for member in command.commands)


def _alone(commands: set[str]) -> set[str]:
    """Return commands without those below a group that is in the list itself."""
    return {command for command in commands if " " not in command or command.split()[0] not in commands}


def test_each_command_of_one_machine_is_listed_with_it() -> None:
    here, there = set(_commands(online)), set(_commands(offline))
    alone = {"online": _alone(here - there), "offline": _alone(there - here)}
    assert alone == OF_ONE, "OF_ONE is in shared/…/cli/explain.py"
