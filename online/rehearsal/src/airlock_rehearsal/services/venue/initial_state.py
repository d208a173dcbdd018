"""What a rehearsal starts with, as calls of the operator's: pairs, money, positions, TWAPs, rewards and referral codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from airlock_rehearsal.chain.backends import Evm
from airlock_rehearsal.chain.deploy import Contracts
from airlock_rehearsal.chain.embedded import EmbeddedEvm
from airlock_rehearsal.chain.interface import REFERRAL, STORAGE, USDC
from airlock_rehearsal.chain.sending import derived
from airlock_rehearsal.chain.venue import ChainVenue, OperatorCall
from airlock_rehearsal.services.settings import DOMAIN_NAME, RehearsalSettings
from airlock_rehearsal.services.venue.positions import ONE, PAIRS, USDC_ONE, seeded, seeded_limit
from airlock_rehearsal.services.venue.venue_state import VenueState
from airlock_shared.errors import UsageError

SET_UP_S = 60
"""How long before the rehearsal its embedded chain begins, in seconds: what sets it up must not run ahead of the clock."""

_SAME_S = 300  # services that a process starts within this time begin from one chain

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


def set_up(settings: RehearsalSettings, trader: str, now_ms: Callable[[], int], evm: Evm | None = None) -> VenueState:
    """Return the state of a venue that is new on its chain: an outside node, or in memory where none is given.

    Raises ``UsageError`` when a rehearsal's venue is on the outside node already.
    """
    now_s = now_ms() // 1000
    if evm is None:
        begun, contracts = _embedded(trader, now_s - now_s % _SAME_S)
        venue = ChainVenue(begun.copied(lambda: now_ms() // 1000), contracts)
    elif evm.transaction_count(derived("operator").address):
        raise UsageError("a rehearsal's venue is on this chain already", do="start a new node, then rehearse again")
    else:
        venue = _opened(evm, trader, now_s)
    return VenueState(settings, trader, now_ms, venue)


@lru_cache(maxsize=8)
def _embedded(trader: str, began_s: int) -> tuple[EmbeddedEvm, Contracts]:
    """Return a venue in memory to make copies of: it takes half a second of CPU, and a process may start many services."""
    evm = EmbeddedEvm(lambda: began_s - SET_UP_S)
    return evm, _opened(evm, trader, began_s).contracts


def _opened(evm: Evm, trader: str, now_s: int) -> ChainVenue:
    venue = ChainVenue.deployed(evm, trading_name=DOMAIN_NAME, referral_name=DOMAIN_NAME)
    venue.act_together(list(opening(venue, trader, now_s)))
    return venue


def opening(venue: ChainVenue, trader: str, now_s: int) -> Iterator[OperatorCall]:
    """Yield the calls that set a rehearsal up; what the trader has opened was opened days before ``now_s``."""
    storage, limit = venue.contracts.trading_storage, seeded_limit(trader)
    yield from (OperatorCall(USDC, "mint", (account, _MONEY)) for account in (storage, trader))
    yield OperatorCall(USDC, "seedAllowance", (trader, storage, _MONEY))
    for pair in PAIRS:
        yield OperatorCall(STORAGE, "setPair", (pair.pair_index, {
            "listed": True, "pnl": pair.is_pnl, "closeOnly": pair.close_only,
            "minLeverage": pair.min_leverage * ONE, "maxLeverage": pair.max_leverage * ONE,
        }))  # fmt: skip
    yield from (OperatorCall(STORAGE, "seedTrade", (held.as_trade(),)) for held in seeded(trader, now_s))
    yield OperatorCall(STORAGE, "seedLimit", (limit["t"], limit["orderType"], limit["slippage"]))
    twap = {"trader": trader, "escrow": _ESCROW}
    yield from (OperatorCall(STORAGE, "seedTwap", (twap_id, twap)) for twap_id in TWAPS)
    yield OperatorCall(STORAGE, "creditKeeper", (trader, _REWARDS))
    codes = ((TAKEN_CODE, SOMEBODY_ELSE, _NOBODY), (OFFERED_CODE, SOMEBODY_ELSE, trader), (OWN_CODE, trader, _NOBODY))
    yield from (OperatorCall(REFERRAL, "seedCode", code) for code in codes)
    yield OperatorCall(REFERRAL, "seedRequest", (trader, TAKEN_CODE))
