"""From signatures to deliveries: what does not answer these requests, or does not recover to their signer, is not sent."""

import json
from typing import Any

import pytest

from airlock_online.delivery.deliveries import delivery_of, match_answers
from airlock_online.delivery.routes.rpc import chain_hash
from airlock_shared.documents.deployment import read_deployment
from airlock_shared.documents.requests import Answer, Header, Request, parse_requests, parse_signatures
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.ethereum.signatures import Transaction
from online.crash.orders import SERVICES
from shared.world import DEPLOYMENT_TEXT, VECTORS, good, to_bytes, whole

HEADER, REQUESTS, FINGERPRINT = parse_requests(to_bytes(whole()))
ANSWER, SIGNED, _ = parse_signatures((VECTORS / "signatures/good/every-struct.json").read_bytes())
DEPLOYMENT = read_deployment(
    {**json.loads(DEPLOYMENT_TEXT), "base_urls": dict.fromkeys(SERVICES, "https://venue.example")}
)
KNOWN = json.loads((VECTORS / "transactions/signed.json").read_text())
STRANGER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
ENCODED = REQUESTS[0].payload["encodedIntent"]


def test_every_good_signature_becomes_a_delivery() -> None:
    pairs = match_answers(ANSWER, SIGNED, HEADER, REQUESTS, FINGERPRINT)
    made = [delivery_of(request, signed, HEADER, DEPLOYMENT) for request, signed in pairs]
    assert [each.signature for each in made] == [signed.signature for _, signed in pairs]
    opens = [told for told in (json.loads(each.signed) for each in made) if told.get("open")]
    assert opens  # the side stands in an event and in its trade
    assert all(told["isBuy"] is told["buy"] for told in opens)
    assert len(pairs) == len(REQUESTS)


def test_signatures_of_another_document_are_refused() -> None:
    with pytest.raises(Refusal):
        match_answers(ANSWER._replace(requests="00" * 32), SIGNED, HEADER, REQUESTS, FINGERPRINT)


def test_rehearsal_and_production_are_not_mixed() -> None:
    with pytest.raises(Refusal, match="PIN-REHEARSAL"):
        match_answers(ANSWER._replace(rehearsal=not ANSWER.rehearsal), SIGNED, HEADER, REQUESTS, FINGERPRINT)


@pytest.mark.parametrize("signed", [SIGNED[1:], SIGNED[::-1], [SIGNED[0], *SIGNED]], ids=["missing", "moved", "more"])
def test_other_steps_than_those_of_the_requests_are_refused(signed: list[Answer]) -> None:
    with pytest.raises(Refusal, match="PLAN-STEPS"):
        match_answers(ANSWER, signed, HEADER, REQUESTS, FINGERPRINT)


def parts(step: str = "approve") -> tuple[Request, Answer, Header]:
    """Return what was asked of a transaction step, its signature, and the document's header."""
    header, [request], _ = parse_requests(to_bytes(good(step, "transactions")))
    known = KNOWN[step]
    signed = Answer(step, "signed", digest=known["digest"], signature=known["signature"], signer=request.signer)
    return request, signed, header


@pytest.mark.parametrize(
    ("step", "change", "check"),
    [
        ("open", {"digest": "0x" + "00" * 32}, "SIG-DIGEST"),
        ("open", {"signer": STRANGER}, "SIG-SIGNER"),
        ("open", {"signature": SIGNED[1].signature}, "SIG-SIGNER"),
        ("open", {"signature": SIGNED[0].signature[:-2] + "00"}, "SIG-V"),
        ("approve", {"digest": "0x" + "00" * 32}, "SIG-DIGEST"),
        ("approve", {"signer": STRANGER}, "SIG-SIGNER"),
        ("approve", {"signature": KNOWN["limit-update"]["signature"]}, "SIG-SIGNER"),
        ("approve", {"signature": KNOWN["approve"]["signature"][:-2] + "00"}, "SIG-V"),
        ("approve", {"signature": KNOWN["approve"]["signature"][:-2]}, "SIG-LENGTH"),
    ],
)
def test_no_signature_but_the_signers_over_this_digest_is_sent(step: str, change: dict[str, Any], check: str) -> None:
    request, signed, header = parts() if step == "approve" else (REQUESTS[0], SIGNED[0], HEADER)
    with pytest.raises(Refusal, match=check):
        delivery_of(request, signed._replace(**change), header, DEPLOYMENT)


@pytest.mark.parametrize(
    ("step", "payload", "check"),
    [
        ("open", {"encodedIntent": ENCODED[:-1] + "f"}, "ENC-MATCH"),
        ("approve", {"chainId": 1}, "TX-CHAIN"),
        ("approve", {"value": "0x1"}, "TX-VALUE"),
        ("approve", {"data": "095ea7b3"}, "TX-HEX"),
        ("approve", {"data": "0xdeadbeef"}, "TX-SELECTOR"),
        ("approve", {"to": STRANGER}, "SIG-DIGEST"),
        ("approve", {"from": STRANGER}, "TX-FROM"),
    ],
)
def test_a_payload_that_is_not_the_one_signed_is_not_sent(step: str, payload: dict[str, object], check: str) -> None:
    request, signed, header = parts() if step == "approve" else (REQUESTS[0], SIGNED[0], HEADER)
    with pytest.raises(Refusal, match=check):
        delivery_of(request._replace(payload=request.payload | payload), signed, header, DEPLOYMENT)


@pytest.mark.parametrize("member", Transaction._fields)
def test_another_filling_than_the_one_signed_is_not_sent(member: str) -> None:
    request, signed, header = parts()
    assert request.transaction is not None
    filled = request.transaction._replace(**{member: getattr(request.transaction, member) + 1})
    with pytest.raises(Refusal, match="SIG-DIGEST"):
        delivery_of(request._replace(transaction=filled), signed, header, DEPLOYMENT)


@pytest.mark.parametrize("step", KNOWN)
def test_every_signed_transaction_becomes_the_bytes_and_the_hash_that_another_library_gave_it(step: str) -> None:
    delivery = delivery_of(*parts(step), DEPLOYMENT)
    assert (delivery.raw_transaction, chain_hash(delivery)) == (KNOWN[step]["raw"], KNOWN[step]["hash"])
    assert (delivery.route, delivery.deadline_ms, delivery.order_type) == ("relay", None, None)
    assert (delivery.trader == delivery.signer) is ("desk" not in step)


def test_without_a_builder_there_is_nowhere_to_send_it_and_another_sender_needs_no_address() -> None:
    request, signed, header = parts()
    request, nowhere = request._replace(payload=request.payload | {"value": "0x"}), DEPLOYMENT._replace(base_urls={})
    with pytest.raises(UsageError, match="export"):
        delivery_of(request, signed, header, nowhere)
    assert delivery_of(request, signed, header, nowhere, to_send=False).raw_transaction == KNOWN["approve"]["raw"]
