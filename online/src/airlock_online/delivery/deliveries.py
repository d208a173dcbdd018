"""From a signatures document to deliveries: each signature is matched with its request and checked again before it goes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

from airlock_online.delivery.routes.context import Delivery
from airlock_online.journal.order_states import INITIATIONS
from airlock_online.speech.sections import ROUTES
from airlock_shared.checks.intent import definitions, encoding_of, hashes_of
from airlock_shared.documents.deployment import Deployment, Domain
from airlock_shared.documents.requests import Answer, Header, Request, SignaturesHeader
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.ethereum.eip712 import StructValues
from airlock_shared.ethereum.signatures import (
    TYPE_2,
    Transaction,
    checksum_address,
    encode_rlp,
    in_eip55,
    parse_address,
    recover,
    signing_hash,
    unsigned_bytes,
    unsigned_fields,
    value_wei,
)
from airlock_shared.venue.calls import Decoded, decode_call, payload_hash
from airlock_shared.venue.structs import BATCHED_MARKET, CORE_API, OPENED, PAIR, RELAY, Intent, leaf, path_of
from airlock_shared.wire.strict_json import JsonObject

_HEX = re.compile("0x(?:[0-9a-fA-F]{2})+", re.ASCII)


def match_answers(
    answer_header: SignaturesHeader,
    answers: list[Answer],
    header: Header,
    requests: list[Request],
    fingerprint: str,
) -> list[tuple[Request, Answer]]:
    """Return each request with its answer, in order.

    Raises ``Refusal`` when the signatures answer another document, or its steps do not match.
    """
    if answer_header.requests != fingerprint:
        raise Refusal(
            "SIG-REQUESTS", "the signatures are for another document", got=answer_header.requests, expected=fingerprint
        )
    if answer_header.rehearsal != header.rehearsal:
        raise Refusal(
            "PIN-REHEARSAL", "rehearsal and production are mixed", do="use the rehearsal's files for rehearsals"
        )
    steps, planned = [item.step for item in answers], [item.step for item in requests]
    if steps != planned:
        raise Refusal(
            "PLAN-STEPS",
            "the steps of the signatures are not those of the requests",
            got=steps,
            expected=planned,
        )
    return list(zip(requests, answers, strict=True))


def delivery_of(
    request: Request,
    signed: Answer,
    header: Header,
    deployment: Deployment,
    fingerprint: str = "",
    *,
    to_send: bool = True,
) -> Delivery:
    """Return what is to be sent, after recomputing what was signed and recovering the signer.

    ``fingerprint`` is the requests document's, for the journal. Without ``to_send``, for another sender, the service need
    not have an address. Raises ``Refusal`` of the families ``MSG``, ``DIGEST``,
    ``ENC``, ``TX`` and ``SIG``, ``UsageError`` without a service address.
    """
    make = _intent_of if request.transaction is None else _transaction_of
    delivery = make(request, signed, deployment)
    base_url = _known_url(delivery.route, deployment)
    if to_send and not base_url:
        raise UsageError(
            f"the deployment has no address for the {delivery.route} service",
            do=f"fetch the deployment again with {ROUTES[delivery.route].option} URL, or export what was signed",
        )
    return delivery._replace(
        ceremony=header.ceremony, requests=fingerprint, base_url=base_url, deployment=deployment.fingerprint
    )


class SignedStruct(NamedTuple):
    """The struct of an intent's payload, its canonical message, its pinned domain and its digest, computed here."""

    intent: Intent
    message: StructValues
    domain: Domain
    digest: bytes


def read_struct(payload: JsonObject, deployment: Deployment) -> SignedStruct:
    """Return what is signed of an intent's payload. Raises ``Refusal``: ``TYPES-KNOWN``, and of the family ``MSG``."""
    intent = deployment.structs.get(payload["primaryType"])
    if intent is None:
        raise Refusal("TYPES-KNOWN", "a struct that Airlock does not know", got=payload["primaryType"])
    message, domain = definitions(intent).read(intent.name, payload["message"]), deployment.domains[intent.domain]
    return SignedStruct(intent, message, domain, hashes_of(intent, message, domain).digest)


