"""The state of the rehearsal's venue and chain: no HTTP, no clock of its own, the same for the same seed and requests."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable

from eth_utils.crypto import keccak

from airlock_online.rehearsal.services.positions import PAIRS, Pair, Position, seeded, seeded_order
from airlock_online.rehearsal.services.settings import Settings

TAKEN_CODE = b"TAKEN".ljust(32, b"\0")
"""A referral code that somebody else has registered already."""


class World:
    """What the chain and the venue hold. ``now_ms`` is the one clock: unix milliseconds."""

    def __init__(self, settings: Settings, trader: str, now_ms: Callable[[], int]) -> None:
        self.settings = settings
        self.trader = trader
        self.now_ms = now_ms
        self.pairs: dict[int, Pair] = {pair.pair_index: pair for pair in PAIRS}
        self.prices: dict[int, int] = {pair.pair_index: pair.price for pair in PAIRS}  # raw, 1e10
        self.positions = {(p.trader, p.pair_index, p.slot): p for p in seeded(trader, self.now_s)}
        self.limit_orders = {trader: [seeded_order(trader, self.now_s)]}
        self.used_nonces: set[tuple[str, str, int]] = set()  # (space, trader, nonce)
        self.reserved_nonces: set[tuple[str, str, int]] = set()  # accepted and not yet on the chain
        self.delegations: dict[tuple[str, str], int] = {}  # (trader, delegate) -> expiry in seconds
        self.referral_codes: dict[str, bytes] = {}  # trader -> the code adopted
        self.code_owners: dict[bytes, str] = {TAKEN_CODE: "0x" + "00" * 19 + "01"}
        self.twaps: dict[int, str] = {41: trader, 42: trader}  # pending TWAP id -> its trader
        self.triggers: dict[str, dict[str, object]] = {}  # entityId -> the stored price trigger
        self.posts: dict[str, Counter[str]] = defaultdict(Counter)  # service -> nonce -> POSTs and PUTs received
        self.block_number = 1_000_000
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

    def mine(self) -> tuple[str, int]:
        """Put a transaction on the chain; return its hash and block number."""
        self.block_number += 1
        return "0x" + self.draw("transaction").hex(), self.block_number

    def nonce_used(self, space: str, trader: str, nonce: int) -> bool:
        """Tell whether a nonce is spent on the chain."""
        return (space, trader, nonce) in self.used_nonces

    def nonce_taken(self, space: str, trader: str, nonce: int) -> bool:
        """Tell whether a nonce is spent, or held by an order that is on its way."""
        return (space, trader, nonce) in self.used_nonces | self.reserved_nonces

    def reserve(self, space: str, trader: str, nonce: int) -> None:
        """Hold a nonce for something accepted."""
        self.reserved_nonces.add((space, trader, nonce))

    def release(self, space: str, trader: str, nonce: int) -> None:
        """Let go of a nonce whose order ended off the chain."""
        self.reserved_nonces.discard((space, trader, nonce))

    def burn(self, space: str, trader: str, nonce: int) -> None:
        """Spend a nonce."""
        self.release(space, trader, nonce)
        self.used_nonces.add((space, trader, nonce))

    def is_live_delegate(self, trader: str, delegate: str) -> bool:
        """Tell whether a delegation is in force now."""
        return self.delegations.get((trader, delegate), 0) > self.now_s

    def positions_of(self, trader: str) -> list[Position]:
        """Return a trader's open positions, by pair and slot."""
        return sorted(p for p in self.positions.values() if p.trader == trader)

    def free_slot(self, trader: str, pair_index: int) -> int:
        """Return the lowest slot of a pair in which the trader has no position."""
        slot = 0
        while (trader, pair_index, slot) in self.positions:
            slot += 1
        return slot

    def find_pair(self, name: str) -> Pair | None:
        """Return the pair of a symbol: any case, with ``/``, ``-`` or ``_`` between its parts."""
        wanted = _folded(name)
        return next((pair for pair in self.pairs.values() if _folded(pair.symbol) == wanted), None)


def _folded(name: str) -> str:
    return name.upper().replace("-", "/").replace("_", "/")
