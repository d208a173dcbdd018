"""keccak-256, addresses, whose key made a signature, and what is signed of transactions and authorizations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from sha3 import keccak_256

from airlock_shared.errors import Refusal

# ---- keccak ---------------------------------------------------------------------------------------------------------
# keccak-256 behind one function, so that the C library under it can be changed in one place.


def keccak256(data: bytes) -> bytes:
    """Return the 32-byte keccak-256 of ``data`` (the original padding, as Ethereum uses it; not SHA3-256)."""
    digest: bytes = keccak_256(data).digest()
    return digest


# ---- addresses ------------------------------------------------------------------------------------------------------
# Ethereum addresses: 20 bytes inside, EIP-55 text outside.


_ADDRESS_TEXT = re.compile(r"0x[0-9a-fA-F]{40}")


def is_address(text: object, address: bytes | None) -> bool:
    """Tell whether a text is this 20-byte address, in a spelling that :func:`parse_address` takes; None is no address."""
    try:
        return type(text) is str and parse_address(text) == address
    except Refusal:
        return False


def checksum_address(address: bytes) -> str:
    """Return the EIP-55 text of a 20-byte address.

    Raises ``ValueError`` when ``address`` is not 20 bytes long.
    """
    if len(address) != 20:
        raise ValueError(f"an address is 20 bytes, not {len(address)}")
    digits = address.hex()
    nibbles = keccak256(digits.encode()).hex()
    return "0x" + "".join(d.upper() if n >= "8" else d for d, n in zip(digits, nibbles, strict=False))


def parse_address(text: str) -> bytes:
    """Return the 20 bytes of an address text: all lower or all upper case, or mixed with the right EIP-55 checksum.

    Raises ``Refusal("MSG-ADDRESS")`` for any other text. The refusal never holds the right checksum of what was given: it
    would turn a typing mistake into an address that is accepted, and is not the one that was meant.
    """
    if not _ADDRESS_TEXT.fullmatch(text):
        raise Refusal("MSG-ADDRESS", "not an address", repr(text[:80]), "0x and 40 hex digits")
    address = bytes.fromhex(text[2:])
    if text[2:] not in (address.hex(), address.hex().upper()) and text != checksum_address(address):
        raise Refusal(
            "MSG-ADDRESS",
            "upper and lower case do not match this address, so a character may be wrong",
            text,
            do="compare the address with its source, character by character",
        )
    return address


def in_eip55(text: str) -> str:
    """Return an address text in EIP-55. Raises as :func:`parse_address`."""
    return checksum_address(parse_address(text))


# ---- recovery -------------------------------------------------------------------------------------------------------
# Signatures over a digest: their one accepted form, and who made them.
# 65 bytes ``r || s || v``, v 27 or 28, s in the lower half of the curve's order. Sources: the builder's
# specification, rule 3 of "Signable intent payload"; EIP-2 for the lower half.


_PERSONAL = b"\x19Ethereum Signed Message:\n"  # EIP-191, version 0x45 (E)
CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141  # SEC 2, secp256k1


def personal_digest(text: bytes) -> bytes:
    """Return the 32-byte hash of a personal message (EIP-191, version 0x45): what a wallet's ``personal_sign`` signs."""
    return keccak256(_PERSONAL + str(len(text)).encode() + text)


def check_form(signature: bytes) -> None:
    """Raise ``Refusal`` for a signature that is not 65 bytes ``r || s || v`` in its one form.

    ``SIG-LENGTH``; ``SIG-V`` for another v than 27 and 28; ``SIG-RANGE`` for r or s outside the curve's order; ``SIG-LOW-S``
    for the second form of the same signature (EIP-2).
    """
    if len(signature) != 65:
        raise Refusal("SIG-LENGTH", "not a 65-byte signature", f"{len(signature)} bytes", "65 bytes")
    if signature[64] not in (27, 28):
        raise Refusal("SIG-V", "v is neither 27 nor 28", signature[64], "27 or 28")
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
    if not (0 < r < CURVE_ORDER and 0 < s < CURVE_ORDER):
        raise Refusal("SIG-RANGE", "r or s is not a number of the curve", expected="1 to the curve's order - 1")
    if s > CURVE_ORDER // 2:
        raise Refusal("SIG-LOW-S", "s is in the upper half: a second valid form of another signature")


def recover(digest: bytes, signature: bytes) -> bytes:
    """Return the 20-byte address whose key signed the 32-byte digest.

    Raises ``Refusal`` as :func:`check_form`, or ``SIG-SIGNER`` when no key at all could have made the signature.
    """
    from coincurve import PublicKey  # noqa: PLC0415 - native: after the filter

    check_form(signature)
    try:
        key = PublicKey.from_signature_and_message(signature[:64] + bytes([signature[64] - 27]), digest, hasher=None)
    except ValueError as error:
        raise Refusal("SIG-SIGNER", "no key could have made this signature over this digest") from error
    return keccak256(key.format(compressed=False)[1:])[12:]


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
        "to": in_eip55(payload["to"]),
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
