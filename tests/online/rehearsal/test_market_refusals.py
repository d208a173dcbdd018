"""The batched market: what it refuses before the stream opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from eth_account import Account
from eth_utils.crypto import keccak

from online.rehearsal.orders import DEADLINE, ONE, T, coin_close, refused, trade
from online.rehearsal.services_client import (
    DELEGATE,
    START_MS,
    STRANGER,
    TRADER,
    Json,
    ServicesClient,
    handmade,
)


@pytest.mark.parametrize("order_type", [2, 3, 4, 5, 8, 10, 11, 17, -1, "1", 1.0, True, None, [1]])
def test_an_order_type_outside_the_table_is_refused(shared_desk: ServicesClient, order_type: Any) -> None:
    body = shared_desk.order(1, shared_desk.close_payload()) | {"orderType": order_type}
    refused(shared_desk, body, "unsupported orderType")


BodyChange = Callable[[Json], Json]
BAD_BODIES: dict[str, tuple[BodyChange, str]] = {
    "no orderType": (lambda b: {"erc712": b["erc712"]}, "body.orderType is missing"),
    "no erc712": (lambda b: {"orderType": 1}, "body.erc712 is missing"),
    "unknown member": (lambda b: b | {"colour": "red"}, "body.colour should not exist"),
    "erc712 a text": (lambda b: b | {"erc712": "0x"}, "erc712 is not an object"),
    "unknown erc712 member": (lambda b: b | {"erc712": b["erc712"] | {"x": 1}}, "erc712.x should not exist"),
    "no signature": (lambda b: b | {"erc712": {"userIntent": "0x00"}}, "erc712.userSignature is missing"),
    "eip7702 null": (lambda b: b | {"eip7702": None}, "eip7702 is not an object"),
    "eip7702 empty": (lambda b: b | {"eip7702": {}}, "eip7702.chainId is missing"),
    "eip7702 number": (
        lambda b: b | {"eip7702": {"chainId": 1, "to": "", "data": "", "gas": "1", "authorizationList": []}},
        "eip7702.chainId must be a string",
    ),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_body_of_another_shape_is_refused(shared_desk: ServicesClient, name: str) -> None:
    change, words = BAD_BODIES[name]
    refused(shared_desk, change(shared_desk.order(1, shared_desk.close_payload())), words)


BAD_INTENTS: dict[str, tuple[Callable[[str], Any], str]] = {
    "no hex": (lambda i: i[2:], "not 0x-hex"),
    "odd": (lambda i: i[:-1], "not 0x-hex"),
    "empty": (lambda i: "0x", "not 0x-hex"),
    "number": (lambda i: 5, "not 0x-hex"),
    "cut": (lambda i: i[:-64], "not an encoded CloseTradeReq"),
    "trailing word": (lambda i: i + "00" * 32, "not the canonical encoding"),
    "trailing byte": (lambda i: i + "00", "not the canonical encoding"),
    "dirty address": (lambda i: "0x01" + i[4:], "not an encoded CloseTradeReq"),
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
    "66 bytes": (lambda s: s + "00", "66 bytes instead of 65"),
    "v 0": (lambda s: s[:-2] + "00", "v is 0"),
    "v 1": (lambda s: s[:-2] + "01", "v is 1"),
    "v 29": (lambda s: s[:-2] + "1d", "v is 29"),
    "other v": (lambda s: s[:-2] + ("1b" if s.endswith("1c") else "1c"), ""),
    "high s": (_high_s, "upper half"),
    "zero": (lambda s: "0x" + "00" * 64 + "1b", ""),
    "r above the order": (lambda s: "0x" + "ff" * 32 + s[66:], ""),
    "no hex": (lambda s: "signed", "not 0x-hex"),
    "null": (lambda s: None, "not 0x-hex"),
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


def test_a_personal_signature_of_the_digest_is_refused(shared_desk: ServicesClient) -> None:
    payload = shared_desk.close_payload()
    body = shared_desk.order(1, payload)
    digest = keccak(b"\x19Ethereum Signed Message:\n32" + bytes.fromhex(payload["digest"][2:]))
    body["erc712"]["userSignature"] = "0x" + bytes(Account.unsafe_sign_hash(digest, TRADER.key).signature).hex()
    refused(shared_desk, body, "may not sign for")


@pytest.mark.parametrize("fault", ["domain-crossed", "wrong-chain", "types-renamed", "types-reordered"])
def test_a_signature_over_a_lie_of_the_builder_is_worthless(desk: ServicesClient, fault: str) -> None:
    desk.faults(fault)
    body = desk.order(1, desk.close_payload())
    desk.faults()
    refused(desk, body, "may not sign for")


@pytest.mark.parametrize(
    ("order_type", "pair_index", "amount"), [(7, 0, "1000"), (1, 3, "250"), (16, 0, "1"), (15, 3, "1")]
)
def test_a_pnl_order_type_on_another_pair_is_refused(
    shared_desk: ServicesClient, order_type: int, pair_index: int, amount: str
) -> None:
    payload = shared_desk.close_payload(pairIndex=pair_index, collateralToCloseUsdc=amount)
    if order_type > 14:
        payload = coin_close(shared_desk, pair_index, 64_000, "5")
    refused(shared_desk, shared_desk.order(order_type, payload), "does not fit")


def test_an_order_type_of_another_struct_is_refused(shared_desk: ServicesClient) -> None:
    refused(shared_desk, shared_desk.order(0, shared_desk.close_payload()), "not an encoded OpenTradeReq")
    payload = shared_desk.build(
        "tpsl-partial", trader=T, tradeIndex=0, pairIndex=0, kind="stop_loss", coinExposure="0.01", side="long",
        price="60000",
    )  # fmt: skip
    refused(shared_desk, shared_desk.order(4, payload), "unsupported orderType")


def test_a_close_type_cannot_pass_for_its_coin_sized_sibling(shared_desk: ServicesClient) -> None:
    refused(shared_desk, shared_desk.order(15, shared_desk.close_payload()), "may not sign for")


OPEN_CHANGES: dict[str, tuple[Json, Json, str]] = {
    "limit": ({}, {"_type": "2"}, "_type 2"),
    "pnl type": ({}, {"_type": "3"}, "_type 3"),
    "slot": ({"index": "1"}, {}, "must be 0"),
    "timestamp": ({"timestamp": "1"}, {}, "must be 0"),
    "no collateral": ({"positionSizeUSDC": "0"}, {}, "below 1 USDC"),
    "little collateral": ({"positionSizeUSDC": "999999"}, {}, "below 1 USDC"),
    "no price": ({"openPrice": "0"}, {}, "must not be 0"),
    "little leverage": ({"leverage": str(ONE - 1)}, {}, "outside the bounds"),
    "much leverage": ({"leverage": str(100 * ONE + 1)}, {}, "outside the bounds"),
    "all the leverage": ({"leverage": str(2**256 - 1)}, {}, "outside the bounds"),
    "no leverage": ({"leverage": "0"}, {}, "must not be 0"),
    "close only": ({"pairIndex": "5"}, {}, "takes no new positions"),
    "no pair": ({"pairIndex": "77"}, {}, "no pair"),
    "pnl pair": ({"pairIndex": "3"}, {}, "does not fit"),
}


@pytest.mark.parametrize("name", OPEN_CHANGES)
def test_an_open_that_the_venue_cannot_take_is_refused(shared_desk: ServicesClient, name: str) -> None:
    in_trade, in_message, words = OPEN_CHANGES[name]
    message = {"_t": trade(**in_trade), "_type": "0", "_slippageP": "1", "_deadline": DEADLINE, "_nonce": "5"}
    payload = handmade(shared_desk, "OpenTradeReq", message | in_message)
    refused(shared_desk, shared_desk.order(0, payload), words)


@pytest.mark.parametrize("pair_index", [2, 4])
def test_an_increase_of_nothing_is_a_position_mismatch(shared_desk: ServicesClient, pair_index: int) -> None:
    fields = {"trader": T, "tradeIndex": 0, "additionalCollateralUsdc": "10", "leverage": "2"}
    payload = shared_desk.build("increase", pairIndex=pair_index, **fields)
    refused(shared_desk, shared_desk.order(9, payload), "PositionMismatch")


def test_a_stale_open_timestamp_is_a_position_mismatch(shared_desk: ServicesClient) -> None:
    refused(shared_desk, shared_desk.order(1, shared_desk.close_payload(openTimestamp=5)), "PositionMismatch")


def test_closing_more_than_there_is_is_refused(shared_desk: ServicesClient) -> None:
    held = next(p for p in shared_desk.state.positions_of(T) if p.pair_index == 0)
    refused(shared_desk, shared_desk.order(15, coin_close(shared_desk, 0, 64_000, str(held.coins + 1))), "the part")


def test_a_deadline_is_in_milliseconds_and_must_be_ahead(desk: ServicesClient) -> None:
    payload = desk.close_payload(deadlineMs=START_MS + 1_000)
    desk.clock.ms = START_MS + 1_000
    refused(desk, desk.order(1, payload), "deadline")
    message = payload["message"] | {"_deadline": str(START_MS // 1000 + 60)}
    refused(desk, desk.order(1, handmade(desk, "CloseTradeReq", message)), "deadline")
