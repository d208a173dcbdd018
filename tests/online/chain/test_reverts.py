"""What breaks a rule reverts, with a custom error's name or a text."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_rehearsal.chain.evm import Reverted
from airlock_rehearsal.chain.interface import ROUTER, STORAGE, USDC, revert_name
from online.chain.calls import COIN, LIMIT, opening, sent, update, word
from online.chain.ground import ONE, TREASURY_SENDER, USDC_ONE, Ground, code
from shared.make_payloads import OTHER, TREASURY

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("removeDelegate", {"delegate": word(OTHER)}, "NotDelegate"),
    ("setTraderReferralCodeByUser", {"code": bytes(32)}, "EmptyCode"),
    ("setPendingCodeOwnershipTransfer", {"code": code("OFFERED"), "newOwner": word(OTHER)}, "NotCodeOwner"),
    ("acceptCodeOwnership", {"code": code("HOUSE")}, "NotPendingOwner"),
    ("updateOpenLimitOrder", {**LIMIT, "index": 1}, "NoLimitOrder"),
    ("updateOpenLimitOrder", {**LIMIT, "price": 0}, "WrongPrice"),
    ("updateOpenLimitOrder", {**LIMIT, "sl": 59_000 * ONE}, "WrongSl"),
    ("updateOpenLimitOrder", {**LIMIT, "tp": 59_000 * ONE}, "WrongTp"),
    ("updateOpenLimitOrder", {**LIMIT, "slippage": 101 * ONE}, "HighSlippage"),
    ("increasePositionSize", {"info": {**update(10**7), "index": 5}, "slippage": ONE}, "PositionMismatch"),
    ("increasePositionSize", {"info": {**update(10**7), "trader": word(OTHER)}, "slippage": ONE}, "NotTrader"),
    ("increasePositionSize", {"info": update(USDC_ONE - 1), "slippage": ONE}, "BelowMinPos"),
    ("increasePositionSize", {"info": {**update(10**7), "leverage": 101 * ONE}, "slippage": ONE}, "WrongLeverage"),
    ("increasePositionSize", {"info": update(60_000 * USDC_ONE), "slippage": ONE}, "ERC20: insufficient allowance"),
    (
        "increasePositionSize",
        {"info": {**update(10**7), "pairIndex": 7, "index": 0}, "slippage": ONE},
        "WrongOrderType",
    ),
    ("increasePositionSizeWithCoinExposure", {"info": update(10**7), **COIN, "coinExposure": 0}, "WrongAmount"),
    ("openTrade", {"t": opening(pairIndex=9), "orderType": 0, "slippage": ONE}, "PairNotListed"),
    ("openTrade", {"t": opening(pairIndex=2), "orderType": 0, "slippage": ONE}, "PairClosedForOpening"),
    ("openTrade", {"t": opening(index=1), "orderType": 0, "slippage": ONE}, "WrongTrade"),
]


@pytest.mark.parametrize(("name", "message", "error"), BAD)
def test_a_call_that_breaks_a_rule_reverts_by_name(
    ground: Ground, name: str, message: dict[str, Any], error: str
) -> None:
    with pytest.raises(Reverted) as caught:
        sent(ground, name, message)
    assert caught.value.name == error
    assert revert_name(caught.value.data) == error


@pytest.mark.parametrize(
    ("contract", "function", "arguments", "error"),
    [
        (ROUTER, "openTradeWithSig", (b"", b""), "NotOperator"),
        (STORAGE, "fulfil", (1, ONE), "NotOperator"),
        (STORAGE, "claim", (TREASURY,), "NotRouter"),
        (USDC, "mint", (TREASURY, 1), "ERC20: caller is not the minter"),
        (USDC, "transferFrom", (OTHER, TREASURY, 1), "ERC20: insufficient allowance"),
    ],
)
def test_nobody_does_what_is_the_operators_or_the_routers(
    ground: Ground, contract: str, function: str, arguments: tuple[Any, ...], error: str
) -> None:
    with pytest.raises(Reverted) as caught:
        ground.send(TREASURY_SENDER, contract, function, *arguments)
    assert caught.value.name == error
