"""The batched market: what it refuses before the stream opens, nonces, delegates, EIP-7702."""

from collections.abc import Callable
from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

from online.rehearsal.conftest import OpenClient
from online.rehearsal.services_client import (
    DELEGATE,
    PROMPT,
    START_MS,
    STRANGER,
    TRADER,
    Json,
    ServicesClient,
    handmade,
)

ONE = 10**10
CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
BodyChange = Callable[[Json], Json]
RELAYED: Json = {"chainId": "31337", "to": TRADER.address, "data": "0x00", "gas": "210000"}


def refused(desk: ServicesClient, body: Any, words: str) -> None:
    before = desk.state.evm.block_number()
    reply = desk.post_order(body)
    assert (reply.status_code, reply.headers["x-airlock-rehearsal"]) == (400, "simulator")
    assert words in str(reply.json()["message"])
    assert reply.json() == {"statusCode": 400, "message": reply.json()["message"], "error": "Bad Request"}
    assert desk.state.evm.block_number() == before


def of_order(member: str, change: Callable[[str], str]) -> BodyChange:
    return lambda body: body | {"erc712": body["erc712"] | {member: change(body["erc712"][member])}}


def _high_s(text: str) -> str:
    raw = bytes.fromhex(text[2:])
    s = CURVE_ORDER - int.from_bytes(raw[32:64], "big")
    return "0x" + (raw[:32] + s.to_bytes(32, "big") + bytes([55 - raw[64]])).hex()


BAD: dict[str, tuple[BodyChange, str]] = {
    "another order type": (lambda body: body | {"orderType": 2}, "unsupported orderType"),
    "no order type": (lambda body: {"erc712": body["erc712"]}, "body.orderType is missing"),
    "an unknown member": (lambda body: body | {"colour": "red"}, "body.colour should not exist"),
    "no hex": (of_order("userIntent", lambda intent: intent[2:]), "not 0x-hex"),
    "a word too few": (of_order("userIntent", lambda intent: intent[:-64]), "not an encoded CloseTradeReq"),
    "a word too many": (of_order("userIntent", lambda intent: intent + "00" * 32), "not the canonical encoding"),
    "64 bytes": (of_order("userSignature", lambda signature: signature[:-2]), "64 bytes instead of 65"),
    "another v": (of_order("userSignature", lambda signature: signature[:-2] + "00"), "v is 0"),
    "a high s": (of_order("userSignature", _high_s), "upper half"),
    "zeros": (of_order("userSignature", lambda _: "0x" + "00" * 64 + "1b"), ""),
}


@pytest.mark.parametrize("name", BAD)
def test_an_order_that_was_not_signed_so_is_refused(shared_desk: ServicesClient, name: str) -> None:
    change, words = BAD[name]
    refused(shared_desk, change(shared_desk.order(1, shared_desk.close_payload())), words)


def test_a_delegate_may_sign_while_it_is_registered_and_a_stranger_never(desk: ServicesClient) -> None:
    for key in (STRANGER, DELEGATE):
        refused(desk, desk.order(1, desk.close_payload(), key), "may not sign for")
    desk.register_delegate()
    assert desk.execute(1, desk.close_payload(collateralToCloseUsdc="10"), DELEGATE)[-1].type == "MarketOrderExecuted"
    desk.clock.ms += 3_600_000
    refused(desk, desk.order(1, desk.close_payload(collateralToCloseUsdc="10"), DELEGATE), "may not sign for")


@pytest.mark.parametrize(("order_type", "pair", "amount"), [(7, 0, "1000"), (1, 3, "250")])
def test_another_pair_s_type_is_refused(shared_desk: ServicesClient, order_type: int, pair: int, amount: str) -> None:
    payload = shared_desk.close_payload(pairIndex=pair, collateralToCloseUsdc=amount)
    refused(shared_desk, shared_desk.order(order_type, payload), "does not fit")


