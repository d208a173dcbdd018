"""What people read is short: the words that are written by hand are counted, page by page."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("docs/adr/", "docs/reference/generated/", "tests/vectors/")
GENERATED = re.compile(
    r"<!-- (?P<name>[a-z ]+): written by make docs -->.*?<!-- end -->"
    r"|<!-- the floors, by `make docs` -->.*?<!-- end of the floors -->"
    r"|<!-- (?P<bench>bench-[a-z-]+) -->.*?<!-- /(?P=bench) -->",
    re.DOTALL,
)
ALL = 30_000
PAGE = 500
AT_MOST = {
    "README.md": 900,
    "CONTRIBUTING.md": PAGE,
    "docs/architecture.md": 2 * PAGE,
}


def written(text: str) -> int:
    """Return how many words of a page are written by hand: what has a letter or a digit. Blocks of code count."""
    return sum(any(sign.isalnum() for sign in word) for word in GENERATED.sub("", text).split())


def _pages() -> dict[str, int]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split() if not name.startswith(LEFT_OUT) and (ROOT / name).exists()]
    return {name: written((ROOT / name).read_text()) for name in names}


if __name__ == "__main__":
    for name, words in sorted(_pages().items(), key=lambda row: row[1]):
        print(f"{words:6} {name}")
    print(f"{sum(_pages().values()):6} in all")
