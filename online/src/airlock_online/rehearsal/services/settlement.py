"""What an order does on the chain: its registration, and its fill at the market price. Pure but for changing the world.

The price rules, which the specification leaves to the protocol:

* an open or an increase fills when the market is no worse than ``openPrice`` by more than ``_slippageP``;
* a close fills when the market is no worse than ``_wantedPrice`` by more than ``CLOSE_TOLERANCE``;
* sized in the base asset, the leverage that results must lie within ``_minLeverage`` and ``_maxLeverage``
  and the bounds of the pair.

Everything fills at the market price, without spread or fees. Amounts are raw: USDC 1e6; prices, leverage and coins 1e10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from airlock_online.rehearsal.services.positions import ONE, Position, coins_of, size_of
from airlock_online.rehearsal.services.structs import OrderType
from airlock_online.rehearsal.services.submission import Order
from airlock_online.rehearsal.services.terms import Terms
from airlock_online.rehearsal.services.typed import Message
from airlock_online.rehearsal.services.world import World

CLOSE_TOLERANCE = ONE
"""One per cent, in the scale of a percentage."""

Event = tuple[str, dict[str, object]]
"""An event's type and payload."""


def terms_of(world: World, order: Order) -> Terms | None:
    """Return an order's terms; ``None`` when its position is no longer there."""
    message, row = order.signed.message, order.order_type
    number = _numbers(message)
    bounds = (number("_minLeverage"), number("_maxLeverage"))
    if row.action == "open":
        trade = cast("Message", message["_t"])
        of = _numbers(trade)
        slot = world.free_slot(order.signed.trader, of("pairIndex"))
        return Terms(
            of("pairIndex"), slot, bool(trade["buy"]), of("positionSizeUSDC"), number("_coinExposure"), of("leverage"),
            bounds, of("openPrice"), number("_slippageP"), 0, of("tp"), of("sl"),
        )  # fmt: skip
    of = _numbers(cast("Message", message.get("_updateInfo", message)))
    prefix = "" if row.action == "increase" else "_"
    pair_index, index = of(f"{prefix}pairIndex"), of(f"{prefix}index")
    position = world.positions.get((order.signed.trader, pair_index, index))
    if position is None:
        return None
    if row.action == "increase":
        return Terms(
            pair_index, index, position.buy, of("initialPosToken"), number("_coinExposure"), of("leverage"), bounds,
            of("openPrice"), number("_slippageP"), 0,
        )  # fmt: skip
    return Terms(
        pair_index, index, position.buy, number("_amount"), number("_coinExposure"), position.leverage, bounds,
        number("_wantedPrice"), CLOSE_TOLERANCE, number("_openTimestamp"),
    )  # fmt: skip


def registered(world: World, order: Order, terms: Terms, order_id: int) -> Event:
    """Return the initiation event of an order that is now on the chain; its nonce is spent."""
    world.burn(order.signed.space, order.signed.trader, order.signed.nonce)
    row = order.order_type
    transaction, _ = world.mine()
    common: dict[str, object] = {
        "orderId": order_id,
        "trader": order.signed.trader,
        "pairIndex": terms.pair_index,
        "isBuy": terms.buy,
        "isPnl": row.is_pnl,
        "transactionHash": transaction,
    }
    if row.action != "increase":
        return "MarketOrderInitiated", common | {"open": row.action == "open"}
    added = {"addedCollateral": str(terms.amount), "coinExposure": str(_coins(terms, terms.price))}
    return "IncreasePositionRequested", common | added | {
        "index": terms.slot,
        "isCoinExposureFixed": row.coin_sized,
    }


