"""A second opinion on digest and encoding, by eth-account and eth-abi, before a signature is asked of the device.

It never replaces the gate: common libraries sign what must be refused. A disagreement is a refusal, not a choice.
"""

from __future__ import annotations

from typing import Any

from airlock_shared.catalogue.intents import Intent, types_of
from airlock_shared.checks.case import CallCase, Case, IntentCase
from airlock_shared.documents.requests import Transaction
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.addresses import checksum_address, parse_address


def confirm(case: Case) -> None:
    """Recompute what an examined item's signature is over with other code.

    Raises ``Refusal`` with ``DIGEST-DISAGREE`` or ``ENC-DISAGREE`` for an intent, ``TX-DISAGREE`` for a transaction.
    """
    if isinstance(case, IntentCase):
        _confirm_intent(case)
    elif case.request.transaction is not None:
        _confirm_transaction(case, case.request.transaction)


def _confirm_transaction(case: CallCase, filled: Transaction) -> None:
    from eth_account.typed_transactions.typed_transaction import TypedTransaction

    payload = case.request.payload
    to = checksum_address(parse_address(payload["to"]))
    fields = {"type": 2, "chainId": payload["chainId"], "to": to, "value": 0, "data": payload["data"]}
    digest = bytes(TypedTransaction.from_dict({**fields, **filled._asdict(), "accessList": []}).hash())
    if digest != case.digest:
        raise Refusal("TX-DISAGREE", "eth-account computes another hash", got=digest.hex(), expected=case.digest.hex())


def _confirm_intent(case: IntentCase) -> None:
    from eth_account.messages import _hash_eip191_message, encode_typed_data

    payload, hashes = case.request.payload, case.hashes
    full = {
        "types": {"EIP712Domain": _domain_type(payload["domain"]), **types_of(case.intent)},
        "primaryType": payload["primaryType"],
        "domain": {**payload["domain"], "chainId": int(payload["domain"]["chainId"])},
        "message": _numbers(payload["message"], case.intent.name, types_of(case.intent)),
    }
    digest = bytes(_hash_eip191_message(encode_typed_data(full_message=full)))
    if digest != hashes.digest:
        raise Refusal(
            "DIGEST-DISAGREE", "eth-account computes another digest", got=digest.hex(), expected=hashes.digest.hex()
        )
    if (encoded := _encode(case.intent, full["message"])) != payload["encodedIntent"].lower():
        raise Refusal(
            "ENC-DISAGREE",
            "eth-abi computes another encoding",
            got=encoded[:80],
            expected=payload["encodedIntent"][:80],
        )


def _domain_type(domain: dict[str, Any]) -> list[dict[str, str]]:
    kinds = {"name": "string", "version": "string", "chainId": "uint256", "verifyingContract": "address"}
    return [{"name": name, "type": kind} for name, kind in kinds.items() if name in domain]


Types = dict[str, list[dict[str, str]]]


def _numbers(message: dict[str, Any], struct: str, types: Types) -> dict[str, Any]:
    """Return the message as eth-account wants it: integers as numbers."""
    result = {}
    for member in types[struct]:
        value = message[member["name"]]
        if member["type"] in types:
            value = _numbers(value, member["type"], types)
        elif "int" in member["type"]:
            value = int(value)
        result[member["name"]] = value
    return result


def _encode(intent: Intent, message: dict[str, Any]) -> str:
    from eth_abi.abi import encode

    types = types_of(intent)
    order = list(intent.abi_order) or [m["name"] for m in types[intent.name]]
    return "0x" + encode([_tuple_type(intent.name, order, types)], [_values(intent.name, order, message, types)]).hex()


def _members(struct: str, order: list[str], types: Types) -> list[tuple[str, str]]:
    """Return ``(name, type)`` of a struct's members in the order given."""
    kinds = {member["name"]: member["type"] for member in types[struct]}
    return [(name, kinds[name]) for name in order]


def _order(struct: str, types: Types) -> list[str]:
    return [member["name"] for member in types[struct]]


def _tuple_type(struct: str, order: list[str], types: Types) -> str:
    parts = [_tuple_type(k, _order(k, types), types) if k in types else k for _, k in _members(struct, order, types)]
    return f"({','.join(parts)})"


def _values(struct: str, order: list[str], message: dict[str, Any], types: Types) -> tuple[Any, ...]:
    values = []
    for name, kind in _members(struct, order, types):
        value = message[name]
        if kind in types:
            value = _values(kind, _order(kind, types), value, types)
        elif kind.startswith("bytes"):
            value = bytes.fromhex(value[2:])
        values.append(value)
    return tuple(values)
