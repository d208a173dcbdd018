"""The relay: signed transactions by the whitelist, simulated, sent, mined, and what they change."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from eth_abi import abi
from eth_account import Account
from eth_utils.crypto import keccak

from airlock_rehearsal.chain.interface import REFERRAL
from airlock_rehearsal.services import runtime as settings
from airlock_rehearsal.services.venue.mempool import GAS_MONEY
from online.rehearsal.conftest import OpenClient
from online.rehearsal.services_client import DELEGATE, PROMPT, START_MS, STRANGER, TRADER, Json, ServicesClient
from online.rehearsal.wallet import (
    GWEI,
    built_and_relayed,
    filled,
    node,
    outcome,
    raw_of,
    relay,
    relayed,
    signed,
    unsigned,
    waited,
)

T, D, S = TRADER.address, DELEGATE.address, STRANGER.address
ONE, USDC_ONE = 10**10, 10**6
EXPIRY = START_MS // 1000 + 3600
BTC = {"trader": T, "tradeIndex": 0, "pairIndex": 0}
APPROVE = {"trader": T, "amountUsdc": "2500.5"}


def allowance(desk: ServicesClient, owner: str = T) -> int:
    data = keccak(b"allowance(address,address)")[:4] + abi.encode(["address"] * 2, [owner, settings.TRADING_STORAGE])
    return int(node(desk, "eth_call", {"to": settings.USDC, "data": "0x" + data.hex()}, "latest"), 16)


# ---- what transactions change ----------------------------------------------------------------------------------------


def test_an_approval_is_mined_once_and_can_be_read(desk: ServicesClient) -> None:
    raw = signed(desk, unsigned(desk, "/v2/token/approve", **APPROVE))
    transaction_hash = "0x" + keccak(bytes.fromhex(raw[2:])).hex()
    reply = relay(desk, raw)
    assert reply.json() == {"ok": True, "data": {"hash": transaction_hash}}
    mined = outcome(desk, transaction_hash)
    assert set(mined) == {"hash", "status", "blockNumber"}
    assert (mined["status"], type(mined["blockNumber"])) == ("confirmed", int)
    assert allowance(desk) == 2_500_500_000
    assert desk.services.posts["relay"] == {transaction_hash: 1}


def test_a_delegate_is_registered_and_removed(desk: ServicesClient) -> None:
    set_up = {"trader": T, "delegate": D, "expirySeconds": EXPIRY}
    assert built_and_relayed(desk, "/v2/delegate/set", **set_up)["status"] == "confirmed"
    read = desk.read("/v2/reads/delegation", trader=T, delegate=D)
    assert (read["isEnabled"], read["expiry"], read["canDelegatedAction"]) == (True, EXPIRY, True)
    assert built_and_relayed(desk, "/v2/delegate/remove", trader=T, delegate=D)["status"] == "confirmed"
    read = desk.read("/v2/reads/delegation", trader=T, delegate=D)
    assert (read["isEnabled"], read["expiry"], read["canSignIntents"]) == (False, 0, False)


def test_a_code_changes_hands_in_two_steps(desk: ServicesClient) -> None:
    assert desk.read("/v2/reads/referral", code="HOUSE")["owner"] == T
    built_and_relayed(desk, "/v2/referral/transfer-ownership", caller=T, code="HOUSE", newOwner=S)
    read = desk.read("/v2/reads/referral", code="HOUSE")
    assert (read["owner"], read["pendingOwner"], read["codeText"]) == (T, S, "HOUSE")
    built_and_relayed(desk, "/v2/referral/accept-ownership", STRANGER, caller=S, code="HOUSE")
    read = desk.read("/v2/reads/referral", code="HOUSE")
    assert (read["owner"], read["pendingOwner"]) == (S, "")


def test_an_offered_code_is_accepted_by_the_trader(desk: ServicesClient) -> None:
    assert built_and_relayed(desk, "/v2/referral/accept-ownership", caller=T, code="OFFERED")["status"] == "confirmed"
    assert desk.read("/v2/reads/referral", code="OFFERED")["owner"] == T


def test_a_code_is_adopted_a_request_withdrawn_and_rewards_paid(desk: ServicesClient) -> None:
    built_and_relayed(desk, "/v2/referral/set-code", caller=T, code="DESK")
    assert desk.read("/v2/reads/referral", trader=T)["codeText"] == "DESK"
    built_and_relayed(desk, "/v2/referral/cancel-request", caller=T)
    assert desk.state.venue.read(REFERRAL, "accessRequests", T) == bytes(32)
    built_and_relayed(desk, "/v2/misc/claim-keeper-rewards", caller=T)
    data = "0x" + (keccak(b"balanceOf(address)")[:4] + abi.encode(["address"], [T])).hex()
    assert int(node(desk, "eth_call", {"to": settings.USDC, "data": data}, "latest"), 16) == 1_000_025 * USDC_ONE


def test_a_limit_order_is_changed(desk: ServicesClient) -> None:
    fields = {"trader": T, "orderIndex": 0, "pairIndex": 2, "price": "121", "stopLoss": "100", "slippagePercent": "0.5"}
    built_and_relayed(desk, "/v2/limit/update", **fields)
    (order,) = desk.read("/v2/positions", trader=T)["orders"]
    changed = {"price": str(121 * ONE), "sl": str(100 * ONE), "tp": "0", "slippageP": str(ONE // 2)}
    assert {name: order["order"][name] for name in changed} == changed


def test_a_limit_order_is_stored(desk: ServicesClient) -> None:
    fields = {"trader": T, "side": "long", "collateralUsdc": "100", "leverage": "10", "pairIndex": 2}
    built_and_relayed(desk, "/v2/trade/open", **fields, orderType="limit", openPrice="130")
    orders = desk.read("/v2/positions", trader=T)["orders"]
    assert [(o["order"]["index"], o["order"]["price"]) for o in orders] == [
        ("0", str(120 * ONE)),
        ("1", str(130 * ONE)),
    ]


STORED: dict[str, tuple[str, Json, Any]] = {
    "increase": ("/v2/position/increase", BTC | {"additionalCollateralUsdc": "10", "leverage": "2"}, 1_010 * USDC_ONE),
    "increase-coin": (
        "/v2/position/increase-coin",
        BTC | {"additionalCollateralUsdc": "10", "leverage": "2", "coinExposure": "0.001", "minLeverage": "1"}
        | {"maxLeverage": "20"},
        1_010 * USDC_ONE,
    ),
    "close in part": ("/v2/trade/close", BTC | {"collateralToCloseUsdc": "400"}, 600 * USDC_ONE),
    "close": ("/v2/trade/close", BTC | {"collateralToCloseUsdc": "1000"}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", STORED)
def test_a_confirmed_order_is_stored_first_and_filled_later(open_desk: OpenClient, name: str) -> None:
    desk = open_desk(PROMPT._replace(pacing_s=0.02))
    path, fields, collateral = STORED[name]
    assert built_and_relayed(desk, path, **fields)["status"] == "confirmed"
    waited(desk)
    position = desk.position(0)
    assert (None if position is None else int(position["initialPosToken"])) == collateral


@pytest.mark.parametrize("kind", ["market", "market_pnl"])
def test_an_opened_position_is_there_after_the_fill(desk: ServicesClient, kind: str) -> None:
    pair_index = 3 if kind == "market_pnl" else 0
    fields = {"trader": T, "side": "long", "collateralUsdc": "100", "leverage": "80", "pairIndex": pair_index}
    built_and_relayed(desk, "/v2/trade/open", **fields, orderType=kind)
    waited(desk)
    position = desk.position(pair_index, 1)
    assert position is not None
    assert position["initialPosToken"] == str(100 * USDC_ONE)


def test_a_declined_fill_leaves_the_position_although_the_transaction_is_confirmed(desk: ServicesClient) -> None:
    desk.faults("cancel-fill@relay")
    assert built_and_relayed(desk, "/v2/trade/close", **BTC, collateralToCloseUsdc="1000")["status"] == "confirmed"
    waited(desk)
    assert desk.position(0) is not None


def test_a_delegate_trades_for_the_trader_and_pays_the_gas(desk: ServicesClient) -> None:
    desk.register_delegate()
    before = node(desk, "eth_getBalance", T, "latest")
    fields = BTC | {"collateralToCloseUsdc": "1000", "delegate": D}
    assert built_and_relayed(desk, "/v2/trade/close", DELEGATE, **fields)["status"] == "confirmed"
    waited(desk)
    assert desk.position(0) is None
    assert node(desk, "eth_getBalance", T, "latest") == before
    assert int(node(desk, "eth_getBalance", D, "latest"), 16) < GAS_MONEY


# ---- what the relay refuses ------------------------------------------------------------------------------------------


def refused(desk: ServicesClient, raw: Any, code: str, words: str, **other: Any) -> Json:
    reply = relay(desk, raw, **other)
    assert reply.status_code == 400, reply.text
    error: Json = reply.json()["error"]
    assert error["code"] == code
    assert words in error["message"]
    return error


def approval(desk: ServicesClient, **other: Any) -> str:
    return signed(desk, unsigned(desk, "/v2/token/approve", **APPROVE), **other)


@pytest.mark.parametrize("to", [S, "0x" + "00" * 19 + "04"])
def test_a_contract_that_is_not_whitelisted_is_refused(desk: ServicesClient, to: str) -> None:
    error = refused(desk, approval(desk, to=to), "TX_REJECTED", "is not whitelisted")
    assert error["details"] == {"target": to}
    assert node(desk, "eth_getTransactionCount", T, "pending") == "0x0"


REVERTS: dict[str, tuple[str, Any, Json, str, str, str]] = {
    # path, key, fields, target, decoded error, how the data begins
    "no delegate": ("/v2/trade/close", DELEGATE, BTC | {"collateralToCloseUsdc": "1", "delegate": D},
                    settings.TRADING_ROUTER, "NotDelegate", "NotDelegate()"),
    "no order": ("/v2/limit/update", TRADER, {"trader": T, "orderIndex": 3, "pairIndex": 2, "price": "1"},
                 settings.TRADING_ROUTER, "NoLimitOrder", "NoLimitOrder()"),
    "stop above the price": ("/v2/limit/update", TRADER,
                             {"trader": T, "orderIndex": 0, "pairIndex": 2, "price": "100", "stopLoss": "100"},
                             settings.TRADING_ROUTER, "WrongSl", "WrongSl()"),
    "stop above the open price": ("/v2/trade/open", TRADER,
                                  {"trader": T, "side": "long", "collateralUsdc": "100", "leverage": "10", "pairIndex": 0,
                                   "stopLoss": "70000"}, settings.TRADING_ROUTER, "WrongSl", "WrongSl()"),
    "no position": ("/v2/position/increase", TRADER, BTC | {"tradeIndex": 9, "additionalCollateralUsdc": "1",
                                                            "leverage": "1"},
                    settings.TRADING_ROUTER, "PositionMismatch", "PositionMismatch()"),
    "not the owner": ("/v2/referral/transfer-ownership", TRADER, {"caller": T, "code": "TAKEN", "newOwner": S},
                      settings.REFERRAL, "NotCodeOwner", "NotCodeOwner()"),
    "not offered": ("/v2/referral/accept-ownership", TRADER, {"caller": T, "code": "TAKEN"}, settings.REFERRAL,
                    "NotPendingOwner", "NotPendingOwner()"),
    "no request": ("/v2/referral/cancel-request", STRANGER, {"caller": S}, settings.REFERRAL,
                   "NoRequest", "NoRequest()"),
    "no rewards": ("/v2/misc/claim-keeper-rewards", STRANGER, {"caller": S}, settings.TRADING_ROUTER, "NothingToClaim",
                   "NothingToClaim()"),
    "no such delegate": ("/v2/delegate/remove", TRADER, {"trader": T, "delegate": S}, settings.TRADING_ROUTER,
                         "NotDelegate", "NotDelegate()"),
    "no approval": ("/v2/trade/open", STRANGER, {"trader": S, "side": "long", "collateralUsdc": "100", "leverage": "10",
                                                 "pairIndex": 0},
                    settings.TRADING_ROUTER, "ERC20: insufficient allowance", "Error(string)"),
}  # fmt: skip


@pytest.mark.parametrize("name", REVERTS)
def test_a_simulation_that_fails_says_where_and_why(desk: ServicesClient, name: str) -> None:
    path, key, fields, target, decoded, signature = REVERTS[name]
    error = refused(desk, signed(desk, unsigned(desk, path, **fields), key), "SIMULATION_FAILED", decoded)
    assert set(error["details"]) == {"target", "revertData", "decodedError"}
    assert (error["details"]["target"], error["details"]["decodedError"]) == (target, decoded)
    assert error["details"]["revertData"].startswith("0x" + keccak(signature.encode())[:4].hex())
    assert node(desk, "eth_getTransactionCount", fields.get("delegate", key.address), "pending") == "0x0"


def test_without_simulation_a_reverting_transaction_is_mined_as_reverted(desk: ServicesClient) -> None:
    raw = signed(desk, unsigned(desk, "/v2/referral/cancel-request", caller=S), STRANGER)
    data = outcome(desk, relay(desk, raw, skipSimulation=True).json()["data"]["hash"])
    assert (data["status"], data["decodedError"]) == ("reverted", "NoRequest")
    assert node(desk, "eth_getTransactionCount", S, "latest") == "0x1"


NOT_TAKEN: list[tuple[Json, str]] = [
    ({"nonce": 1}, "nonce too high"), ({"chainId": 1}, "invalid chain id"), ({"gas": 21_000}, "intrinsic gas"),
    ({"maxFeePerGas": GWEI // 5}, "less than block base fee"), ({"maxPriorityFeePerGas": 4 * GWEI}, "higher than max fee"),
    ({"gas": 31_000_000}, "exceeds block gas limit"), ({"maxFeePerGas": 10**17}, "insufficient funds"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), NOT_TAKEN)
def test_a_transaction_that_the_chain_does_not_take_is_refused(desk: ServicesClient, change: Json, words: str) -> None:
    refused(desk, approval(desk, **change), "TX_REJECTED", words)


def test_a_transaction_is_taken_once(desk: ServicesClient) -> None:
    raw = approval(desk)
    relayed(desk, raw)
    refused(desk, raw, "TX_REJECTED", "already known")
    refused(desk, approval(desk, nonce=0, gas=900_000), "TX_REJECTED", "nonce too low")
    assert desk.services.posts["relay"]["0x" + keccak(bytes.fromhex(raw[2:])).hex()] == 2


def test_native_currency_is_not_taken_by_a_contract(desk: ServicesClient) -> None:
    error = refused(desk, approval(desk, value=1), "SIMULATION_FAILED", "without a reason")
    assert error["details"]["revertData"] == "0x"


@pytest.mark.parametrize("data", ["0x", "0x12345678", "0x095ea7b3", "0x095ea7b3" + "ff" * 64, "0x48c54b9d"])
def test_calldata_that_the_contract_does_not_know_fails_in_simulation(desk: ServicesClient, data: str) -> None:
    refused(desk, approval(desk, data=data), "SIMULATION_FAILED", "would revert")


LEGACY = {"gasPrice": 2 * GWEI, "gas": 100_000, "nonce": 0, "to": S, "value": 0, "data": "0x", "chainId": 31337}
BAD_RAW = [None, "", "0x", "00", "0x02", "0x02c0", "0x7f00", "0x03" + "00" * 60, "0x" + "00" * 200_000, 5, ["0x02"],
           raw_of(LEGACY), raw_of(LEGACY | {"type": 1, "accessList": []})]  # fmt: skip


@pytest.mark.parametrize("raw", BAD_RAW, ids=lambda raw: repr(raw)[:20])
def test_bytes_that_are_no_transaction_are_refused(desk: ServicesClient, raw: Any) -> None:
    reply = relay(desk, raw)
    assert reply.status_code in (400, 413)
    assert reply.json()["error"]["code"] == "BAD_REQUEST"


@pytest.mark.parametrize("change", [lambda raw: raw + "00", lambda raw: raw[:-2], lambda raw: raw[:-1]])
def test_a_damaged_transaction_is_refused(desk: ServicesClient, change: Any) -> None:
    refused(desk, change(approval(desk)), "BAD_REQUEST", "rawTransaction")


def test_a_transaction_that_creates_a_contract_is_refused(desk: ServicesClient) -> None:
    payload = filled(desk, unsigned(desk, "/v2/token/approve", **APPROVE))
    refused(desk, raw_of(payload | {"to": ""}), "BAD_REQUEST", "creates a contract")


def test_a_signature_of_the_upper_half_is_refused(desk: ServicesClient) -> None:
    transaction = filled(desk, unsigned(desk, "/v2/token/approve", **APPROVE))
    ours = Account.sign_transaction(transaction, TRADER.key)
    order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
    raw = bytes(ours.raw_transaction).hex()
    upper = raw.replace(format(ours.s, "064x"), format(order - ours.s, "064x"))
    assert upper != raw
    refused(desk, "0x" + upper, "BAD_REQUEST", "upper half")


@pytest.mark.parametrize("skip", ["yes", 1, None])
def test_a_wrong_skip_is_refused(desk: ServicesClient, skip: Any) -> None:
    refused(desk, approval(desk), "BAD_REQUEST", "skipSimulation", skipSimulation=skip)


def test_the_relay_takes_posts_alone(shared_desk: ServicesClient) -> None:
    reply = shared_desk.http.get(shared_desk.services.builder_url + "/v2/relay", params={"rawTransaction": "0x02"})
    assert reply.status_code == 405


def test_an_unknown_hash_reads_as_pending(shared_desk: ServicesClient) -> None:
    asked = "0x" + "ab" * 32
    assert shared_desk.read(f"/v2/relay/{asked}") == {"hash": asked, "status": "pending"}


@pytest.mark.parametrize("asked", ["0x12", "latest", "0x" + "zz" * 32, "ab" * 32])
def test_a_hash_of_another_form_is_refused(shared_desk: ServicesClient, asked: str) -> None:
    assert shared_desk.http.get(f"{shared_desk.services.builder_url}/v2/relay/{asked}").status_code == 400


# ---- faults ----------------------------------------------------------------------------------------------------------


def test_a_told_simulation_failure_sends_nothing(desk: ServicesClient) -> None:
    desk.faults("simulation-fails")
    error = refused(desk, approval(desk), "SIMULATION_FAILED", "ToldToFail")
    assert error["details"]["target"] == settings.USDC
    assert node(desk, "eth_getTransactionCount", T, "pending") == "0x0"


def test_a_told_failure_is_mined_as_reverted_and_changes_nothing(desk: ServicesClient) -> None:
    desk.faults("fail-terminal@relay")
    assert relayed(desk, approval(desk))["status"] == "reverted"
    assert allowance(desk) == 1_000_000 * USDC_ONE


def test_a_stuck_transaction_stays_pending(desk: ServicesClient) -> None:
    desk.faults("tx-stuck")
    transaction_hash = relay(desk, approval(desk)).json()["data"]["hash"]
    for _ in range(20):
        assert desk.read(f"/v2/relay/{transaction_hash}")["status"] == "pending"
    assert node(desk, "eth_getTransactionCount", T, "pending") == "0x1"
    assert node(desk, "eth_getTransactionCount", T, "latest") == "0x0"


def test_a_wrong_hash_reads_as_pending_while_the_right_one_is_confirmed(desk: ServicesClient) -> None:
    desk.faults("wrong-hash")
    raw = approval(desk)
    told, right = relay(desk, raw).json()["data"]["hash"], "0x" + keccak(bytes.fromhex(raw[2:])).hex()
    assert told != right
    assert outcome(desk, right)["status"] == "confirmed"
    assert desk.read(f"/v2/relay/{told}")["status"] == "pending"


@pytest.mark.parametrize("fault", ["drop-before-accepted@relay", "http-500-after@relay", "silent-after@relay"])
def test_a_lost_reply_does_not_undo_the_transaction(desk: ServicesClient, fault: str) -> None:
    raw = approval(desk)
    desk.faults(fault)
    if fault.startswith("http"):
        assert relay(desk, raw).status_code == 500
    else:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadTimeout)):
            desk.http.post(desk.services.builder_url + "/v2/relay", json={"rawTransaction": raw}, timeout=0.5)
    desk.faults()
    transaction_hash = "0x" + keccak(bytes.fromhex(raw[2:])).hex()
    assert outcome(desk, transaction_hash)["status"] == "confirmed"
    assert desk.services.posts["relay"] == {transaction_hash: 1}


def test_a_failing_relay_leaves_the_builder_alone(desk: ServicesClient) -> None:
    raw = approval(desk)
    desk.faults("http-503@relay")
    assert relay(desk, raw).status_code == 503
    assert desk.read("/v2/meta")["chainId"] == 31337
    desk.faults("http-503@builder")
    assert relay(desk, raw).status_code == 200


# ---- the rate limit --------------------------------------------------------------------------------------------------


def test_the_trading_endpoints_are_limited_and_the_reads_are_not(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(rate_limit=3))
    fields = {"trader": T, "amountUsdc": "1"}
    url = desk.services.builder_url
    assert [desk.http.post(url + "/v2/token/approve", json=fields).status_code for _ in range(2)] == [200, 200]
    desk.clock.ms += 20_500
    assert desk.ask("twap-cancel", {"trader": T, "twapId": 41}).status_code == 200
    late = desk.http.get(url + "/v2/token/approve", params=fields)
    assert (late.status_code, late.json()["error"]["code"], late.headers["retry-after"]) == (429, "RATE_LIMITED", "40")
    assert relay(desk, "0x").status_code == 429
    assert desk.http.get(url + "/v2/meta").status_code == 200
    desk.clock.ms += 40_000
    assert desk.http.post(url + "/v2/token/approve", json=fields).status_code == 200


def test_without_a_limit_nothing_is_limited(shared_desk: ServicesClient) -> None:
    asked = {shared_desk.ask("twap-cancel", {"trader": T, "twapId": 41}).status_code for _ in range(50)}
    assert asked == {200}
