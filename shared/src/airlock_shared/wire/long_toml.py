"""A long TOML text: its bounds are looked at in one pass, and a long list of plain tables in it is read at once.

Each piece between two ``[[name]]`` lines is a whole TOML text, or it is refused alone and the document is read whole. A
piece of plain lines differs from JSON in its marks alone, and JSON is read in C, where Python's TOML reader takes a fifth of
``verify`` over a plan of thousands of steps. Grammars: TOML 1.0.0, RFC 8259.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any

_MANY_TABLES = 64  # fewer are read as fast by the reader of everything


def read_long(text: str, read: Callable[[str], dict[str, Any]], key_parts: int, brackets: int) -> dict[str, Any]:
    """Return what ``read`` returns for a text whose keys have fewer than so many parts, in at most so many brackets.

    Raises ``ValueError`` with the reason in words.
    """
    _require_bounded(text, key_parts, brackets)
    if text.count("\n[[") >= _MANY_TABLES:
        with suppress(ValueError):  # of which the reader of the whole tells the place
            if (table := read_tables(text, read)) is not None:
                return table
    return read(text)


# ---- bounds ---------------------------------------------------------------------------------------------------------

_PIECE = (
    r"""(?P<string>"{3}(?:[^"\\]++|\\.|"(?!""))*+(?:"{3,5})?+|'{3}(?:[^']++|'(?!''))*+(?:'{3,5})?+)"""
    r"""|(?P<part>[A-Za-z0-9_-]++|"(?:[^"\\\n]++|\\[^\n])*+"?+|'[^'\n]*+'?+)"""
    r"""|(?P<dot>[ \t]*+\.[ \t]*+)|(?P<open>[\[{])|(?P<close>[\]}])|\#[^\n]*+|[^A-Za-z0-9_.\[\]{}"'\#-]++|."""
)
"""Every start matches, so that the pass is linear; what the grammar has no place for, ``tomllib`` refuses anyway."""
_PLAIN = r"""[ \t]*+[A-Za-z0-9_-]++[ \t]*+=[ \t]*+(?:"[^"\\\n]*+"|[A-Za-z0-9_+:-]++"""
_INLINE = rf"{_PLAIN}|\{{(?:{_PLAIN})[ \t]*+,?+)*+[ \t]*+\}}"
_PLAIN_LINES = (
    rf"(?:(?:{_INLINE}|\{{(?:{_INLINE})[ \t]*+,?+)*+[ \t]*+\}})"
    r"|[ \t]*+\[{1,2}[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]++){0,3}\]{1,2}|)[ \t]*+\r?\n)++"
)
"""Lines of one key and one value, of tables two deep, tables' names, empty lines: most of a plan, far from the bounds."""


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(_PIECE, re.DOTALL), re.compile(_PLAIN_LINES)


def _require_bounded(text: str, key_parts: int, brackets: int) -> None:
    some, plain_lines = _patterns()
    at = parts = depth = 0
    while at < len(text):
        if not depth and (not at or text[at - 1] == "\n") and (plain := plain_lines.match(text, at)):
            at, parts = plain.end(), 0
            continue
        token = some.match(text, at)
        assert token is not None  # noqa: S101 (every start matches)
        at, kind = token.end(), token.lastgroup
        if kind == "dot":
            parts += 1
        elif kind != "part":
            parts = 0
            depth = max(depth + (kind == "open") - (kind == "close"), 0)
        if parts >= key_parts:
            line = text.count("\n", 0, token.start()) + 1
            message = f"a key of more than {key_parts} parts (at line {line})"
            raise ValueError(message)
        if depth > brackets:
            message = f"nested deeper than {brackets} levels"
            raise ValueError(message)


# ---- many plain tables ----------------------------------------------------------------------------------------------

_KEY = r"[A-Za-z0-9_-]++ = "
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
_SCALAR = rf'(?:"[^"\\=,{{\x00-\x1f\x7f]*+"|{_TIME}|0|-?[1-9][0-9]{{0,17}}+|true|false)'
_TABLE = rf"\{{ {_KEY}{_SCALAR}(?:, {_KEY}{_SCALAR})*+ \}}"
_MEMBER = rf"{_KEY}(?:{_SCALAR}|{_TABLE})"
_LINE = rf"{_KEY}(?:{_SCALAR}|\{{ {_MEMBER}(?:, {_MEMBER})*+ \}})"


def read_tables(text: str, read: Callable[[str], dict[str, Any]]) -> dict[str, Any] | None:
    """Return what ``read`` returns for a text that ends in many tables of one name; None where it must read the whole.

    Raises ``ValueError`` as ``read`` does, with a place in a piece; the whole text may be good all the same.
    """
    found = re.search(r"\n\[\[([A-Za-z0-9_-]++)\]\]\n", text)
    head, *pieces = text.split(found[0]) if found else [text]
    if found is None:
        return None
    plain = [_plain_lines().fullmatch(piece) is not None for piece in pieces]
    if any(_bracket_line().search(piece) for piece, is_plain in zip(pieces, plain, strict=True) if not is_plain):
        return None  # the name of another table, perhaps: what follows it is not this one's
    whole = read(head)
    at_once = [piece for piece, is_plain in zip(pieces, plain, strict=True) if is_plain]
    tables = _as_json(at_once)
    if found[1] in whole or [*map(_members, tables)] != [piece.count(" = ") for piece in at_once]:
        return None  # a name twice: the reader of everything says which
    in_turn = iter(tables)
    whole[found[1]] = [
        next(in_turn) if is_plain else read(piece) for piece, is_plain in zip(pieces, plain, strict=True)
    ]
    return whole


@cache
def _plain_lines() -> re.Pattern[str]:
    return re.compile(rf"{_LINE}(?:\n{_LINE})*+\n*+")


@cache
def _bracket_line() -> re.Pattern[str]:
    return re.compile(r"^[ \t]*\[", re.MULTILINE)


def _as_json(pieces: list[str]) -> list[dict[str, Any]]:
    """Return the tables of plain pieces: none of the marks that are changed here is in one of their texts."""
    lines = '},{"'.join([piece.rstrip("\n") for piece in pieces]).replace("\n", ',"')
    lines = lines.replace("{ ", '{"').replace(", ", ',"').replace(" = ", '":')
    timed, times = re.subn(f'":({_TIME})', r'":"\\n\1"', lines)  # no text of these pieces has a line break
    tables: list[dict[str, Any]] = json.loads(f'[{{"{timed}}}]') if pieces else []
    for table in tables if times else ():
        _read_times(table)
    return tables


def _read_times(table: dict[str, Any]) -> None:
    for name, value in table.items():
        if type(value) is dict:
            _read_times(value)
        elif type(value) is str and value.startswith("\n"):
            table[name] = datetime.fromisoformat(value[1:])


def _members(table: dict[str, Any]) -> int:
    return len(table) + sum([_members(value) for value in table.values() if type(value) is dict])
