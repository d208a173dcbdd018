"""Where names and values of a TOML text stand: every path that the parser gives has its place, and no other."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.plan.toml_positions import innermost_position, places

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


def test_what_is_missing_is_placed_at_the_table_around_it() -> None:
    found = places(TEXT)
    assert innermost_position(found, "steps[0].fields.side")[0] == "steps[0].fields"
    assert innermost_position(found, "steps[1].fields.price.at_most")[0] == "steps[1].fields"
    assert innermost_position(found, "steps[7].id")[0] == "steps"
    assert innermost_position(found, "signers.two.address")[0] == "signers"
    assert innermost_position(found, "nothing.at.all") == ("", innermost_position(found, "")[1])
    assert innermost_position(found, "..x.[")[0] == ""


_keys = st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True)
_scalars = st.integers() | st.booleans() | st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=9)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3), max_leaves=12
)


def _written(value: Any) -> str:
    if type(value) is dict:
        return "{" + ", ".join(f"{name} = {_written(member)}" for name, member in value.items()) + "}"
    if type(value) is list:
        return "[\n " + ",\n ".join(map(_written, value)) + "]"
    if type(value) is str:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value).lower()


@given(st.dictionaries(_keys, _values, max_size=4), st.dictionaries(_keys, _values, max_size=4))
def test_whatever_is_written_is_found(first: dict[str, Any], second: dict[str, Any]) -> None:
    lines = [f"{name} = {_written(value)}" for name, value in first.items() if name != "steps"]
    for _ in range(2):
        lines += ["[[steps]]", *(f"{name}={_written(value)} # {name}" for name, value in second.items())]
    text = "\n".join(lines)
    assert set(places(text)) == set(_paths(tomllib.loads(text), ""))
