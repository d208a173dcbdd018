"""What a rehearsal starts with, as calls of the operator's: pairs, money, positions, TWAPs, rewards and referral codes."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_rehearsal.chain.venue import REFERRAL, STORAGE, USDC, ChainVenue, OperatorCall
from airlock_rehearsal.services.venue.positions import ONE, PAIRS, USDC_ONE, seeded, seeded_limit

SOMEBODY_ELSE = "0x" + "00" * 19 + "01"
_NOBODY = "0x" + "00" * 20
TAKEN_CODE = b"TAKEN".ljust(32, b"\0")
"""A referral code that somebody else has registered already; the trader has asked for access to it."""

OFFERED_CODE = b"OFFERED".ljust(32, b"\0")
"""A code of somebody else's, offered to the trader: it waits to be accepted."""

OWN_CODE = b"HOUSE".ljust(32, b"\0")
"""A code that the trader owns."""

TWAPS = (41, 42)
"""The trader's pending TWAPs."""

_MONEY, _REWARDS, _ESCROW = 1_000_000 * USDC_ONE, 25 * USDC_ONE, 75 * USDC_ONE


def opening(venue: ChainVenue, trader: str, now_s: int) -> Iterator[OperatorCall]:
    """Yield the calls that set a rehearsal up; what the trader has opened was opened days before ``now_s``."""
    storage = venue.contracts.trading_storage
    for account in (storage, trader):
        yield OperatorCall(USDC, "mint", (account, _MONEY))
    yield OperatorCall(USDC, "seedAllowance", (trader, storage, _MONEY))
    for pair in PAIRS:
        yield OperatorCall(STORAGE, "setPair", (pair.pair_index, {
            "listed": True, "pnl": pair.is_pnl, "closeOnly": pair.close_only,
            "minLeverage": pair.min_leverage * ONE, "maxLeverage": pair.max_leverage * ONE,
        }))  # fmt: skip
    for position in seeded(trader, now_s):
        yield OperatorCall(STORAGE, "seedTrade", (position.as_trade(),))
    limit = seeded_limit(trader)
    yield OperatorCall(STORAGE, "seedLimit", (limit["t"], limit["orderType"], limit["slippage"]))
    for twap_id in TWAPS:
        yield OperatorCall(STORAGE, "seedTwap", (twap_id, {"trader": trader, "escrow": _ESCROW}))
    yield OperatorCall(STORAGE, "creditKeeper", (trader, _REWARDS))
    yield OperatorCall(REFERRAL, "seedCode", (TAKEN_CODE, SOMEBODY_ELSE, _NOBODY))
    yield OperatorCall(REFERRAL, "seedCode", (OFFERED_CODE, SOMEBODY_ELSE, trader))
    yield OperatorCall(REFERRAL, "seedCode", (OWN_CODE, trader, _NOBODY))
    yield OperatorCall(REFERRAL, "seedRequest", (trader, TAKEN_CODE))
