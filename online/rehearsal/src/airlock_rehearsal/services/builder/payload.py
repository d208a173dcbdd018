"""The payloads that the builder answers with, honest or with one of its lies.

Source: the specification, "Signable intent payload" and "Unsigned transaction payload".
"""

from __future__ import annotations

from functools import partial

from airlock_rehearsal.chain.evm import CONTRACTS, ROUTER
from airlock_rehearsal.services.builder.message_drafts import Draft
from airlock_rehearsal.services.builder.unsigned import CALLS, TransactionDraft, encode_call
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import CHAIN_ID, OTHER_CHAIN, STRANGER, RehearsalSettings
from airlock_rehearsal.services.venue.eip712_peer import Message, digest_of, encode, types_of
from airlock_rehearsal.services.venue.positions import in_texts
from airlock_rehearsal.services.venue.structs import STRUCTS, leaf, replaced

_STRANGERS_CODE = "0x" + b"STRANGER".ljust(32, b"\0").hex()
_OTHERS = dict.fromkeys(("delegate", "spender", "newOwner"), STRANGER) | dict.fromkeys(
    ("code", "_code"), _STRANGERS_CODE
)
_RENAMED = "Value"  # what the fault types-renamed puts behind a member's name


def payload_of(draft: Draft, settings: RehearsalSettings, faults: Faults) -> dict[str, object]:
    """Return the ``data`` of an intent endpoint's reply."""
    told = partial(faults.has, service="builder")
    primary, meta = draft.primary, draft.meta
    message = in_texts(draft.message)
    key = STRUCTS[primary].domain
    if told("domain-crossed"):
        key = "referral" if key == "trading" else "trading"
    domain = settings.domain(key)
    if told("wrong-chain"):
        domain["chainId"] = OTHER_CHAIN
    types = types_of(primary)
    if told("message-altered"):
        message = altered(primary, message)
    encoded = altered(primary, message) if told("encoded-altered") else message
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


def altered(primary: str, message: Message) -> Message:
    """Return the message with the value that matters most changed: another delegate, another code, twice the amount."""
    path = STRUCTS[primary].altered
    other = _OTHERS.get(path)
    return replaced(message, path, str(int(str(leaf(message, path))) * 2 + 1) if other is None else other)


def transaction_of(draft: TransactionDraft, faults: Faults) -> dict[str, object]:
    """Return the ``data`` of a reply that is an unsigned transaction."""
    told = partial(faults.has, service="builder")
    arguments = _altered_arguments(draft.arguments) if told("message-altered") else draft.arguments
    contract, data = CALLS[draft.call], encode_call(draft.call, arguments)
    if draft.delegate is not None:
        contract = ROUTER
        data = encode_call("delegatedAction", {"trader": draft.account, "call": data})
    return {
        "to": CONTRACTS[contract],
        "from": draft.delegate or draft.account,
        "data": "0x" + data.hex(),
        "value": "0x0",
        "chainId": OTHER_CHAIN if told("wrong-chain") else CHAIN_ID,
        "description": draft.description,
        "meta": draft.meta,
    }


def _altered_arguments(arguments: Message) -> Message:
    """Return the arguments with one changed: another account, another code, or twice the number; the last that can be."""
    for name, value in reversed(arguments.items()):
        if isinstance(value, dict):
            return arguments | {name: _altered_arguments(value)}
        if name in _OTHERS:
            return arguments | {name: _OTHERS[name]}
        if name in ("amount", "leverage", "price", "coinExposure", "slippage"):
            return arguments | {name: min(int(str(value)) * 2 + 1, (1 << 256) - 1)}
    return arguments
