"""The batched market: nonces, delegates, the two modes, the counters and the seed."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

from online.rehearsal.conftest import OpenClient
from online.rehearsal.orders import refused
from online.rehearsal.services_client import DELEGATE, PROMPT, TRADER, Json, ServicesClient


def test_a_consumed_nonce_is_refused_and_every_post_is_counted(desk: ServicesClient) -> None:
    payload = desk.close_payload(collateralToCloseUsdc="10", nonce="1234")
    desk.execute(1, payload)
    refused(desk, desk.order(1, payload), "nonce is consumed")
    other = desk.close_payload(collateralToCloseUsdc="11", nonce="1234")
    refused(desk, desk.order(1, other), "nonce is consumed")
    assert desk.services.posts["batched"] == {"1234": 3}
    counters = desk.http.get(desk.services.url + "/rehearsal/counters").json()
    assert counters == {"simulator": True, "posts": {"batched": {"1234": 3}}}


def test_a_live_delegate_may_sign_and_an_expired_one_may_not(desk: ServicesClient) -> None:
    desk.register_delegate()
    assert desk.execute(1, desk.close_payload(collateralToCloseUsdc="10"), DELEGATE)[-1].type == "MarketOrderExecuted"
    desk.clock.ms += 3_600_000
    refused(desk, desk.order(1, desk.close_payload(collateralToCloseUsdc="10"), DELEGATE), "may not sign for")


def given(key: LocalAccount = TRADER, chain_id: int = 31337, **changes: str) -> Json:
    """Return an authorization that eth-account signed, as Ethereum's execution API writes it."""
    made: Any = key.sign_authorization({"chainId": chain_id, "address": DELEGATE.address, "nonce": 3})
    numbers = {"chainId": chain_id, "nonce": 3, "yParity": made.y_parity, "r": made.r, "s": made.s}
    return {"address": DELEGATE.address, **{name: hex(number) for name, number in numbers.items()}, **changes}


SEVEN702: Json = {
    "chainId": "31337", "to": TRADER.address, "data": "0x00", "gas": "210000", "authorizationList": [given()],
}  # fmt: skip


def test_in_eip_7702_mode_an_order_without_it_is_refused(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(execution="eip7702"))
    body = desk.order(1, desk.close_payload())
    refused(desk, body, "eip7702 is required")
    assert desk.post_order(body | {"eip7702": SEVEN702}).status_code == 200


@pytest.mark.parametrize(("change", "words"), [
    ({"chainId": "1"}, "eip7702.chainId must be 31337"), ({"to": "0x00"}, "eip7702.to must be an address"),
    ({"gas": "0x5208"}, "eip7702.gas"), ({"authorizationList": []}, "eip7702.authorizationList"),
    ({"authorizationList": [given(DELEGATE)]}, "whose order this is not"),
    ({"authorizationList": [given(chain_id=0)]}, "on this chain"),
    ({"authorizationList": [given(nonce="0x03")]}, "0x-hex"),
    ({"authorizationList": [given(s="0x0")]}, "an authorization's signature"),
    ({"authorizationList": [given(v="0x1b")]}, "authorization.v"),
])  # fmt: skip
def test_in_eip_7702_mode_a_transaction_that_nobody_can_relay_is_refused(
    open_desk: OpenClient, change: Json, words: str
) -> None:
    desk = open_desk(PROMPT._replace(execution="eip7702"))
    refused(desk, desk.order(1, desk.close_payload()) | {"eip7702": SEVEN702 | change}, words)


def test_the_same_seed_and_requests_give_the_same_events(open_desk: OpenClient) -> None:
    first, second = (open_desk(PROMPT) for _ in range(2))
    payload = first.close_payload()
    assert payload == second.close_payload()
    assert first.execute(1, payload) == second.execute(1, payload)
    other = open_desk(PROMPT._replace(seed="another"))
    assert other.close_payload()["message"]["_nonce"] != payload["message"]["_nonce"]
