"""The members of a signed struct, read back from its encoding: what is sent is what was signed."""

from __future__ import annotations

from airlock_online.delivery.routes.context import Delivery
from airlock_shared.catalogue.intents import CATALOGUE, abi_type_of, types_of
from airlock_shared.ethereum.abi import decode
from airlock_shared.ethereum.addresses import checksum_address

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
