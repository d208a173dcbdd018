"""A second opinion on digest and encoding, by eth-account and eth-abi, before a signature is asked of the device.

It never replaces the gate: common libraries sign what must be refused. A disagreement is a refusal, not a choice.
"""

from __future__ import annotations

from typing import Any

from airlock_shared.checks.case import Case
from airlock_shared.errors import Refusal
from airlock_shared.intents import CATALOGUE, types_of


def confirm(case: Case) -> None:
    """Recompute an examined item's digest and encoding with other code.

    Raises ``Refusal("DIGEST-DISAGREE")`` or ``Refusal("ENC-DISAGREE")``.
    """
    from eth_account.messages import _hash_eip191_message, encode_typed_data

    payload, hashes = case.request.payload, case.hashes
    full = {
        "types": {"EIP712Domain": _domain_type(payload["domain"]), **types_of(payload["primaryType"])},
        "primaryType": payload["primaryType"],
        "domain": {**payload["domain"], "chainId": int(payload["domain"]["chainId"])},
        "message": _numbers(payload["message"], payload["primaryType"]),
    }
    digest = bytes(_hash_eip191_message(encode_typed_data(full_message=full)))
    if digest != hashes.digest:
        raise Refusal(
            "DIGEST-DISAGREE", "eth-account computes another digest", got=digest.hex(), expected=hashes.digest.hex()
        )
    if (encoded := _encode(payload["primaryType"], full["message"])) != payload["encodedIntent"].lower():
        raise Refusal(
            "ENC-DISAGREE",
            "eth-abi computes another encoding",
            got=encoded[:80],
            expected=payload["encodedIntent"][:80],
        )


def _domain_type(domain: dict[str, Any]) -> list[dict[str, str]]:
    kinds = {"name": "string", "version": "string", "chainId": "uint256", "verifyingContract": "address"}
    return [{"name": name, "type": kind} for name, kind in kinds.items() if name in domain]


def _numbers(
    message: dict[str, Any], struct: str, types: dict[str, list[dict[str, str]]] | None = None
) -> dict[str, Any]:
    """Return the message as eth-account wants it: integers as numbers."""
    if types is None:
        types = types_of(struct)
    result = {}
    for member in types[struct]:
        value = message[member["name"]]
        if member["type"] in types:
            value = _numbers(value, member["type"], types)
        elif "int" in member["type"]:
            value = int(value)
        result[member["name"]] = value
    return result


def _encode(primary_type: str, message: dict[str, Any]) -> str:
    from eth_abi.abi import encode

    types = types_of(primary_type)
    order = CATALOGUE[primary_type].abi_order or tuple(m["name"] for m in types[primary_type])

    def type_text(struct: str, names: tuple[str, ...]) -> str:
        kinds = {m["name"]: m["type"] for m in types[struct]}
        inner = [kinds[n] for n in names]
        return (
            "(" + ",".join(type_text(k, tuple(m["name"] for m in types[k])) if k in types else k for k in inner) + ")"
        )

    values = []
    for name in order:
        value = message[name]
        if isinstance(value, dict):
            value = tuple(value.values())
        elif {"name": name, "type": "bytes32"} in types[primary_type]:
            value = bytes.fromhex(value[2:])
        values.append(value)
    return "0x" + encode([type_text(primary_type, order)], [tuple(values)]).hex()
