"""A venue's profile in words, for the people who pin it: how what is signed here differs from what ships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from airlock_shared.errors import DocumentError
from airlock_shared.ethereum.eip712 import Definitions
from airlock_shared.ethereum.struct_types import leaves_of
from airlock_shared.venue.calls import CALLS, Call, Calls, canonical, selector_of, structs_of_call
from airlock_shared.venue.profile import (
    FIXED,
    VENUE_FORMAT,
    read_each,
    require_contract,
    require_form,
    require_harmless,
    struct_types,
    venue_of,
    wrong_profile,
)
from airlock_shared.venue.structs import CATALOGUE, Field, Intent
from airlock_shared.wire.strict_json import JsonObject, raise_first, read_members


def profile_words(structs: Mapping[str, Intent], calls: Calls) -> Iterator[str]:
    """Yield a line for each difference from what ships of a venue's structs and calls."""
    for name, intent in structs.items():
        shipped = CATALOGUE.get(name)
        if shipped != intent:
            yield from _struct_words(intent, shipped)
    for name in sorted(CATALOGUE.keys() - structs.keys()):
        yield f"{name}: not signed at this venue"
    for name, call in calls.items():
        if call._replace(known_as="") != CALLS.get(name):
            yield from _call_words(call, CALLS.get(name))
    for name in sorted(CALLS.keys() - calls.keys()):
        yield f"{name}: not called at this venue"


def _struct_words(intent: Intent, shipped: Intent | None) -> Iterator[str]:
    """Yield a line for each difference of a struct from the one that ships, or all of one that does not ship."""
    name = intent.name
    if shipped is None:
        yield f"{name}: a struct that does not ship; Airlock does not know its meaning"
        yield f"{name}: signed under the {intent.domain} domain, {intent.signer_rule}, sent to {intent.route}"
    old = shipped or intent._replace(encode_type=f"{name}()", fields=(), abi_order=(), executing="")
    yield from _leaf_words(
        name, leaves_of(intent.structs, name), intent.fields, leaves_of(old.structs, name), old.fields
    )
    if intent.encode_type != old.encode_type:
        yield f"{name}: the signed type is now {intent.encode_type}"
        was = _ships(_type_hash(old) if shipped else "")
        yield f"{name}: its type hash is {_type_hash(intent)}{was}"
    if intent.executing != old.executing:
        by = intent.executing or "no call that is known"
        yield f"{name}: the contract executes it by {by}{_ships(old.executing)}"
    if _order(intent) != _order(old):
        yield f"{name}: encoded for the contract in the order {', '.join(_order(intent))}"


def _call_words(call: Call, shipped: Call | None) -> Iterator[str]:
    if shipped is None:
        yield f"call {call.name}: a call that does not ship; its meaning is this profile's alone"
    old = shipped or Call("", "", "", ())
    if call.contract != old.contract:
        yield f"call {call.name}: made to the pinned {call.contract}, by the signer for itself{_ships(old.contract)}"
    yield from _leaf_words(
        f"call {call.name}", leaves_of(call.structs, ""), call.fields, leaves_of(old.structs, ""), old.fields
    )
    if call.fee:
        yield f"call {call.name}: native currency may be sent with it as a fee, within the plan's native_fee_at_most"
    if call.signature != old.signature:
        yield f"call {call.name}: the function is now {call.signature}"
        was = _ships(f"{_selector(old)}, {old.signature}" if shipped else "")
        yield f"call {call.name}: its selector is {_selector(call)}, of {canonical(call.signature)}{was}"


def _leaf_words(
    name: str,
    leaves: Iterable[tuple[str, str]],
    fields: tuple[Field, ...],
    ship: Iterable[tuple[str, str]],
    shipped: tuple[Field, ...],
) -> Iterator[str]:
    """Yield a line for each leaf that differs; ``leaves`` and ``ship`` are the paths and types of the two."""
    new, old = dict(leaves), dict(ship)
    now, was = {each.path: each for each in fields}, {each.path: each for each in shipped}
    stay, stayed = [path for path in new if path in old], [path for path in old if path in new]
    if stay != stayed:
        yield f"{name}: its members are in another order: {', '.join(stay)} (ships: {', '.join(stayed)})"
    for path in old:
        if path not in new:
            yield f"{name}: member {path} removed ({old[path]}, {was[path].meaning})"
    for path, solidity in new.items():
        if path not in old:
            yield f"{name}: member {path} added: {solidity}, {now[path].kind}: {now[path].meaning}"
        elif solidity != old[path]:
            yield f"{name}: member {path} is {solidity} (ships: {old[path]})"
        if path in old and now[path].kind != was[path].kind:
            yield f"{name}: member {path} means {now[path].kind}: {now[path].meaning} (ships: {was[path].kind})"
        if now[path].label:
            yield f'{name}: member {path}, {now[path].kind}, has the label "{now[path].label}" beside its name'


