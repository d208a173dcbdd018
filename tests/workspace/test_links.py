"""Every link of every page leads to a file and a heading that are there, and shows the name of the file it leads to."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from workspace.links import broken_links, links_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FILES = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
TOP = {"README.md", "architecture.md", "auditors.md", "threat-model.md", "claims.md", "contributing.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert broken_links(page) == []


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_names_a_path_of_the_documentation_that_is_not_there(page: Path) -> None:
    named = re.findall(r"`(docs/[\w./-]+)`", page.read_text())
    assert [path for path in named if not (ROOT / path).exists()] == []


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
