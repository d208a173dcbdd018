"""The intent payloads that the builder answers with, honest or with one of its lies.

Source: the specification, "Signable intent payload".
"""

from __future__ import annotations

from functools import partial

from airlock_rehearsal.services.builder.message_drafts import Draft
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import OTHER_CHAIN, STRANGER, signing_domain
from airlock_rehearsal.services.venue.eip712_peer import Message, digest_of, encode, types_of
from airlock_rehearsal.services.venue.positions import in_texts
from airlock_rehearsal.services.venue.structs import STRUCTS

_STRANGERS_CODE = "0x" + b"STRANGER".ljust(32, b"\0").hex()
_OTHERS = {"delegate": STRANGER, "spender": STRANGER, "newOwner": STRANGER, "code": _STRANGERS_CODE}
_AMOUNTS = ("amount", "leverage", "price", "coinExposure", "coinSize", "slippage", "twapId")
_RENAMED = "Value"  # what the fault types-renamed puts behind a member's name


def payload_of(draft: Draft, faults: Faults) -> dict[str, object]:
    """Return the ``data`` of an intent endpoint's reply."""
    told = partial(faults.has, service="builder")
    primary, meta = draft.primary, draft.meta
    message = in_texts(draft.message)
    key = STRUCTS[primary].domain
    if told("domain-crossed"):
        key = "referral" if key == "trading" else "trading"
    domain = signing_domain(key)
    if told("wrong-chain"):
        domain["chainId"] = OTHER_CHAIN
    types = types_of(primary)
    if told("message-altered"):
        message = altered(message)
    encoded = altered(message) if told("encoded-altered") else message
    if told("types-reordered"):
        types = types | {primary: [*types[primary][:-2], types[primary][-1], types[primary][-2]]}
    if told("types-renamed"):
        last = types[primary][-1]
        name = last["name"] + _RENAMED
        members = [*types[primary][:-1], {"name": name, "type": last["type"]}]
        message = {name if key == last["name"] else key: value for key, value in message.items()}
        types = types | {primary: members}
    digest = digest_of(types, primary, domain, message)
    if told("digest-flipped"):
        digest = digest[:-1] + bytes([digest[-1] ^ 1])
    payload: dict[str, object] = {
        "intent": primary,
        "signerRule": STRUCTS[primary].signer_rule,
        "domain": domain,
        "primaryType": primary,
        "types": types,
        "message": message,
        "digest": "0x" + digest.hex(),
        "encodedIntent": "0x" + encode(primary, encoded).hex(),
    }
    return payload if meta is None else payload | {"meta": meta}


def altered(message: Message) -> Message:
    """Return a message, or a call's arguments, with one value changed: another account or code, or twice the number.

    It is the last one that can be.
    """
    for name, value in reversed(message.items()):
        plain = name.removeprefix("_")
        if isinstance(value, dict):
            return message | {name: altered(value)}
        if plain in _OTHERS:
            return message | {name: _OTHERS[plain]}
        if plain in _AMOUNTS:
            return message | {name: str(min(int(value) * 2 + 1, (1 << 256) - 1))}
    return message
