"""What an order asks for, whichever way it came: by a signed intent or by a transaction."""

from __future__ import annotations

from typing import NamedTuple

from airlock_online.rehearsal.services.structs import OrderType


class Terms(NamedTuple):
    """An order's terms, the same for every struct. ``amount`` is USDC added, or to close; ``coins`` is 0 in USDC orders."""

    pair_index: int
    slot: int
    buy: bool
    amount: int
    coins: int
    leverage: int
    leverages: tuple[int, int]
    price: int
    tolerance: int
    opened_at: int  # seconds; 0 when the struct does not bind it
    tp: int = 0
    sl: int = 0


class PendingOrder(NamedTuple):
    """An order that a confirmed transaction has stored, and that the operator has not executed yet."""

    trader: str
    order_type: OrderType
    terms: Terms
