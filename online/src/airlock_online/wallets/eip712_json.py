"""An intent as the JSON that other wallets sign: ``EIP712Domain`` listed, every value in the one spelling all of them read.

Integers are decimal texts, because readers in JavaScript lose digits above 2**53; the chain id is a number, as wallets
expect it. Source: EIP-712, the parameters of ``eth_signTypedData``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from airlock_shared.catalogue.encode_types import types_of
from airlock_shared.catalogue.intents import Intent
from airlock_shared.checks.payload import DOMAIN_DEFINITION, definitions
from airlock_shared.documents.deployment import Domain
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.eip712 import DOMAIN_TYPE
from airlock_shared.ethereum.eip712_types import Member, split_array


def typed_json(intent: Intent, domain: Domain, message: dict[str, Any]) -> bytes:
    """Return the typed-data document of a canonical message under a pinned domain, in UTF-8 without blanks."""
    document = {
        "types": {DOMAIN_TYPE: DOMAIN_DEFINITION, **types_of(intent)},
        "primaryType": intent.name,
        "domain": {
            "name": domain.name,
            "version": domain.version,
            "chainId": domain.chain_id,
            "verifyingContract": checksum_address(domain.contract),
        },
        "message": _plain(intent.name, message, definitions(intent).structs),
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _plain(kind: str, value: Any, structs: Mapping[str, tuple[Member, ...]]) -> Any:
    if kind in structs:
        return {member.name: _plain(member.type, value[member.name], structs) for member in structs[kind]}
    if array := split_array(kind):
        return [_plain(array[0], element, structs) for element in value]
    if type(value) is bytes:
        return checksum_address(value) if kind == "address" else "0x" + value.hex()
    return str(value) if type(value) is int else value
