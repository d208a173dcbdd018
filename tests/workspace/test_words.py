"""What people read is short: the words that are written by hand are counted, page by page."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("docs/adr/", "docs/reference/generated/", "tests/vectors/")
GENERATED = re.compile(
    r"<!-- [a-z ]+: written by make docs -->.*?<!-- end -->"
    r"|<!-- (?P<bench>bench-[a-z-]+) -->.*?<!-- /(?P=bench) -->",
    re.DOTALL,
)
ALL = 30_000
PAGE = 500
AT_MOST = {
    "README.md": 900,
    "CONTRIBUTING.md": PAGE,
    "docs/architecture.md": 2 * PAGE,
    "docs/auditors.md": 2 * PAGE,
    "docs/contributing.md": 2 * PAGE,
    "docs/guides/custodian.md": PAGE,
    "docs/guides/facilitator.md": PAGE,
    "docs/guides/led-ceremony.md": PAGE,  # the facilitator's second page
    "docs/guides/installer.md": PAGE,
    "docs/guides/first-ceremony.md": PAGE,
    "docs/guides/delegate-set-up.md": PAGE,
    "docs/guides/referral-set-up.md": PAGE,
    "docs/guides/market-close.md": PAGE,
    "docs/guides/new-venue.md": PAGE,
    "docs/guides/README.md": PAGE,
    "CHANGELOG.md": PAGE,
}
"""The words of a page that people print or begin with. Blocks of code count; a row's rules do not."""


def written(text: str) -> int:
    """Return how many words of a page are written by hand: pieces between blanks that have a letter or a digit.

    The name of a test is a pointer that another test follows, and no word.
    """
    words = [word for word in GENERATED.sub("", text).split() if not word.startswith("`tests/")]
    return sum(any(sign.isalnum() for sign in word) for word in words)


def pages() -> dict[str, int]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split() if not name.startswith(LEFT_OUT) and (ROOT / name).exists()]
    return {name: written((ROOT / name).read_text()) for name in names}


def test_all_that_people_wrote_is_read_in_a_few_hours() -> None:
    words = pages()
    print(f"written by hand: {sum(words.values()):,} words on {len(words)} pages")
    assert sum(words.values()) <= ALL


@pytest.mark.parametrize("page", AT_MOST)
def test_a_page_is_a_page(page: str) -> None:
    assert pages()[page] <= AT_MOST[page]


def test_every_guide_has_its_length() -> None:
    assert [name for name in pages() if name.startswith("docs/guides/") and name not in AT_MOST] == []


def test_what_code_writes_is_not_counted() -> None:
    block = "`tests/x.py::test_y`\n<!-- models: written by make docs -->\n| three more words |\n<!-- end -->"
    assert written(f"# A page | `x` | --- - of 5 words\n{block}\n<!-- bench-qr -->\nno\n<!-- /bench-qr -->\n") == 6
