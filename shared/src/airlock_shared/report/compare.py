"""Two JSON values compared field by field: the place of the first difference, and what is there."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

_SHOWN = 200


class Difference(NamedTuple):
    """Where two values differ, such as ``steps[0].request.decided[2].raw``, and what each has there."""

    where: str
    got: str
    expected: str


def first_difference(got: Any, expected: Any, where: str = "") -> Difference | None:
    """Return the first difference, or None. Types count: 1, 1.0 and true are three values; the order of members does not."""
    if type(got) is not type(expected):
        return Difference(where, _text(got), _text(expected))
    if type(expected) is dict:
        return _of_members(got, expected, where)
    if type(expected) is list:
        for position, pair in enumerate(zip(got, expected, strict=False)):
            if found := first_difference(*pair, f"{where}[{position}]"):
                return found
        counts = len(got), len(expected)
        return (
            None if got == expected else Difference(f"{where}[{min(counts)}]", *(f"{count} items" for count in counts))
        )
    return None if got == expected else Difference(where, _text(got), _text(expected))


def _of_members(got: dict[str, Any], expected: dict[str, Any], where: str) -> Difference | None:
    for name in [*expected, *(name for name in got if name not in expected)]:
        place = f"{where}.{name}" if where else name
        if name not in got:
            return Difference(place, "nothing", _text(expected[name]))
        if name not in expected:
            return Difference(place, _text(got[name]), "nothing")
        if found := first_difference(got[name], expected[name], place):
            return found
    return None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)[:_SHOWN]
