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

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import Transaction
from airlock_shared.venue.structs import AUTHORIZATION
from airlock_shared.wire.strict_json import (
    A_FINGERPRINT,
    A_NAME,
    DERIVATION_PATH,
    ENTITY_ID,
    HEX_32,
    NAME,
    STEP_ID,
    Form,
    JsonObject,
    Kinds,
    read_batch,
    read_list,
    read_matching,
    read_members,
    read_some,
    write_batch,
)

REQUESTS_FORMAT = "airlock/requests@1"
_LIST = "requests"
_ENDPOINT = re.compile(r"/[\x21-\x7e]{1,200}", re.ASCII)

_HEADER: Kinds = {
    "count": int, "ceremony": A_NAME, "plan": A_FINGERPRINT, "deployment": A_FINGERPRINT, "deployment_name": A_NAME,
    "rehearsal": bool, "transcript_head": A_FINGERPRINT, "created_ms": int,
}  # fmt: skip
_OPTIONAL: Kinds = {"signer": Form(NAME, "a signer's name in the plan"), "signing_heads": dict}
MACHINES_AT_MOST = 64
_ITEM: Kinds = {
    "step": STEP_ID, "action": str, "endpoint": Form(_ENDPOINT, "a path"), "fields": dict, "payload": dict, "route": dict,
    "signer": dict,
}  # fmt: skip
_ROUTE: Kinds = {"order_type": int, "reason": str, "replaces": Form(ENTITY_ID, "the id of a stored trigger")}
_SIGNER: Kinds = {"address": str, "path": Form(DERIVATION_PATH, "a derivation path")}
_DELEGATION = {"isEnabled": bool, "expiry": int}
_MAY = {"canSignIntents": bool, "canDelegatedAction": bool}
_PAYLOAD = {
    "intent": str, "signerRule": str, "domain": dict, "primaryType": str, "types": dict, "message": dict, "digest": str,
    "encodedIntent": str,
}  # fmt: skip
_AUTHORIZATION = {"chainId": int, "address": str, "nonce": int}
_TRANSACTION = dict.fromkeys(Transaction._fields, int)
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


def header_members(header: Header | SignaturesHeader) -> JsonObject:
    """Return the members of a document's header, without the count; one that it need not have, where it says something."""
    return {name: value for name, value in header._asdict().items() if value or name not in (*_OPTIONAL, "machine")}


class Request(NamedTuple):
    """One item: a step's payload and how it was asked for. Nothing in it is believed until the checks have run.

    ``replaces`` is the id of the stored price trigger that this one takes the place of; empty for every other request.
    """

    step: str
    action: str
    endpoint: str
    fields: dict[str, str]
    payload: JsonObject
    route: str
    order_type: int | None
    order_reason: str
    signer: str
    path: str
    delegation: JsonObject | None
    transaction: Transaction | None = None
    replaces: str = ""

    @property
    def filled(self) -> Transaction:
        """What was filled in of a transaction; nobody asks it of an item that is none. Raises ``ValueError``."""
        if self.transaction is None:
            raise ValueError("not a transaction")
        return self.transaction

    def as_json(self) -> JsonObject:
        """Return the item as the document holds it."""
        route = {"order_type": self.order_type, "reason": self.order_reason, "replaces": self.replaces}
        item: JsonObject = {
            "step": self.step,
            "action": self.action,
            "endpoint": self.endpoint,
            "fields": self.fields,
            "payload": self.payload,
            "route": {"to": self.route, **{name: value for name, value in route.items() if value not in (None, "")}},
            "signer": {"address": self.signer, "path": self.path},
        }
        if self.delegation is not None:
            item["delegation"] = self.delegation
        if self.transaction is not None:
            item["transaction"] = self.transaction._asdict()
        return item


def read_request(value: Any, where: str) -> Request:
    """Read one item. Raises ``DocumentError("DOC-FIELD")``."""
    read_members(value, where, _ITEM, {"delegation": dict, "transaction": dict})
    payload, transaction = value["payload"], None
    if "transaction" in value:
        transaction = Transaction(**read_members(value["transaction"], f"{where}.transaction", _TRANSACTION))
    if value["action"] == AUTHORIZATION:
        read_members(payload, f"{where}.payload", _AUTHORIZATION)
    elif transaction is None:
        read_members(payload, f"{where}.payload", _PAYLOAD, {"meta": dict})
    else:
        read_some(payload, f"{where}.payload", _UNSIGNED)
    read_members(value["fields"], f"{where}.fields", dict.fromkeys(value["fields"], str))
    route = read_members(value["route"], f"{where}.route", {"to": str}, _ROUTE)
    signer = read_members(value["signer"], f"{where}.signer", _SIGNER)
    if delegation := value.get("delegation"):
        read_members(delegation, f"{where}.delegation", _DELEGATION, _MAY)
    return Request(
        value["step"],
        value["action"],
        value["endpoint"],
        value["fields"],
        payload,
        route["to"],
        route.get("order_type"),
        route.get("reason", ""),
        signer["address"],
        signer["path"],
        delegation,
        transaction,
        route.get("replaces", ""),
    )


