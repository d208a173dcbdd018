"""From signatures to deliveries: what does not answer these requests, or does not recover to their signer, is not sent."""

import json
from typing import Any

import pytest

from airlock_online.delivery.deliveries import delivery_of, match_answers
from airlock_shared.documents.deployment import read_deployment
from airlock_shared.documents.requests import Answer, parse_requests, parse_signatures
from airlock_shared.errors import Refusal
from shared.world import DEPLOYMENT_TEXT, VECTORS, to_bytes, whole

HEADER, REQUESTS, FINGERPRINT = parse_requests(to_bytes(whole()))
ANSWER, SIGNED, _ = parse_signatures((VECTORS / "signatures/good/every-struct.json").read_bytes())
URLS = dict.fromkeys(("batched_market", "relayer", "twap", "core_api"), "https://venue.example")
DEPLOYMENT = read_deployment({**json.loads(DEPLOYMENT_TEXT), "base_urls": URLS})


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


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"digest": "0x" + "00" * 32}, "SIG-DIGEST"),
        ({"signer": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"}, "SIG-SIGNER"),
        ({"signature": SIGNED[1].signature}, "SIG-SIGNER"),
        ({"signature": SIGNED[0].signature[:-2] + "00"}, "SIG-V"),
    ],
)
def test_a_signature_that_is_not_the_signers_over_this_digest_is_not_sent(change: dict[str, Any], check: str) -> None:
    with pytest.raises(Refusal, match=check):
        delivery_of(REQUESTS[0], SIGNED[0]._replace(**change), HEADER, DEPLOYMENT)


def test_an_altered_encoding_is_not_sent() -> None:
    payload = REQUESTS[0].payload
    altered = payload | {"encodedIntent": payload["encodedIntent"][:-1] + "f"}
    with pytest.raises(Refusal, match="ENC-MATCH"):
        delivery_of(REQUESTS[0]._replace(payload=altered), SIGNED[0], HEADER, DEPLOYMENT)
