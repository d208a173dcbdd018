"""A program's command line from its start to its exit code: every foreseen error is explained, none has a stack trace."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TextIO

import click
from click.shell_completion import CompletionItem, shell_complete

from airlock_shared.cli.terminal import error_as_json, explain_error, say, show_json
from airlock_shared.errors import AirlockError, ExitCode, UsageError
from airlock_shared.start import CONTINUE, held_signals
from airlock_shared.text.safe import WIDTH

# ---- commands -------------------------------------------------------------------------------------------------------
# A program's commands: each imported when it is asked for, listed and completed without importing any.


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
        with held_signals():
            command: click.Command = getattr(
                import_module(f"{self.package}.{self.modules.get(name, python_name)}"), python_name
            )
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


# ---- program --------------------------------------------------------------------------------------------------------


def run(command: click.Command, arguments: list[str] | None = None) -> int:
    """Run a program's command line and return its exit code; every foreseen error is explained, none has a stack trace."""
    words = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in words
    try:
        code = _invoke(command, words)
        for stream in (sys.stdout, sys.stderr):  # what is still held back, while a failure can still be told
            stream.flush()
    except AirlockError as error:
        code = _failed(error, as_json)
    except click.ClickException as error:
        from airlock_shared.cli.mistyped import mistyped  # noqa: PLC0415 - loaded when somebody has mistyped

        code = _failed(mistyped(error), as_json)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _tell(say, f"\nInterrupted. {CONTINUE}", sys.stderr)
        code = int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        give_up(sys.stdout)
        code = int(ExitCode.INTERRUPTED)
    except OSError as error:  # a disk that is full, a folder without permission, outside what wraps its own errors
        code = _failed(_cannot(error), as_json)
        give_up(sys.stdout)
    return code


def _invoke(command: click.Command, words: list[str]) -> int:
    if sys.stderr is None:  # closed: what is told there goes nowhere, and no file that is opened comes in its place
        while os.open(os.devnull, os.O_RDWR) < 2:
            pass
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - until the end
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what the terminal's encoding has no sign for ends no command
            stream.reconfigure(errors="surrogateescape" if stream is sys.stdin else "backslashreplace")
    if sys.stdout is None:
        raise UsageError("there is no stdout to write the result to", do="run the command with its output open")
    program = Path(sys.argv[0]).name
    variable = completion_variable(program)
    if asked := os.environ.get(variable):  # a shell asks what a line may go on with
        shell_complete(command, {}, program, variable, asked)
        return int(ExitCode.DONE)
    try:
        with command.make_context(program, list(words)) as context:
            _require_width()
            command.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (AirlockError, OSError) as error:
        if _is_of_interruption(error):
            raise KeyboardInterrupt from error
        raise
    return int(ExitCode.DONE)


def _is_of_interruption(error: BaseException | None) -> bool:
    """Tell whether a file was closed twice because Ctrl-C came while it was closed: nothing else is wrong."""
    found = set()
    while error:
        found.add(getattr(error, "errno", type(error)))
        error = error.__cause__ or error.__context__
    return {errno.EBADF, KeyboardInterrupt} <= found


def _require_width() -> None:
    """Refuse a terminal that would break our lines: what stood after the break would begin a row, like a line of ours."""
    for stream in (sys.stdout, sys.stderr):
        if stream.isatty():
            found = os.get_terminal_size(stream.fileno()).columns
            if 0 < found < WIDTH:  # 0: it does not say
                raise UsageError(
                    f"this terminal is too narrow: it has {found} columns",
                    do=f"make it {WIDTH} columns wide, or its letters smaller, and run the command again",
                )


def give_up(stream: TextIO) -> None:
    """Give up an output, so that nothing fails over it again when the process ends."""
    with suppress(OSError, ValueError):  # where it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _cannot(error: OSError) -> UsageError:
    name = f"{error.filename}: " if error.filename else ""
    return UsageError(f"{name}{error.strerror}", do="check the folder, its permissions and the free space")


def _failed(error: AirlockError, as_json: bool) -> int:
    _tell(say, explain_error(error), sys.stderr)
    if as_json:
        _tell(show_json, error_as_json(error), sys.stdout)
    return int(error.exit_code)


def _tell(tell: Callable[[Any], None], what: Any, stream: TextIO) -> None:
    """Tell how it ended, where that can be told: a disk that is full behind a stream changes no exit code."""
    try:
        tell(what)
    except OSError:
        give_up(stream)
