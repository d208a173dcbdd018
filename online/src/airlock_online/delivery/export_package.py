"""The signed package for another sender (``airlock/export@1``): all that somebody else needs to send what was signed.

``{"format", "header", "items"}``. An item of an intent has its struct, domain, encoding, digest and signature and, where the
contract has a call that takes them, that call's calldata; an item of a transaction has the raw transaction and its hash.
"""

from __future__ import annotations

from collections.abc import Iterable

from airlock_online.delivery.routes.context import Delivery
from airlock_online.delivery.routes.rpc import chain_hash
from airlock_online.delivery.routes.struct import executing_call, struct_of
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Header
from airlock_shared.wire.strict_json import JsonObject, to_json

EXPORT_FORMAT = "airlock/export@1"


def package(header: Header, deployment: Deployment, deliveries: Iterable[Delivery]) -> bytes:
    """Return the document's file form."""
    items = [item_of(delivery, deployment) for delivery in deliveries]
    own = {
        "count": len(items),
        "ceremony": header.ceremony,
        "deployment": header.deployment,
        "deployment_name": header.deployment_name,
        "chain_id": deployment.chain_id,
        "rehearsal": header.rehearsal,
    }
    return to_json({"format": EXPORT_FORMAT, "header": own, "items": items})


def item_of(delivery: Delivery, deployment: Deployment) -> JsonObject:
    """Return one item: integers that may be large as decimal texts, bytes as 0x-hex, ``deadline`` in unix ms or null."""
    common = {
        "step": delivery.step,
        "primaryType": delivery.primary_type,
        "goes_to": delivery.route,
        "digest": delivery.digest,
        "signature": delivery.signature,
        "signer": delivery.signer,
        "trader": delivery.trader or delivery.signer,
        "contract": delivery.contract,
        "nonce": delivery.nonce,
    }
    if delivery.raw_transaction:
        return common | {"rawTransaction": delivery.raw_transaction, "transactionHash": chain_hash(delivery)}
    intent = struct_of(delivery)
    domain = deployment.domains[intent.domain]
    item: JsonObject = common | {
        "domain": {
            "name": domain.name,
            "version": domain.version,
            "chainId": domain.chain_id,
            "verifyingContract": delivery.contract,
        },
        "encodedIntent": delivery.encoded_intent,
        "deadline": delivery.deadline_ms,
    }
    item |= {} if delivery.order_type is None else {"orderType": delivery.order_type}
    item |= {"replaces": delivery.replaces} if delivery.replaces else {}
    if intent.executing:
        call = executing_call(delivery)
        item["call"] = {name: call[name] for name in ("function", "to", "data")}
    return item
