"""Ethereum addresses: 20 bytes inside, EIP-55 text outside."""

from __future__ import annotations

import re
from functools import lru_cache

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.keccak import keccak256

_ADDRESS_TEXT = re.compile(r"0x[0-9a-fA-F]{40}")


def is_address(text: object, address: bytes | None) -> bool:
    """Tell whether a text is this address, in one of its accepted spellings."""
    try:
        return type(text) is str and parse_address(text) == address
    except Refusal:
        return False


@lru_cache(maxsize=1024)
def checksum_address(address: bytes) -> str:
    """Return the EIP-55 text of a 20-byte address.

    Raises ``ValueError`` when ``address`` is not 20 bytes long.
    """
    if len(address) != 20:
        message = f"an address is 20 bytes, not {len(address)}"
        raise ValueError(message)
    digits = address.hex()
    nibbles = keccak256(digits.encode()).hex()
    return "0x" + "".join(d.upper() if n >= "8" else d for d, n in zip(digits, nibbles, strict=False))


@lru_cache(maxsize=1024)
def parse_address(text: str) -> bytes:
    """Return the 20 bytes of an address text: all lower or all upper case, or mixed with the right EIP-55 checksum.

    Raises ``Refusal("MSG-ADDRESS")`` for any other text. The refusal never holds the right checksum of what was given: it
    would turn a typing mistake into an address that is accepted, and is not the one that was meant.
    """
    if not _ADDRESS_TEXT.fullmatch(text):
        raise Refusal("MSG-ADDRESS", "not an address", got=repr(text[:80]), expected="0x and 40 hex digits")
    address = bytes.fromhex(text[2:])
    if text[2:] not in (address.hex(), address.hex().upper()) and text != checksum_address(address):
        raise Refusal(
            "MSG-ADDRESS",
            "upper and lower case do not match this address, so a character may be wrong",
            got=text,
            do="compare the address with its source, character by character",
        )
    return address
