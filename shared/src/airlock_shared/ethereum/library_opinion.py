"""What eth-account, eth-abi and rlp make of a document of ``opinion_question``. They are imported here alone.

On the signing machine this runs in a process of its own. It is believed in nothing but agreement.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from types import ModuleType
from typing import Any

from airlock_shared.ethereum.signatures import keccak256

# ---- without key files ----------------------------------------------------------------------------------------------
# eth-account without key files. They and the curve of another chain are most of what it loads, and nothing here uses
# them. Loading them takes a second of CPU, and the second opinion on each step of `sign` is a new process.


_NAMES = ("KDFType", "create_keyfile_json", "decode_keyfile_json")  # what eth-account takes from it


def leave_out_key_files() -> None:
    """Have eth-account load without eth-keyfile in this process: its names are there and can do nothing."""
    for name in ("eth_keyfile", "eth_keyfile.keyfile"):
        if name not in sys.modules:
            module = sys.modules[name] = ModuleType(name)
            module.__dict__.update(dict.fromkeys(_NAMES, object))


# ---- library opinion ------------------------------------------------------------------------------------------------


_Types = dict[str, list[dict[str, str]]]


def opinion_on(document: dict[str, Any]) -> bytes:
    """Return 64 bytes: the digest, and a second 32 that ``signing.second_opinion.compare_opinion`` explains.

    Whatever the libraries raise is raised.
    """
    leave_out_key_files()
    if "authorization" in document:
        return _on_authorization(document["authorization"])
    return _on_transaction(document["transaction"]) if "transaction" in document else _on_intent(document)


def _on_authorization(fields: dict[str, Any]) -> bytes:
    """Return the hash of an EIP-7702 authorization by eth-account, and the hash of what ``rlp`` serialises."""
    from eth_account.typed_transactions.set_code_transaction import Authorization  # noqa: PLC0415 - after leave_out_key_files
    from rlp import encode  # noqa: PLC0415 - as above

    values = (fields["chainId"], bytes.fromhex(fields["address"][2:]), fields["nonce"])
    return bytes(Authorization(*values).hash()) + keccak256(b"\x05" + bytes(encode([*values])))


def _on_transaction(fields: dict[str, Any]) -> bytes:
    """Return the hash by eth-account, and the hash of what ``rlp`` serialises."""
    from eth_account.typed_transactions.typed_transaction import TypedTransaction  # noqa: PLC0415 - as above
    from rlp import encode  # noqa: PLC0415 - as above

    places = ("chainId", "nonce", "maxPriorityFeePerGas", "maxFeePerGas", "gas")
    to, data = (bytes.fromhex(fields[name][2:]) for name in ("to", "data"))
    serialised = bytes(encode([*(fields[name] for name in places), to, fields["value"], data, []]))
    digest = bytes(TypedTransaction.from_dict({**fields, "type": 2, "accessList": []}).hash())
    return digest + keccak256(b"\x02" + serialised)


def _on_intent(document: dict[str, Any]) -> bytes:
    """Return the EIP-712 digest by eth-account, and the SHA-256 of the encoding by eth-abi."""
    from eth_abi.abi import encode  # noqa: PLC0415 - as above
    from eth_account.messages import _hash_eip191_message, encode_typed_data  # noqa: PLC0415 - as above

    message, types = document["message"], document["types"]
    digest = bytes(_hash_eip191_message(encode_typed_data(document["domain"], types, message)))
    kind, values = _tuple(document["primaryType"], document["order"], message, types)
    return digest + sha256(bytes(encode([kind], [values]))).digest()


def _tuple(struct: str, order: list[str], message: dict[str, Any], types: _Types) -> tuple[str, tuple[Any, ...]]:
    """Return a struct's tuple type and its values, the members in the order given."""
    kinds = {member["name"]: member["type"] for member in types[struct]}
    parts, values = [], []
    for name in order:
        kind, value = kinds[name], message[name]
        if kind in types:
            kind, value = _tuple(kind, [member["name"] for member in types[kind]], value, types)
        elif kind.startswith("bytes"):
            value = bytes.fromhex(value[2:])
        elif "int" in kind:
            value = int(value)
        parts.append(kind)
        values.append(value)
    return f"({','.join(parts)})", tuple(values)
