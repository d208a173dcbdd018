"""A program's commands: each imported when it is asked for, listed and completed without importing any."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from importlib import import_module
from typing import Any, ClassVar

import click
from click.shell_completion import CompletionItem

READER = "airlock.picture-reader"
"""Where a program keeps, in its context's ``meta``, what reads pictures for its commands (``qr.sources.Reader``)."""


class LazyCommands(click.Group):
    """A program's commands, each imported when it is asked for, so that a start pays for one command alone.

    ``headings`` maps each heading, a part of the day, to its commands, in the order of the day, each with its line
    in the list. A command ``ring-bell`` is ``ring_bell`` in the module of ``package`` that ``modules`` names for it,
    or in one of its own name. ``before`` is called when a command's words are read, before the command begins.
    """

    package: ClassVar[str] = ""
    modules: ClassVar[dict[str, str]] = {}
    headings: ClassVar[dict[str, dict[str, str]]] = {}
    before: Callable[[click.Context], None] | None = None

    @property
    def table(self) -> dict[str, str]:
        """Every command with its line in the list, in the order of the day."""
        return {name: line for rows in self.headings.values() for name, line in rows.items()}

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names in the order of the day."""
        return list(self.table)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the command of this name, or None."""
        program = context.find_root().command_path
        return _own(self.load(name), program, self.before) if name in self.table else None

    def load(self, name: str) -> click.Command:
        """Import the command of this name."""
        python_name = name.replace("-", "_")
        command = getattr(import_module(f"{self.package}.{self.modules.get(name, python_name)}"), python_name)
        assert isinstance(command, click.Command)  # noqa: S101 (a table that names something else is our own mistake)
        return command

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands under their headings, without importing any."""
        column = max(map(len, self.table))
        for heading, rows in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(column), line) for name, line in rows.items()])

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin so, without importing any command."""
        found = [CompletionItem(name, help=line) for name, line in self.table.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, context, incomplete)


def _own(command: click.Command, program: str, before: Callable[[click.Context], None] | None) -> click.Command:
    """Return a program's own copy of a command, whose help names the program; both halves share some commands."""
    own = copy(command)
    text = own.help or ""  # \\b is click's mark for lines that stay as they are
    own.help = text.replace("\\b\n", "\b\n").replace("PROGRAM", program)
    if isinstance(own, click.Group):
        own.commands = {name: _own(member, program, before) for name, member in own.commands.items()}
    elif before is not None and (work := own.callback) is not None:

        def both(*given: Any, **named: Any) -> Any:
            before(click.get_current_context())
            return work(*given, **named)

        own.callback = both
    return own


def completion_variable(program: str) -> str:
    """Return the variable in which a shell tells a program what to complete; click's own name for it."""
    return f"_{program.replace('-', '_')}_COMPLETE".upper()
