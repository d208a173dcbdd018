"""Good arguments for every call that Airlock signs, and how the treasury sends one."""

from __future__ import annotations

from typing import Any

from airlock_rehearsal.chain.deploy import Sender
from airlock_rehearsal.chain.interface import REFERRAL, ROUTER, USDC
from airlock_shared.venue.calldata import encode_call as our_calldata
from airlock_shared.venue.calls import CALLS
from online.chain.ground import EXPIRY_S, ONE, TREASURY_SENDER, USDC_ONE, Ground, code, trade
from shared.make_payloads import OTHER, TREASURY

CONTRACTS = {"usdc": USDC, "tradingRouter": ROUTER, "referral": REFERRAL}


def word(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def update(collateral: int, price: int = 62_000) -> dict[str, Any]:
    return {
        "trader": word(TREASURY), "pairIndex": 0, "index": 1, "openPrice": price * ONE,
        "initialPosToken": collateral, "leverage": 10 * ONE,
    }  # fmt: skip


def opening(**other: Any) -> dict[str, Any]:
    made = trade((0, 0), 0, 10, 62_000, True, 0, size=100 * USDC_ONE) | {"trader": word(TREASURY)}
    return {**made, **other}


LIMIT = {"pairIndex": 0, "index": 0, "price": 59_000 * ONE, "slippage": ONE, "tp": 70_000 * ONE, "sl": 50_000 * ONE}
CLOSE = {"pairIndex": 0, "index": 2, "amount": 10 * USDC_ONE, "wantedPrice": 62_000 * ONE}
COIN = {"coinExposure": ONE // 100, "minLeverage": ONE, "maxLeverage": 90 * ONE, "slippage": ONE}
GOOD: dict[str, tuple[dict[str, Any], str]] = {  # the arguments of each call, and the event that it emits
    "approve": ({"spender": word(OTHER), "amount": 5}, ""),
    "setDelegate": ({"delegate": word(OTHER), "expiry": EXPIRY_S}, "DelegateSet"),
    "removeDelegate": ({"delegate": word("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")}, "DelegateRemoved"),
    "setTraderReferralCodeByUser": ({"code": code("TREASURY")}, "ReferralCodeSet"),
    "setPendingCodeOwnershipTransfer": ({"code": code("HOUSE"), "newOwner": word(OTHER)}, "CodeOwnershipOffered"),
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
