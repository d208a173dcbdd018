"""The batched market: nonces, delegates, the two modes, the counters and the seed."""

from __future__ import annotations

from online.rehearsal.conftest import OpenDesk
from online.rehearsal.desk import (
    DELEGATE,
    PROMPT,
    Desk,
    digest_in,
    signature,
)
from online.rehearsal.orders import refused


def test_a_consumed_nonce_is_refused_and_every_post_is_counted(desk: Desk) -> None:
    payload = desk.close_payload(collateralToCloseUsdc="10", nonce="1234")
    desk.execute(1, payload)
    refused(desk, desk.order(1, payload), "nonce is consumed")
    other = desk.close_payload(collateralToCloseUsdc="11", nonce="1234")
    refused(desk, desk.order(1, other), "nonce is consumed")
    assert desk.services.posts["batched"] == {"1234": 3}
    counters = desk.http.get(desk.services.url + "/rehearsal/counters").json()
    assert counters == {"simulator": True, "posts": {"batched": {"1234": 3}}}


def test_a_post_that_cannot_be_read_is_counted_too(desk: Desk) -> None:
    desk.post_order({"orderType": 1})
    desk.http.post(desk.services.batched_url + "/market/execute-batched", content=b"{")
    assert desk.services.posts["batched"] == {"unreadable": 2}


def test_a_nonce_on_its_way_cannot_be_used_again_and_is_not_yet_spent(open_desk: OpenDesk) -> None:
    desk = open_desk(PROMPT._replace(pacing_s=60))
    payload = desk.close_payload()
    body = desk.order(1, payload)
    with desk.http.stream("POST", desk.services.batched_url + "/market/execute-batched", json=body) as reply:
        assert reply.status_code == 200
        assert desk.post_order(body).status_code == 400
        assert not desk.nonce_used(payload)


def test_the_trading_nonce_is_not_the_referral_nonce(desk: Desk) -> None:
    payload = desk.close_payload()
    desk.execute(1, payload)
    assert desk.nonce_used(payload, "trading")
    assert not desk.nonce_used(payload, "referral")


def test_a_live_delegate_may_sign_and_an_expired_one_may_not(desk: Desk) -> None:
    desk.register_delegate()
    assert desk.execute(1, desk.close_payload(collateralToCloseUsdc="10"), DELEGATE)[-1].type == "MarketOrderExecuted"
    desk.clock.ms += 3_600_000
    refused(desk, desk.order(1, desk.close_payload(collateralToCloseUsdc="10"), DELEGATE), "may not sign for")


SEVEN702 = {"chainId": "31337", "to": "0x00", "data": "0x", "gas": "21000", "authorizationList": []}


def test_in_eip_7702_mode_an_order_without_it_is_refused(open_desk: OpenDesk) -> None:
    desk = open_desk(PROMPT._replace(execution="eip7702"))
    body = desk.order(1, desk.close_payload())
    refused(desk, body, "eip7702 is required")
    assert desk.post_order(body | {"eip7702": SEVEN702}).status_code == 200


def test_in_eip_712_mode_a_relayed_transaction_does_no_harm(desk: Desk) -> None:
    body = desk.order(1, desk.close_payload()) | {"eip7702": SEVEN702}
    assert desk.post_order(body).status_code == 200


def test_the_same_seed_and_requests_give_the_same_events(open_desk: OpenDesk) -> None:
    first, second = (open_desk(PROMPT) for _ in range(2))
    payload = first.close_payload()
    assert payload == second.close_payload()
    assert first.execute(1, payload) == second.execute(1, payload)
    other = open_desk(PROMPT._replace(seed="another"))
    assert other.close_payload()["message"]["_nonce"] != payload["message"]["_nonce"]


def test_what_is_signed_is_what_the_market_hashes(shared_desk: Desk) -> None:
    payload = shared_desk.close_payload()
    assert payload["digest"] == digest_in(payload)
    assert len(bytes.fromhex(signature(payload)[2:])) == 65