@pytest.mark.parametrize(
    ("in_trade", "in_message", "words"),
    [
        ({}, {"_type": "2"}, "_type 2"),
        ({"leverage": str(100 * ONE + 1)}, {}, "outside the bounds"),
        ({"pairIndex": "5"}, {}, "takes no new positions"),
    ],
)
def test_opens_out_of_bounds_are_refused(
    shared_desk: ServicesClient, in_trade: Json, in_message: Json, words: str
) -> None:
    trade = dict.fromkeys(("index", "pairIndex", "initialPosToken", "tp", "sl", "timestamp"), "0")
    trade |= {"positionSizeUSDC": "100000000", "openPrice": str(64_000 * ONE), "leverage": str(10 * ONE)}
    numbers = {"_type": "0", "_slippageP": "1", "_deadline": str(START_MS + 60_000), "_nonce": "5"}
    message = {"_t": {"trader": TRADER.address, "buy": True, **trade, **in_trade}, **numbers, **in_message}
    refused(shared_desk, shared_desk.order(0, handmade("OpenTradeReq", message)), words)


def test_a_deadline_is_in_milliseconds_and_ahead_and_a_moment_that_of_its_position(desk: ServicesClient) -> None:
    refused(desk, desk.order(1, desk.close_payload(openTimestamp=5)), "PositionMismatch")
    payload = desk.close_payload(deadlineMs=START_MS + 1_000)
    desk.clock.ms = START_MS + 1_000
    refused(desk, desk.order(1, payload), "deadline")
    message = payload["message"] | {"_deadline": str(START_MS // 1000 + 60)}
    refused(desk, desk.order(1, handmade("CloseTradeReq", message)), "deadline")


def test_a_consumed_nonce_is_refused_and_every_post_is_counted(desk: ServicesClient) -> None:
    payload = desk.close_payload(collateralToCloseUsdc="10", nonce="1234")
    desk.execute(1, payload)
    refused(desk, desk.order(1, payload), "nonce is consumed")
    other = desk.close_payload(collateralToCloseUsdc="11", nonce="1234")
    refused(desk, desk.order(1, other), "nonce is consumed")
    assert desk.services.posts == {"batched": {"1234": 3}}


def given(key: LocalAccount = TRADER, chain_id: int = 31337, **changes: str) -> Json:
    """Return an authorization that eth-account signed, as Ethereum's execution API writes it."""
    made: Any = key.sign_authorization({"chainId": chain_id, "address": DELEGATE.address, "nonce": 3})
    numbers = {"chainId": chain_id, "nonce": 3, "yParity": made.y_parity, "r": made.r, "s": made.s}
    return {"address": DELEGATE.address, **{name: hex(number) for name, number in numbers.items()}, **changes}


def test_in_eip_7702_mode_an_order_needs_a_transaction_that_somebody_can_relay(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(eip7702=True))
    body = desk.order(1, desk.close_payload())
    refused(desk, body, "eip7702 is required")
    for changed, words in (
        ({"chainId": "1"}, "eip7702.chainId must be 31337"),
        ({"authorizationList": [given(DELEGATE)]}, "whose order this is not"),
        ({"authorizationList": [given(chain_id=0)]}, "on this chain"),
        ({"authorizationList": [given(nonce="0x03")]}, "0x-hex"),
        ({"authorizationList": [given(s="0x0")]}, "an authorization's signature"),
    ):
        refused(desk, body | {"eip7702": RELAYED | {"authorizationList": [given()]} | changed}, words)
    assert desk.post_order(body | {"eip7702": RELAYED | {"authorizationList": [given()]}}).status_code == 200


def test_the_same_requests_give_the_same_events(open_desk: OpenClient) -> None:
    first, second = (open_desk(PROMPT) for _ in range(2))
    payload = first.close_payload()
    assert payload == second.close_payload()
    assert first.execute(1, payload) == second.execute(1, payload)
