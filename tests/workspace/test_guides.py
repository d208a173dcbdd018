"""What the guides tell people to type exists: every command and option of every command line in the documentation."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from airlock_offline.cli import main as offline
from airlock_online.cli import main as online

ROOT = Path(__file__).parents[2]
PROGRAMS = {"airlock-online": online.program, "airlock-offline": offline.program}
PAGES = sorted([path for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")) if path.name != "CHANGELOG.md"])
MAKE = re.compile(r"(?:^|`)make ([a-z][a-z-]*)", re.MULTILINE)
COMMAND = re.compile(r"(?<![\w/-])airlock-(?:online|offline)(?![\w/-])(?:(?!airlock-)[^|`\n])*")


def _lines(page: Path) -> Iterator[str]:
    """Yield what a page tells people to type: command lines in code spans and in code blocks."""
    in_block, going_on = False, ""
    for line in page.read_text().splitlines():
        if line.lstrip().startswith("```"):
            in_block = not in_block
        elif in_block:
            going_on += line
            if going_on.endswith("\\"):
                going_on = going_on[:-1]
                continue
            typed = re.sub(r"/\S*/bin/", "", going_on)
            yield from (
                found[0] for found in COMMAND.finditer(typed) if not typed[: found.start()].rstrip(" ").endswith(" of")
            )
            going_on = ""
        else:
            yield from (span for span in re.findall(r"`([^`]+)`", line) if COMMAND.match(span))


def _wrong(line: str) -> str:
    """Return what is wrong with a command line, or an empty text."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return ""  # a sentence in a screen, with an apostrophe
    command: click.Command = PROGRAMS[words[0]]
    with click.Context(command) as context:
        for word in words[1:]:
            if word.startswith("--"):
                known = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
                if word.partition("=")[0] not in known | {"--help", "--version"}:
                    return f"{command.name} has no option {word}"
            elif isinstance(command, click.Group) and re.fullmatch(r"[a-z0-9-]+,?", word):
                found = command.get_command(context, word.rstrip(","))
                if found is None and command.name != "rehearse":
                    return f"{command.name} has no command {word}"
                command = found or command
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_line_in_the_documentation_exists(page: Path) -> None:
    assert [(line, wrong) for line in _lines(page) if (wrong := _wrong(line))] == []


def test_every_target_of_make_in_the_documentation_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {target for page in PAGES for target in MAKE.findall(page.read_text())}
    assert {"rehearse", "test", "offline-kit", "docs", "lint"} <= named
    assert named - targets == set()
