"""TOML read under bounds that are looked at first: Python's own reader takes minutes over one key of thousands of parts.

A key of ``n`` parts costs ``tomllib`` about ``n`` squared steps, brackets inside one another cost stack. Both are counted
in one pass over the text before anything is parsed. Source of the grammar: TOML 1.0.0.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

MAX_KEY_PARTS = 24  # as deep as a document may be
MAX_BRACKETS = 24
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


def parse_toml(data: bytes) -> dict[str, Any]:
    """Return the table of a TOML text in UTF-8. Raises ``ValueError`` with the reason in words."""
    import tomllib

    text = data.decode()
    _require_bounded(text)
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error


_TOO_DEEP = f"nested deeper than {MAX_BRACKETS} levels"


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(_PIECE, re.DOTALL), re.compile(_PLAIN_LINES)


def _require_bounded(text: str) -> None:
    if text.count(".") < MAX_KEY_PARTS and text.count("[") + text.count("{") <= MAX_BRACKETS:
        return  # a short plan: there are not enough of them in the whole text
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
        if parts >= MAX_KEY_PARTS:
            line = text.count("\n", 0, token.start()) + 1
            message = f"a key of more than {MAX_KEY_PARTS} parts (at line {line})"
            raise ValueError(message)
        if depth > MAX_BRACKETS:
            raise ValueError(_TOO_DEEP)