def filled(world: World, trader: str, row: OrderType, terms: Terms, order_id: int, *, declined: bool = False) -> Event:
    """Fill an order at the market price, or decline it; return the terminal event."""
    transaction, _ = world.mine()
    price = world.prices[terms.pair_index]
    position = world.positions.get((trader, terms.pair_index, terms.slot))
    if declined or not _fills(world, row, terms, price) or (position is None and row.action != "open"):
        canceled = {"trader": trader, "pairIndex": terms.pair_index, "transactionHash": transaction}
        return "MarketOrderCanceled", {"orderId": order_id, **canceled}
    payload: dict[str, object] = {"orderId": order_id, "isPnl": row.is_pnl}
    payload |= {"isCoinExposureFixed": row.coin_sized, "transactionHash": transaction}
    if row.action == "open":
        return "MarketOrderExecuted", payload | _open(world, trader, row, terms, price)
    if row.action == "increase":
        return "PositionSizeIncreased", payload | _increase(world, terms, price, cast("Position", position))
    return "MarketOrderExecuted", payload | _close(world, terms, price, cast("Position", position))


def _fills(world: World, row: OrderType, terms: Terms, price: int) -> bool:
    closing = row.action == "close"
    wants_high = terms.buy == closing  # a long sells when it closes, a short sells when it opens
    limit = terms.price * (100 * ONE - terms.tolerance if wants_high else 100 * ONE + terms.tolerance)
    if (price * 100 * ONE < limit) if wants_high else (price * 100 * ONE > limit):
        return False
    if not row.coin_sized or closing:
        return True
    pair, (lowest, highest) = world.pairs[terms.pair_index], terms.leverages
    lowest, highest = max(lowest, pair.min_leverage * ONE), min(highest, pair.max_leverage * ONE)
    return lowest <= size_of(terms.coins, price) * ONE // terms.amount <= highest


def _open(world: World, trader: str, row: OrderType, terms: Terms, price: int) -> dict[str, object]:
    slot = world.free_slot(trader, terms.pair_index)
    size = _size(terms, price)
    position = Position(
        trader, terms.pair_index, slot, terms.amount, size, price, terms.buy, terms.tp, terms.sl, world.now_s,
        row.coin_sized,
    )  # fmt: skip
    world.positions[trader, terms.pair_index, slot] = position
    return _executed(True, price, size, 0, 0, terms.coins or position.coins, position)


def _close(world: World, terms: Terms, price: int, position: Position) -> dict[str, object]:
    part = min(terms.amount or position.collateral * terms.coins // max(position.coins, 1), position.collateral)
    if terms.coins == position.coins:
        part = position.collateral
    size = position.size * part // position.collateral
    left = position._replace(collateral=position.collateral - part, size=position.size - size)
    key = (position.trader, position.pair_index, position.slot)
    if left.collateral:
        world.positions[key] = left
    else:
        del world.positions[key]
    percent = position.profit_percent(price)
    paid = max(0, part + part * percent // (100 * ONE))
    return _executed(False, price, size, percent, paid, coins_of(size, position.open_price), left)


def _increase(world: World, terms: Terms, price: int, position: Position) -> dict[str, object]:
    size, coins = _size(terms, price), _coins(terms, price)
    total, exposure = position.size + size, position.coins + coins
    blended = position._replace(
        collateral=position.collateral + terms.amount, size=total, open_price=total * ONE * ONE // (exposure * 10**6)
    )
    world.positions[position.trader, position.pair_index, position.slot] = blended
    return {"coinExposureAdded": str(coins), "t": blended.as_trade()}


def _executed(
    opened: bool, price: int, size: int, percent: int, paid: int, coins: int, position: Position
) -> dict[str, object]:
    return {
        "open": opened,
        "price": str(price),
        "positionSizeUSDC": str(size),
        "percentProfit": str(percent),
        "usdcSentToTrader": str(paid),
        "coinExposure": str(coins),
        "t": position.as_trade(),
    }


def _size(terms: Terms, price: int) -> int:
    return size_of(terms.coins, price) if terms.coins else terms.amount * terms.leverage // ONE


def _coins(terms: Terms, price: int) -> int:
    return terms.coins or coins_of(_size(terms, price), price)


def _numbers(message: Message) -> Callable[[str], int]:
    return lambda name: int(str(message.get(name, "0")))  # a member that the struct does not have is 0
