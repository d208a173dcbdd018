"""The requests document: what the online half asks the air-gapped half to sign (``airlock/requests@1``).

``{"format", "header", "requests"}``. The header names the plan and the deployment by fingerprint, and for a part of the plan
the signer whose steps it holds (no such member: all of the plan's steps); each item holds the step,
the builder's endpoint and fields as sent, the builder's payload word for word, the route, and the signer expected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.ethereum.transactions import Transaction
from airlock_shared.venue.services import AUTHORIZATION
from airlock_shared.wire.members import (
    DERIVATION_PATH,
    ENTITY_ID,
    HEX_32,
    NAME,
    read_list,
    read_matching,
    read_members,
    read_some,
)
from airlock_shared.wire.strict_json import read_batch, to_json

REQUESTS_FORMAT = "airlock/requests@1"
_LIST = "requests"
_ENDPOINT = re.compile(r"/[\x21-\x7e]{1,200}", re.ASCII)

_HEADER = {
    "count": int, "ceremony": str, "plan": str, "deployment": str, "deployment_name": str, "rehearsal": bool,
    "transcript_head": str, "created_ms": int,
}  # fmt: skip
_OPTIONAL = {"signer": str, "signing_heads": dict}
MACHINES_AT_MOST = 64
_ITEM = {"step": str, "action": str, "endpoint": str, "fields": dict, "payload": dict, "route": dict, "signer": dict}
_PAYLOAD = {
    "intent": str, "signerRule": str, "domain": dict, "primaryType": str, "types": dict, "message": dict, "digest": str,
    "encodedIntent": str,
}  # fmt: skip
_AUTHORIZATION = {"chainId": int, "address": str, "nonce": int}
_UNSIGNED = {"to": str, "from": str, "data": str, "value": str, "chainId": int}
"""The members of an unsigned transaction that decide; ``TX-KEYS`` refuses any that it does not know."""


class Header(NamedTuple):
    """What the whole document says of itself; fingerprints and transcript head are 64 hex digits.

    ``signer`` is the name of the plan's signer whose steps alone are in it; empty for a document of the whole plan.
    ``signing_heads`` is what the online machine has last seen of each signing machine: the head of its transcript by its id.
    """

    ceremony: str
    plan: str
    deployment: str
    deployment_name: str
    rehearsal: bool
    transcript_head: str
    created_ms: int
    signer: str = ""
    signing_heads: Mapping[str, str] = MappingProxyType({})

    def as_json(self) -> dict[str, Any]:
        """Return the members of the document's header, without the count; the last two only where they say something."""
        said = self._asdict() | {"signing_heads": dict(self.signing_heads)}
        return {name: value for name, value in said.items() if name not in _OPTIONAL or value}


