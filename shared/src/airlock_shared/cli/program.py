"""A program's command line from its start to its exit code: every foreseen error is explained, none has a stack trace."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import click
from click.shell_completion import shell_complete

from airlock_shared.cli.lazy_commands import completion_variable
from airlock_shared.cli.terminal import error_as_json, explain_error, say, show_json
from airlock_shared.errors import AirlockError, ExitCode, UsageError
from airlock_shared.start import CONTINUE
from airlock_shared.text.safe import WIDTH


def run(command: click.Command, arguments: list[str] | None = None) -> int:
    """Run a program's command line and return its exit code; every foreseen error is explained, none has a stack trace."""
    words = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in words
    try:
        code = _invoke(command, words)
        for stream in (sys.stdout, sys.stderr):  # what is still held back, while a failure can still be told
            if stream is not None:
                stream.flush()
    except AirlockError as error:
        code = _failed(error, as_json)
    except click.ClickException as error:
        from airlock_shared.cli.explain import mistyped  # noqa: PLC0415 - explanations: loaded when somebody has mistyped

        code = _failed(mistyped(error), as_json)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _tell(f"\nInterrupted. {CONTINUE}")
        code = int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        give_up(sys.stdout)
        code = int(ExitCode.INTERRUPTED)
    except OSError as error:  # a disk that is full, a folder without permission, outside what wraps its own errors
        give_up(sys.stdout)
        code = _failed(_cannot(error), as_json=False)
    return code


def _invoke(command: click.Command, words: list[str]) -> int:
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
        if stream is not None and stream.isatty():
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
    _tell(explain_error(error))
    if as_json and sys.stdout is not None:
        try:
            show_json(error_as_json(error))
        except OSError:
            give_up(sys.stdout)
    return int(error.exit_code)


def _tell(text: str) -> None:
    """Say how it ended, where that can be said: a disk that is full behind stderr changes no exit code."""
    try:
        say(text)
    except OSError:
        give_up(sys.stderr)
