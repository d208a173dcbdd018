"""A program's commands: imported when they are asked for, listed and completed without importing any."""

from __future__ import annotations

import os
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import click

from airlock_shared.cli.console import json_option, show, show_json

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SHELLS = ("bash", "zsh", "fish")


class LazyCommands(click.Group):
    """A program's commands, each imported when it is asked for, so that a start pays for one command alone.

    ``table`` maps a name to the module that holds it, the attribute there, and its line in the list of commands.
    """

    table: ClassVar[dict[str, tuple[str, str, str]]] = {}

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names in the order of the day."""
        return list(self.table)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the command of this name, or None."""
        if name not in self.table:
            return None
        module, attribute, _ = self.table[name]
        return _own(getattr(import_module(module), attribute), context.find_root().command_path)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in self.table.items()])

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin so, without importing any command."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=row[2]) for name, row in self.table.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, context, incomplete)


def _own(command: click.Command, program: str) -> click.Command:
    """Return a program's own copy of a command, whose help names the program; both halves share some commands."""
    own = copy(command)
    text = own.help or ""  # \\b is click's mark for lines that stay as they are
    own.help = text.replace("\\b\n", "\b\n").replace("PROGRAM", program)
    if isinstance(own, click.Group):
        own.commands = {name: _own(member, program) for name, member in own.commands.items()}
    return own


def _variable(program: str) -> str:
    """Return the variable in which a shell tells a program what to complete; click's own name for it."""
    return f"_{program.replace('-', '_')}_COMPLETE".upper()


def complete(command: click.Command, program: str) -> bool:
    """Answer a shell that asks what a line may go on with; False when none asks."""
    instruction = os.environ.get(_variable(program))
    if not instruction:
        return False
    from click.shell_completion import shell_complete

    shell_complete(command, {}, program, _variable(program), instruction)
    return True


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
@click.pass_context
def COMMAND(context: click.Context, shell: str, as_json: bool) -> None:  # noqa: N802
    r"""Print the lines that make a shell complete this program's commands, options and file names.

    \b
    Example, for bash, in this terminal (for good: the same line in ~/.bashrc):
      eval "$(PROGRAM completion bash)"
    zsh: the same with zsh; fish: PROGRAM completion fish | source
    """
    from click.shell_completion import ShellComplete, get_completion_class

    program = context.find_root().command_path
    kind = get_completion_class(shell)
    if kind is None:  # click always has the three
        raise click.UsageError(f"no completion for {shell}")
    script = ShellComplete.source(kind(context.find_root().command, {}, program, _variable(program)))
    if as_json:
        show_json({"ok": True, "shell": shell, "script": script})
    else:
        show(script)
