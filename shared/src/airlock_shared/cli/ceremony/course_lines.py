"""A ceremony's folder on one machine, and its course as the lines that people read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from airlock_shared.ceremony.course import Stop, next_stop
from airlock_shared.cli.console import rows

GIVEN = "handed-over"
"""In the ceremony's folder: an empty file for each document that was handed over."""

FOLDER = click.Path(path_type=Path, file_okay=False)


def ceremony_folder(plan_file: Path) -> Path:
    """Return where a machine keeps the documents of a ceremony: beside its plan, ``plan.ceremony`` for ``plan.toml``."""
    return plan_file.with_name(f"{plan_file.stem}.ceremony")


def course_lines(stops: list[Stop], half: str, commands: Sequence[Sequence[str]] = ()) -> Iterator[str]:
    """Yield a course for people: done, next or later, who acts, and what; perhaps each stop's command."""
    following = next_stop(stops)
    for number, stop in enumerate(stops, start=1):
        state = "done" if stop.done else "NEXT" if stop is following else "later"
        who = ", ".join(stop.by) or "the machine"
        yield from rows(f"{number:>3}  {state:<6} ", f"{who}: {stop.says}")
        if commands:
            yield from rows(" " * 12, shlex.join(("airlock-" + half, *commands[number - 1])))
    done = sum(stop.done for stop in stops)
    yield f"{done} of {len(stops)} stops are done on the {half} machine."
