"""What is installed beside each program, written from its commands: the manual page, and the completion of three shells."""

import re
from collections.abc import Iterator
from importlib.metadata import version
from inspect import cleandoc
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from airlock_offline.cli.main import program as offline
from airlock_online.cli.main import program as online
from airlock_shared.cli.explain import EXIT_CODES
from airlock_shared.cli.machine import SHELLS
from airlock_shared.cli.program import LazyCommands, completion_variable

ROOT = Path(__file__).parents[2]
PROGRAMS = {"airlock-online": online, "airlock-offline": offline}
PLACES = {  # below `share`, where manual readers and shells look
    "bash": "bash-completion/completions/{}",
    "zsh": "zsh/site-functions/_{}",
    "fish": "fish/vendor_completions.d/{}.fish",
}


def files() -> dict[Path, str]:
    """Return every file by its place in the repository."""
    found = {}
    for name, program in PROGRAMS.items():
        share = ROOT / name.removeprefix("airlock-") / "share"
        assert isinstance(program, LazyCommands)
        found[share / f"man/man1/{name}.1"] = man_page(name, program)
        for shell in SHELLS:
            kind = get_completion_class(shell)
            assert kind is not None
            script = kind(program, {}, name, completion_variable(name)).source_vars()
            found[share / PLACES[shell].format(name)] = kind.source_template % script
    return found


def man_page(name: str, program: LazyCommands) -> str:
    """Return a program's manual page (section 1): every command under its heading, with its options and its example."""
    context = click.Context(program, info_name=name)
    purpose = " ".join((program.help or "").split())
    lines = [
        rf".\" Written by `make docs` from the commands of {name}.",
        f'.TH {name.upper()} 1 "" "{name} {version(name)}" "Airlock"',
        ".SH NAME",
        rf"{_text(name)} \- {_text(purpose.partition(': ')[2].partition('.')[0])}",
        ".SH SYNOPSIS",
        f".B {_text(name)}",
        _text(" ".join(program.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        _text(purpose),
        ".SH OPTIONS",
        *_options(program, context),
    ]
    for heading, rows in program.headings.items():
        lines += [f".SH {_text(heading.upper())}"]
        for command in rows:
            member = program.get_command(context, command)
            assert member is not None
            lines += _command(command, member, context)
    lines += [".SH EXIT STATUS"]
    for code, (means, _) in EXIT_CODES.items():
        lines += [".TP", f".B {int(code)}", _text(means)]
    other = next(other for other in PROGRAMS if other != name)
    lines += [".SH SEE ALSO", rf"\fB{_text(other)}\fR(1)"]
    return "\n".join(lines) + "\n"


def _command(name: str, command: click.Command, above: click.Context) -> Iterator[str]:
    """Yield the part of a command, and the parts of the commands below it."""
    context = click.Context(command, info_name=name, parent=above)
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield f".SS {_text(context.command_path)} {_text(' '.join(command.collect_usage_pieces(context)))}"
        yield from _paragraphs(cleandoc(command.help or ""))  # Python 3.13 takes the indentation away itself
        yield from _options(command, context)
    if isinstance(command, click.Group):
        for member in command.list_commands(context):
            found = command.get_command(context, member)
            assert found is not None
            yield from _command(member, found, context)


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".PP"
        if paragraph.startswith("\b"):  # click's mark for lines that stay as they are
            yield from (".nf", *map(_text, paragraph.splitlines()[1:]), ".fi")
        else:
            yield _text(" ".join(paragraph.split()))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and isinstance(parameter, click.Option) and "--help" not in parameter.opts:
            yield from (".TP", f".B {_text(record[0])}", _text(" ".join(record[1].split())))


def _text(text: str) -> str:
    """Return text that a manual reader shows as it is."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga")
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


def write_files() -> None:
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
