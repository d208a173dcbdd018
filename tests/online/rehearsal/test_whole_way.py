"""Transactions of every kind built, completed by the node, signed, relayed, mined and read back.

And what a contract refuses: orders end with its error's name, a declined fill gives the collateral back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from airlock_rehearsal.chain.interface import REFERRAL, STORAGE, USDC
from airlock_rehearsal.services.builder.routes import TRANSACTIONS
from airlock_rehearsal.services.venue.venue_state import ChainRecord
from online.rehearsal.orders import DEADLINE, ONE, trade
from online.rehearsal.services_client import (
    DELEGATE,
    START_MS,
    STRANGER,
    TRADER,
    Json,
    ServicesClient,
    handmade,
)
from online.rehearsal.wallet import node, outcome, raw_of, relay, unsigned, waited

T, D, S = TRADER.address, DELEGATE.address, STRANGER.address
EXPIRY = START_MS // 1000 + 3600
USDC_ONE = 10**6
BTC = {"trader": T, "tradeIndex": 0, "pairIndex": 0}
MORE = BTC | {"additionalCollateralUsdc": "10", "leverage": "2"}
COINS = {"coinExposure": "0.001", "minLeverage": "1", "maxLeverage": "20"}
OPENED = {"trader": T, "side": "long", "collateralUsdc": "100", "leverage": "10", "pairIndex": 0}

Read = Callable[[ServicesClient], object]


def _collateral(slot: int) -> Read:
    def read(desk: ServicesClient) -> object:
        held = desk.position(0, slot)
        return held and int(held["initialPosToken"])

    return read


KINDS: dict[str, tuple[Json, str, Read, object]] = {
    # path: request, what it emits, what is read back, what that is
    "/v2/position/increase": (MORE, "IncreasePositionRequested", _collateral(0), 1_010 * USDC_ONE),
    "/v2/position/increase-coin": (MORE | COINS, "IncreasePositionRequested", _collateral(0), 1_010 * USDC_ONE),
    "/v2/limit/update": (
        {"trader": T, "orderIndex": 0, "pairIndex": 2, "price": "121"}, "LimitOrderUpdated",
        lambda desk: desk.read("/v2/positions", trader=T)["orders"][0]["order"]["price"], str(121 * ONE),
    ),
    "/v2/trade/open": (OPENED, "MarketOrderInitiated", _collateral(1), 100 * USDC_ONE),
    "/v2/trade/close": (BTC | {"collateralToCloseUsdc": "1000"}, "MarketOrderInitiated", _collateral(0), None),
    "/v2/referral/set-code": (
        {"caller": T, "code": "DESK"}, "ReferralCodeSet",
        lambda desk: desk.read("/v2/reads/referral", trader=T)["codeText"], "DESK",
    ),
    "/v2/referral/transfer-ownership": (
        {"caller": T, "code": "HOUSE", "newOwner": S}, "CodeOwnershipOffered",
        lambda desk: desk.read("/v2/reads/referral", code="HOUSE")["pendingOwner"], S,
    ),
    "/v2/referral/accept-ownership": (
        {"caller": T, "code": "OFFERED"}, "CodeOwnershipAccepted",
        lambda desk: desk.read("/v2/reads/referral", code="OFFERED")["owner"], T,
    ),
    "/v2/referral/cancel-request": (
        {"caller": T}, "AccessRequestCancelled",
        lambda desk: desk.state.venue.read(REFERRAL, "accessRequests", T), bytes(32),
    ),
    "/v2/misc/claim-keeper-rewards": (
        {"caller": T}, "RewardsClaimed", lambda desk: desk.state.venue.read(STORAGE, "keeperRewards", T), 0,
    ),
    "/v2/delegate/set": (
        {"trader": T, "delegate": S, "expirySeconds": EXPIRY}, "DelegateSet",
        lambda desk: desk.read("/v2/reads/delegation", trader=T, delegate=S)["expiry"], EXPIRY,
    ),
    "/v2/delegate/remove": (
        {"trader": T, "delegate": D}, "DelegateRemoved",
        lambda desk: desk.read("/v2/reads/delegation", trader=T, delegate=D)["expiry"], 0,
    ),
    "/v2/token/approve": (
        {"trader": T, "amountUsdc": "2500.5"}, "Approval",
        lambda desk: desk.state.venue.read(USDC, "allowance", T, desk.state.venue.contracts.trading_storage),
        2_500_500_000,
    ),
}  # fmt: skip
DELEGABLE = ("/v2/position/increase", "/v2/position/increase-coin", "/v2/limit/update", "/v2/trade/open",
             "/v2/trade/close", "/v2/referral/set-code")  # fmt: skip


def completed(desk: ServicesClient, payload: Json) -> Json:
    """Return a payload as a whole transaction, completed by what the node says alone."""
    call = {name: payload[name] for name in ("from", "to", "data", "value")}
    base = int(node(desk, "eth_feeHistory", "0x1", "latest")["baseFeePerGas"][-1], 16)
    tip = int(node(desk, "eth_maxPriorityFeePerGas"), 16)
    return {
        "type": 2, "chainId": int(node(desk, "eth_chainId"), 16), "to": payload["to"], "data": payload["data"],
        "value": int(payload["value"], 16), "gas": int(node(desk, "eth_estimateGas", call), 16),
        "maxFeePerGas": 2 * base + tip, "maxPriorityFeePerGas": tip,
        "nonce": int(node(desk, "eth_getTransactionCount", payload["from"], "pending"), 16),
    }  # fmt: skip


def settled(desk: ServicesClient, path: str, key: Any, fields: Json) -> list[str]:
    """Take a transaction the whole way; return the labels and texts of what it emitted."""
    record = ChainRecord(desk.state)
    reply = relay(desk, raw_of(completed(desk, unsigned(desk, path, **fields)), key))
    assert reply.status_code == 200, reply.text
    transaction_hash = reply.json()["data"]["hash"]
    mined = outcome(desk, transaction_hash)
    receipt = node(desk, "eth_getTransactionReceipt", transaction_hash)
    assert (mined["status"], receipt["status"], int(receipt["blockNumber"], 16)) == (
        "confirmed", "0x1", mined["blockNumber"],
    )  # fmt: skip
    assert receipt["from"] == key.address.lower()
    waited(desk)
    return [text.split()[0] for label, text in record.since() if label == "event"]


def test_every_kind_is_tried() -> None:
    assert set(KINDS) == set(TRANSACTIONS)


@pytest.mark.parametrize("path", KINDS)
def test_a_transaction_goes_the_whole_way(desk: ServicesClient, path: str) -> None:
    fields, event, read, expected = KINDS[path]
    desk.register_delegate()
    assert read(desk) != expected
    assert event in settled(desk, path, TRADER, fields)
    assert read(desk) == expected


@pytest.mark.parametrize("path", DELEGABLE)
def test_a_delegated_transaction_goes_the_whole_way(desk: ServicesClient, path: str) -> None:
    fields, event, read, expected = KINDS[path]
    desk.register_delegate()
    assert event in settled(desk, path, DELEGATE, fields | {"delegate": D})
    assert read(desk) == expected


def test_an_unlisted_contract_and_a_reverting_call_are_refused_with_reasons(desk: ServicesClient) -> None:
    whole = completed(desk, unsigned(desk, "/v2/token/approve", trader=T, amountUsdc="1"))
    blocks = desk.state.venue.evm.block_number()
    error = relay(desk, raw_of(whole | {"to": S})).json()["error"]
    assert (error["code"], error["details"]) == ("TX_REJECTED", {"target": S})
    reverting = unsigned(desk, "/v2/misc/claim-keeper-rewards", caller=S)
    nonce = int(node(desk, "eth_getTransactionCount", S, "pending"), 16)
    raw = raw_of(whole | {"to": reverting["to"], "data": reverting["data"], "nonce": nonce}, STRANGER)
    error = relay(desk, raw).json()["error"]
    assert (error["code"], error["details"]["decodedError"]) == ("SIMULATION_FAILED", "NothingToClaim")
    assert desk.state.receipts == []
    assert desk.state.venue.evm.block_number() - blocks <= 1  # on a node, a stranger's gas money is a transaction
    mined = outcome(desk, relay(desk, raw, skipSimulation=True).json()["data"]["hash"])
    assert (mined["status"], mined["decodedError"]) == ("reverted", "NothingToClaim")


def opening(desk: ServicesClient, nonce: str, **other: Any) -> Json:
    message = {"_t": trade(0, **other), "_type": "0", "_slippageP": str(ONE), "_deadline": DEADLINE, "_nonce": nonce}
    return handmade(desk, "OpenTradeReq", message)


@pytest.mark.parametrize(("change", "code"), [
    ({"sl": str(65_000 * ONE)}, "WrongSl"), ({"tp": str(63_000 * ONE)}, "WrongTp"),
    ({"positionSizeUSDC": str(2_000_000 * USDC_ONE)}, "SUBMISSION_FAILED"),  # more than was approved: a text, not a name
])  # fmt: skip
def test_an_order_that_the_contract_reverts_ends_with_an_error_and_keeps_its_nonce(
    desk: ServicesClient, change: Json, code: str
) -> None:
    payload = opening(desk, "77", **change)
    accepted, error = desk.execute(0, payload)
    assert (accepted.type, error.type, error.data["code"]) == ("MarketOrderAccepted", "Error", code)
    assert not desk.nonce_used(payload)
    assert desk.execute(0, opening(desk, "77"))[-1].type == "MarketOrderExecuted"


def test_a_declined_fill_gives_the_collateral_back_and_spends_the_nonce(desk: ServicesClient) -> None:
    payload = opening(desk, "78")
    desk.state.prices[0] = 70_000 * ONE
    before = desk.state.venue.read(USDC, "balanceOf", T)
    events = desk.execute(0, payload)
    assert [event.type for event in events[1:]] == ["MarketOrderInitiated", "MarketOrderCanceled"]
    assert desk.state.venue.read(USDC, "balanceOf", T) == before
    assert desk.nonce_used(payload)


def test_events_say_what_the_receipts_say(desk: ServicesClient) -> None:
    events = desk.execute(0, opening(desk, "79"))[1:]
    for event in events:
        receipt = node(desk, "eth_getTransactionReceipt", event.data["transactionHash"])
        logs = [log for log in receipt["logs"] if log["address"] == desk.state.venue.contracts.trading_storage.lower()]
        assert [int(log["topics"][1], 16) for log in logs] == [event.data["orderId"]]
    stored, filled = events[-1].data["t"], events[-1].data
    assert [type(stored[name]) for name in ("pairIndex", "index", "timestamp")] == [int] * 3
    assert [type(stored[name]) for name in ("openPrice", "leverage", "tp", "sl", "positionSizeUSDC")] == [str] * 5
    assert [type(filled[name]) for name in ("price", "percentProfit", "usdcSentToTrader", "coinExposure")] == [str] * 4
    assert type(filled["orderId"]) is int
