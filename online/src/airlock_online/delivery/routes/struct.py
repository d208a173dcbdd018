"""The members of a signed struct, read back from its encoding: what is sent is what was signed.

Where no document shows a request, the configuration names the members of its body and what goes into each, from a closed
list: nothing else of a delivery can be sent.
"""

from __future__ import annotations

from collections.abc import Mapping

from airlock_online.delivery.routes.context import Delivery
from airlock_shared.catalogue.intents import CATALOGUE, abi_type_of, types_of
from airlock_shared.errors import UsageError
from airlock_shared.ethereum.abi import decode
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.text.safe import safe

Member = str | int | bool


def members_of(delivery: Delivery) -> dict[str, Member]:
    """Return a flat struct's members by name, addresses in EIP-55.

    Raises ``Refusal("ENC-CANONICAL")`` when the encoding is not one of the struct.
    """
    intent = CATALOGUE[delivery.primary_type]
    (values,) = decode([abi_type_of(intent)], bytes.fromhex(delivery.encoded_intent[2:]))
    names = intent.abi_order or [member["name"] for member in types_of(intent)[intent.name]]
    return {
        name: checksum_address(value) if type(value) is bytes else value
        for name, value in zip(names, values, strict=True)
    }


PARTS = ("primary_type", "encoded_intent", "signature", "digest", "signer", "trader", "contract", "nonce", "chain_id")
MESSAGE = "message"
"""The whole struct as it was signed, whole numbers as decimal texts; ``message.NAME`` is one of its members."""


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
        f"config.toml wants {safe(repr(part), limit=80)} in a request's body, and there is no such part",
        do=f"use one of {', '.join(PARTS)}, {MESSAGE}, or {MESSAGE}.NAME with a member of the struct",
    )


def _as_text(value: object) -> object:
    return str(value) if type(value) is int else value
