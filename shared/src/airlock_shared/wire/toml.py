"""TOML read under bounds that are looked at first: Python's own reader takes minutes over one key of thousands of parts.

A key of ``n`` parts costs ``tomllib`` about ``n`` squared steps, brackets inside one another cost stack. Both are counted
before anything is parsed. Source of the grammar: TOML 1.0.0.
"""

from __future__ import annotations

from typing import Any

MAX_KEY_PARTS = 24  # as deep as a document may be
MAX_BRACKETS = 24


def parse_toml(data: bytes) -> dict[str, Any]:
    """Return the table of a TOML text in UTF-8. Raises ``ValueError`` with the reason in words."""
    import tomllib

    text = data.decode()
    try:
        if text.count(".") < MAX_KEY_PARTS and text.count("[") + text.count("{") <= MAX_BRACKETS:
            return tomllib.loads(text)  # a short one: there are not enough of them in the whole text
        from airlock_shared.wire.long_toml import read_long

        return read_long(text, tomllib.loads, MAX_KEY_PARTS, MAX_BRACKETS)
    except RecursionError as error:
        message = f"nested deeper than {MAX_BRACKETS} levels"
        raise ValueError(message) from error
