"""EIP-1559 transactions and EIP-7702 authorizations as bytes and hashes, by RLP, which is written here and never decoded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from airlock_shared.ethereum.signatures import checksum_address, keccak256, parse_address

# ---- rlp ------------------------------------------------------------------------------------------------------------
# RLP, one way: bytes, whole numbers and lists into their only encoding. Nothing is decoded here.
# Source: Ethereum yellow paper, appendix B; its rules are the vectors of tests/shared/test_encodings.py.


_Item = bytes | int | Sequence["_Item"]

_STRING, _LIST = 0x80, 0xC0  # the first byte of the empty string and of the empty list
SHORT = 55  # the longest content whose length is in the first byte


def encode_rlp(item: _Item) -> bytes:
    """Return the encoding of bytes, of a number (without leading zeros, zero as the empty string) or of a list of these.

    Raises ``TypeError`` for anything else, truth values and texts included, ``ValueError`` for a number below zero.
    """
    if isinstance(item, bytes):
        return item if len(item) == 1 and item[0] < _STRING else _header(len(item), _STRING) + item
    if isinstance(item, (list, tuple)):
        content = b"".join(map(encode_rlp, item))
        return _header(len(content), _LIST) + content
    if type(item) is int:  # a bool is no number here
        return encode_rlp(_shortest(item))
    raise TypeError(f"{type(item).__name__} has no RLP")


def _header(length: int, first: int) -> bytes:
    if length <= SHORT:
        return bytes([first + length])
    digits = _shortest(length)
    return bytes([first + SHORT + len(digits)]) + digits


def _shortest(number: int) -> bytes:
    if number < 0:
        raise ValueError("a number below zero has no RLP")
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


# ---- eip1559 --------------------------------------------------------------------------------------------------------
# EIP-1559 transactions: the bytes that are signed, and their hash. The raw transaction is made online.
# The serialisation is our own; the libraries ``rlp`` and ``eth-account`` are the second opinion. Only type 2 is made:
# no access list, no blobs, no authorisations. Source: EIP-1559, EIP-2718.


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


def unsigned_fields(payload: dict[str, Any], filled: Transaction) -> list[Any]:
    """Return a transaction's fields in the order in which they are serialised."""
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


def named_fields(payload: dict[str, Any], filled: Transaction) -> dict[str, Any]:
    """Return a transaction's fields by their names, as other libraries take them; numbers as integers, data as 0x-hex."""
    return {
        "chainId": payload["chainId"],
        "to": checksum_address(parse_address(payload["to"])),
        "data": payload["data"],
        "value": value_wei(payload),
        **filled._asdict(),
    }


def unsigned_bytes(payload: dict[str, Any], filled: Transaction) -> bytes:
    """Return what a Ledger is given: the type byte and the RLP of the unsigned fields (EIP-2718, EIP-1559)."""
    return TYPE_2 + encode_rlp(unsigned_fields(payload, filled))


def signing_hash(payload: dict[str, Any], filled: Transaction) -> bytes:
    """Return the 32-byte hash that is signed: keccak-256 of :func:`unsigned_bytes`."""
    return keccak256(unsigned_bytes(payload, filled))


# ---- eip7702 --------------------------------------------------------------------------------------------------------
# EIP-7702, "Set EOA account code": the hash by which an account gives itself to a contract.


_MAGIC = b"\x05"  # what stands before the RLP that is signed
NONCE_BELOW = 2**64 - 1


def authorization_hash(chain_id: int, contract: bytes, nonce: int) -> bytes:
    """Return the 32 bytes that are signed of an authorization (EIP-7702), ``keccak(0x05 || rlp([chain, contract, nonce]))``.

    ``contract`` is 20 bytes, ``nonce`` the account's own; chain 0 is every chain.
    """
    return keccak256(_MAGIC + encode_rlp([chain_id, contract, nonce]))
