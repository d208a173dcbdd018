"""Structs that an operator pins one by one: each is the entry of a profile whose other leaves are raw.

A pin is an ``encodeType`` text that people have compared with the venue's contract on the offline machine, with the
domain that it is signed under, and which members are the trader, the nonce and the deadline. What may be pinned, and who
decides each leaf, is what a venue's profile may say of a struct that does not ship.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.venue.kinds import DEADLINE, NONCE_KIND, RAW_KIND, TRADER
from airlock_shared.venue.profile import intent_of, struct_types
from airlock_shared.venue.structs import CATALOGUE, Intent, leaves_of
from airlock_shared.wire.members import read_members

_SAME = ("encode_type", "domain", "signer_rule", "route")
_DO = "compare it with the venue's contract"
_KINDS = {"trader": TRADER, "nonce": NONCE_KIND, "deadline": DEADLINE}
PIN_MEMBERS = (*_SAME, *_KINDS)


def custom_intent(pin: Any) -> Intent:
    """Return the intent that a pin describes.

    Raises ``UsageError`` when the text is not an ``encodeType``, or when no profile may say this of a struct;
    ``DocumentError`` when the pin's members are not those of a pin.
    """
    read_members(pin, "struct pin", dict.fromkeys(PIN_MEMBERS, str))
    name, kinds = pin["encode_type"].partition("(")[0], {pin[member]: kind for member, kind in _KINDS.items()}
    if name in CATALOGUE:
        raise UsageError(f"{name} already has a meaning", do=_DO)
    try:
        paths = [path for path, _ in leaves_of(struct_types(f"structs.{name}", name, pin["encode_type"]), name)]
        if missing := sorted(kinds.keys() - {*paths, ""}):
            raise UsageError(f"{name} has no member {missing[0][:80]!r}; there are {', '.join(paths)}", do=_DO)
        leaves = {path: kinds.get(path, RAW_KIND) for path in paths}
        own = {"leaves": leaves, "abi_order": [], "executing": ""}
        intent = intent_of(name, own | {member: pin[member] for member in _SAME})
    except DocumentError as error:
        raise UsageError(f"{error.where}: {error.what}: {error.got}; expected {error.expected}", do=_DO) from error
    return intent._replace(title=f"{name}, a struct that was pinned on this machine")


def with_pins(structs: Mapping[str, Intent], pins: list[Any]) -> Mapping[str, Intent]:
    """Return a venue's structs, and those that were pinned one by one; of pins with one name the newest.

    A struct that the venue's own profile describes is that one alone.
    """
    return {**structs, **{intent.name: intent for intent in map(custom_intent, pins)}, **structs}
