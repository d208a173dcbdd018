"""One signed delivery for every way that something can be submitted: real intents and transactions, from the vectors."""

import json
from functools import cache
from typing import Any, NamedTuple

from airlock_online.delivery.deliveries import delivery_of
from airlock_online.delivery.routes.context import Delivery
from airlock_shared.documents.requests import Answer, Header, Request, parse_requests, parse_signatures
from shared.world import VECTORS, deployment, good, to_bytes

TRANSACTIONS = json.loads((VECTORS / "transactions/signed.json").read_text())
SERVICES = ("builder", "batched_market", "relayer", "twap", "core_api")


class Way(NamedTuple):
    """A way to submit: the vectors' step that goes it, and what the operator chose beside it."""

    step: str
    chosen: dict[str, Any] = {}  # noqa: RUF012 (never changed)


WAYS = {
    "batched-market": Way("open"),
    "relayer": Way("desk-key"),
    "twap": Way("stop-twap"),
    "core-api-post": Way("take-profit"),
    "core-api-put": Way("stop-loss", {"replaces": "e-1"}),
    "relay": Way("approve"),
    "rpc": Way("position-increase", {"route": "rpc"}),
}


def order(way: str, base_url: str) -> Delivery:
    """Return the delivery of one of ``WAYS``, bound for the services at one address."""
    step, chosen = WAYS[way]
    header, request, signed = _signed(step)
    there = deployment()._replace(base_urls=dict.fromkeys(SERVICES, base_url))
    return delivery_of(request, signed, header, there)._replace(**chosen)


@cache
def _signed(step: str) -> tuple[Header, Request, Answer]:
    folder = "transactions" if step in TRANSACTIONS else "requests"
    header, requests, _ = parse_requests(to_bytes(good(step, folder)))
    if folder == "requests":
        _, answers, _ = parse_signatures((VECTORS / "signatures/good/every-struct.json").read_bytes())
        return header, requests[0], next(answer for answer in answers if answer.step == step)
    known = TRANSACTIONS[step]
    signed = Answer(step, "signed", digest=known["digest"], signature=known["signature"], signer=requests[0].signer)
    return header, requests[0], signed
