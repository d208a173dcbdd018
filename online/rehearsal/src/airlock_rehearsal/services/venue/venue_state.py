"""The state of the rehearsal: the venue on its chain, and what a venue keeps beside it. No HTTP, no clock of its own.

The same seed, requests and clock give the same. What is on the chain is read from it at every question.
"""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from eth_utils.crypto import keccak

from airlock_rehearsal.chain.embedded import EmbeddedEvm
from airlock_rehearsal.chain.evm import CONTRACTS, REFERRAL, STORAGE, USDC, EvmCall, EvmReceipt
from airlock_rehearsal.chain.interface import decode_logs, revert_name
from airlock_rehearsal.chain.venue import ChainVenue, call_to
from airlock_rehearsal.services.runtime import DOMAIN_NAME, SPACES, RehearsalSettings
from airlock_rehearsal.services.venue.positions import ONE, PAIRS, USDC_ONE, Trade, VenuePair, seeded, seeded_limit

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

    def position(self, trader: str, pair_index: int, slot: int) -> Trade | None:
        """Return the position in a slot."""
        found: Trade = self.venue.read(STORAGE, "tradeAt", trader, pair_index, slot)
        return found if found["initialPosToken"] else None

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


def _somebody(account: str) -> str:
    return "" if account == _NOBODY else account


# ---- initial state --------------------------------------------------------------------------------------------------
# What a rehearsal starts with, as calls of the operator's: pairs, money, positions, TWAPs, rewards and referral
# codes.


SET_UP_S = 60
"""How long before the rehearsal its chain begins, in seconds: what sets it up must not run ahead of the clock."""

_SAME_S = 300  # services that a process starts within this time begin from one chain

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
    begun = _opened(trader, now_s - now_s % _SAME_S)
    venue = ChainVenue(begun.evm.copied(lambda: now_ms() // 1000))
    return VenueState(settings, trader, now_ms, venue)


@lru_cache(maxsize=8)
def _opened(trader: str, began_s: int) -> ChainVenue:
    """Return a venue to make copies of: it takes half a second of CPU, and a process may start many services."""
    evm = EmbeddedEvm(lambda: began_s - SET_UP_S)
    venue = ChainVenue.deployed(evm, trading_name=DOMAIN_NAME, referral_name=DOMAIN_NAME)
    venue.act_together(list(_opening(trader, began_s)))
    return venue


def _opening(trader: str, now_s: int) -> Iterator[EvmCall]:
    """Yield the calls that set a rehearsal up; what the trader has opened was opened days before ``now_s``."""
    storage, limit = CONTRACTS[STORAGE], seeded_limit(trader)
    yield from (call_to(USDC, "mint", account, _MONEY) for account in (storage, trader))
    yield call_to(USDC, "seedAllowance", trader, storage, _MONEY)
    for pair in PAIRS:
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


# ---- chain record ---------------------------------------------------------------------------------------------------
# What happened on the rehearsal's chain, in lines for a person: transactions, what they emitted, the state that
# changed.


ChainFacts = dict[str, str]
"""What is on the chain, by what it is about."""

_NONE = "none"


class ChainRecord:
    """The chain since it was last asked about. ``delegates``: whose delegations are looked at."""

    def __init__(self, state: VenueState, delegates: tuple[str, ...] = ()) -> None:
        self._venue_state = state
        self._delegates = delegates
        self._told = len(state.receipts)
        self._state = self._read()

    def since(self) -> tuple[tuple[str, str], ...]:
        """Return what happened since the last time, as labels and texts."""
        receipts, before = self._venue_state.receipts[self._told :], self._state
        self._told, self._state = len(self._venue_state.receipts), self._read()
        rows = [row for receipt in receipts for row in _rows(receipt)]
        names = dict.fromkeys((*before, *self._state))
        rows += [
            ("changed", f"{name}: {before.get(name, _NONE)} -> {self._state.get(name, _NONE)}")
            for name in names
            if before.get(name) != self._state.get(name)
        ]
        return tuple(rows) or (("chain", "nothing yet: it waits off the chain"),)

    def _read(self) -> ChainFacts:
        state, trader = self._venue_state, self._venue_state.trader
        found = {
            "USDC balance": _usdc(state.venue.read(USDC, "balanceOf", trader)),
            "USDC approval": _usdc(state.venue.read(USDC, "allowance", trader, CONTRACTS[STORAGE])),
            "referral code": state.adopted_code(trader).rstrip(b"\0").decode("ascii", "replace") or _NONE,
        }
        found |= {f"TWAP {twap}": "pending" if state.twap_trader(twap) else _NONE for twap in TWAPS}
        for delegate in self._delegates:
            expiry_s = state.venue.delegation_expiry(trader, delegate)
            found[f"delegate {delegate[:10]}"] = f"until {expiry_s} s" if expiry_s else _NONE
        for held in state.venue.trades_of(trader):
            name = f"{state.pairs[held['pairIndex']].symbol} #{held['index']}"
            found[name] = f"{_usdc(held['initialPosToken'])} at {held['leverage'] / ONE:g}x"
        return found


def _rows(receipt: EvmReceipt) -> list[tuple[str, str]]:
    rows = [("transaction", receipt.hash.removeprefix("0x"))]
    if not receipt.ok:
        return [*rows, ("reverted", revert_name(receipt.revert))]
    return rows + [("event", f"{event.name} {_ids(event.arguments)}".rstrip()) for event in decode_logs(receipt.logs)]


def _ids(arguments: dict[str, Any]) -> str:
    known = ("orderId", "pairIndex", "twapId", "expiry")
    return " ".join(f"{name} {arguments[name]}" for name in known if name in arguments)


def _usdc(raw: int) -> str:
    return f"{raw // USDC_ONE:,}.{raw % USDC_ONE:06} USDC"
