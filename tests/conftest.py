"""What every part of the tests says at its end to a continuous run: which tests it left out, and why.

Where ``AIRLOCK_LEFT_OUT`` names a file, one line a reason is written to it: how many tests, a tab, the reason.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

_LEFT_OUT: Counter[str] = Counter()


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and isinstance(report.longrepr, tuple):
        _LEFT_OUT[str(report.longrepr[2]).removeprefix("Skipped: ").partition("\n")[0]] += 1


pytest_runtest_logreport = _note
pytest_collectreport = _note


def pytest_sessionfinish() -> None:
    """Write the list; an empty file says that nothing was left out."""
    if path := os.environ.get("AIRLOCK_LEFT_OUT"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("".join(f"{count}\t{why}\n" for why, count in sorted(_LEFT_OUT.items())))
