"""Pairs and positions of the rehearsal's venue, in raw units: USDC 1e6; prices, leverage, exposure and percent 1e10."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

ONE = 10**10
"""One of a price, a leverage or a coin; one per cent of a percentage (specification, "Limits", row "scaling")."""

USDC_ONE = 10**6


class VenuePair(NamedTuple):
    """A row of the pair catalogue. ``price`` is what the seeded feed starts with."""

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


PAIRS = (
    VenuePair(0, "BTC", 64_000 * ONE),
    VenuePair(1, "ETH", 3_200 * ONE),
    VenuePair(2, "SOL", 150 * ONE),
    VenuePair(3, "ETHPNL", 3_200 * ONE, min_leverage=75, max_leverage=500, is_pnl=True),
    VenuePair(4, "BTC_UPSIDE", 64_000 * ONE),
    VenuePair(5, "EUR", 11 * ONE // 10, close_only=True),
)
"""The catalogue: an ordinary few, a PnL pair, a name that holds a separator, and a pair that takes no new positions."""


_TRADE = ("trader", "pairIndex", "index", "initialPosToken", "positionSizeUSDC", "openPrice", "buy", "leverage", "tp",
          "sl", "timestamp")  # fmt: skip
_OWN = [name for name in _TRADE if name != "leverage"]  # which results from size and collateral


class Position(NamedTuple):
    """An open position. ``size`` is collateral times leverage in USDC raw units; ``timestamp`` is in seconds."""

    trader: str
    pair_index: int
    slot: int
    collateral: int
    size: int
    open_price: int
    buy: bool
    tp: int
    sl: int
    timestamp: int

    @classmethod
    def of(cls, trade: dict[str, Any]) -> Self:
        """Return the position of a Trade tuple as the trading storage keeps it."""
        return cls(*(trade[name] for name in _OWN))

    @property
    def leverage(self) -> int:
        """Size over collateral, 1e10."""
        return self.size * ONE // self.collateral if self.collateral else 0

    @property
    def coins(self) -> int:
        """The exposure in the base asset, 1e10."""
        return self.size * ONE * ONE // (USDC_ONE * self.open_price)

    def as_trade(self) -> dict[str, Any]:
        """Return the Trade tuple of the position."""
        own = dict(zip(_OWN, self, strict=True))
        return {name: own.get(name, self.leverage) for name in _TRADE}

    def as_json(self, is_pnl: bool) -> dict[str, object]:
        """Return an element of ``trades`` of ``GET /v2/positions``: the trade's numbers as decimal strings."""
        margin = self.open_price * 9 * ONE // (10 * self.leverage)
        return {
            "trade": in_texts(self.as_trade()),
            "isPnl": is_pnl,
            "coinExposure": str(self.coins),
            "liquidationPrice": str(self.open_price - margin if self.buy else self.open_price + margin),
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


def seeded(trader: str, now_s: int) -> list[Position]:
    """Return the positions that a rehearsal starts with: BTC long, ETH short, and a long on the PnL pair."""
    day = 86_400
    return [
        Position(trader, 0, 0, 1_000 * USDC_ONE, 10_000 * USDC_ONE, 62_000 * ONE, True, 0, 0, now_s - 3 * day),
        Position(trader, 1, 0, 500 * USDC_ONE, 2_500 * USDC_ONE, 3_300 * ONE, False, 0, 0, now_s - 2 * day),
        Position(trader, 3, 0, 250 * USDC_ONE, 18_750 * USDC_ONE, 3_100 * ONE, True, 0, 0, now_s - day),
    ]


def seeded_limit(trader: str) -> dict[str, Any]:
    """Return the limit order that the trader has waiting, as the trading storage keeps it; its ``openPrice`` triggers."""
    trade = Position(trader, 2, 0, 0, 100 * USDC_ONE, 120 * ONE, True, 0, 0, 0).as_trade()
    return {"t": trade | {"leverage": 5 * ONE}, "orderType": 2, "slippage": ONE}


def order_json(limit: dict[str, Any]) -> dict[str, object]:
    """Return a limit order as an element of ``orders`` of ``GET /v2/positions``."""
    trade, names = limit["t"], {"positionSize": "positionSizeUSDC", "price": "openPrice"}
    same = ("trader", "pairIndex", "index", "buy", "leverage", "tp", "sl", "timestamp")
    order = {name: trade[name] for name in same} | {name: trade[of] for name, of in names.items()}
    return {"order": in_texts(order | {"slippageP": limit["slippage"]}), "orderType": limit["orderType"]}
