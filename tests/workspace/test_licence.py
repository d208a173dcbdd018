"""One licence for the repository and for each distribution, whose wheel carries its text."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = ("shared", "online", "online/rehearsal", "offline")
APACHE_2_SHA256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"  # its text as Debian has it


def test_the_licence_is_the_text_of_apache_2() -> None:
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE_2_SHA256


@pytest.mark.parametrize("folder", DISTRIBUTIONS)
def test_each_distribution_states_it_and_carries_its_text(folder: str) -> None:
    """A wheel takes the text from its own folder alone: a link that leads out of it is refused when it is built."""
    assert tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]["license"] == "Apache-2.0"
    assert (ROOT / folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert not (ROOT / folder / "LICENSE").is_symlink()
