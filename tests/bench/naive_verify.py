"""The naive script that Airlock is measured against: verify a requests file with eth-account and eth-abi.

It is what a careful person writes in an afternoon: load the file, and for each intent recompute the digest and the
encoding, and recover the signer. It compares nothing with a plan or a pinned deployment.
Usage: ``naive_verify.py REQUESTS SIGNATURES [HOW MANY]``. Prints how many intents passed.
"""

import json
import sys
from pathlib import Path
from typing import Any

from eth_abi.abi import encode
from eth_account import Account
from eth_account.messages import SignableMessage, _hash_eip191_message, encode_typed_data

ABI_ORDER = {"DelegateReq": ("trader", "delegate", "expiry", "tnc", "deadline", "nonce")}


def main(requests: str, signatures: str, how_many: str = "") -> int:
    """Verify the intents of a file; return 1 when one of them is wrong."""
    items = json.loads(Path(requests).read_bytes())["requests"]
    signed = json.loads(Path(signatures).read_bytes())["signatures"]
    limit = int(how_many) if how_many else len(items)
    passed = 0
    for item, answer in zip(items[:limit], signed, strict=False):
        passed += verify(item["payload"], answer)
    print(passed)
    return 0 if passed == min(limit, len(items)) else 1


def verify(payload: dict[str, Any], answer: dict[str, Any]) -> bool:
    """Tell whether a payload's digest and encoding are right and the signature is by the signer it names."""
    names = ("types", "primaryType", "domain", "message")
    signable = encode_typed_data(full_message={name: payload[name] for name in names})
    digest = "0x" + _hash_eip191_message(signable).hex()
    types, primary = payload["types"], payload["primaryType"]
    encoded = "0x" + encode([tuple_type(types, primary)], [tuple_values(types, primary, payload["message"])]).hex()
    same = digest == payload["digest"] and encoded == payload["encodedIntent"]
    return bool(same) and recovered(signable, answer)


def recovered(signable: SignableMessage, answer: dict[str, Any]) -> bool:
    """Tell whether the signature is by the signer it names."""
    signer: str = Account.recover_message(signable, signature=answer["signature"])
    return bool(signer == answer["signer"])


def members(types: dict[str, Any], struct: str) -> list[tuple[str, str]]:
    """Return a struct's members, name and type, in the order of its ABI encoding."""
    by_name = {member["name"]: member["type"] for member in types[struct]}
    return [(name, by_name[name]) for name in ABI_ORDER.get(struct, by_name)]


def tuple_type(types: dict[str, Any], struct: str) -> str:
    """Return a struct's tuple type for eth-abi."""
    parts = [tuple_type(types, kind) if kind in types else kind for _, kind in members(types, struct)]
    return f"({','.join(parts)})"


def tuple_values(types: dict[str, Any], struct: str, value: dict[str, Any]) -> tuple[Any, ...]:
    """Return a struct's values for eth-abi."""
    return tuple(abi_value(types, kind, value[name]) for name, kind in members(types, struct))


def abi_value(types: dict[str, Any], kind: str, value: Any) -> Any:
    """Return one value for eth-abi."""
    if kind in types:
        return tuple_values(types, kind, value)
    if kind.startswith(("uint", "int")):
        return int(value)
    return bytes.fromhex(value[2:]) if kind.startswith("bytes") else value


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
