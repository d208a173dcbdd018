"""What a reply says that it is about, compared with what was asked: a read proves only what it names.

A venue may not know a query member and pass over it; a cache may answer with another one's reply. So the members of the
question are looked for in the answer. Addresses and hashes are compared whatever their case, numbers whatever their form.
"""

from __future__ import annotations

from typing import Any

from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

_DIGITS_AT_MOST = 78  # of a uint256


def named(reply: object, **asked: str) -> bool | None:
    """Tell whether a reply names all that was asked: False when it names something else, None when it leaves one out."""
    members: dict[str, Any] = reply if type(reply) is dict else {}
    told = {name: members[name] for name in asked if members.get(name) is not None}
    if any(not _same(value, asked[name]) for name, value in told.items()):
        return False
    return True if len(told) == len(asked) else None


def require_named(what: str, reply: object, **asked: str) -> None:
    """Raise ``ServiceError`` when a reply names something else than was asked; one that names nothing passes."""
    for name, value in asked.items():
        if named(reply, **{name: value}) is False:
            told = safe(str(reply[name]), limit=80) if type(reply) is dict else ""
            raise ServiceError(
                f"the {what} is about {name} {told}, and {value} was asked for",
                do="ask the service's operator; until it answers what it is asked, it proves nothing",
            )


def _same(told: object, asked: str) -> bool:
    if type(told) is int:
        return str(told) == asked
    if type(told) is not str or len(told) > max(_DIGITS_AT_MOST, len(asked)):
        return False
    return told.casefold() == asked.casefold()
