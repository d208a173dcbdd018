"""The help of every command of both programs: a sentence, an example, ``--json``, and 80 columns."""

import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from airlock_offline.cli.main import program as offline
from airlock_online.cli.main import program as online
from airlock_shared.cli.program import LazyCommands

PROGRAMS = {"airlock-online": online, "airlock-offline": offline}
WITHOUT_JSON = {
    "airlock-online rehearse": "it plays commands before people; each of them has --json",
    "airlock-online rehearse air-gapped": "it leads people, in the second terminal of a rehearsal",
    "airlock-online rehearse serve": "it serves until Ctrl-C, and prints its addresses as one line of JSON anyway",
}


def _walk(words: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=words.split(" ")[0])
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            assert member is not None
            yield from _walk(f"{words} {name}", member)


COMMANDS = {words: command for name, program in PROGRAMS.items() for words, command in _walk(name, program)}


def _help(words: str) -> str:
    name, *rest = words.split(" ")
    ended = CliRunner().invoke(PROGRAMS[name], [*rest, "--help"], prog_name=name)
    assert ended.exit_code == 0
    return ended.output


@pytest.mark.parametrize("words", COMMANDS)
def test_the_help_is_a_sentence_and_an_example_in_80_columns_and_the_command_speaks_json(words: str) -> None:
    shown = _help(words)
    lines = shown.splitlines()
    assert lines[0].startswith(f"Usage: {words} ")
    first = lines[lines.index("") + 1]
    assert re.match(r"  [A-Z][a-z]+ ", first), first
    assert re.search(r"(?m)^  Example", shown), "no example"
    example = shown[shown.index("  Example") :]
    assert words.split(" ")[0] in example
    assert "PROGRAM" not in shown
    assert "\\b" not in shown
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    speaks = any("--json" in parameter.opts for parameter in COMMANDS[words].params)
    assert speaks != (words in WITHOUT_JSON)


@pytest.mark.parametrize("words", COMMANDS)
def test_an_example_names_options_that_the_command_has(words: str) -> None:
    shown = _help(words)
    example = shown[shown.index("  Example") :].split("\n\n")[0]
    own = {option for parameter in COMMANDS[words].params for option in (*parameter.opts, *parameter.secondary_opts)}
    lines = re.findall(rf"(?m)^ +(?:eval \"\$\()?{re.escape(words)}(?: .*)?$(?:\n {{6,}}(?!airlock).*)*", example)
    assert lines, "no example begins with the command's own words"
    for line in lines:
        assert {word.split("=")[0] for word in line.split() if word.startswith("-") and word != "-"} <= own


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_command_stands_under_one_heading_of_a_ceremony(name: str) -> None:
    program = PROGRAMS[name]
    assert isinstance(program, LazyCommands)
    found = program.headings
    assert len(set(found)) == len(found) > 7
    assert [command for rows in found.values() for command in rows] == list(program.table)
    assert max(len(rows) for rows in found.values()) <= 7
    shown = CliRunner().invoke(program, ["--help"], prog_name=name).output
    assert max(map(len, shown.splitlines())) <= 80
    sections = dict(re.findall(r"(?m)^([A-Z][^\n]*):\n((?:  .*\n)+)", shown))
    for heading, rows in found.items():
        assert re.findall(r"(?m)^  ([a-z-]+) ", sections.pop(heading)) == list(rows)
    assert list(sections) == ["Options"]