def _intent_of(request: Request, signed: Answer, deployment: Deployment) -> Delivery:
    intent, message, domain, digest = read_struct(request.payload, deployment)
    encoded = "0x" + encoding_of(intent, message).hex()
    if request.payload["encodedIntent"].lower() != encoded:
        raise Refusal("ENC-MATCH", "encodedIntent is not the encoding of the message")
    deadline = leaf(message, intent.deadline) if intent.deadline else None
    trader = leaf(message, intent.trader)
    return Delivery(
        digest="0x" + digest.hex(),
        step=request.step,
        ceremony="",
        primary_type=intent.name,
        route=intent.route,
        base_url="",
        order_type=request.order_type,
        encoded_intent=encoded,
        signature=signed.signature,
        signer=_signer_of(request, signed, digest),
        contract=checksum_address(domain.contract),
        nonce=str(leaf(message, intent.nonce)),
        deadline_ms=deadline if isinstance(deadline, int) else None,
        chain_id=deployment.chain_id,
        trader=checksum_address(trader) if isinstance(trader, bytes) else "",
        replaces=request.replaces,
        intent=intent,
        signed=json.dumps(_in_events(intent, message, request.order_type)),
    )


_OPENS, _CLOSES, _INCREASES = (0, 6, 12, 13), (1, 7, 15, 16), (9, 14)
_OF_PNL_PAIRS = (6, 7, 13, 16)
_LEAVES = {"trader": "trader", "pairIndex": PAIR, "index": "tradeIndex", "isBuy": "side", "buy": "side"}
_OF_TRIGGERS = {"pairIndex": PAIR, "index": "tradeIndex", "timestamp": OPENED}


def _in_events(intent: Intent, message: StructValues, order_type: int | None) -> dict[str, object]:
    """Return what the events of an order must tell, by its signed message and its order type; of a trigger, its position.

    Source: the specification, "Supported order types" and "Events".
    """
    leaves = {BATCHED_MARKET: _LEAVES, CORE_API: _OF_TRIGGERS}.get(intent.route, {})
    paths = {member: path_of(intent.fields, kind) for member, kind in leaves.items()}
    told = {member: leaf(message, path) for member, path in paths.items() if path}
    signed = {name: "0x" + value.hex() if isinstance(value, bytes) else value for name, value in told.items()}
    if order_type in _OPENS or order_type in _CLOSES:
        signed |= {"open": order_type in _OPENS, "isPnl": order_type in _OF_PNL_PAIRS, "type": INITIATIONS[0]}
    elif order_type in _INCREASES:
        signed["type"] = INITIATIONS[1]
    return signed


def encoding_signed(request: Request, deployment: Deployment, digest: str) -> str:
    """Return the encoding of a request's intent in hex without 0x, recomputed; empty when ``digest`` is another one's."""
    if request.transaction is not None or request.payload.get("primaryType") not in deployment.structs:
        return ""
    intent, message, _, signed = read_struct(request.payload, deployment)
    return encoding_of(intent, message).hex() if "0x" + signed.hex() == digest else ""


def _transaction_of(request: Request, signed: Answer, deployment: Deployment) -> Delivery:
    payload, filled = request.payload, request.transaction
    assert filled is not None  # noqa: S101 (the caller has looked)
    decoded = require_sendable(payload, filled, deployment)
    digest = signing_hash(payload, filled)
    signer = _signer_of(request, signed, digest)
    raw = raw_transaction(payload, filled, bytes.fromhex(signed.signature[2:]))
    trader = decoded.delegated_for
    return Delivery(
        digest="0x" + digest.hex(),
        step=request.step,
        ceremony="",
        primary_type=decoded.call.name,
        route=RELAY,
        base_url="",
        order_type=None,
        encoded_intent="0x" + unsigned_bytes(payload, filled).hex(),
        signature=signed.signature,
        signer=signer,
        contract=in_eip55(payload["to"]),
        nonce=str(filled.nonce),
        deadline_ms=None,
        chain_id=deployment.chain_id,
        trader=checksum_address(trader) if trader is not None else signer,
        raw_transaction="0x" + raw.hex(),
    )


