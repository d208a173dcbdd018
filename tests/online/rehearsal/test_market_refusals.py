"""The batched market: what it refuses before the stream opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from online.rehearsal.orders import DEADLINE, ONE, coin_close, refused, trade
from online.rehearsal.services_client import DELEGATE, START_MS, STRANGER, Json, ServicesClient, handmade


@pytest.mark.parametrize("order_type", [2, -1, "1", None])
def test_an_order_type_outside_the_table_is_refused(shared_desk: ServicesClient, order_type: Any) -> None:
    body = shared_desk.order(1, shared_desk.close_payload()) | {"orderType": order_type}
    refused(shared_desk, body, "unsupported orderType")


BodyChange = Callable[[Json], Json]
BAD_BODIES: dict[str, tuple[BodyChange, str]] = {
    "no orderType": (lambda b: {"erc712": b["erc712"]}, "body.orderType is missing"),
    "unknown member": (lambda b: b | {"colour": "red"}, "body.colour should not exist"),
    "no signature": (lambda b: b | {"erc712": {"userIntent": "0x00"}}, "erc712.userSignature is missing"),
    "eip7702 empty": (lambda b: b | {"eip7702": {}}, "eip7702.chainId is missing"),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_body_of_another_shape_is_refused(shared_desk: ServicesClient, name: str) -> None:
    change, words = BAD_BODIES[name]
    refused(shared_desk, change(shared_desk.order(1, shared_desk.close_payload())), words)


BAD_INTENTS: dict[str, tuple[Callable[[str], Any], str]] = {
    "no hex": (lambda i: i[2:], "not 0x-hex"),
    "cut": (lambda i: i[:-64], "not an encoded CloseTradeReq"),
    "trailing word": (lambda i: i + "00" * 32, "not the canonical encoding"),
    "other value": (lambda i: i[:-1] + ("1" if i[-1] == "0" else "0"), "may not sign for"),
}


@pytest.mark.parametrize("name", BAD_INTENTS)
def test_an_intent_that_is_not_the_signed_encoding_is_refused(shared_desk: ServicesClient, name: str) -> None:
    change, words = BAD_INTENTS[name]
    body = shared_desk.order(1, shared_desk.close_payload())
    body["erc712"]["userIntent"] = change(body["erc712"]["userIntent"])
    refused(shared_desk, body, words)


HALF = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def _high_s(text: str) -> str:
    raw = bytes.fromhex(text[2:])
    s = HALF - int.from_bytes(raw[32:64], "big")
    return "0x" + (raw[:32] + s.to_bytes(32, "big") + bytes([55 - raw[64]])).hex()


BAD_SIGNATURES: dict[str, tuple[Callable[[str], Any], str]] = {
    "64 bytes": (lambda s: s[:-2], "64 bytes instead of 65"),
    "v 0": (lambda s: s[:-2] + "00", "v is 0"),
    "other v": (lambda s: s[:-2] + ("1b" if s.endswith("1c") else "1c"), ""),
    "high s": (_high_s, "upper half"),
    "zero": (lambda s: "0x" + "00" * 64 + "1b", ""),
}


@pytest.mark.parametrize("name", BAD_SIGNATURES)
def test_a_signature_of_another_form_is_refused(shared_desk: ServicesClient, name: str) -> None:
    change, words = BAD_SIGNATURES[name]
    body = shared_desk.order(1, shared_desk.close_payload())
    body["erc712"]["userSignature"] = change(body["erc712"]["userSignature"])
    refused(shared_desk, body, words)


@pytest.mark.parametrize("key", [STRANGER, DELEGATE])
def test_a_signer_who_is_neither_trader_nor_delegate_is_refused(shared_desk: ServicesClient, key: Any) -> None:
    refused(shared_desk, shared_desk.order(1, shared_desk.close_payload(), key), "may not sign for")


@pytest.mark.parametrize(("order_type", "pair_index", "amount"), [(7, 0, "1000"), (1, 3, "250")])
def test_a_pnl_order_type_on_another_pair_is_refused(
    shared_desk: ServicesClient, order_type: int, pair_index: int, amount: str
) -> None:
    payload = shared_desk.close_payload(pairIndex=pair_index, collateralToCloseUsdc=amount)
    if order_type > 14:
        payload = coin_close(shared_desk, pair_index, 64_000, "5")
    refused(shared_desk, shared_desk.order(order_type, payload), "does not fit")


OPEN_CHANGES: dict[str, tuple[Json, Json, str]] = {
    "limit": ({}, {"_type": "2"}, "_type 2"),
    "slot": ({"index": "1"}, {}, "must be 0"),
    "no collateral": ({"positionSizeUSDC": "0"}, {}, "below 1 USDC"),
    "much leverage": ({"leverage": str(100 * ONE + 1)}, {}, "outside the bounds"),
    "close only": ({"pairIndex": "5"}, {}, "takes no new positions"),
    "pnl pair": ({"pairIndex": "3"}, {}, "does not fit"),
}


@pytest.mark.parametrize("name", OPEN_CHANGES)
def test_an_open_that_the_venue_cannot_take_is_refused(shared_desk: ServicesClient, name: str) -> None:
    in_trade, in_message, words = OPEN_CHANGES[name]
    message = {"_t": trade(**in_trade), "_type": "0", "_slippageP": "1", "_deadline": DEADLINE, "_nonce": "5"}
    payload = handmade(shared_desk, "OpenTradeReq", message | in_message)
    refused(shared_desk, shared_desk.order(0, payload), words)


def test_a_stale_open_timestamp_is_a_position_mismatch(shared_desk: ServicesClient) -> None:
    refused(shared_desk, shared_desk.order(1, shared_desk.close_payload(openTimestamp=5)), "PositionMismatch")


def test_a_deadline_is_in_milliseconds_and_must_be_ahead(desk: ServicesClient) -> None:
    payload = desk.close_payload(deadlineMs=START_MS + 1_000)
    desk.clock.ms = START_MS + 1_000
    refused(desk, desk.order(1, payload), "deadline")
    message = payload["message"] | {"_deadline": str(START_MS // 1000 + 60)}
    refused(desk, desk.order(1, handmade(desk, "CloseTradeReq", message)), "deadline")
