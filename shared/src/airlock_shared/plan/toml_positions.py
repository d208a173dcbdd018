"""The line of each table and member of a TOML text, which Python's own reader does not tell.

For a text that ``tomllib`` has accepted. A statement is the fewest lines that it accepts by themselves, so that it alone
knows the grammar. A path is written as in the errors of a plan: ``steps[2].fields.price``.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import Any

from airlock_shared.errors import PlanError
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import read_plan, read_toml

_TRIED_AT_MOST = 1 << 20  # characters: a value of thousands of lines is tried as often
_LINES_AT_MOST = 1 << 16  # a plan of all the steps that it may have has a fourth of them


def lines_by_path(text: str) -> dict[str, int]:
    """Return the line, from 1, where each table and member begins; empty when it would take long to know."""
    if text.count("\n") > _LINES_AT_MOST:
        return {}
    found = {"": 1}
    counts: Counter[str] = Counter()
    table, statement, line, tried = "", "", 1, 0
    for number, written in enumerate(text.split("\n"), 1):
        statement += f"{written}\n"
        try:
            value: Any = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            tried += len(statement)
            if tried > _TRIED_AT_MOST:
                return {}
            continue
        is_header = statement.lstrip().startswith("[")
        path = "" if is_header else table
        while type(value) is dict and len(value) == 1:
            [(name, value)] = value.items()
            path = f"{path}.{name}".lstrip(".")
            found.setdefault(path, line)
            if is_header and type(value) is list:
                counts[path] += 1
            if counts[path]:
                path = f"{path}[{counts[path] - 1}]"
                found.setdefault(path, line)
        if is_header:
            table = path
        statement, line = "", number + 1
    return found


def line_of(found: dict[str, int], path: str) -> int:
    """Return the line of a path, or that of the innermost table around it; 0 when no line is known."""
    while path and path not in found:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return found.get(path, 0)


def parse_written_plan(data: bytes) -> Plan:
    """Read a plan as ``parse_plan`` does; its ``PlanError`` tells the line as well, or that of the table around it."""
    table = read_toml(data)
    try:
        return read_plan(table)
    except PlanError as error:
        if line := line_of(lines_by_path(data.decode()), error.where):
            error.where = f"{error.where}, line {line}".lstrip(", ")
        raise
