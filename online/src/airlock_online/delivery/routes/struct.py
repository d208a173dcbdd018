"""The members of a signed struct, read back from its encoding: what is sent is what was signed.

What goes into a request stands in a services file, or is what ships (:mod:`airlock_online.speech`): parts out of a closed
list, and constants. Nothing else of a delivery can be sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from airlock_online.addresses import join_address, segment
from airlock_online.clients.connection import HttpCall
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, Parcel
from airlock_online.speech.sections import (
    AS_NUMBER,
    EXECUTING,
    MESSAGE,
    OF_A_TRANSACTION,
    PARTS,
    REPLACE,
    SHIPPED_LEAF,
    part_name,
)
from airlock_shared.errors import UsageError
from airlock_shared.ethereum.eip712 import StructValues, as_argument, decode_abi, encode_abi
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.text.safe import safe
from airlock_shared.venue.calls import canonical, selector_of, structs_of_call
from airlock_shared.venue.structs import CATALOGUE, CORE_API, TWAP, Intent, value_of
from airlock_shared.wire.strict_json import JsonObject

_Member = Any


def struct_of(delivery: Delivery) -> Intent:
    """Return the struct that was signed, as the delivery's venue has it. Raises ``KeyError`` for none of the catalogue."""
    return delivery.intent or CATALOGUE[delivery.primary_type]


def _members_of(delivery: Delivery) -> dict[str, _Member]:
    """Return a struct's members by name, addresses in EIP-55, structs within it as objects.

    Raises ``Refusal("ENC-CANONICAL")`` when the encoding is not one of the struct.
    """
    intent = struct_of(delivery)
    encoded = bytes.fromhex(delivery.encoded_intent[2:])
    return _spoken(decode_abi(as_argument(intent.abi_structs, intent.name), encoded)[""])


def _spoken(values: StructValues) -> dict[str, _Member]:
    return {
        name: _spoken(value) if type(value) is dict else checksum_address(value) if type(value) is bytes else value
        for name, value in values.items()
    }


def leaves_by_shipped_path(delivery: Delivery) -> dict[str, _Member]:
    """Return what was signed by the paths of the shipped struct, whatever the venue calls its members.

    Nothing of a struct that does not ship.
    """
    shipped = CATALOGUE.get(delivery.primary_type)
    if shipped is None:
        return {}
    message, fields = _members_of(delivery), struct_of(delivery).fields
    found = {each.path: value_of(fields, message, each.kind) for each in shipped.fields}
    return {path: value for path, value in found.items() if isinstance(value, str | int | bool)}


def executing_call(delivery: Delivery) -> dict[str, str]:
    """Return the contract's own call that executes a signed intent, for whoever sends it, as this venue has it.

    ``function``, ``to``, which is the contract that verifies the signature, ``data`` as 0x-hex, ``value`` in wei. Raises
    ``UsageError`` for none.
    """
    signature = struct_of(delivery).executing
    if not signature:
        raise UsageError(
            f"no contract call is known that executes a {delivery.primary_type}",
            do="nothing was sent; correct its body in the services file",
        )
    signed = {
        "intent": bytes.fromhex(delivery.encoded_intent[2:]),
        "signature": bytes.fromhex(delivery.signature[2:]),
    }
    arguments = encode_abi(structs_of_call(signature), signed)
    data = "0x" + (selector_of(signature) + arguments).hex()
    return {"function": canonical(signature), "to": delivery.contract, "data": data, "value": "0"}


def parcel_of(method: str, url: str, body: bytes, context: DeliveryContext) -> Parcel:
    """Return a request that can be built. Raises ``UsageError``: after the claim that would be too late to find out."""
    context.http.require(HttpCall(method, url, body=body))
    return Parcel(method, url, body)


def request_of(route: str, delivery: Delivery, context: DeliveryContext) -> Parcel:
    """Return the one request that delivers something by a route, as its service speaks.

    Raises ``UsageError`` for a part that there is not, and for a struct that does not ship and has no body of its own where
    the service takes one shape alone.
    """
    speech, own = context.speech, f"{route}-{delivery.primary_type}"
    if route in (TWAP, CORE_API) and delivery.primary_type not in CATALOGUE and own not in speech.bodies:
        raise UsageError(
            f"{delivery.primary_type} does not ship, and no body of it is known for the route {route}",
            do=f"nothing was sent; say in the services file how it is sent, [bodies.{own}], or export it",
        )
    usual = REPLACE if delivery.replaces else route
    template = speech.bodies.get(own) or speech.bodies.get(usual) or speech.bodies[route]
    said, _, path = speech.paths.get(own, speech.paths[usual]).rpartition(" ")
    path = _HOLE.sub(lambda hole: _in_path(hole[1], delivery), path)
    body = json.dumps(body_of(template, delivery), separators=(",", ":")).encode()
    method = said or ("PUT" if delivery.replaces else "POST")
    return parcel_of(method, join_address(delivery.base_url, path), body, context)


_HOLE = re.compile(r"\{(\w+)\}", re.ASCII)


def _in_path(name: str, delivery: Delivery) -> str:
    return segment(delivery.replaces if name == "id" else str(_part_of(f"{MESSAGE}.{name}", delivery)))


def body_of(template: Mapping[str, Any], delivery: Delivery) -> JsonObject:
    """Return what a body of the services file makes of a delivery. Raises ``UsageError`` for a part that there is not."""
    return {name: _filled(value, delivery) for name, value in template.items()}


def _filled(value: Any, delivery: Delivery) -> Any:
    if type(value) is dict:
        return body_of(value, delivery)
    return value if (part := part_name(value)) is None else _part_of(part, delivery)


def _part_of(name: str, delivery: Delivery) -> Any:
    """Return a part of a delivery by its name, with `` as number`` behind it a whole number. Raises ``UsageError``."""
    plain = name.removesuffix(AS_NUMBER)
    kind, _, member = plain.partition(".")
    found: object = None
    if plain in (*PARTS, *OF_A_TRANSACTION, "order_type"):
        found = delivery.trader or delivery.signer if plain == "trader" else getattr(delivery, plain)
    elif plain in EXECUTING:
        found = executing_call(delivery)[member]
    elif kind == SHIPPED_LEAF:
        found = _as_text(leaves_by_shipped_path(delivery).get(member))
    elif kind == MESSAGE:
        found = _as_text(_members_of(delivery))
        for step in filter(None, member.split(".")):
            found = found.get(step) if isinstance(found, dict) else None
    if plain != name:
        found = int(str(found)) if re.fullmatch(r"-?[0-9]{1,78}", str(found)) else None
    if found is None or found == "":
        raise UsageError(
            f"the services file wants {safe(repr(name), limit=80)} in a request's body, and there is no such part",
            do=f"use one of {', '.join((*PARTS, *EXECUTING))}, {MESSAGE}, or {MESSAGE}.NAME with a member of the struct",
        )
    return found


def _as_text(value: object) -> object:
    if isinstance(value, dict):
        return {name: _as_text(member) for name, member in value.items()}
    return str(value) if type(value) is int else value
