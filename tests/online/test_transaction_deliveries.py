"""From a signed transaction to a delivery: recomputed, recovered, compared; what differs is not sent."""

import json
from typing import Any

import pytest

from airlock_online.delivery.deliveries import delivery_of
from airlock_online.delivery.routes.rpc import chain_hash
from airlock_shared.documents.deployment import Deployment, read_deployment
from airlock_shared.documents.requests import Answer, Header, Request, parse_requests
from airlock_shared.errors import Refusal, UsageError
from shared.world import DEPLOYMENT_TEXT, VECTORS, good, to_bytes

KNOWN = json.loads((VECTORS / "transactions/signed.json").read_text())
STRANGER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"


def deployment(**urls: str) -> Deployment:
    return read_deployment({**json.loads(DEPLOYMENT_TEXT), "base_urls": urls or {"builder": "https://venue.example"}})


def parts(step: str) -> tuple[Request, Answer, Header]:
    header, [request], _ = parse_requests(to_bytes(good(step, "transactions")))
    known = KNOWN[step]
    signed = Answer(step, "signed", digest=known["digest"], signature=known["signature"], signer=request.signer)
    return request, signed, header


def deliver(step: str = "approve", *, payload: Any = None, **signed: Any) -> Any:
    request, answer, header = parts(step)
    request = request._replace(payload=request.payload | (payload or {}))
    return delivery_of(request, answer._replace(**signed), header, deployment())


def test_without_a_builder_there_is_nowhere_to_send_it_and_another_sender_needs_no_address() -> None:
    assert deliver(payload={"value": "0x"}).raw_transaction == KNOWN["approve"]["raw"]
    delivery = deliver("position-increase-desk")
    assert (delivery.trader == delivery.signer, delivery.primary_type) == (False, "increasePositionSize")
    request, signed, header = parts("approve")
    nowhere = deployment(relayer="https://venue.example")
    with pytest.raises(UsageError, match="export"):
        delivery_of(request, signed, header, nowhere)
    assert delivery_of(request, signed, header, nowhere, to_send=False).raw_transaction == KNOWN["approve"]["raw"]


@pytest.mark.parametrize("step", KNOWN)
def test_every_signed_transaction_becomes_the_bytes_and_the_hash_that_another_library_gave_it(step: str) -> None:
    delivery = deliver(step)
    assert (delivery.raw_transaction, chain_hash(delivery)) == (KNOWN[step]["raw"], KNOWN[step]["hash"])
    assert (delivery.route, delivery.deadline_ms, delivery.order_type) == ("relay", None, None)


@pytest.mark.parametrize(
    ("signed", "check"),
    [
        ({"digest": "0x" + "00" * 32}, "SIG-DIGEST"),
        ({"signature": KNOWN["limit-update"]["signature"]}, "SIG-SIGNER"),
        ({"signature": KNOWN["approve"]["signature"][:-2] + "00"}, "SIG-V"),
        ({"signature": KNOWN["approve"]["signature"][:-2]}, "SIG-LENGTH"),
        ({"signer": STRANGER}, "SIG-SIGNER"),
    ],
)
def test_a_signature_that_is_not_the_signers_over_these_bytes_is_not_sent(signed: dict[str, str], check: str) -> None:
    with pytest.raises(Refusal, match=check):
        deliver(**signed)


@pytest.mark.parametrize(
    ("payload", "check"),
    [
        ({"chainId": 1}, "TX-CHAIN"),
        ({"value": "0x1"}, "TX-VALUE"),
        ({"data": "095ea7b3"}, "TX-HEX"),
        ({"data": "0xdeadbeef"}, "TX-SELECTOR"),
        ({"to": STRANGER}, "SIG-DIGEST"),
        ({"from": STRANGER}, "TX-FROM"),
    ],
)
def test_a_payload_that_is_not_the_one_signed_is_not_sent(payload: dict[str, object], check: str) -> None:
    with pytest.raises(Refusal, match=check):
        deliver(payload=payload)


@pytest.mark.parametrize("member", ["nonce", "gas", "maxFeePerGas", "maxPriorityFeePerGas"])
def test_another_filling_than_the_one_signed_is_not_sent(member: str) -> None:
    request, signed, header = parts("approve")
    assert request.transaction is not None
    filled = request.transaction._replace(**{member: getattr(request.transaction, member) + 1})
    with pytest.raises(Refusal, match="SIG-DIGEST"):
        delivery_of(request._replace(transaction=filled), signed, header, deployment())
