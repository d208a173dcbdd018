"""The state of the rehearsal: the venue on its chain, and what a venue keeps beside it. No HTTP, no clock of its own.

The same requests and clock give the same. What is on the chain is read from it at every question.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator

from eth_utils.crypto import keccak

from airlock_rehearsal.chain.embedded import EmbeddedEvm
from airlock_rehearsal.chain.evm import CONTRACTS, REFERRAL, STORAGE, USDC, EvmCall
from airlock_rehearsal.chain.venue import ChainVenue, call_to
from airlock_rehearsal.services.runtime import DOMAIN_NAME, SPACES, RehearsalSettings
from airlock_rehearsal.services.venue.positions import ONE, PAIRS, USDC_ONE, seeded, seeded_limit

_NOBODY = "0x" + "00" * 20


class VenueState(ChainVenue):
    """The venue on its chain, and what it keeps beside it. ``now_ms`` is the one clock: unix milliseconds."""

    def __init__(self, settings: RehearsalSettings, trader: str, now_ms: Callable[[], int], evm: EmbeddedEvm) -> None:
        super().__init__(evm)
        self.settings = settings
        self.trader = trader
        self.now_ms = now_ms
        self.reserved_nonces: set[tuple[str, str, int]] = set()  # accepted and not yet on the chain
        self.triggers: dict[str, dict[str, object]] = {}  # entityId -> the stored price trigger
        self._drawn: Counter[str] = Counter()

    @property
    def now_s(self) -> int:
        """The time in unix seconds."""
        return self.now_ms() // 1000

    def draw(self, label: str) -> bytes:
        """Return the next 32 bytes of the series called ``label``: keccak-256 of label and a count."""
        self._drawn[label] += 1
        return bytes(keccak(f"airlock rehearsal/{label}/{self._drawn[label]}".encode()))

    def draw_id(self, label: str) -> str:
        """Return the next id of a series, in the form of a UUID."""
        return str(uuid.UUID(bytes=self.draw(label)[:16], version=4))

    def draw_nonce(self, space: str, trader: str) -> int:
        """Return a nonce that the trader has not used in this space."""
        nonce = int.from_bytes(self.draw("nonce"), "big")
        return self.draw_nonce(space, trader) if self.nonce_taken(space, trader, nonce) else nonce

    def nonce_taken(self, space: str, trader: str, nonce: int) -> bool:
        """Tell whether a nonce is spent, or held by an order that is on its way."""
        held = (space, trader, nonce) in self.reserved_nonces
        return held or self.nonce_used(SPACES[space], trader, nonce)


# ---- initial state --------------------------------------------------------------------------------------------------
# What a rehearsal starts with, as calls of the operator's: pairs, money, positions, TWAPs, rewards and referral
# codes.


SET_UP_S = 60
"""How long before the rehearsal its chain begins, in seconds: what sets it up must not run ahead of the clock."""

SOMEBODY_ELSE = "0x" + "00" * 19 + "01"
TAKEN_CODE = b"TAKEN".ljust(32, b"\0")
"""A referral code that somebody else has registered already; the trader has asked for access to it."""

OFFERED_CODE = b"OFFERED".ljust(32, b"\0")
"""A code of somebody else's, offered to the trader: it waits to be accepted."""

OWN_CODE = b"HOUSE".ljust(32, b"\0")
"""A code that the trader owns."""

TWAPS = (41, 42)
"""The trader's pending TWAPs."""

_MONEY, _REWARDS, _ESCROW = 1_000_000 * USDC_ONE, 25 * USDC_ONE, 75 * USDC_ONE


def set_up(settings: RehearsalSettings, trader: str, now_ms: Callable[[], int]) -> VenueState:
    """Return the state of a venue that is new on a chain of its own."""
    now_s = now_ms() // 1000
    evm = EmbeddedEvm(lambda: now_s - SET_UP_S)
    venue = ChainVenue.deployed(evm, trading_name=DOMAIN_NAME, referral_name=DOMAIN_NAME)
    venue.act_together(list(_opening(trader, now_s)))
    evm.now_s = lambda: now_ms() // 1000
    return VenueState(settings, trader, now_ms, evm)


def _opening(trader: str, now_s: int) -> Iterator[EvmCall]:
    """Yield the calls that set a rehearsal up; what the trader has opened was opened days before ``now_s``."""
    storage, limit = CONTRACTS[STORAGE], seeded_limit(trader)
    yield from (call_to(USDC, "mint", account, _MONEY) for account in (storage, trader))
    yield call_to(USDC, "seedAllowance", trader, storage, _MONEY)
    for pair in PAIRS.values():
        leverages = {"minLeverage": pair.min_leverage * ONE, "maxLeverage": pair.max_leverage * ONE}
        row = {"listed": True, "pnl": pair.is_pnl, "closeOnly": pair.close_only, **leverages}
        yield call_to(STORAGE, "setPair", pair.pair_index, row)
    yield from (call_to(STORAGE, "seedTrade", held) for held in seeded(trader, now_s))
    yield call_to(STORAGE, "seedLimit", limit["t"], limit["orderType"], limit["slippage"])
    twap = {"trader": trader, "escrow": _ESCROW}
    yield from (call_to(STORAGE, "seedTwap", twap_id, twap) for twap_id in TWAPS)
    yield call_to(STORAGE, "creditKeeper", trader, _REWARDS)
    codes = ((TAKEN_CODE, SOMEBODY_ELSE, _NOBODY), (OFFERED_CODE, SOMEBODY_ELSE, trader), (OWN_CODE, trader, _NOBODY))
    yield from (call_to(REFERRAL, "seedCode", *code) for code in codes)
    yield call_to(REFERRAL, "seedRequest", trader, TAKEN_CODE)
