"""What both programs' command lines share: results on stdout, talk on stderr, errors with what to do, exit codes.

With ``--json`` stdout holds one JSON document (or JSON lines for a stream) and nothing else, also for an error.
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import click

from airlock_shared.checks.table import CHECKS
from airlock_shared.errors import AirlockError, Declined, ExitCode, Refusal
from airlock_shared.text import safe_again, wrapped

INPUT = click.Path(path_type=Path, dir_okay=False)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout instead of text.")


WIDTH = 80


def say(text: str = "") -> None:
    """Write talk to stderr, a long line wrapped at 80 columns between words."""
    if len(text) > WIDTH and "\n" not in text:
        text = textwrap.fill(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    click.echo(text, err=True)


def show(text: str) -> None:
    """Write a line of the result to stdout."""
    click.echo(text)


def show_json(value: Any) -> None:
    """Write the result as one JSON document to stdout, in ASCII: JSON itself would let some control characters pass."""
    click.echo(json.dumps(value, indent=2))


def ask_yes(question: str) -> None:
    """Ask a question that only the whole word ``Yes`` answers.

    Raises ``Declined`` for any other answer, or when nobody can answer.
    """
    click.echo(f"{question}\nType Yes to go on, anything else to stop: ", err=True, nl=False)
    answer = sys.stdin.readline().rstrip("\n")
    if not sys.stdin.isatty():
        say(answer)
    if answer != "Yes":
        raise Declined("not confirmed: the answer was not Yes", do="run the command again when everybody agrees")


def explain(error: AirlockError) -> str:
    """Return an error as the lines that a person reads: what, got, expected, what to do; whatever it quotes is escaped."""
    heading = f"{error.check}: " if isinstance(error, Refusal) else ""
    place = f" (at {error.where})" if isinstance(error, Refusal) and error.where else ""
    lines = [safe_again(f"{heading}{error.what}{place}")]
    if isinstance(error, Refusal):
        lines += rows("  got:      ", error.got) if error.got else []
        lines += rows("  expected: ", error.expected) if error.expected else []
    do = advice(error)
    lines += [f"  do:       {safe_again(do)}"] if do else []
    return "\n".join(lines)


def rows(label: str, text: str, *, limit: int = 2000) -> Iterator[str]:
    """Yield untrusted text beside its label, escaped, in rows of 80 columns that stay in their column."""
    for row in wrapped(safe_again(text, limit=limit), WIDTH - len(label)):
        yield f"{label}{row}"
        label = " " * len(label)


def advice(error: AirlockError) -> str:
    """Return what to do about an error: its own advice, else that of its check."""
    if error.do or not isinstance(error, Refusal):
        return error.do
    info = CHECKS.get(error.check)
    return info.do if info else ""


def run(command: click.Command, arguments: list[str] | None = None) -> int:
    """Run a program's command line and return its exit code; every foreseen error is explained, none has a stack trace."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        code = command.main(args=words, standalone_mode=False)  # click returns the code of an Exit
        return code if isinstance(code, int) else int(ExitCode.DONE)
    except AirlockError as error:
        return _failed(error, "--json" in words)
    except click.exceptions.Abort:
        return _interrupted()
    except KeyboardInterrupt:
        return _interrupted()
    except click.ClickException as error:
        error.show()
        return int(ExitCode.USAGE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.INTERRUPTED)


def _failed(error: AirlockError, as_json: bool) -> int:
    say(explain(error))
    if as_json:
        show_json({"ok": False, "error": error.as_json() | {"do": advice(error)}})
    return int(error.exit_code)


def _interrupted() -> int:
    say("\nInterrupted. What was done is recorded; the same command goes on from there.")
    return int(ExitCode.INTERRUPTED)


def worst(codes: list[ExitCode]) -> ExitCode:
    """Return the exit code of several results: the first that is not 0 in the order of severity, 0 when all are."""
    order = (
        ExitCode.REFUSED,
        ExitCode.UNKNOWN,
        ExitCode.EXECUTION_FAILED,
        ExitCode.MARKET_DECLINED,
        ExitCode.SERVICE,
        ExitCode.EXPIRED,
        ExitCode.DECLINED,
        ExitCode.DOCUMENT,
        ExitCode.DEVICE,
        ExitCode.USAGE,
    )
    return next((code for code in order if code in codes), ExitCode.DONE)


def finish(code: ExitCode) -> None:
    """End the command with a code that is not an error of the command itself."""
    if code is not ExitCode.DONE:
        raise click.exceptions.Exit(int(code))


class LazyCommands(click.Group):
    """A program's commands, each imported when it is asked for, so that a start pays for one command alone.

    ``table`` maps a name to the module that holds it, the attribute there, and its line in the list of commands.
    """

    table: ClassVar[dict[str, tuple[str, str, str]]] = {}

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names in the order of the day."""
        return list(self.table)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Return the command of this name, or None."""
        if name not in self.table:
            return None
        module, attribute, _ = self.table[name]
        command: click.Command = getattr(import_module(module), attribute)
        for each in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
            each.help = each.help and each.help.replace("\\b\n", "\b\n")  # click's mark for lines that stay as they are
        return command

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in self.table.items()])
