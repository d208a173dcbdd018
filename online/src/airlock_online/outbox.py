"""From a signatures document to deliveries: each signature is matched with its request and checked again before it goes."""

from __future__ import annotations

from airlock_online.routes.delivery import Delivery
from airlock_shared import signatures
from airlock_shared.addresses import checksum_address
from airlock_shared.checks.payload import definitions, encoding_of, hashes_of
from airlock_shared.deployment import Deployment
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.intents import CATALOGUE, leaf
from airlock_shared.requests import Header, Request
from airlock_shared.signature import recover
from airlock_shared.signatures import Signed

_BASE_URLS = {"batched-market": "batched_market", "relayer": "relayer", "twap": "twap", "core-api": "core_api"}


def match(
    answer: signatures.Header, signed: list[Signed], header: Header, requests: list[Request], fingerprint: str
) -> list[tuple[Request, Signed]]:
    """Return each request with its answer, in order.

    Raises ``Refusal`` when the signatures answer another document, or its steps do not match.
    """
    if answer.requests != fingerprint:
        raise Refusal(
            "SIG-REQUESTS", "the signatures answer another document", got=answer.requests, expected=fingerprint
        )
    if answer.rehearsal != header.rehearsal:
        raise Refusal(
            "PIN-REHEARSAL", "rehearsal and production are mixed", do="use the rehearsal's files for rehearsals"
        )
    steps, planned = [item.step for item in signed], [item.step for item in requests]
    if steps != planned:
        raise Refusal(
            "PLAN-STEPS", "the signatures' steps are not the requests'", got=str(steps), expected=str(planned)
        )
    return list(zip(requests, signed, strict=True))


def delivery_of(request: Request, signed: Signed, header: Header, deployment: Deployment) -> Delivery:
    """Return what is to be sent, after recomputing digest and encoding and recovering the signer.

    Raises ``Refusal`` of the families ``MSG``, ``DIGEST``, ``ENC`` and ``SIG``, ``UsageError`` without a service address.
    """
    primary_type = request.payload["primaryType"]
    intent = CATALOGUE.get(primary_type)
    if intent is None:
        raise Refusal("TYPES-KNOWN", "a struct that Airlock does not know", got=primary_type)
    message = definitions(intent).read(primary_type, request.payload["message"])
    domain = deployment.domains[intent.domain]
    digest = hashes_of(intent, message, domain).digest
    encoded = "0x" + encoding_of(intent, message).hex()
    if signed.digest != "0x" + digest.hex():
        raise Refusal("SIG-DIGEST", "signed over another digest", got=signed.digest, expected="0x" + digest.hex())
    if request.payload["encodedIntent"].lower() != encoded:
        raise Refusal("ENC-MATCH", "encodedIntent is not the encoding of the message")
    signer = checksum_address(recover(digest, bytes.fromhex(signed.signature[2:])))
    if signer != request.signer or signed.signer != request.signer:
        raise Refusal("SIG-SIGNER", "signed by another key", got=signer, expected=request.signer)
    base_url = deployment.base_urls.get(_BASE_URLS[intent.route])
    if base_url is None:
        raise UsageError(
            f"the deployment has no address for the {intent.route} service",
            do=f"fetch the deployment again with --{_BASE_URLS[intent.route].replace('_', '-')} URL",
        )
    deadline = leaf(message, intent.deadline) if intent.deadline else None
    return Delivery(
        digest=signed.digest,
        step=request.step,
        ceremony=header.ceremony,
        primary_type=primary_type,
        route=intent.route,
        base_url=base_url,
        order_type=request.order_type,
        encoded_intent=encoded,
        signature=signed.signature,
        signer=signer,
        contract=checksum_address(domain.contract),
        nonce=str(leaf(message, intent.nonce)),
        deadline_ms=deadline if isinstance(deadline, int) else None,
        trader=checksum_address(trader) if isinstance(trader := leaf(message, intent.trader), bytes) else "",
    )
