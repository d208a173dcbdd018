"""The links of a Markdown page, and where they lead: to files and headings as a Git host shows them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

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
