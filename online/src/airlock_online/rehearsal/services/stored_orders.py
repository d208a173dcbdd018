"""The calls that store an order: open, increase and close. A confirmed transaction is not yet a fill.

What is stored is executed by the operator at the market price, as a signed order is (``settlement``), or declined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from airlock_online.rehearsal.services.positions import ONE, USDC_ONE, Pair, Position
from airlock_online.rehearsal.services.reverts import custom, reason
from airlock_online.rehearsal.services.settings import TRADING_ROUTER, TRADING_STORAGE, USDC
from airlock_online.rehearsal.services.settlement import CLOSE_TOLERANCE
from airlock_online.rehearsal.services.structs import ORDER_TYPES
from airlock_online.rehearsal.services.terms import PendingOrder, Terms
from airlock_online.rehearsal.services.typed import Message
from airlock_online.rehearsal.services.world import World

Apply = Callable[[], None]
Handler = Callable[[World, str, Message], Apply]
"""A function: world, account that it is called for, arguments. It raises ``Reverted``, or returns what it changes."""

_LIMIT_KINDS = (1, 2)  # stop-limit and limit, in ``enums.openOrderType``
_MARKET_KINDS = {0: ORDER_TYPES[0], 3: ORDER_TYPES[6]}
_USDC_INCREASE, _COIN_INCREASE, _CLOSE, _CLOSE_PNL = (ORDER_TYPES[code] for code in (9, 14, 1, 7))


def _pair(world: World, number: int) -> Pair:
    pair = world.pairs.get(number)
    if pair is None:
        raise custom("PairNotListed", TRADING_ROUTER)
    return pair


def _check_money(world: World, account: str, pair: Pair, collateral: int, leverage: int) -> None:
    if collateral < USDC_ONE:
        raise custom("BelowMinPos", TRADING_ROUTER)
    if not pair.min_leverage * ONE <= leverage <= pair.max_leverage * ONE:
        raise custom("WrongLeverage", TRADING_ROUTER)
    if world.allowances.get((account, TRADING_STORAGE), 0) < collateral:
        raise reason("ERC20: insufficient allowance", USDC)


def _numbers(message: Message) -> dict[str, int]:
    return {name: int(str(value)) for name, value in message.items() if str(value).isdecimal()}


def _open(world: World, account: str, call: Message) -> Apply:
    trade = cast("Message", call["t"])
    number, kind, slippage = _numbers(trade), int(str(call["orderType"])), int(str(call["slippage"]))
    pair, buy = _pair(world, number["pairIndex"]), bool(trade["buy"])
    if trade["trader"] != account:
        raise custom("NotTrader", TRADING_ROUTER)
    if pair.close_only:
        raise custom("PairClosedForOpening", TRADING_ROUTER)
    if kind not in (*_MARKET_KINDS, *_LIMIT_KINDS) or (kind in _MARKET_KINDS and (kind == 3) != pair.is_pnl):
        raise custom("WrongOrderType", TRADING_ROUTER)
    _check_money(world, account, pair, number["positionSizeUSDC"], number["leverage"])
    if number["sl"] and (number["sl"] >= number["openPrice"]) == buy:
        raise custom("WrongSl", TRADING_ROUTER)
    if number["tp"] and (number["tp"] <= number["openPrice"]) == buy:
        raise custom("WrongTp", TRADING_ROUTER)
    if kind in _LIMIT_KINDS:
        return lambda: _store_limit(world, account, trade, kind, slippage)
    terms = Terms(
        pair.pair_index, world.free_slot(account, pair.pair_index), buy, number["positionSizeUSDC"], 0,
        number["leverage"], (0, 0), number["openPrice"], slippage, 0, number["tp"], number["sl"],
    )  # fmt: skip
    return lambda: world.pending_orders.append(PendingOrder(account, _MARKET_KINDS[kind], terms))


def _store_limit(world: World, account: str, trade: Message, kind: int, slippage: int) -> None:
    waiting = world.limit_orders.setdefault(account, [])
    taken = {o["index"] for entry in waiting if isinstance(o := entry["order"], dict)
             and o["pairIndex"] == trade["pairIndex"]}  # fmt: skip
    order: dict[str, object] = {
        "trader": account,
        "pairIndex": trade["pairIndex"],
        "index": next(str(slot) for slot in range(len(taken) + 1) if str(slot) not in taken),
        "positionSize": trade["positionSizeUSDC"],
        "buy": trade["buy"],
        "leverage": trade["leverage"],
        "tp": trade["tp"],
        "sl": trade["sl"],
        "price": trade["openPrice"],
        "slippageP": str(slippage),
        "timestamp": str(world.now_s),
    }
    waiting.append({"order": order, "orderType": kind})


def _increase(world: World, account: str, call: Message) -> Apply:
    info = cast("Message", call["info"])
    number, more = _numbers(info), _numbers({name: value for name, value in call.items() if name != "info"})
    pair = _pair(world, number["pairIndex"])
    position = _position(world, account, number["pairIndex"], number["index"])
    if info["trader"] != account:
        raise custom("NotTrader", TRADING_ROUTER)
    if pair.is_pnl:
        raise custom("WrongOrderType", TRADING_ROUTER)
    _check_money(world, account, pair, number["initialPosToken"], number["leverage"])
    terms = Terms(
        pair.pair_index, position.slot, position.buy, number["initialPosToken"], more.get("coinExposure", 0),
        number["leverage"], (more.get("minLeverage", 0), more.get("maxLeverage", 0)), number["openPrice"],
        more["slippage"], 0,
    )  # fmt: skip
    row = _COIN_INCREASE if "coinExposure" in more else _USDC_INCREASE
    return lambda: world.pending_orders.append(PendingOrder(account, row, terms))


def _close(world: World, account: str, call: Message) -> Apply:
    number = _numbers(call)
    pair = _pair(world, number["pairIndex"])
    position = _position(world, account, number["pairIndex"], number["index"])
    if not 0 < number["amount"] <= position.collateral:
        raise custom("WrongAmount", TRADING_ROUTER)
    terms = Terms(
        pair.pair_index, position.slot, position.buy, number["amount"], 0, position.leverage, (0, 0),
        number["wantedPrice"], CLOSE_TOLERANCE, position.timestamp,
    )  # fmt: skip
    row = _CLOSE_PNL if pair.is_pnl else _CLOSE
    return lambda: world.pending_orders.append(PendingOrder(account, row, terms))


def _position(world: World, account: str, pair_index: int, slot: int) -> Position:
    position = world.positions.get((account, pair_index, slot))
    if position is None:
        raise custom("PositionMismatch", TRADING_ROUTER)
    return position


ORDERS: dict[str, Handler] = {
    "openTrade": _open,
    "closeTradeMarket": _close,
    "increasePositionSize": _increase,
    "increasePositionSizeWithCoinExposure": _increase,
}
