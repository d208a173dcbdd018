"""Every link of every page leads to a file and a heading that are there, and shows the name of the file it leads to."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FILES = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
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


def broken_links(page: Path) -> list[str]:
    """Return the links of a page that lead to no file, or to no heading of it."""
    return [f"{page.name}: {target}" for target in links_of(page) if not _leads_somewhere(page, target)]


def _leads_somewhere(page: Path, target: str) -> bool:
    file, _, anchor = target.partition("#")
    there = page.parent / file if file else page
    return there.exists() and (not anchor or (there.suffix == ".md" and anchor in anchors_of(there)))


def _prose(page: Path) -> str:
    return _BLOCK.sub("", page.read_text())


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
