"""TOML read under bounds that are looked at first: Python's own reader takes minutes over one key of thousands of parts.

A key of ``n`` parts costs ``tomllib`` about ``n`` squared steps, brackets inside one another cost stack. Both are counted
before anything is parsed. Source of the grammar: TOML 1.0.0.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from airlock_shared.wire.strict_json import ONLY, other_form

MAX_KEY_PARTS = 24  # as deep as a document may be
MAX_BRACKETS = 24
_PIECE = re.compile(
    r"""(?P<string>"{3}(?:[^"\\]++|\\.|"(?!""))*+(?:"{3,5})?+|'{3}(?:[^']++|'(?!''))*+(?:'{3,5})?+)"""
    r"""|(?P<part>[A-Za-z0-9_-]++|"(?:[^"\\\n]++|\\[^\n])*+"?+|'[^'\n]*+'?+)"""
    r"""|(?P<dot>[ \t]*+\.[ \t]*+)|(?P<open>[\[{])|(?P<close>[\]}])|\#[^\n]*+|[^A-Za-z0-9_.\[\]{}"'\#-]++|.""",
    re.DOTALL,
)
"""Every start matches, so that the pass is linear; what the grammar has no place for, ``tomllib`` refuses anyway."""


def parse_toml(data: bytes) -> dict[str, Any]:
    """Return the table of a TOML text in UTF-8. Raises ``ValueError`` with the reason in words."""
    if form := other_form(data):
        raise ValueError(f"it is saved as {form}: save it as {ONLY}")
    text = data.decode()
    parts = depth = 0
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup
        if kind == "dot":
            parts += 1
        elif kind != "part":
            parts = 0
            depth = max(depth + (kind == "open") - (kind == "close"), 0)
        if parts >= MAX_KEY_PARTS:
            line = text.count("\n", 0, piece.start()) + 1
            raise ValueError(f"a key of more than {MAX_KEY_PARTS} parts (at line {line})")
        if depth > MAX_BRACKETS:
            raise ValueError(f"nested deeper than {MAX_BRACKETS} levels")
    return tomllib.loads(text)
