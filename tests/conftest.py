"""What every part of the tests has: temporary files of its own, and a list of what it left out, and why, at its end.

Where ``AIRLOCK_LEFT_OUT`` names a file, one line a reason is written to it: how many tests, a tab, the reason.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

_LEFT_OUT: Counter[str] = Counter()


@pytest.fixture(scope="session", autouse=True)
def _own_temporary_files() -> Iterator[None]:
    """Have the commands of this run lock the test seed's account among themselves, and not with another run's."""
    with TemporaryDirectory(prefix="airlock-tests-", ignore_cleanup_errors=True) as folder:
        before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = folder
        yield
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


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
