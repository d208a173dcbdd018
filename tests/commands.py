"""A command that ran and ended, and how an installed one is run: what every part of the tests shares."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple


class FinishedCommand(NamedTuple):
    """A command that ended: its exit code, and what it wrote to stdout and stderr."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the one JSON document of stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON lines of stdout."""
        return [json.loads(line) for line in self.out.splitlines()]


def run_command(
    *words: object, typed: str | None = None, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> FinishedCommand:
    """Run a command to its end, with what is typed on its stdin; a stack trace on stderr is a failure of the test."""
    ended = subprocess.run(
        [*map(str, words)],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=env,
        cwd=cwd,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    return FinishedCommand(ended.returncode, ended.stdout, ended.stderr)
