"""How a venue writes the scale of an amount, brought to the one spelling that a deployment document has (``1e6``).

The specification gives the scales and calls the meta document's members "unit conventions", without their form. What names
a scale beyond doubt is taken; a bare 6 is not one: it may be the decimals, or the scale itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from airlock_shared.documents.deployment import SCALE_NAMES

_SCALE = re.compile(r"(?:1[eE]|10\^|10\*\*)([0-9]{1,2})|1(0{2,30})", re.ASCII)


def one_spelling(units: Mapping[str, Any]) -> dict[str, Any]:
    """Return a venue's table of units, the scales that are known here as ``1e6``; the rest as it was told."""
    ours = {name.lower(): name for name in SCALE_NAMES}
    return {ours.get(name.lower(), name): _spelled(value) for name, value in units.items()}


def _spelled(value: Any) -> Any:
    if type(value) is dict:
        spelled = {f"1e{value[name]}" for name in ("decimals", "precision") if type(value.get(name)) is int}
        spelled |= {_spelled(value[name]) for name in ("scale", "factor") if type(value.get(name)) in (int, str)}
        return spelled.pop() if len(spelled) == 1 else value
    if type(value) is float and value.is_integer():
        value = int(value)
    text = str(value) if type(value) in (int, str) else ""
    if scale := _SCALE.fullmatch(text):
        return f"1e{int(scale[1] or len(scale[2]))}"
    return value
