"""EIP-1559 transactions: the bytes that are signed, their hash, and the raw transaction with its signature.

The serialisation is our own; the libraries ``rlp`` and ``eth-account`` are the second opinion. Only type 2 is made: no
access list, no blobs, no authorisations. Source: EIP-1559, EIP-2718.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.ethereum.keccak import keccak256
from airlock_shared.ethereum.rlp import encode

TYPE_2 = b"\x02"
_WEI = re.compile(r"0|0x0|0x[1-9a-fA-F][0-9a-fA-F]{0,63}|0x(?:[0-9a-fA-F]{2}){0,32}", re.ASCII)
"""How an amount of wei may be written: zero in one digit, the shortest hex, or whole bytes up to a word."""


class Transaction(NamedTuple):
    """What the online half filled in from the chain: the account's nonce, the gas limit, and EIP-1559 fees in wei."""

    nonce: int
    gas: int
    maxFeePerGas: int  # noqa: N815  (EIP-1559's own name)
    maxPriorityFeePerGas: int  # noqa: N815


def value_wei(payload: dict[str, Any]) -> int | None:
    """Return how much native currency a transaction sends; None for what has another form than a quantity of wei."""
    text: str = payload["value"]
    return int(text[2:] or "0", 16) if _WEI.fullmatch(text) else None


def _fields(payload: dict[str, Any], filled: Transaction) -> list[Any]:
    return [
        payload["chainId"],
        filled.nonce,
        filled.maxPriorityFeePerGas,
        filled.maxFeePerGas,
        filled.gas,
        bytes.fromhex(payload["to"][2:]),
        value_wei(payload) or 0,
        bytes.fromhex(payload["data"][2:]),
        [],
    ]


def named_fields(payload: dict[str, Any], filled: Transaction | None) -> dict[str, Any]:
    """Return a transaction's fields by their names, as other libraries take them."""
    if filled is None:
        raise ValueError("a call is signed as the transaction that was filled in")
    to = checksum_address(parse_address(payload["to"]))
    sent = {
        "chainId": payload["chainId"],
        "to": to,
        "data": payload["data"],
        "value": int(payload["value"][2:] or "0", 16),
    }
    return sent | filled._asdict()


def unsigned_bytes(payload: dict[str, Any], filled: Transaction) -> bytes:
    """Return what a Ledger is given: the type byte and the RLP of the unsigned fields."""
    return TYPE_2 + encode(_fields(payload, filled))


def signing_hash(payload: dict[str, Any], filled: Transaction) -> bytes:
    """Return the 32-byte hash that is signed."""
    return keccak256(unsigned_bytes(payload, filled))


def raw_transaction(payload: dict[str, Any], filled: Transaction, signature: bytes) -> bytes:
    """Return the signed transaction as it is sent; ``signature`` is ``r || s || v`` with v 27 or 28."""
    r, s, parity = signature[:32], signature[32:64], signature[64] - 27
    signed = [*_fields(payload, filled), parity, int.from_bytes(r, "big"), int.from_bytes(s, "big")]
    return TYPE_2 + encode(signed)


def transaction_hash(raw: bytes) -> bytes:
    """Return the 32-byte hash by which a signed transaction is known on the chain."""
    return keccak256(raw)
