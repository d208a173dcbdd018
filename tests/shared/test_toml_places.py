"""Where names and values of a TOML text stand: every path that the parser gives has its place, and no other."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from airlock_shared.plan.toml_positions import places

TEXT = '''# a plan of everything that TOML can write
format = "x" # a comment = [
"quoted.key" = 'a # no comment'
a.b . "c d" = 1

[ceremony]
roles = [ "one", # first ]
  'two',
]
[limits] # a comment
deep = { at_most = "5", at_least = { n = [1, {x = 2}] } }
long = """first
second = 3 "" [x]"""
raw = \'\'\'it's
[not.a.header]\'\'\'
when = 2027-03-31 00:00:00Z
[signers.one]
x = 1
[[steps]]
id = "first \\" = ]"
[steps.fields]
price = "1"
[[steps]]
id = "second"
fields = {}
[[steps.inner]]
z = 1
[[steps.inner]]
z = -2.5
'''


def _paths(value: Any, path: str) -> Iterator[str]:
    if path:
        yield path
    if type(value) is dict:
        for name, member in value.items():
            yield from _paths(member, f"{path}.{name}".lstrip("."))
    if type(value) is list:
        for position, member in enumerate(value):
            yield from _paths(member, f"{path}[{position}]")


def test_every_path_of_the_parser_has_a_place_and_no_other() -> None:
    assert set(places(TEXT)) == set(_paths(tomllib.loads(TEXT), ""))


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("format", "format", '"x"'),
        ("quoted.key", '"quoted.key"', "'a # no comment'"),
        ("a.b.c d", 'a.b . "c d"', "1"),
        ("ceremony", "[ceremony]", "[ceremony]"),
        ("ceremony.roles[1]", "'two'", "'two'"),
        ("limits.deep.at_least.n[1].x", "x", "2"),
        ("limits.long", "long", '"""first'),
        ("limits.when", "when", "2027-03-31 00:00:00Z"),
        ("steps[0].id", "id", '"first \\" = ]"'),
        ("steps[1]", "[[steps]]", "[[steps]]"),
        ("steps[1].inner[1].z", "z", "-2.5"),
    ],
)
def test_a_place_is_the_text_itself(path: str, name: str, value: str) -> None:
    for newline in ("\n", "\r\n"):
        text = TEXT.replace("\n", newline)
        lines = text.split(newline)
        for span, wanted in zip(places(text)[path], (name, value), strict=True):
            line = lines[span.line - 1]
            assert line[span.column - 1 :][: span.length].rstrip() == wanted
