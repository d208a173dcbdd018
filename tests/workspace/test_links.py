"""Every link of every page leads to a file and a heading, and every command line that it tells people to type exists."""

import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from workspace.man_pages import PROGRAMS, ROOT

DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FILES = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
GUIDES = [page for page in PAGES if page.name != "CHANGELOG.md"]
MAKE = re.compile(r"(?:^|`)make ([a-z][a-z-]*)", re.MULTILINE)
COMMAND = re.compile(r"(?<![\w/-])airlock-(?:online|offline)(?![\w/-])(?:(?!airlock-)[^|`\n])*")
TOP = {"README.md", "architecture.md", "auditors.md", "threat-model.md", "claims.md", "contributing.md"}


_BLOCK = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]*)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_TEXT_OF_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def links_of(page: Path) -> list[str]:
    """Return the targets of a page's links to other pages and headings; blocks of code have none."""
    return [target for target in _LINK.findall(_prose(page)) if not re.match(r"[a-z]+:", target)]


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings; the second heading of a name ends in ``-1``."""
    counted: Counter[str] = Counter()
    anchors = set()
    for heading in _HEADING.findall(_prose(page)):
        text = _TEXT_OF_LINK.sub(r"\1", heading).replace("`", "").strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        anchors.add(f"{anchor}-{counted[anchor]}" if counted[anchor] else anchor)
        counted[anchor] += 1
    return anchors


def _leads_somewhere(page: Path, target: str) -> bool:
    file, _, anchor = target.partition("#")
    there = page.parent / file if file else page
    return there.exists() and (not anchor or (there.suffix == ".md" and anchor in anchors_of(there)))


def _prose(page: Path) -> str:
    return _BLOCK.sub("", page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading_and_every_path_that_is_named_is_there(page: Path) -> None:
    assert [target for target in links_of(page) if not _leads_somewhere(page, target)] == []
    named = re.findall(r"`(docs/[\w./-]+)`", page.read_text())
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            waiting += [page.parent / target.partition("#")[0] for target in links_of(page) if target[0] != "#"]
        elif page.is_dir():
            waiting += page.glob("*.md")
    assert [str(page.relative_to(ROOT)) for page in PAGES if page.resolve() not in reached] == []


def test_the_top_of_the_documentation_is_six_pages() -> None:
    assert {path.name for path in DOCS.glob("*.md")} == TOP
    assert {path.name for path in DOCS.iterdir() if path.is_dir()} == {"adr", "guides", "reference"}


def test_no_source_names_a_page_that_is_not_there() -> None:
    """Help texts, docstrings, the Makefile and the kit's scripts send people to pages that exist."""
    named = {
        (file, path)
        for file in FILES
        if file.endswith((".py", ".sh", ".toml", "Makefile")) and (ROOT / file).exists()
        for path in re.findall(r"\bdocs/[\w/-]+\.md\b", (ROOT / file).read_text())
    }
    assert len(named) > 5
    assert sorted((file, path) for file, path in named if not (ROOT / path).exists()) == []


def test_every_file_that_a_decision_names_is_there() -> None:
    pages = {page.name: page.read_text() for page in (DOCS / "adr").glob("*.md")}
    named = {(page, path) for page, text in pages.items() for path in re.findall(r"`([\w.]+/[\w./]+|\w+\.py)`", text)}
    assert len(named) > 20
    assert sorted(path for path in named if not any(f"/{path[1]}" in f"/{file}" for file in FILES)) == []


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


def test_every_command_line_and_target_of_make_in_the_documentation_exists() -> None:
    lines = [(page.name, line) for page in GUIDES for line in _lines(page)]
    assert [(page, line, wrong) for page, line in lines if (wrong := _wrong(line))] == []
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {target for page in GUIDES for target in MAKE.findall(page.read_text())}
    assert {"rehearse", "test", "offline-kit", "docs", "lint"} <= named
    assert named - targets == set()