def _ships(what: str) -> str:
    return f" (ships: {what})" if what else ""


def _type_hash(intent: Intent) -> str:
    return f"0x{Definitions(intent.structs).type_hashes[intent.name].hex()}"


def _selector(call: Call) -> str:
    return f"0x{selector_of(call.signature).hex()}"


def _order(intent: Intent) -> tuple[str, ...]:
    return tuple(member.name for member in intent.abi_structs[intent.name])


# ---- profile differences --------------------------------------------------------------------------------------------
# A venue's profile as it is written: its differences, resolved within everything that ships, once, on the online
# machine. The whole result is pinned with the deployment (:mod:`airlock_shared.venue.profile`); the signing machine
# merges nothing.


def shipped() -> JsonObject:
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
    return {"format": VENUE_FORMAT, "structs": structs, "calls": calls}


def resolve_profile(profile: Any, contracts: Mapping[str, str] | None = None) -> JsonObject:
    """Return what is pinned: a profile's differences within everything that ships.

    A leaf that has the name of a shipped one, and of which the profile says nothing, is of its kind. ``contracts`` are
    the deployment's, for the calls whose contract it says; without them each name is taken. Raises as :func:`venue_of`,
    and so for a profile that changes nothing: it would be pinned for nothing.
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
    read_each([("", whole)], lambda _, signed: venue_of(signed), wrong)
    own = [(name, call["contract"]) for name, call in whole["calls"].items() if "contract" in call]
    read_each(own if contracts else (), lambda name, to: require_contract(name, to, contracts or {}), wrong)
    raise_first(wrong)
    return whole


def _sections(where: str, profile: Any) -> Any:
    return read_members(profile, where, {"format": str}, {"structs": dict, "calls": dict})


def _struct(name: str, entry: Any) -> JsonObject:
    where, ships = f"structs.{name}", shipped()["structs"].get(name)
    needed = {} if ships else dict.fromkeys(("encode_type", *FIXED), str)
    if needed and type(entry) is dict and entry.keys().isdisjoint(FIXED):
        expected = "one that ships, or domain, signer_rule and route beside it"
        raise wrong_profile(where, "it does not ship, and says not who signs it", name, expected, CATALOGUE)
    read_members(entry, where, needed, {"encode_type": str, "abi_order": list, "leaves": dict, "executing": str})
    known: JsonObject = ships or {"leaves": {}, "executing": "", "abi_order": []}
    whole: JsonObject = {**known, **entry}
    structs = struct_types(where, name, whole["encode_type"])
    if "abi_order" not in entry and sorted(known["abi_order"]) != sorted(dict(structs[name])):
        whole["abi_order"] = []
    return {**whole, "leaves": _inherited(dict(leaves_of(structs, name)), entry, known)}


def _call(name: str, entry: Any) -> JsonObject:
    where, ships = f"calls.{name}", shipped()["calls"].get(name)
    needed = {} if ships else {"signature": str, "contract": str}
    if needed and type(entry) is dict and "contract" not in entry:
        expected = "one that ships, or its contract beside it"
        raise wrong_profile(where, "it does not ship, and says not which contract it is for", name, expected, CALLS)
    read_members(entry, where, needed, {"signature": str, "leaves": dict, "value": str, "contract": str})
    known: JsonObject = ships or {"leaves": {}}
    whole: JsonObject = {**known, **entry}
    signature = whole["signature"]
    require_harmless(where, signature, CALLS.get(name))
    paths = dict(leaves_of(structs_of_call(signature), ""))
    return {**whole, "leaves": _inherited(paths, entry, known)}


def _inherited(paths: Iterable[str], entry: Mapping[str, Any], known: Mapping[str, Any]) -> JsonObject:
    """Return the leaves of an entry: the profile's, and of the shipped ones those that are at the same path."""
    own: JsonObject = entry.get("leaves", {})
    return {path: known["leaves"][path] for path in paths if path in known["leaves"]} | own
