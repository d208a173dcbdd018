"""Ledger's signed record of a token: what a Ledger needs to show an amount of it (INS 0A of the Ethereum app).

One length byte, the ticker, 20 bytes of address, decimals and chain id in four bytes each, and Ledger's signature over all
of that but the first byte. Source: "PROVIDE ERC20 TOKEN INFORMATION" in ``doc/ethapp.adoc`` of LedgerHQ/app-ethereum. The
signature is the device's to judge: here only its form is read.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.units import USDC
from airlock_shared.wire.der import is_signature
from airlock_shared.wire.members import read_matching, read_members

MAX_BYTES = 255  # of a command to the device
_MAX_TICKER = 50  # MAX_TICKER_LEN of the device's SDK, less its end
_FIXED = 20 + 4 + 4
_HEX = re.compile(rf"0x(?:[0-9a-f]{{2}}){{1,{MAX_BYTES}}}", re.ASCII)
_TICKER = re.compile(rb"[!-~]{1,50}")


class TokenMetadata(NamedTuple):
    """A signed record: what it says, ``address`` of 20 bytes, and ``record``, the bytes that the device takes."""

    ticker: str
    address: bytes
    decimals: int
    chain_id: int
    record: bytes


def read_token_metadata(record: bytes) -> TokenMetadata:
    """Read a signed record. Raises ``DocumentError("DOC-FIELD")`` for another form, or more than 255 bytes."""
    length = record[0] if record else 0
    ticker, rest = record[1 : 1 + length], record[1 + length :]
    if len(record) > MAX_BYTES or length > _MAX_TICKER or not _TICKER.fullmatch(ticker) or len(rest) < _FIXED:
        raise _no_record(record)
    if not is_signature(rest[_FIXED:]):
        raise _no_record(record)
    decimals, chain_id = int.from_bytes(rest[20:24], "big"), int.from_bytes(rest[24:28], "big")
    return TokenMetadata(ticker.decode("ascii"), rest[:20], decimals, chain_id, record)


def read_pinned_token(value: Any, chain_id: int, contract: bytes | None) -> TokenMetadata:
    """Read a deployment's ``device_metadata`` beside the chain and the USDC contract that it pins.

    Raises ``DocumentError``: ``DOC-FIELD`` for another form, ``DOC-DEPLOYMENT`` for a record of another token, of which the
    device would show amounts.
    """
    where = "device_metadata.usdc"
    text = read_members(value, "device_metadata", {"usdc": str})["usdc"]
    read_matching(text, where, _HEX, f"a record of at most {MAX_BYTES} bytes in hex")
    try:
        token = read_token_metadata(bytes.fromhex(text[2:]))
    except DocumentError as error:
        error.where = where
        raise
    if (token.ticker, token.decimals, token.address, token.chain_id) != (USDC.name, USDC.decimals, contract, chain_id):
        other = DocumentError(
            "DOC-DEPLOYMENT",
            "a record of another token than the pinned one",
            got=f"{token.ticker}, {token.decimals} decimals, {checksum_address(token.address)} on chain {token.chain_id}",
            expected=f"{USDC.name}, {USDC.decimals} decimals, {checksum_address(contract or bytes(20))} on chain {chain_id}",
            do="fetch it again with the record of this token",
        )
        other.where = where
        raise other
    return token


def _no_record(record: bytes) -> DocumentError:
    return DocumentError(
        "DOC-FIELD",
        "not a signed record of a token",
        got=f"{len(record)} bytes: {record[:24].hex()}",
        expected="ticker, address, decimals, chain id and a DER signature, at most 255 bytes",
        do="take the file as Ledger publishes it",
    )
