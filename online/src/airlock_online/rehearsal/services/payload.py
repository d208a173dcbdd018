"""The signable intent payload (specification, "Signable intent payload"), honest or with one of the builder's lies."""

from __future__ import annotations

from airlock_online.rehearsal.services.drafts import Draft
from airlock_online.rehearsal.services.faults import Faults
from airlock_online.rehearsal.services.settings import STRANGER, Settings
from airlock_online.rehearsal.services.structs import STRUCTS, leaf, replaced
from airlock_online.rehearsal.services.typed import Message, Types, digest_of, encode, types_of

_RENAMED = "Value"  # what the fault types-renamed puts behind a member's name


def payload_of(draft: Draft, settings: Settings, faults: Faults) -> dict[str, object]:
    """Return the ``data`` of an intent endpoint's reply."""
    primary, message, meta = draft
    domain = _domain(primary, settings, faults)
    types = types_of(primary)
    if faults.has("message-altered"):
        message = altered(primary, message)
    encoded = altered(primary, message) if faults.has("encoded-altered") else message
    wrong_order = faults.has("delegate-order") and primary == "DelegateReq"
    encoded_intent = encode(primary, encoded, hashed_order=wrong_order)
    if faults.has("types-reordered"):
        types = types | {primary: [*types[primary][:-2], types[primary][-1], types[primary][-2]]}
    if faults.has("types-renamed"):
        types, message = _renamed(types, primary, message)
    digest = digest_of(types, primary, domain, message)
    if faults.has("digest-flipped"):
        digest = digest[:-1] + bytes([digest[-1] ^ 1])
    payload: dict[str, object] = {
        "intent": primary,
        "signerRule": STRUCTS[primary].signer_rule,
        "domain": domain,
        "primaryType": primary,
        "types": types,
        "message": message,
        "digest": "0x" + digest.hex(),
        "encodedIntent": "0x" + encoded_intent.hex(),
    }
    return payload if meta is None else payload | {"meta": meta}


def altered(primary: str, message: Message) -> Message:
    """Return the message with the value that matters most changed: another delegate, another code, twice the amount."""
    path = STRUCTS[primary].altered
    value = str(leaf(message, path))
    if path == "delegate":
        return replaced(message, path, STRANGER)
    if path == "_code":
        return replaced(message, path, "0x" + b"STRANGER".ljust(32, b"\0").hex())
    return replaced(message, path, str(int(value) * 2 + 1))


def _domain(primary: str, settings: Settings, faults: Faults) -> dict[str, object]:
    key = STRUCTS[primary].domain
    if faults.has("domain-crossed"):
        key = "referral" if key == "trading" else "trading"
    domain = settings.domain(key)
    return domain | {"chainId": settings.other_chain} if faults.has("wrong-chain") else domain


def _renamed(types: Types, primary: str, message: Message) -> tuple[Types, Message]:
    last = types[primary][-1]
    name = last["name"] + _RENAMED
    members = [*types[primary][:-1], {"name": name, "type": last["type"]}]
    message = {name if key == last["name"] else key: value for key, value in message.items()}
    return types | {primary: members}, message
