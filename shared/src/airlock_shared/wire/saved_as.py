"""How a text file was saved, where that is not as Airlock reads it: editors write other forms without a word.

A byte order mark is not skipped: a text has one form, in which everybody hashes and compares it.
"""

from __future__ import annotations

ONLY = "UTF-8 without a byte order mark (BOM)"

_MARKS = {
    b"\xef\xbb\xbf": "UTF-8 with a byte order mark",
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def other_form(data: bytes) -> str:
    """Return the form of a text that does not begin as :data:`ONLY` does; empty for one that does."""
    if form := next((form for mark, form in _MARKS.items() if data.startswith(mark)), ""):
        return form
    if b"\0" not in data[:2]:
        return ""
    return "UTF-32" if data[:4].count(0) == 3 else "UTF-16"  # without a mark, its first letter in so many bytes
