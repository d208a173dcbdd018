"""Where each name and value of a TOML text stands, which Python's own reader does not tell; and what is no TOML at all.

For a text that ``tomllib`` has accepted: only outlines are read here (headers, keys, where a value ends), no value. A path
is written as in the errors of a plan: ``steps[2].fields.price``. Source of the grammar: TOML 1.0.0.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from typing import Any, NamedTuple

from airlock_shared.errors import PlanError
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import read_plan, read_toml

_BETWEEN = re.compile(r"(?:[ \t\n,]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"""(?:[^="'\]]|"(?:[^"\\]|\\.)*"|'[^']*')*""")
_VALUE = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}|\'\'\'(?:[^\']|\'(?!\'\'))*\'{3,5}|"(?:[^"\\]|\\.)*"|\'[^\']*\'|[^,\]}\n#]*',
    re.DOTALL,
)
"""A string, or any other value that holds no others."""


class Span(NamedTuple):
    """A piece of one line: the line and the column, both from 1, and how many characters."""

    line: int
    column: int
    length: int


class TomlPosition(NamedTuple):
    """Where a name stands, and its value; for a table or an array's element both are where it begins."""

    name: Span
    value: Span


def places(text: str) -> dict[str, TomlPosition]:
    """Return the place of every table, name, array element and value, by its path. ``tomllib`` has read the text before."""
    scanner = _Scanner(text.replace("\r\n", "\n"))
    scanner.document()
    return scanner.found


def innermost_position(found: dict[str, TomlPosition], path: str) -> tuple[str, TomlPosition]:
    """Return the path itself with its place, or those of the innermost table around it; the first line at worst."""
    while path and path not in found:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    start = Span(1, 1, 0)
    return path, found.get(path, TomlPosition(start, start))


def parse_written_plan(data: bytes) -> Plan:
    """Read a plan as ``parse_plan`` does; its ``PlanError`` tells the line as well, or that of the table around it."""
    table = read_toml(data)
    try:
        return read_plan(table)
    except PlanError as error:
        line = innermost_position(places(data.decode()), error.where)[1].name.line
        error.where = f"{error.where}, line {line}".lstrip(", ")
        raise


class _Scanner:
    def __init__(self, text: str) -> None:
        self.found: dict[str, TomlPosition] = {}
        self._text = text
        self._at = 0
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._counts: dict[str, int] = {}

    def document(self) -> None:
        base = ""
        self._skip(_BETWEEN)
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                base = self._header()
            else:
                self._pair(base)
            self._skip(_BETWEEN)

    def _header(self) -> str:
        start = self._at
        many = self._text.startswith("[[", start)
        self._at += 1 + many
        keys = self._keys()
        self._at += 1 + many
        span = self._span(start)
        here = TomlPosition(span, span)
        path = self._under("", keys, span)
        if many:
            self.found.setdefault(path, here)
            self._counts[path] = self._counts.get(path, -1) + 1
            path = f"{path}[{self._counts[path]}]"
        self.found[path] = here
        return path

    def _under(self, base: str, keys: list[str], span: Span) -> str:
        """Return the path of a key below a table; the name of an array of tables stands for its last table."""
        *parents, last = keys
        for part in parents:
            base = f"{base}.{part}".lstrip(".")
            self.found.setdefault(base, TomlPosition(span, span))
            if base in self._counts:
                base = f"{base}[{self._counts[base]}]"
        return f"{base}.{last}".lstrip(".")

    def _pair(self, base: str) -> None:
        start = self._at
        keys = self._keys()
        name = self._span(start)
        self._at += 1  # the sign between
        self._skip(_SPACE)
        path = self._under(base, keys, name)
        self.found[path] = TomlPosition(name, self._value(path))

    def _keys(self) -> list[str]:
        """Return a key's parts, and stand at what follows it."""
        parts = []
        value: Any = tomllib.loads(f"{self._skip(_KEY)} = 0")
        while value:
            [(part, value)] = value.items()
            parts.append(part)
        return parts

    def _value(self, path: str) -> Span:
        start = self._at
        closing = {"[": "]", "{": "}"}.get(self._text[start : start + 1])
        if closing:
            self._members(path, closing)
        else:
            self._skip(_VALUE)
        return self._span(start)

    def _members(self, path: str, closing: str) -> None:
        """Read an array's elements or an inline table's pairs, and stand behind its end."""
        self._at += 1
        count = 0
        self._skip(_BETWEEN)
        while self._text[self._at] != closing:
            if closing == "]":
                element = f"{path}[{count}]"
                span = self._value(element)
                self.found[element] = TomlPosition(span, span)
                count += 1
            else:
                self._pair(path)
            self._skip(_BETWEEN)
        self._at += 1

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        skipped = match[0] if match else ""
        self._at += len(skipped)
        return skipped

    def _span(self, start: int) -> Span:
        """Return what was read since ``start``, as far as its first line goes."""
        line = bisect_right(self._lines, start)
        piece = self._text[start : self._at].split("\n", 1)[0].rstrip()
        return Span(line, start - self._lines[line - 1] + 1, len(piece))
