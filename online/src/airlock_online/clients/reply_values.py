"""What a service's reply says, where the specification shows no shape: numbers, hashes, and words with their place.

A word that is not known here is no end, and never passed over in silence: it is named with the place where it stood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from airlock_shared.text.safe import safe

_HEX = re.compile(r"0x[0-9a-fA-F]{1,16}", re.ASCII)
HASH_NAMES = ("hash", "transactionHash", "txHash")
"""Under which a service names a transaction. Each that is there is compared; none is followed instead of our own."""


class StatusWord(NamedTuple):
    """The word that decides, empty when it is not known here, and what to tell a person of it."""

    word: str
    told: str
    unknown: bool


def block_number(value: object) -> int | None:
    """Return a block's number, told as an integer or as 0x-hex; None for anything else."""
    if type(value) is int:
        return value if value >= 0 else None
    return int(value, 16) if type(value) is str and _HEX.fullmatch(value) else None


def hashes_named(data: Mapping[str, Any]) -> list[Any]:
    """Return every transaction hash that a reply names, as it came."""
    return [data[name] for name in HASH_NAMES if data.get(name) is not None]


def status_word(data: Mapping[str, Any], known: tuple[str, ...], place: str = "data.status") -> StatusWord:
    """Return what ``data`` says under ``status``; ``place`` is where that stands in the reply."""
    value = data.get("status")
    if type(value) is str and value in known:
        return StatusWord(value, value, False)
    if value is None:
        return StatusWord("", f"the reply says nothing at {place}", True)
    said = safe(str(value), limit=100)
    return StatusWord(
        "", f"the reply says {said!r} at {place}, a word that Airlock does not know ({', '.join(known)})", True
    )
