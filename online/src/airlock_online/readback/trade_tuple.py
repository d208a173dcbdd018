"""A position as the positions read and the events hold it: the stored Trade tuple, of which only some members are sure.

The specification names ``trades[].trade.index`` and ``.timestamp`` and shows the tuple in "Events"; the rest of the read is
not shown. So nothing here fails: what cannot be read is None, and what is made of None is never a claim.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from airlock_online.clients.echo import named
from airlock_online.clients.reply_values import whole
from airlock_shared.units import PRICE, USDC, Unit, looks_like_seconds, to_human, utc_text


class Trade(NamedTuple):
    """A position: pair, slot, and what is known of the rest, in raw units; ``opened`` is a unix time in the venue's unit."""

    pair: int
    slot: int
    collateral: int | None
    open_price: int | None
    buy: bool | None
    opened: int | None


def read_trade(value: object) -> Trade | None:
    """Return the trade of a Trade tuple, or None when it does not even say which position it is."""
    if type(value) is not dict:
        return None
    pair, slot, buy = whole(value.get("pairIndex")), whole(value.get("index")), value.get("buy")
    if pair is None or slot is None:
        return None
    collateral, price, opened = (whole(value.get(name)) for name in ("initialPosToken", "openPrice", "timestamp"))
    return Trade(pair, slot, collateral, price, buy if type(buy) is bool else None, opened)


def trades_in(read: Any) -> list[Trade] | None:
    """Return the positions of a positions read; None when it is not a list of trades, so that absence proves nothing."""
    entries = read.get("trades") if type(read) is dict else None
    if type(entries) is not list:
        return None
    trades = [read_trade(entry.get("trade")) if type(entry) is dict else None for entry in entries]
    known = [trade for trade in trades if trade is not None]
    return known if len(known) == len(trades) else None


def same_moment(one: int, other: int) -> bool:
    """Tell whether two unix times are one: a venue may sign milliseconds, and tell seconds in a read or an event."""
    seconds = {time if looks_like_seconds(time) else time // 1000 for time in (one, other)}
    return one == other or (looks_like_seconds(one) != looks_like_seconds(other) and len(seconds) == 1)


def moment_text(time: int) -> str:
    """Return a unix time for a person; whether a venue tells seconds or milliseconds shows by the magnitude."""
    return utc_text(time * 1000 if looks_like_seconds(time) else time)


def is_about(read: dict[str, Any], trader: str) -> bool | None:
    """Tell whether a positions read names the trader that was asked for: itself, or by each of its entries.

    False when it names another one, None when it leaves one out.
    """
    members = [(kind, read.get(f"{kind}s")) for kind in ("trade", "order")]
    entries = [
        e.get(kind) if type(e) is dict else e for kind, told in members for e in (told if type(told) is list else [])
    ]
    whose = [named(entry, trader=trader) for entry in entries]
    itself = named(read, trader=trader)
    if False in (*whose, itself):
        return False
    return True if itself is True or (whose and None not in whose) else None


def waiting_order(read: Any, pair: int | None, slot: int | None) -> dict[str, Any] | None:
    """Return the limit order in this slot of the pair: empty when none waits there, None when the read is no list."""
    entries = read.get("orders") if type(read) is dict else None
    if type(entries) is not list:
        return None
    for entry in entries:
        order = entry.get("order") if type(entry) is dict else None
        if type(order) is dict and (whole(order.get("pairIndex")), whole(order.get("index"))) == (pair, slot):
            return order
    return {}


def amount_text(raw: int | None, unit: Unit) -> str:
    """Return an amount for a person, human and raw."""
    return "an unknown amount" if raw is None else f"{to_human(raw, unit)} {unit.name} (raw {raw})"


def trade_text(trade: Trade | None) -> str:
    """Return a position for a person; of None, that there is none."""
    if trade is None:
        return "no position in this slot"
    side = {True: "long", False: "short", None: "of an unknown side"}[trade.buy]
    text = f"{side}, collateral {amount_text(trade.collateral, USDC)}"
    if trade.open_price is not None:
        text += f", open price {amount_text(trade.open_price, PRICE)}"
    return text if trade.opened is None else f"{text}, opened {moment_text(trade.opened)}"
