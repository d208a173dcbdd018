"""Ledger's signed message filters for the structs of a deployment, found in a file as Ledger publishes them.

The file is a JSON object: ``chain:contract:schema`` and the set of filters for it (``eip712_v2.json`` of the npm package
``@ledgerhq/cryptoassets-evm-signatures``).
"""

from __future__ import annotations

from typing import Any

from airlock_shared.documents.deployment import read_deployment
from airlock_shared.documents.filtered_structs import schema_hash
from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.wire.members import read_members


def message_filters(document: dict[str, Any], published: dict[str, Any]) -> dict[str, Any]:
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


def _pinned(entry: Any, struct: str) -> dict[str, Any]:
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


def _field(value: Any, where: str) -> dict[str, Any]:
    texts = dict.fromkeys(("path", "label", "format", "signature"), str)
    read_members(value, where, texts, {"coin_ref": int})
    token = {"token": value["coin_ref"]} if "coin_ref" in value else {}
    return {name: value[name] for name in texts} | token
