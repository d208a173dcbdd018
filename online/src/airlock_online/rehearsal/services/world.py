"""The state of the rehearsal's venue and chain: no HTTP, no clock of its own, the same for the same seed and requests."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable

from eth_utils.crypto import keccak

from airlock_online.rehearsal.services.positions import PAIRS, USDC_ONE, Pair, Position, seeded, seeded_order
from airlock_online.rehearsal.services.settings import TRADING_STORAGE, Settings
from airlock_online.rehearsal.services.terms import PendingOrder

SOMEBODY_ELSE = "0x" + "00" * 19 + "01"
TAKEN_CODE = b"TAKEN".ljust(32, b"\0")
"""A referral code that somebody else has registered already; the trader has asked for access to it."""

OFFERED_CODE = b"OFFERED".ljust(32, b"\0")
"""A code of somebody else's, offered to the trader: it waits to be accepted."""

OWN_CODE = b"HOUSE".ljust(32, b"\0")
"""A code that the trader owns."""

FIRST_BLOCK = 1_000_000
BLOCK_MS = 2_000
"""An empty block is made every two seconds, and one for every transaction."""


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
        self.code_owners = {TAKEN_CODE: SOMEBODY_ELSE, OFFERED_CODE: SOMEBODY_ELSE, OWN_CODE: trader}
        self.pending_owners: dict[bytes, str] = {OFFERED_CODE: trader}  # code -> who may accept it
        self.code_requests: dict[str, bytes] = {trader: TAKEN_CODE}  # account -> the code it wants access to
        self.allowances = {(trader, TRADING_STORAGE): 1_000_000 * USDC_ONE}  # (owner, spender) -> USDC raw
        self.usdc = {trader: 1_000_000 * USDC_ONE}  # balances, raw; rewards alone change them
        self.rewards = {trader: 25 * USDC_ONE}  # keeper rewards not paid out, USDC raw
        self.pending_orders: list[PendingOrder] = []  # stored by transactions, not executed yet
        self.operator_blocks: dict[str, int] = {}  # hash of a transaction of the operator's -> its block
        self.twaps: dict[int, str] = {41: trader, 42: trader}  # pending TWAP id -> its trader
        self.triggers: dict[str, dict[str, object]] = {}  # entityId -> the stored price trigger
        self.posts: dict[str, Counter[str]] = defaultdict(Counter)  # place -> nonce or hash -> POSTs and PUTs
        self.order_ids = 0  # the last order id given
        self._start_ms = self.now_ms()
        self._blocks_of_transactions = 0
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

    @property
    def block_number(self) -> int:
        """The number of the latest block."""
        return FIRST_BLOCK + self._blocks_of_transactions + (self.now_ms() - self._start_ms) // BLOCK_MS

    def next_block(self) -> int:
        """Make a block; return its number."""
        self._blocks_of_transactions += 1
        return self.block_number

    def mine(self) -> tuple[str, int]:
        """Put a transaction of the operator's on the chain; return its hash and block number."""
        transaction = "0x" + self.draw("transaction").hex()
        self.operator_blocks[transaction] = self.next_block()
        return transaction, self.operator_blocks[transaction]

    def next_order_id(self) -> int:
        """Return the id of an order that is now on the chain."""
        self.order_ids += 1
        return self.order_ids

    def nonce_used(self, space: str, trader: str, nonce: int) -> bool:
        """Tell whether a nonce is spent on the chain."""
        return (space, trader, nonce) in self.used_nonces

    def nonce_taken(self, space: str, trader: str, nonce: int) -> bool:
        """Tell whether a nonce is spent, or held by an order that is on its way."""
        key = (space, trader, nonce)
        return key in self.used_nonces or key in self.reserved_nonces

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
