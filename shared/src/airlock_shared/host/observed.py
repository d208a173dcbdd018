"""What is seen of a machine, line by line, and the machine itself: passed in, so that a test can build another one."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from airlock_shared.errors import AirlockError, ExitCode

OK, LOOK, REFUSED, FAULT = "ok", "LOOK", "REFUSED", "FAULT"
"""Verdicts. ``FAULT`` is ``doctor``'s alone: something does not work."""


class MachineProbes(NamedTuple):
    """The machine: where its file tree begins, how a shared library is loaded, and what is known of a file system."""

    root: Path = Path("/")
    load: Callable[[str], object] = ctypes.CDLL
    disk: Callable[[Path], os.statvfs_result] = os.statvfs
    spec: Callable[[str], object | None] = find_spec


class Observed(NamedTuple):
    """One line of a result: what was looked at, what was found, the verdict, and what to do about it.

    ``check`` is the id of the check that refuses; ``code`` the exit code that ``doctor`` gives to it, 0 for advice.
    """

    group: str
    what: str
    found: str
    verdict: str = OK
    do: str = ""
    check: str = ""
    code: ExitCode = ExitCode.DONE

    def as_json(self) -> dict[str, str]:
        """Return the line for the transcript and for ``--json``, without the exit code."""
        return {name: str(value) for name, value in self._asdict().items() if name != "code"}


def broken(group: str, what: str, error: AirlockError) -> Observed:
    """Return a line about what could not be looked at, as the error says it."""
    return fault(group, what, error.what, error.do, error.exit_code)


def fault(group: str, what: str, found: str, do: str, code: ExitCode = ExitCode.USAGE) -> Observed:
    """Return a line about what does not work."""
    return Observed(group, what, found, FAULT, do, "", code)
