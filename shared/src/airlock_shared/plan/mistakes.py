"""Every mistake of a plan, with its line, by the reader of :func:`airlock_shared.plan.reader.parse_plan`.

``parse_plan`` stops at the first mistake. Here each is noted, and the next piece is read, so that what is wrong in one hides
nothing in another. Only what TOML itself cannot read ends the search: what stands behind it has no certain meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import NamedTuple

from airlock_shared.errors import PlanError
from airlock_shared.plan.known import example_at
from airlock_shared.plan.model import CUSTOM, Plan
from airlock_shared.plan.reader import read_plan, read_toml
from airlock_shared.plan.toml_positions import line_of, lines_by_path
from airlock_shared.wire.strict_json import Table, other_encoding

MAX_MISTAKES = 100
_TIME = re.compile(r"""([A-Za-z_]+)["']?\s*=\s*[0-9]+[-./:][0-9]+[-./:][0-9]++(?!-)""")
_TOML_LINE = re.compile(r"\(at line ([0-9]+)")


class Mistake(NamedTuple):
    """A mistake: its line (0: not known) and what is written there, and the error that ``parse_plan`` would raise."""

    line: int
    text: str
    error: PlanError
    example: str


class _Noted(list[PlanError]):
    """The mistakes of a plan: each is noted where it ends the piece that is read, and the next piece is read."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        if isinstance(error, PlanError):
            self.append(error)
        return isinstance(error, PlanError)


def find_mistakes(data: bytes, machine_faults: Callable[[Plan], list[PlanError]] = lambda _: []) -> list[Mistake]:
    """Return the mistakes of a plan in the order of its lines, at most ``MAX_MISTAKES``; none when it can be used.

    ``machine_faults`` looks at a plan without mistakes: what only the machine that checks it can know.
    """
    try:
        table = read_toml(data)
    except PlanError as error:
        return [_unreadable(data, error)]
    noted = _Noted()
    faults: list[PlanError] = []
    with noted:
        plan = read_plan(table, noted)
        faults = [] if noted else machine_faults(plan)
    if str(table.get("format")).startswith("airlock/") and noted and noted[0].where == "format":
        del noted[1:]  # a newer plan, or another document: what else stands in it is not for this reader to judge
    errors = [*{error.where: error for error in reversed(noted)}.values(), *faults]
    text = data.decode()
    found, lines = lines_by_path(text), text.replace("\r\n", "\n").split("\n")
    return sorted((_placed(error, table, found, lines) for error in errors), key=lambda m: m.line)[:MAX_MISTAKES]


def _unreadable(data: bytes, error: PlanError) -> Mistake:
    """Return the mistake that TOML's reader tells, at the place that it names."""
    text = "" if other_encoding(data) else data.decode(errors="replace").replace("\r\n", "\n")
    lines = text.split("\n")
    line = len(lines)
    if isinstance(error.__cause__, UnicodeDecodeError):
        line = data.count(b"\n", 0, error.__cause__.start) + 1
        error.what = "the plan is not UTF-8 text, but perhaps a picture"
    elif match := _TOML_LINE.search(error.what):
        line = int(match[1])
    error.do = "correct this first; the rest of the plan is read only after that"
    return Mistake(line, lines[line - 1], error, _for_syntax(lines[line - 1]))


def _for_syntax(line: str) -> str:
    if time := _TIME.search(line):
        return f"{time[1]} = 2027-03-31T00:00:00Z: a time stands in UTC and without quotes, each part in full"
    name, sign, value = line.partition("=")
    if sign and value.strip()[:1] not in ('"', "'", "{", "["):
        return f'{name.strip()} = "…": texts, amounts and addresses stand in quotes'
    return ""


def _placed(error: PlanError, table: Table, found: dict[str, int], lines: list[str]) -> Mistake:
    wrong_name = error.check == "PLAN-FIELD" and error.what == "unknown name"
    step = re.match(r"steps\[([0-9]+)\]", error.where)
    entry = table["steps"][int(step[1])] if step else None
    action = entry.get("action") if type(entry) is dict else ""
    action = action if type(action) is str else ""
    known = re.findall("'(.+?)'", error.expected)
    if wrong_name and (meant := get_close_matches(error.where.rpartition(".")[2], known, 1)):
        error.do = f"did you mean {meant[0]}?"
    if error.what == "unknown action":
        error.expected = next(iter(get_close_matches(action, [*known, CUSTOM], 1)), error.expected)
    example = "" if wrong_name else example_at(error.where, action)
    line = line_of(found, error.where)
    return Mistake(line, lines[line - 1] if line else "", error, example)
