"""A venue's profile as it is written: its differences, resolved within everything that ships, once, on the online machine.

The whole result is pinned with the deployment (:mod:`airlock_shared.catalogue.profile`); the signing machine merges nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from airlock_shared.catalogue.calls import CALLS, arguments_of
from airlock_shared.catalogue.encode_types import leaves_of
from airlock_shared.catalogue.intents import CATALOGUE
from airlock_shared.catalogue.profile import (
    FIXED,
    FORMAT,
    argument_leaves,
    read_each,
    require_contract,
    require_form,
    require_harmless,
    struct_types,
    venue_of,
    wrong_profile,
)
from airlock_shared.errors import DocumentError
from airlock_shared.wire.members import raise_first, read_members


def shipped() -> dict[str, Any]:
    """Return everything that ships, as a deployment has it."""
    structs = {
        name: {
            "encode_type": intent.encode_type,
            "abi_order": list(intent.abi_order),
            "executing": intent.executing,
            "leaves": {each.path: each.kind for each in intent.fields},
            **{member: getattr(intent, member) for member in FIXED},
        }
        for name, intent in CATALOGUE.items()
    }
    calls = {
        name: {"signature": call.signature, "leaves": {each.path: each.kind for each in call.fields}}
        for name, call in CALLS.items()
    }
    return {"format": FORMAT, "structs": structs, "calls": calls}


def text_of(signed: Mapping[str, Any]) -> str:
    """Return a deployment's ``signed`` member as the text by which a venue is known within a process."""
    return json.dumps(signed, sort_keys=True, separators=(",", ":"))


def resolve(profile: Any, contracts: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return what is pinned: a profile's differences within everything that ships.

    A leaf that has the name of a shipped one, and of which the profile says nothing, is of its kind. ``contracts`` are the
    deployment's, for the calls of the venue alone; without them each name is taken. Raises as :func:`venue_of`, and so for
    a profile that changes nothing: it would be pinned for nothing.
    """
    require_form(profile)
    wrong: list[DocumentError] = []
    read_each([("", profile)], _sections, wrong)
    ships = shipped()
    whole = dict(ships)
    for part, read in (("structs", _struct), ("calls", _call)):
        given = profile.get(part, {})
        whole[part] = {**ships[part], **read_each(given.items() if type(given) is dict else (), read, wrong)}
    if whole == ships and not wrong:
        raise wrong_profile(
            "structs", "nothing differs from what ships", "no difference", "at least one, or no profile"
        )
    read_each([(text_of(whole), None)], lambda signed, _: venue_of(signed), wrong)
    own = [(name, call["contract"]) for name, call in whole["calls"].items() if name not in CALLS]
    read_each(own if contracts else (), lambda name, to: require_contract(name, to, contracts or {}), wrong)
    raise_first(wrong)
    return whole


def _sections(where: str, profile: Any) -> Any:
    return read_members(profile, where, {"format": str}, {"structs": dict, "calls": dict})


def _struct(name: str, entry: Any) -> dict[str, Any]:
    where, ships = f"structs.{name}", shipped()["structs"].get(name)
    needed = {} if ships else dict.fromkeys(("encode_type", *FIXED), str)
    if needed and type(entry) is dict and entry.keys().isdisjoint(FIXED):
        expected = "one that ships, or domain, signer_rule and route beside it"
        raise wrong_profile(where, "it does not ship, and says not who signs it", name, expected, CATALOGUE)
    read_members(entry, where, needed, {"encode_type": str, "abi_order": list, "leaves": dict, "executing": str})
    known: dict[str, Any] = ships or {"leaves": {}, "executing": "", "abi_order": []}
    whole: dict[str, Any] = {**known, **entry}
    types = struct_types(where, name, whole["encode_type"])
    if "abi_order" not in entry and sorted(known["abi_order"]) != sorted(member["name"] for member in types[name]):
        whole["abi_order"] = []
    return {**whole, "leaves": _inherited((path for path, _ in leaves_of(types, name)), entry, known)}


def _call(name: str, entry: Any) -> dict[str, Any]:
    where, ships = f"calls.{name}", shipped()["calls"].get(name)
    needed = {} if ships else {"signature": str, "contract": str}
    if needed and type(entry) is dict and "contract" not in entry:
        expected = "one that ships, or its contract beside it"
        raise wrong_profile(where, "it does not ship, and says not which contract it is for", name, expected, CALLS)
    read_members(entry, where, needed, {"signature": str, "leaves": dict, "value": str, "contract": str})
    known: dict[str, Any] = ships or {"leaves": {}}
    whole: dict[str, Any] = {**known, **entry}
    require_harmless(where, whole["signature"], CALLS.get(name))
    paths = (path for each in arguments_of(whole["signature"]) for path, _ in argument_leaves(each))
    return {**whole, "leaves": _inherited(paths, entry, known)}


def _inherited(paths: Iterable[str], entry: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the leaves of an entry: the profile's, and of the shipped ones those that are at the same path."""
    own: dict[str, Any] = entry.get("leaves", {})
    return {path: known["leaves"][path] for path in paths if path in known["leaves"]} | own
