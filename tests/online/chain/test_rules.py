"""The rehearsal's chain by its rules: nonces, moments, delegates, stored orders, reverts, transactions."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import Any

import pytest

from airlock_rehearsal.chain.deploy import Sender
from airlock_rehearsal.chain.evm import Reverted
from airlock_rehearsal.chain.interface import (
    ARTIFACTS,
    REFERRAL,
    ROUTER,
    USDC,
    artifacts,
    revert_name,
    selector,
)
from airlock_shared.venue.calldata import encode_call as our_calldata
from airlock_shared.venue.calls import CALLS, DELEGATED_ACTION
from airlock_shared.venue.structs import CATALOGUE
from online.chain.alterations import Bench, intent_of, signature_by
from online.chain.ground import (
    DESK_SENDER,
    EXPIRY_S,
    NODE_MODULES,
    NOW_S,
    ONE,
    ROOT,
    STRANGER,
    TREASURY_SENDER,
    USDC_ONE,
    Ground,
    code,
    trade,
)
from shared.make_payloads import DESK, NOW_MS, OTHER, TREASURY
from shared.make_transactions import NOT_SIGNED, SELECTORS
from shared.world import selectors

TREASURY_BYTES, OTHER_BYTES = bytes.fromhex(TREASURY[2:]), bytes.fromhex(OTHER[2:])
DESK_BYTES = bytes.fromhex(DESK[2:])
CONTRACTS = {"usdc": USDC, "tradingRouter": ROUTER, "referral": REFERRAL}


def update(collateral: int, price: int = 62_000) -> dict[str, Any]:
    return {
        "trader": TREASURY_BYTES, "pairIndex": 0, "index": 1, "openPrice": price * ONE,
        "initialPosToken": collateral, "leverage": 10 * ONE,
    }  # fmt: skip


def opening(**other: Any) -> dict[str, Any]:
    made = trade((0, 0), 0, 10, 62_000, True, 0, size=100 * USDC_ONE) | {"trader": TREASURY_BYTES}
    return {**made, **other}


LIMIT = {"pairIndex": 0, "index": 0, "price": 59_000 * ONE, "slippage": ONE, "tp": 70_000 * ONE, "sl": 50_000 * ONE}
CLOSE = {"pairIndex": 0, "index": 2, "amount": 10 * USDC_ONE, "wantedPrice": 62_000 * ONE}
COIN = {"coinExposure": ONE // 100, "minLeverage": ONE, "maxLeverage": 90 * ONE, "slippage": ONE}
GOOD: dict[str, tuple[dict[str, Any], str]] = {  # the arguments of each call, and the event that it emits
    "approve": ({"spender": OTHER_BYTES, "amount": 5}, ""),
    "setDelegate": ({"delegate": OTHER_BYTES, "expiry": EXPIRY_S}, "DelegateSet"),
    "removeDelegate": ({"delegate": DESK_BYTES}, "DelegateRemoved"),
    "setTraderReferralCodeByUser": ({"code": code("TREASURY")}, "ReferralCodeSet"),
    "setPendingCodeOwnershipTransfer": ({"code": code("HOUSE"), "newOwner": OTHER_BYTES}, "CodeOwnershipOffered"),
    "acceptCodeOwnership": ({"code": code("OFFERED")}, "CodeOwnershipAccepted"),
    "cancelRequest": ({}, "AccessRequestCancelled"),
    "claimTokens": ({}, "RewardsClaimed"),
    "updateOpenLimitOrder": (LIMIT, "LimitOrderUpdated"),
    "increasePositionSize": ({"info": update(10 * USDC_ONE), "slippage": ONE}, "IncreasePositionRequested"),
    "increasePositionSizeWithCoinExposure": ({"info": update(10 * USDC_ONE), **COIN}, "IncreasePositionRequested"),
    "openTrade": ({"t": opening(), "orderType": 0, "slippage": ONE}, "MarketOrderInitiated"),
    "closeTradeMarket": (CLOSE, "MarketOrderInitiated"),
}


def sent(ground: Ground, name: str, message: dict[str, Any], sender: Sender = TREASURY_SENDER) -> Any:
    """Send a call with our own calldata; return what it emitted. Raises ``Reverted``."""
    to, data = ground.venue.address(CONTRACTS[CALLS[name].contract]), our_calldata(CALLS[name], message)
    gas = ground.evm.estimate_gas(sender.address, to, data)
    receipt = ground.evm.receipt(
        ground.evm.send_raw_transaction(ground.raw(sender, CONTRACTS[CALLS[name].contract], data, gas))
    )
    assert receipt is not None
    assert (receipt.sender, receipt.to) == (sender.address, to)
    assert receipt.gas_used <= gas
    return ground.venue.outcome(receipt)


def test_the_spaces_of_trading_and_referral_are_independent(ground: Ground) -> None:
    ground.venue.submit(*intent_of(ground, "close", _nonce=4))
    assert ground.venue.nonce_used(ROUTER, TREASURY, 4)
    assert not ground.venue.nonce_used(REFERRAL, TREASURY, 4)
    ground.venue.submit(*intent_of(ground, "referral", _nonce=4))
    assert ground.venue.nonce_used(REFERRAL, TREASURY, 4)
    with pytest.raises(Reverted, match="NonceUsed"):
        ground.venue.submit(*intent_of(ground, "own-code", _nonce=4))


def test_a_delegates_intent_spends_the_traders_nonce(ground: Ground) -> None:
    bench = Bench(ground.venue, "increase")
    intent = bytes.fromhex(bench.payload["encodedIntent"][2:])
    ground.venue.submit(bench.struct, intent, signature_by(DESK_SENDER, bench.payload))
    assert ground.venue.nonce_used(ROUTER, TREASURY, 6)
    assert not ground.venue.nonce_used(ROUTER, DESK, 6)
    with pytest.raises(Reverted, match="NonceUsed"):
        ground.venue.submit(bench.struct, intent, signature_by(TREASURY_SENDER, bench.payload))


@pytest.mark.parametrize(
    ("deadline_ms", "last_s"),
    [
        (NOW_MS + 5_999, NOW_S + 5),
        (NOW_MS + 6_000, NOW_S + 6),
    ],
)
def test_a_deadline_is_over_when_a_later_second_has_begun(ground: Ground, deadline_ms: int, last_s: int) -> None:
    arguments = intent_of(ground, "close", _deadline=deadline_ms)
    ground.clock.now_s = last_s
    ground.venue.check(*arguments)
    ground.clock.now_s = last_s + 1
    with pytest.raises(Reverted, match="DeadlineExpired"):
        ground.venue.check(*arguments)


def test_a_stamp_within_the_second_of_the_block_is_now_and_a_later_one_is_not(ground: Ground) -> None:
    ground.venue.check(*intent_of(ground, "take-profit", signTimestamp=NOW_MS + 999))
    with pytest.raises(Reverted, match="SignedInFuture"):
        ground.venue.check(*intent_of(ground, "take-profit", signTimestamp=NOW_MS + 1_000))
    ground.venue.check(*intent_of(ground, "take-profit", signTimestamp=NOW_MS - 600_000))
    with pytest.raises(Reverted, match="StaleSignature"):
        ground.venue.check(*intent_of(ground, "take-profit", signTimestamp=NOW_MS - 600_001))


def test_an_expired_removed_or_unknown_delegate_acts_for_nobody(ground: Ground) -> None:
    call = our_calldata(CALLS["closeTradeMarket"], CLOSE)
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(STRANGER, ROUTER, "delegatedAction", TREASURY, call)
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(TREASURY_SENDER, ROUTER, "delegatedAction", DESK, call)
    mark = ground.evm.snapshot()
    ground.send(TREASURY_SENDER, ROUTER, "removeDelegate", DESK)
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(DESK_SENDER, ROUTER, "delegatedAction", TREASURY, call)
    ground.evm.go_back(mark)
    ground.clock.now_s = EXPIRY_S
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(DESK_SENDER, ROUTER, "delegatedAction", TREASURY, call)


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("removeDelegate", {"delegate": OTHER_BYTES}, "NotDelegate"),
    ("setTraderReferralCodeByUser", {"code": bytes(32)}, "EmptyCode"),
    ("setPendingCodeOwnershipTransfer", {"code": code("OFFERED"), "newOwner": OTHER_BYTES}, "NotCodeOwner"),
    ("acceptCodeOwnership", {"code": code("HOUSE")}, "NotPendingOwner"),
    ("updateOpenLimitOrder", {**LIMIT, "sl": 59_000 * ONE}, "WrongSl"),
    ("increasePositionSize", {"info": {**update(10**7), "trader": OTHER_BYTES}, "slippage": ONE}, "NotTrader"),
    ("increasePositionSize", {"info": update(60_000 * USDC_ONE), "slippage": ONE}, "ERC20: insufficient allowance"),
    ("openTrade", {"t": opening(pairIndex=2), "orderType": 0, "slippage": ONE}, "PairClosedForOpening"),
]


@pytest.mark.parametrize(("name", "message", "error"), BAD)
def test_what_breaks_a_rule_reverts_by_name(ground: Ground, name: str, message: dict[str, Any], error: str) -> None:
    with pytest.raises(Reverted) as caught:
        sent(ground, name, message)
    assert caught.value.name == error
    assert revert_name(caught.value.data) == error


def test_the_selectors_are_the_published_ones() -> None:
    published = {signature.partition("(")[0]: text for signature, text in {**SELECTORS, **NOT_SIGNED}.items()}
    owners = {name: CONTRACTS[call.contract] for name, call in CALLS.items()}
    owners |= dict.fromkeys(("setDelegateWithSig", "multipleDelegations", DELEGATED_ACTION), ROUTER)
    owners |= dict.fromkeys(("setTraderReferralCodeByUserWithSig", "registerCodeWithSig"), REFERRAL)
    for name, text in published.items():
        for owner in (ROUTER, REFERRAL) if name == "nonceBitmap" else (owners[name],):
            assert selector(owner, name).hex() == text, name
    assert {bytes.fromhex(SELECTORS[s]): s.partition("(")[0] for s in SELECTORS} == selectors()


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_mined_and_says_what_it_did(ground: Ground, name: str) -> None:
    message, event = GOOD[name]
    outcome = sent(ground, name, message)
    assert outcome.receipt.ok
    assert not event or outcome.event(event) is not None
    if CALLS[name].pending:
        orders = [e for e in outcome.events if "orderId" in e.arguments]
        done = ground.venue.fulfil(orders[0].arguments["orderId"], 62_000 * ONE)
        assert done.event("MarketOrderExecuted") or done.event("PositionSizeIncreased")


# ---- the committed contracts are what the sources compile to, and they fit on a chain -------------------------------


SOURCES = ROOT / "online/rehearsal/src/airlock_rehearsal/contracts"
SIZE_AT_MOST = 24_576  # EIP-170
DEPLOYED = ("Usdc", "TradingStorage", "Referral", "TradingRouter")


def test_the_sources_compile_to_the_committed_contracts() -> None:
    node = shutil.which("node")
    if node is None or not (NODE_MODULES / "solc").exists():
        pytest.skip("Node or solc is not here")
    compiled = subprocess.run(
        [node, str(ROOT / "tests/node/compile.mjs"), str(SOURCES)],
        env={"PATH": os.environ["PATH"], "NODE_PATH": str(NODE_MODULES)},
        capture_output=True,
        check=True,
    )
    assert compiled.stderr == b""
    assert compiled.stdout.decode() == ARTIFACTS.read_text()


def test_the_contracts_fit_on_a_chain_are_pinned_and_hash_the_types_of_the_catalogue() -> None:
    assert set(artifacts()) == set(DEPLOYED)
    assert all(0 < artifact["size"] <= SIZE_AT_MOST for artifact in artifacts().values())
    committed = json.loads(ARTIFACTS.read_text())
    assert committed["compiler"].startswith("0.8.37+commit.")
    assert committed["settings"]["metadata"] == {"appendCBOR": False, "bytecodeHash": "none"}
    pragmas = {re.search(r"pragma solidity (\S+);", path.read_text())[1] for path in SOURCES.glob("*.sol")}  # type: ignore[index]
    assert pragmas == {"0.8.37"}
    text = "".join(path.read_text() for path in sorted(SOURCES.glob("*.sol")))
    types = set(re.findall(r'"(\w+\([^"]*\))"', text))
    for intent in CATALOGUE.values():
        assert {f"{part})" for part in intent.encode_type.split(")") if part} <= types, intent.name
