"""A venue's profile in words, for the people who pin it: how what is signed here differs from what ships."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from airlock_shared.catalogue.calls import CALLS, Call, canonical, selector_of
from airlock_shared.catalogue.encode_types import leaves_of, types_of_text
from airlock_shared.catalogue.intents import CATALOGUE, Intent
from airlock_shared.catalogue.kinds import Field
from airlock_shared.catalogue.profile import argument_leaves, venue_of
from airlock_shared.ethereum.eip712 import read_types


def profile_words(signed: str) -> Iterator[str]:
    """Yield a line for each difference from what ships. Raises as ``venue_of``."""
    venue = venue_of(signed)
    for name, intent in venue.structs.items():
        shipped = CATALOGUE.get(name)
        if shipped != intent:
            yield from struct_words(intent, shipped)
    for name in sorted(CATALOGUE.keys() - venue.structs.keys()):
        yield f"{name}: not signed at this venue"
    for name, call in venue.calls.by_name.items():
        if call._replace(known_as="") != CALLS.get(name):
            yield from _call_words(call, CALLS.get(name))
    for name in sorted(CALLS.keys() - venue.calls.by_name.keys()):
        yield f"{name}: not called at this venue"


def struct_words(intent: Intent, shipped: Intent | None) -> Iterator[str]:
    """Yield a line for each difference of a struct from the one that ships, or all of one that does not ship."""
    name, types = intent.name, types_of_text(intent.encode_type)
    if shipped is None:
        yield f"{name}: a struct that does not ship; Airlock does not know its meaning"
        yield f"{name}: signed under the {intent.domain} domain, {intent.signer_rule}, sent to {intent.route}"
    before = types_of_text(shipped.encode_type) if shipped is not None else {}
    old = dict(leaves_of(before, name)) if shipped is not None else {}
    yield from _leaf_words(name, dict(leaves_of(types, name)), intent.fields, old, shipped.fields if shipped else ())
    if shipped is None or intent.encode_type != shipped.encode_type:
        yield f"{name}: the signed type is now {intent.encode_type}"
        was = f" (ships: 0x{_type_hash(shipped)})" if shipped is not None else ""
        yield f"{name}: its type hash is 0x{_type_hash(intent)}{was}"
    executing = shipped.executing if shipped is not None else ""
    if intent.executing != executing:
        was = f" (ships: {executing})" if executing else ""
        yield f"{name}: the contract executes it by {intent.executing or 'no call that is known'}{was}"
    if shipped is None or _order(intent) != _order(shipped):
        yield f"{name}: encoded for the contract in the order {', '.join(_order(intent))}"


def _call_words(call: Call, shipped: Call | None) -> Iterator[str]:
    if shipped is None:
        yield f"call {call.name}: a call that does not ship; its meaning is this profile's alone"
        yield f"call {call.name}: made to the pinned {call.contract}, by the signer for itself"
    new = {path: kind for each in call.arguments for path, kind in argument_leaves(each)}
    arguments = shipped.arguments if shipped is not None else ()
    old = {path: kind for each in arguments for path, kind in argument_leaves(each)}
    yield from _leaf_words(f"call {call.name}", new, call.fields, old, shipped.fields if shipped is not None else ())
    if call.fee:
        yield f"call {call.name}: native currency may be sent with it as a fee, within the plan's native_fee_at_most"
    if shipped is None or call.signature != shipped.signature:
        yield f"call {call.name}: the function is now {call.signature}"
        selector, was = f"0x{selector_of(call.signature).hex()}", ""
        if shipped is not None:
            was = f" (ships: 0x{selector_of(shipped.signature).hex()}, {shipped.signature})"
        yield f"call {call.name}: its selector is {selector}, of {canonical(call.signature)}{was}"


def _leaf_words(
    name: str, new: Mapping[str, str], fields: tuple[Field, ...], old: Mapping[str, str], shipped: tuple[Field, ...]
) -> Iterator[str]:
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


def _type_hash(intent: Intent) -> str:
    return read_types(types_of_text(intent.encode_type)).type_hash(intent.name).hex()


def _order(intent: Intent) -> tuple[str, ...]:
    members = types_of_text(intent.encode_type)[intent.name]
    return intent.abi_order or tuple(member["name"] for member in members)