def require_sendable(payload: JsonObject, filled: Transaction, deployment: Deployment) -> Decoded:
    """Return the call of a transaction that has one form only, for the pinned chain. Raises ``Refusal`` of family ``TX``."""
    if payload["chainId"] != deployment.chain_id:
        raise Refusal("TX-CHAIN", "for another chain", got=payload["chainId"], expected=deployment.chain_id)
    if not _HEX.fullmatch(payload["data"]):
        raise Refusal("TX-HEX", "calldata is not hex", got=payload["data"][:80], expected="0x and bytes in hex")
    parse_address(payload["to"])
    if min(filled) < 0 or max(filled) >> 256:
        raise Refusal(
            "TX-GAS", "a number that a transaction cannot have", got=str(tuple(filled))[:80], expected="0 to 2^256 - 1"
        )
    decoded, wei = decode_call(bytes.fromhex(payload["data"][2:]), deployment.calls), value_wei(payload)
    if wei is None or (wei and not decoded.call.fee):
        raise Refusal("TX-VALUE", "it would also send native coins", got=payload["value"][:80], expected="0x0")
    return decoded


def raw_transaction(payload: JsonObject, filled: Transaction, signature: bytes) -> bytes:
    """Return the signed transaction as it is sent; ``signature`` is ``r || s || v`` with v 27 or 28."""
    r, s, parity = signature[:32], signature[32:64], signature[64] - 27
    signed = [*unsigned_fields(payload, filled), parity, int.from_bytes(r, "big"), int.from_bytes(s, "big")]
    return TYPE_2 + encode_rlp(signed)


def signed_authorization(request: Request, signed: Answer, deployment: Deployment) -> JsonObject:
    """Return a signed authorization as an element of an ``authorizationList``, its signer recovered again.

    Raises ``Refusal`` with ``AUTH-CHAIN`` or of family ``SIG``.
    """
    payload = request.payload
    if payload["chainId"] != deployment.chain_id:
        raise Refusal("AUTH-CHAIN", "for another chain", got=payload["chainId"], expected=deployment.chain_id)
    _signer_of(request, signed, payload_hash(payload))
    return element_of(payload, bytes.fromhex(signed.signature[2:]))


def element_of(payload: JsonObject, signature: bytes) -> JsonObject:
    """Return the element of an ``authorizationList``, numbers as 0x-hex as JSON-RPC writes them.

    ``signature`` is ``r || s || v`` with v 27 or 28. The specification does not show the element; this is the form of
    Ethereum's execution API.
    """
    r, s = (hex(int.from_bytes(part, "big")) for part in (signature[:32], signature[32:64]))
    address = in_eip55(payload["address"])
    numbers = {"chainId": hex(payload["chainId"]), "address": address, "nonce": hex(payload["nonce"])}
    return numbers | {"yParity": hex(signature[64] - 27), "r": r, "s": s}


def _signer_of(request: Request, signed: Answer, digest: bytes) -> str:
    """Return who signed, who must be who the request names, over the digest that was computed here."""
    if signed.digest != "0x" + digest.hex():
        raise Refusal("SIG-DIGEST", "signed over another digest", got=signed.digest, expected="0x" + digest.hex())
    signer = checksum_address(recover(digest, bytes.fromhex(signed.signature[2:])))
    if signer != request.signer or signed.signer != request.signer:
        raise Refusal("SIG-SIGNER", "signed by another key", got=signer, expected=request.signer)
    if request.transaction is not None and in_eip55(request.payload["from"]) != signer:
        raise Refusal("TX-FROM", "for another sender", got=request.payload["from"], expected=signer)
    return signer


def without_address(routes: Iterable[str], deployment: Deployment) -> dict[str, str]:
    """Return those of the routes whose service the deployment names no address for, each with the option that gives one."""
    known = {route: ROUTES[route].option for route in routes if ROUTES[route].asked_for}
    return {route: option for route, option in known.items() if not _known_url(route, deployment)}


def _known_url(route: str, deployment: Deployment) -> str:
    return deployment.base_urls.get(ROUTES[route].url_key, "")