def parse_requests(data: bytes) -> tuple[Header, list[Request], str]:
    """Return ``(header, items, fingerprint)`` of a whole document; the fingerprint is 64 hex digits.

    Raises ``DocumentError`` as :func:`airlock_shared.wire.strict_json.read_batch`, or ``DOC-FIELD`` with the place.
    """
    header, items, fingerprint = read_batch(data, format_name=REQUESTS_FORMAT, list_name=_LIST)
    read_members(header, "header", _HEADER, _OPTIONAL)
    heads = header.get("signing_heads", {})
    read_list(list(heads), "header.signing_heads", MACHINES_AT_MOST)
    for machine, head in heads.items():
        read_matching(machine, "header.signing_heads", HEX_32, "a machine's id in hex")
        read_matching(head, f"header.signing_heads.{machine}", HEX_32, "a head in hex")
    return (
        Header(**{name: member for name, member in header.items() if name != "count"}),
        [read_request(item, f"item {n}") for n, item in enumerate(items, start=1)],
        fingerprint,
    )


def write_requests(header: Header, items: list[Request]) -> bytes:
    """Return the document's file form, UTF-8. Raises ``DocumentError("DOC-UTF8")`` for a text without one."""
    return write_batch(REQUESTS_FORMAT, header_members(header), _LIST, [item.as_json() for item in items])


# ---- signatures -----------------------------------------------------------------------------------------------------
# The signatures document: what comes back from the air-gapped half (``airlock/signatures@1``).
#
# ``{"format", "header", "signatures"}``. Until it is submitted, a signature is a secret: it is in this file and in no log.


SIGNATURES_FORMAT = "airlock/signatures@1"
_SIGNATURES_LIST = "signatures"

_SIGNATURES_HEADER: Kinds = {
    "count": int, "ceremony": A_NAME, "requests": A_FINGERPRINT, "rehearsal": bool, "transcript_head": A_FINGERPRINT,
    "created_ms": int,
}  # fmt: skip
_RESULT = Form(re.compile("signed|refused|declined"), "a known result")
_NOT_SIGNED: Kinds = {"step": STEP_ID, "result": _RESULT, "why": str}
_SIGNED: Kinds = {
    "step": STEP_ID, "result": _RESULT,
    "digest": Form(re.compile(r"0x[0-9a-f]{64}", re.ASCII), "32 bytes in hex"),
    "signature": Form(re.compile(r"0x(?:[0-9a-f]{2}){1,130}", re.ASCII), "bytes in hex"),
    "signer": str, "shown": str, "app": str,
}  # fmt: skip


class SignaturesHeader(NamedTuple):
    """What the whole document says of itself; ``requests`` is the fingerprint of the requests it answers.

    ``machine`` is the id of the machine whose ``transcript_head`` it is; empty from another wallet.
    """

    ceremony: str
    requests: str
    rehearsal: bool
    transcript_head: str
    created_ms: int
    machine: str = ""


class Answer(NamedTuple):
    """What became of one request: ``result`` is ``signed``, ``refused`` or ``declined`` (``why`` says by whom).

    Of a refused one ``why`` is a check's id, the error that ended the command while it was signed, or ``not begun``.
    ``digest`` is 32 bytes and ``signature`` 65 bytes ``r || s || v``, both 0x-hex; ``shown`` is what the Ledger showed
    (``fields``, ``filters``, ``hashes``, ``transaction`` or ``authorization``), or ``by another wallet``.
    """

    step: str
    result: str
    why: str = ""
    digest: str = ""
    signature: str = ""
    signer: str = ""
    shown: str = ""
    app: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the item as the document holds it."""
        names = _SIGNED if self.result == "signed" else _NOT_SIGNED
        return {name: value for name, value in self._asdict().items() if name in names}


def read_header(value: Any) -> SignaturesHeader:
    """Read the header. Raises ``DocumentError("DOC-FIELD")``."""
    read_members(value, "header", _SIGNATURES_HEADER, {"machine": A_FINGERPRINT})
    return SignaturesHeader(**{name: member for name, member in value.items() if name != "count"})


def read_signature(value: Any, where: str) -> Answer:
    """Read one item. Raises ``DocumentError("DOC-FIELD")``."""
    signed = type(value) is dict and value.get("result") == "signed"
    return Answer(**read_members(value, where, _SIGNED if signed else _NOT_SIGNED))


def parse_signatures(data: bytes) -> tuple[SignaturesHeader, list[Answer], str]:
    """Return ``(header, items, fingerprint)`` of a whole document; the fingerprint is 64 hex digits.

    Raises ``DocumentError`` as :func:`airlock_shared.wire.strict_json.read_batch`, or ``DOC-FIELD`` with the place, and
    ``Refusal("PLAN-STEPS")`` for a step that comes twice.
    """
    header, items, fingerprint = read_batch(data, format_name=SIGNATURES_FORMAT, list_name=_SIGNATURES_LIST)
    read = [read_signature(item, f"item {n}") for n, item in enumerate(items, start=1)]
    steps = [item.step for item in read]
    if len(set(steps)) != len(steps):
        raise Refusal("PLAN-STEPS", "a step appears twice in the signatures", repr(steps)[:200])
    return read_header(header), read, fingerprint


def write_signatures(header: SignaturesHeader, items: list[Answer]) -> bytes:
    """Return the document's file form, UTF-8. Until it is submitted, this is a secret."""
    return write_batch(SIGNATURES_FORMAT, header_members(header), _SIGNATURES_LIST, [item.as_json() for item in items])
