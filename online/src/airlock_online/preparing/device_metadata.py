"""What a Ledger is told of a deployment, found in files as Ledger publishes them: its token, and how messages are shown.

A file of tokens is JSON and holds one text: base64 of many records, each after its length in four bytes
(``erc20-signatures.json`` of the npm package ``@ledgerhq/cryptoassets-evm-signatures``), or one record in hex after ``0x``.
A file of message filters is a JSON object (``eip712_v2.json`` of the same package).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

from airlock_shared.documents.deployment import read_deployment
from airlock_shared.documents.ledger_metadata import read_token_metadata, schema_hash
from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.ethereum.signatures import checksum_address, parse_address
from airlock_shared.wire.strict_json import JsonObject, parse_json, read_members

# ---- message filters ------------------------------------------------------------------------------------------------
# Ledger's signed message filters for the structs of a deployment, found in a file as Ledger publishes them.
# The file is a JSON object: ``chain:contract:schema`` and the set of filters for it (``eip712_v2.json`` of the npm
# package ``@ledgerhq/cryptoassets-evm-signatures``).


def message_filters(document: JsonObject, published: JsonObject) -> JsonObject:
    """Return what a deployment document has of the set of each struct for which the file has one.

    Raises ``UsageError`` when it has none, or a set that is not as Ledger publishes them.
    """
    deployment = read_deployment(document)
    messages = {}
    for name, intent in deployment.structs.items():
        domain = deployment.domains[intent.domain]
        contract, schema = "0x" + domain.contract.hex(), schema_hash(intent)
        if (entry := published.get(f"{domain.chain_id}:{contract}:{schema}")) is not None:
            signed_for = {"chain_id": domain.chain_id, "contract": contract, "schema_hash": schema}
            messages[name] = signed_for | _pinned(entry, name)
    if not messages:
        contracts = " and ".join(sorted({checksum_address(each.contract) for each in deployment.domains.values()}))
        raise UsageError(
            f"the file has no message filters for any struct of this deployment, which are signed for {contracts} on chain "
            f"{deployment.chain_id}",
            do="leave the file out: every member is then shown with Raw messages on, as before",
        )
    return {"messages": messages}


def _pinned(entry: Any, struct: str) -> JsonObject:
    """Return a published set as a deployment has it."""
    try:
        read_members(entry, struct, {"contractName": dict, "fields": list})
        name = read_members(entry["contractName"], f"{struct}.contractName", {"label": str, "signature": str})
        return {**name, "fields": [_field(each, f"{struct}.fields") for each in entry["fields"]]}
    except DocumentError as error:
        raise UsageError(
            f"{error.where}: {error.what}: {error.got}; expected {error.expected}",
            do="give eip712_v2.json of the package @ledgerhq/cryptoassets-evm-signatures",
        ) from None


def _field(value: Any, where: str) -> JsonObject:
    texts = dict.fromkeys(("path", "label", "format", "signature"), str)
    read_members(value, where, texts, {"coin_ref": int})
    token = {"token": value["coin_ref"]} if "coin_ref" in value else {}
    return {name: value[name] for name in texts} | token


# ---- device metadata ------------------------------------------------------------------------------------------------


MAX_LIST_BYTES = 16 << 20  # the list of a whole chain has about 2 MB
_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})+", re.ASCII)


def add_device_metadata(document: JsonObject, *files: bytes) -> JsonObject:
    """Return the deployment document with what these files have for it.

    Raises ``UsageError`` when a file is of neither kind, or has nothing for this deployment.
    """
    try:
        read = [parse_json(data, max_bytes=MAX_LIST_BYTES) for data in files]
    except DocumentError as error:
        raise _not_records(error.what) from None
    for published in sorted(read, key=lambda it: isinstance(it, dict)):  # filters may need the token's record
        read_in: Any = message_filters if isinstance(published, dict) else _token
        document = document | {"device_metadata": document.get("device_metadata", {}) | read_in(document, published)}
    return document


def _token(document: JsonObject, published: Any) -> JsonObject:
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


def _records(text: Any) -> Iterator[bytes]:
    if type(text) is not str:
        raise _not_records("not one text")
    if _HEX.fullmatch(text):
        yield bytes.fromhex(text[2:])
        return
    try:
        rest = base64.b64decode(text, validate=True)
    except ValueError:
        raise _not_records("neither base64 nor hex") from None
    at = 0
    while at < len(rest):
        start = at + 4
        at = start + int.from_bytes(rest[at:start], "big")
        if at > len(rest):
            raise _not_records("a record is cut off")
        yield rest[start:at]


def _not_records(what: str) -> UsageError:
    return UsageError(
        f"not a file of Ledger's token records or message filters: {what}",
        do="give erc20-signatures.json of this chain, or eip712_v2.json, from the package "
        "@ledgerhq/cryptoassets-evm-signatures",
    )
