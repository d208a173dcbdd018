"""What happened on the rehearsal's chain, in lines for a person: transactions, what they emitted, the state that changed."""

from __future__ import annotations

from typing import Any

from airlock_rehearsal.chain.evm import EvmReceipt
from airlock_rehearsal.chain.interface import USDC, decode_logs, revert_name
from airlock_rehearsal.services.venue.initial_state import TWAPS
from airlock_rehearsal.services.venue.positions import ONE, USDC_ONE
from airlock_rehearsal.services.venue.venue_state import VenueState

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
        storage = state.venue.contracts.trading_storage
        found = {
            "USDC balance": _usdc(state.venue.read(USDC, "balanceOf", trader)),
            "USDC approval": _usdc(state.venue.read(USDC, "allowance", trader, storage)),
            "referral code": state.adopted_code(trader).rstrip(b"\0").decode("ascii", "replace") or _NONE,
        }
        found |= {f"TWAP {twap}": "pending" if state.twap_trader(twap) else _NONE for twap in TWAPS}
        for delegate in self._delegates:
            expiry_s = state.venue.delegation_expiry(trader, delegate)
            found[f"delegate {delegate[:10]}"] = f"until {expiry_s} s" if expiry_s else _NONE
        for held in state.positions_of(trader):
            name = f"{state.pairs[held.pair_index].symbol} #{held.slot}"
            found[name] = f"{_usdc(held.collateral)} at {held.leverage / ONE:g}x"
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
