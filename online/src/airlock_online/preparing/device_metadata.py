"""What a Ledger is told of a deployment, found in files as Ledger publishes them: its token, and how messages are shown.

A file of tokens is JSON and holds one text: base64 of many records, each after its length in four bytes
(``erc20-signatures.json`` of the npm package ``@ledgerhq/cryptoassets-evm-signatures``), or one record in hex after ``0x``.
A file of message filters is a JSON object (``eip712_v2.json`` of the same package).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from airlock_online.preparing.message_filters import message_filters
from airlock_shared.documents.token_metadata import read_token_metadata
from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.wire.codec import parse_json

MAX_BYTES = 16 << 20  # the list of a whole chain has about 2 MB
_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})+", re.ASCII)


def add_device_metadata(document: dict[str, Any], *files: bytes) -> dict[str, Any]:
    """Return the deployment document with what these files have for it.

    Raises ``UsageError`` when a file is of neither kind, or has nothing for this deployment.
    """
    read = [_parsed(data) for data in files]
    for published in sorted(read, key=lambda it: isinstance(it, dict)):  # filters may need the token's record
        read_in: Any = message_filters if isinstance(published, dict) else _token
        document = document | {"device_metadata": document.get("device_metadata", {}) | read_in(document, published)}
    return document


def _token(document: dict[str, Any], published: Any) -> dict[str, Any]:
    address, chain_id = document["contracts"].get("usdc"), document["chain_id"]
    if address is None:
        raise UsageError("this deployment pins no USDC contract", do="leave --device-metadata out")
    contract = parse_address(address)
    for record in _records(published):
        try:
            token = read_token_metadata(record)
        except DocumentError as error:
            raise _not_records(error.what) from None
        if (token.address, token.chain_id) == (contract, chain_id):
            return {"usdc": "0x" + record.hex()}
    raise UsageError(
        f"the file has no record of {checksum_address(contract)} on chain {chain_id}",
        do="take the file of this chain; without a record approvals are signed blind, as before",
    )


def _parsed(data: bytes) -> Any:
    try:
        return parse_json(data, max_bytes=MAX_BYTES)
    except DocumentError as error:
        raise _not_records(error.what) from None


def _records(text: Any) -> Iterator[bytes]:
    if type(text) is not str:
        raise _not_records("not one text")
    if _HEX.fullmatch(text):
        yield bytes.fromhex(text[2:])
        return
    try:
        rest = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _not_records("neither base64 nor hex") from None
    at = 0
    while at < len(rest):
        start = at + 4
        at = start + int.from_bytes(rest[at:start], "big")
        if start > len(rest) or at > len(rest):
            raise _not_records("a record is cut off")
        yield rest[start:at]


def _not_records(what: str) -> UsageError:
    return UsageError(
        f"not a file of Ledger's token records or message filters: {what}",
        do="give erc20-signatures.json of this chain, or eip712_v2.json, from the package "
        "@ledgerhq/cryptoassets-evm-signatures",
    )
