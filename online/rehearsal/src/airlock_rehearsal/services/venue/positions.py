"""Pairs and positions of the rehearsal's venue, in raw units: USDC 1e6; prices, leverage, exposure and percent 1e10."""

from __future__ import annotations

from typing import Any, NamedTuple

ONE = 10**10
"""One of a price, a leverage or a coin; one per cent of a percentage (specification, "Limits", row "scaling")."""

USDC_ONE = 10**6


class VenuePair(NamedTuple):
    """A row of the pair catalogue; ``price`` is the market's, which does not move here."""

    pair_index: int
    base: str
    price: int
    min_leverage: int = 1
    max_leverage: int = 100
    is_pnl: bool = False
    close_only: bool = False

    @property
    def symbol(self) -> str:
        """The pair's name, ``base/USD``."""
        return f"{self.base}/USD"

    def as_json(self) -> dict[str, object]:
        """Return the pair as ``GET /v2/pairs`` lists it."""
        leverages = {"minLeverage": str(self.min_leverage), "maxLeverage": str(self.max_leverage)}
        return {
            "index": self.pair_index,
            "from": self.base,
            "to": "USD",
            "symbol": self.symbol,
            "groupIndex": 0,
            "isPairListed": True,
            "closeOnly": self.close_only,
            "leverages": leverages,
            "isPnl": self.is_pnl,
        }


_PAIRS = (
    VenuePair(0, "BTC", 64_000 * ONE),
    VenuePair(1, "ETH", 3_200 * ONE),
    VenuePair(2, "SOL", 150 * ONE),
    VenuePair(3, "ETHPNL", 3_200 * ONE, min_leverage=75, max_leverage=500, is_pnl=True),
    VenuePair(4, "BTC_UPSIDE", 64_000 * ONE),
    VenuePair(5, "EUR", 11 * ONE // 10, close_only=True),
)
PAIRS = {pair.pair_index: pair for pair in _PAIRS}
"""The catalogue by index: an ordinary few, a PnL pair, a name with a separator, and a pair that takes no new positions."""


Trade = dict[str, Any]
"""A position or an order as the contracts' Trade tuple: ``initialPosToken`` is the collateral, ``timestamp`` in seconds."""


def trade(trader: str, pair_index: int, collateral: int, size: int, price: int, leverage: int, *, buy: bool) -> Trade:
    """Return a Trade in slot 0 that was never opened, without take profit and stop loss."""
    return {
        "trader": trader,
        "pairIndex": pair_index,
        "index": 0,
        "initialPosToken": collateral,
        "positionSizeUSDC": size,
        "openPrice": price,
        "buy": buy,
        "leverage": leverage,
        "tp": 0,
        "sl": 0,
        "timestamp": 0,
    }


def trade_json(held: Trade, is_pnl: bool) -> dict[str, object]:
    """Return an element of ``trades`` of ``GET /v2/positions``: the trade's numbers as decimal strings."""
    price = held["openPrice"]
    margin = price * 9 * ONE // (10 * held["leverage"])
    return {
        "trade": in_texts(held),
        "isPnl": is_pnl,
        "coinExposure": str(held["positionSizeUSDC"] * ONE * ONE // (USDC_ONE * price)),
        "liquidationPrice": str(price - margin if held["buy"] else price + margin),
    }


def in_texts(message: dict[str, Any], numbers: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return a message with integers in decimal, but for those that are told as ``numbers``, and bytes in hex."""
    told = {}
    for name, value in message.items():
        if isinstance(value, dict):
            value = in_texts(value, numbers)
        elif isinstance(value, bytes):
            value = "0x" + value.hex()
        told[name] = str(value) if type(value) is int and name not in numbers else value
    return told


def seeded(trader: str, now_s: int) -> list[Trade]:
    """Return the positions that a rehearsal starts with: BTC long, ETH short, and a long on the PnL pair."""
    rows = (  # pair, USDC of collateral, leverage, price, long, days ago
        (0, 1_000, 10, 62_000, True, 3),
        (1, 500, 5, 3_300, False, 2),
        (3, 250, 75, 3_100, True, 1),
    )
    return [
        trade(trader, pair, usdc * USDC_ONE, usdc * times * USDC_ONE, price * ONE, times * ONE, buy=buy)
        | {"timestamp": now_s - days * 86_400}
        for pair, usdc, times, price, buy, days in rows
    ]


def seeded_limit(trader: str) -> dict[str, Any]:
    """Return the limit order that the trader has waiting, as the trading storage keeps it; its ``openPrice`` triggers."""
    waiting = trade(trader, 2, 0, 100 * USDC_ONE, 120 * ONE, 5 * ONE, buy=True)
    return {"t": waiting, "orderType": 2, "slippage": ONE}


def order_json(limit: dict[str, Any]) -> dict[str, object]:
    """Return a limit order as an element of ``orders`` of ``GET /v2/positions``."""
    trade, names = limit["t"], {"positionSize": "positionSizeUSDC", "price": "openPrice"}
    same = ("trader", "pairIndex", "index", "buy", "leverage", "tp", "sl", "timestamp")
    order = {name: trade[name] for name in same} | {name: trade[of] for name, of in names.items()}
    return {"order": in_texts(order | {"slippageP": limit["slippage"]}), "orderType": limit["orderType"]}
