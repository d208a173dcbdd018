"""The state of the rehearsal: the venue on its chain, and what a venue keeps beside it. No HTTP, no clock of its own.

The same seed, requests and clock give the same. What is on the chain is read from it at every question.
"""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from eth_utils.crypto import keccak

from airlock_rehearsal.chain.interface import REFERRAL, ROUTER, STORAGE
from airlock_rehearsal.services.settings import RehearsalSettings
from airlock_rehearsal.services.venue.positions import PAIRS, Position, VenuePair

if TYPE_CHECKING:
    from airlock_rehearsal.chain.evm import EvmReceipt
    from airlock_rehearsal.chain.venue import ChainVenue

SPACES = {"trading": ROUTER, "referral": REFERRAL}
"""Which contract keeps the nonces of a space."""

_NOBODY = "0x" + "00" * 20


class VenueState:
    """What the venue holds. ``now_ms`` is the one clock: unix milliseconds."""

    def __init__(self, settings: RehearsalSettings, trader: str, now_ms: Callable[[], int], venue: ChainVenue) -> None:
        self.settings = settings
        self.trader = trader
        self.now_ms = now_ms
        self.venue = venue
        self.pairs: dict[int, VenuePair] = {pair.pair_index: pair for pair in PAIRS}
        self.prices: dict[int, int] = {pair.pair_index: pair.price for pair in PAIRS}  # raw, 1e10
        self.reserved_nonces: set[tuple[str, str, int]] = set()  # accepted and not yet on the chain
        self.pending_orders: list[tuple[int, int]] = []  # order id and pair: stored by transactions, not executed yet
        self.triggers: dict[str, dict[str, object]] = {}  # entityId -> the stored price trigger
        self.posts: dict[str, Counter[str]] = defaultdict(Counter)  # place -> nonce or hash -> POSTs and PUTs
        self.receipts: list[EvmReceipt] = []  # of every transaction since the rehearsal was set up
        self._drawn: Counter[str] = Counter()

    @property
    def now_s(self) -> int:
        """The time in unix seconds."""
        return self.now_ms() // 1000

    def draw(self, label: str) -> bytes:
        """Return the next 32 bytes of the series called ``label``: keccak-256 of seed, label and a count."""
        self._drawn[label] += 1
        return bytes(keccak(f"{self.settings.seed}/{label}/{self._drawn[label]}".encode()))

    def draw_id(self, label: str) -> str:
        """Return the next id of a series, in the form of a UUID."""
        return str(uuid.UUID(bytes=self.draw(label)[:16], version=4))

    def draw_nonce(self, space: str, trader: str) -> int:
        """Return a nonce that the trader has not used in this space."""
        nonce = int.from_bytes(self.draw("nonce"), "big")
        return self.draw_nonce(space, trader) if self.nonce_taken(space, trader, nonce) else nonce

    def nonce_used(self, space: str, trader: str, nonce: int) -> bool:
        """Tell whether a nonce is spent on the chain."""
        return self.venue.nonce_used(SPACES[space], trader, nonce)

    def nonce_taken(self, space: str, trader: str, nonce: int) -> bool:
        """Tell whether a nonce is spent, or held by an order that is on its way."""
        return (space, trader, nonce) in self.reserved_nonces or self.nonce_used(space, trader, nonce)

    def is_live_delegate(self, trader: str, delegate: str) -> bool:
        """Tell whether a delegation is in force now."""
        return self.venue.delegation_expiry(trader, delegate) > self.now_s

    def position(self, trader: str, pair_index: int, slot: int) -> Position | None:
        """Return the position in a slot."""
        position = Position.of(self.venue.read(STORAGE, "tradeAt", trader, pair_index, slot))
        return position if position.collateral else None

    def positions_of(self, trader: str) -> list[Position]:
        """Return a trader's open positions, by pair and slot."""
        return [Position.of(trade) for trade in self.venue.trades_of(trader)]

    def twap_trader(self, twap_id: int) -> str:
        """Return whose pending TWAP this is, empty when there is none."""
        return _somebody(self.venue.read(STORAGE, "twaps", twap_id)[0])

    def adopted_code(self, trader: str) -> bytes:
        """Return the referral code that a trader has adopted; 32 zero bytes for none."""
        return bytes(self.venue.read(REFERRAL, "traderReferralCodes", trader))

    def code_owners(self, code: bytes) -> tuple[str, str]:
        """Return who owns a referral code and to whom it is offered, empty when nobody."""
        owner, offered = (self.venue.read(REFERRAL, view, code) for view in ("codeOwners", "pendingCodeOwners"))
        return _somebody(owner), _somebody(offered)

    def find_pair(self, name: str) -> VenuePair | None:
        """Return the pair of a symbol: any case, with ``/``, ``-`` or ``_`` between its parts."""
        wanted = _folded(name)
        return next((pair for pair in self.pairs.values() if _folded(pair.symbol) == wanted), None)


def _somebody(account: str) -> str:
    return "" if account == _NOBODY else account


def _folded(name: str) -> str:
    return name.upper().replace("-", "/").replace("_", "/")
