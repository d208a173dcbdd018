"""The members of a signed struct, read back from its encoding: what is sent is what was signed.

Where no document shows a request, the configuration names the members of its body and what goes into each, from a closed
list: nothing else of a delivery can be sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airlock_online.delivery.routes.context import Delivery
from airlock_online.speech.sections import MESSAGE, PARTS
from airlock_shared.catalogue.encode_types import abi_type_of, types_of
from airlock_shared.catalogue.intents import CATALOGUE, Intent
from airlock_shared.catalogue.kinds import OPENED, OPENED_MS, value_of
from airlock_shared.errors import UsageError
from airlock_shared.ethereum.abi import decode
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.text.safe import safe

Member = Any


def struct_of(delivery: Delivery) -> Intent:
    """Return the struct that was signed, as the delivery's venue has it. Raises ``KeyError`` for none of the catalogue."""
    return delivery.intent or CATALOGUE[delivery.primary_type]


def members_of(delivery: Delivery) -> dict[str, Member]:
    """Return a struct's members by name, addresses in EIP-55, structs within it as objects.

    Raises ``Refusal("ENC-CANONICAL")`` when the encoding is not one of the struct.
    """
    intent = struct_of(delivery)
    (values,) = decode([abi_type_of(intent)], bytes.fromhex(delivery.encoded_intent[2:]))
    types = types_of(intent)
    return _named(types, intent.name, values, intent.abi_order)


def _named(
    types: Mapping[str, list[dict[str, str]]], struct: str, values: Sequence[Any], order: Sequence[str] = ()
) -> dict[str, Member]:
    kinds = {member["name"]: member["type"] for member in types[struct]}
    return {
        name: _named(types, kinds[name], value)
        if kinds[name] in types
        else checksum_address(value)
        if type(value) is bytes
        else value
        for name, value in zip(order or kinds, values, strict=True)
    }


def leaves_by_shipped_path(delivery: Delivery) -> dict[str, Member]:
    """Return what was signed by the paths of the shipped struct, whatever the venue calls its members.

    Raises ``UsageError`` for a struct that does not ship: how its service takes it is not known.
    """
    shipped = CATALOGUE.get(delivery.primary_type)
    if shipped is None:
        raise UsageError(
            f"{delivery.primary_type} does not ship, and no body of it is known for the route {delivery.route}",
            do="nothing was sent; give it a body in the services file, or export it",
        )
    message, fields = members_of(delivery), struct_of(delivery).fields
    found = {each.path: value_of(fields, message, each.kind) for each in shipped.fields}
    for each in shipped.fields:
        if each.kind == OPENED and found[each.path] is None:
            found[each.path] = value_of(fields, message, OPENED_MS)
    return {path: value for path, value in found.items() if isinstance(value, str | int | bool)}


def body_of(template: Mapping[str, object], delivery: Delivery) -> dict[str, object]:
    """Return the members that a template makes of a delivery. Raises ``UsageError`` for a part that there is not."""
    return {name: _part(part, delivery) for name, part in template.items()}


def _part(part: object, delivery: Delivery) -> object:
    if part in PARTS:
        return getattr(delivery, str(part))
    if type(part) is str and part.partition(".")[0] == MESSAGE:
        message = {name: _as_text(value) for name, value in members_of(delivery).items()}
        if part == MESSAGE:
            return message
        if (name := part.partition(".")[2]) in message:
            return message[name]
    raise UsageError(
        f"the configuration wants {safe(repr(part), limit=80)} in a request's body, and there is no such part",
        do=f"use one of {', '.join(PARTS)}, {MESSAGE}, or {MESSAGE}.NAME with a member of the struct",
    )


def _as_text(value: object) -> object:
    if isinstance(value, dict):
        return {name: _as_text(member) for name, member in value.items()}
    return str(value) if type(value) is int else value
