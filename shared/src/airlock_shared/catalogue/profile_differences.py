"""A venue's profile as it is written: its differences, resolved within everything that ships, once, on the online machine.

The whole result is pinned with the deployment (:mod:`airlock_shared.catalogue.profile`); the signing machine merges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from airlock_shared.catalogue.calls import CALLS, arguments_of
from airlock_shared.catalogue.encode_types import leaves_of
from airlock_shared.catalogue.intents import CATALOGUE
from airlock_shared.catalogue.profile import (
    FIXED,
    FORMAT,
    argument_leaves,
    require_form,
    require_harmless,
    shipped,
    struct_types,
    text_of,
    venue_of,
    wrong_profile,
)
from airlock_shared.wire.members import read_members


def resolve(profile: Any) -> dict[str, Any]:
    """Return what is pinned: a profile's differences within everything that ships.

    A leaf that has the name of a shipped one, and of which the profile says nothing, is of its kind. Raises as
    :func:`venue_of`; a profile that changes nothing is refused too: it would be pinned for nothing.
    """
    given = _read(profile)
    ships = shipped()
    structs, calls = dict(ships["structs"]), dict(ships["calls"])
    for name, entry in given["structs"].items():
        types = struct_types(f"structs.{name}", name, entry["encode_type"])
        known: dict[str, Any] = {"leaves": {}, **structs.get(name, {})}
        same = sorted(known.get("abi_order", [])) == sorted(member["name"] for member in types[name])
        order = known["abi_order"] if same else []
        leaves = _inherited(dict(leaves_of(types, name)), entry, known)
        structs[name] = {**known, "abi_order": order, **entry, "leaves": leaves}
    for name, entry in given["calls"].items():
        require_harmless(f"calls.{name}", entry["signature"], CALLS.get(name))
        paths = [path for each in arguments_of(entry["signature"]) for path, _ in argument_leaves(each)]
        calls[name] = {**entry, "leaves": _inherited(paths, entry, calls.get(name, {"leaves": {}}))}
    whole = {"format": FORMAT, "structs": structs, "calls": calls}
    if whole == ships:
        raise wrong_profile(
            "structs", "nothing differs from what ships", "no difference", "at least one, or no profile"
        )
    venue_of(text_of(whole))
    return whole


def _inherited(paths: Iterable[str], entry: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the leaves of an entry: the profile's, and of the shipped ones those that are at the same path."""
    own: dict[str, Any] = entry.get("leaves", {})
    return {path: known["leaves"][path] for path in paths if path in known["leaves"]} | own


def _read(value: Any) -> dict[str, Any]:
    require_form(value)
    parts: dict[str, type] = {"structs": dict, "calls": dict}
    read_members(value, "signed", {"format": str}, parts)
    read: dict[str, Any] = {"structs": {}, "calls": {}, **value}
    for name, entry in read["structs"].items():
        own = {} if name in CATALOGUE else dict.fromkeys(FIXED, str)
        read_members(entry, f"structs.{name}", {"encode_type": str, **own}, {"abi_order": list, "leaves": dict})
    for name, entry in read["calls"].items():
        read_members(entry, f"calls.{name}", {"signature": str}, {"leaves": dict, "value": str, "contract": str})
    return read