class Request(NamedTuple):
    """One item: a step's payload and how it was asked for. Nothing in it is believed until the checks have run.

    ``replaces`` is the id of the stored price trigger that this one takes the place of; empty for every other request.
    """

    step: str
    action: str
    endpoint: str
    fields: dict[str, str]
    payload: dict[str, Any]
    route: str
    order_type: int | None
    order_reason: str
    signer: str
    path: str
    delegation: dict[str, Any] | None
    transaction: Transaction | None = None
    replaces: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the item as the document holds it."""
        item: dict[str, Any] = {
            "step": self.step,
            "action": self.action,
            "endpoint": self.endpoint,
            "fields": self.fields,
            "payload": self.payload,
            "route": {"to": self.route},
            "signer": {"address": self.signer, "path": self.path},
        }
        if self.order_type is not None:
            item["route"] |= {"order_type": self.order_type, "reason": self.order_reason}
        if self.replaces:
            item["route"] |= {"replaces": self.replaces}
        if self.delegation is not None:
            item["delegation"] = self.delegation
        if self.transaction is not None:
            item["transaction"] = self.transaction._asdict()
        return item


def _read_header(value: Any) -> Header:
    """Read the header. Raises ``DocumentError("DOC-FIELD")``."""
    read_members(value, "header", _HEADER, _OPTIONAL)
    read_matching(value["ceremony"], "header.ceremony", NAME, "a name in lower case")
    read_matching(value["deployment_name"], "header.deployment_name", NAME, "a name in lower case")
    if "signer" in value:
        read_matching(value["signer"], "header.signer", NAME, "a signer's name in the plan")
    for name in ("plan", "deployment", "transcript_head"):
        read_matching(value[name], f"header.{name}", HEX_32, "a fingerprint in hex")
    _read_signing_heads(value.get("signing_heads", {}))
    return Header(**{name: member for name, member in value.items() if name != "count"})


def _read_signing_heads(heads: dict[str, Any]) -> None:
    read_list(list(heads), "header.signing_heads", MACHINES_AT_MOST)
    for machine, head in heads.items():
        read_matching(machine, "header.signing_heads", HEX_32, "a machine's id in hex")
        read_matching(head, f"header.signing_heads.{machine}", HEX_32, "a head in hex")


def read_request(value: Any, where: str = "item") -> Request:
    """Read one item. Raises ``DocumentError("DOC-FIELD")``."""
    try:
        return _read_item(value)
    except DocumentError as error:
        raise error.at(where) from None


def _read_item(value: Any) -> Request:
    read_members(value, "", _ITEM, {"delegation": dict, "transaction": dict})
    read_matching(value["step"], "step", NAME, "a step's id")
    read_matching(value["endpoint"], "endpoint", _ENDPOINT, "a path")
    transaction = _read_transaction(value["transaction"]) if "transaction" in value else None
    if value["action"] == AUTHORIZATION:
        read_members(value["payload"], "payload", _AUTHORIZATION)
    elif transaction is None:
        read_members(value["payload"], "payload", _PAYLOAD, {"meta": dict})
    else:
        read_some(value["payload"], "payload", _UNSIGNED)
    read_members(value["fields"], "fields", dict.fromkeys(value["fields"], str))
    route = read_members(value["route"], "route", {"to": str}, {"order_type": int, "reason": str, "replaces": str})
    if "replaces" in route:
        read_matching(route["replaces"], "route.replaces", ENTITY_ID, "the id of a stored trigger")
    signer = read_members(value["signer"], "signer", {"address": str, "path": str})
    if delegation := value.get("delegation"):
        read_members(
            delegation,
            "delegation",
            {"isEnabled": bool, "expiry": int},
            {"canSignIntents": bool, "canDelegatedAction": bool},
        )
    return Request(
        value["step"], value["action"], value["endpoint"], value["fields"], value["payload"], route["to"],
        route.get("order_type"), route.get("reason", ""), signer["address"],
        read_matching(signer["path"], "signer.path", DERIVATION_PATH, "a derivation path"), delegation,
        transaction, route.get("replaces", ""),
    )  # fmt: skip


def _read_transaction(value: Any) -> Transaction:
    read_members(value, "transaction", dict.fromkeys(Transaction._fields, int))
    return Transaction(**value)


def parse_requests(data: bytes) -> tuple[Header, list[Request], str]:
    """Return ``(header, items, fingerprint)`` of a whole document; the fingerprint is 64 hex digits.

    Raises ``DocumentError`` as :func:`airlock_shared.wire.strict_json.read_batch`, or ``DOC-FIELD`` with the place.
    """
    header, items, fingerprint = read_batch(data, format_name=REQUESTS_FORMAT, list_name=_LIST)
    return _read_header(header), [read_request(item, f"item {n}") for n, item in enumerate(items, start=1)], fingerprint


def write_requests(header: Header, items: list[Request]) -> bytes:
    """Return the document's file form, UTF-8. Raises ``DocumentError("DOC-UTF8")`` for a text without one."""
    return to_json(
        {
            "format": REQUESTS_FORMAT,
            "header": {"count": len(items), **header.as_json()},
            _LIST: [item.as_json() for item in items],
        }
    )
