"""Reading the maps of registered UR types strictly: exactly these members, named by small integers, each of its type."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from airlock_shared.errors import DocumentError
from airlock_shared.wire.cbor import Tagged, read
from airlock_shared.wire.codec import damaged

MAX_ITEMS = 256
UUID_TAG = 37

_DO = "check that the other wallet speaks EIP-4527, and scan again"


def untag(cbor: bytes, tag: int) -> Any:
    """Return the value of a payload; the type's own tag may stand in front of it. Raises ``DocumentError("QR-CBOR")``."""
    value = read(cbor, max_items=MAX_ITEMS)
    return value.value if type(value) is Tagged and value.tag == tag else value


def read_map(value: Any, what: str, required: Mapping[int, type], optional: Mapping[int, type]) -> dict[int, Any]:
    """Return a map with these members and no others. Raises ``DocumentError("QR-FIELD")``."""
    if type(value) is not dict:
        raise field_error(f"{what} is not a map", got=type(value).__name__)
    known = {**required, **optional}
    if unknown := [name for name in value if name not in known]:
        raise field_error(f"{what} has unknown members", got=repr(unknown)[:80], expected=repr(list(known)))
    if missing := [name for name in required if name not in value]:
        raise field_error(f"{what} lacks members", got=repr(list(value))[:80], expected=repr(missing))
    for name, member in value.items():
        if type(member) is not known[name]:
            expected = known[name].__name__
            raise field_error(f"member {name} of {what} has a wrong type", got=type(member).__name__, expected=expected)
    return value


def is_uint(number: int | None, most: int) -> bool:
    """Tell whether a number that may be missing is not out of range."""
    return number is None or 0 <= number <= most


def read_uuid(value: Tagged | None) -> uuid.UUID | None:
    """Return a request's id, if there is one. Raises ``DocumentError("QR-FIELD")``."""
    if value is None:
        return None
    if value.tag != UUID_TAG or type(value.value) is not bytes or len(value.value) != 16:
        raise field_error("a request's id that is no UUID", expected=f"16 bytes with tag {UUID_TAG}")
    return uuid.UUID(bytes=value.value)


def write_uuid(value: uuid.UUID | None) -> Tagged | None:
    """Return a request's id as it is written."""
    return None if value is None else Tagged(UUID_TAG, value.bytes)


def field_error(what: str, *, got: str = "", expected: str = "", do: str = _DO) -> DocumentError:
    """Return the error of a registered type that is not as its definition says."""
    return damaged("QR-FIELD", what, got=got, expected=expected, do=do)
