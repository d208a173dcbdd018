"""An order's life in the batched market: its persisted events, and the task that brings it to an end.

Source: the specification, "States and transitions" and "Events". The task does not depend on any connection. Until the
order is registered its nonce is held, from then on it is spent; an order that ends before gives it back.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_rehearsal.chain.evm import Reverted
from airlock_rehearsal.services.faults import MAX_ATTEMPTS, Faults
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.venue.settlement import code_of, fulfilled, order_in, submitted, told
from airlock_rehearsal.services.venue.submission import SignedIntent

TERMINAL = frozenset({"MarketOrderExecuted", "PositionSizeIncreased", "MarketOrderCanceled", "Error"})
"""The event types that end an order; an Error with the code STREAM_TIMEOUT is never persisted, so it is not among them."""


class MarketEvent(NamedTuple):
    """A persisted event; ``at`` is in unix milliseconds."""

    seq: int
    type: str
    payload: dict[str, object]
    at: int


class Tracked:
    """An accepted order and what has happened to it."""

    def __init__(self, tracking_id: str, order: SignedIntent, faults: Faults) -> None:
        self.tracking_id = tracking_id
        self.order = order
        self.faults = faults  # those in force when it was accepted
        self.events: list[MarketEvent] = []
        self.unrecorded: dict[str, object] | None = None  # a last Error that is told and not persisted
        self.status_reads = 0

    def told(self, fault: str) -> bool:
        """Tell whether it is to misbehave so."""
        return self.faults.has(fault, "batched")

    def error(self, code: str, message: str) -> dict[str, object]:
        """Return an Error's payload."""
        return {"status": "failed", "code": code, "message": message, "trackingId": self.tracking_id}


class Market:
    """The batched market's orders, by tracking id."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.orders: dict[str, Tracked] = {}

    def accept(self, order: SignedIntent) -> Tracked:
        """Take an order on: hold its nonce, persist MarketOrderAccepted, and start to execute it."""
        state = self.runtime.state
        state.reserved_nonces.add(order.spends)
        tracked = Tracked(state.draw_id("tracking-id"), order, self.runtime.faults)
        self.orders[tracked.tracking_id] = tracked
        self._record(tracked, "MarketOrderAccepted", {"trackingId": tracked.tracking_id})
        self.runtime.spawn(self._execute(tracked))
        return tracked

    def _record(self, tracked: Tracked, kind: str, payload: dict[str, object]) -> None:
        tracked.events.append(MarketEvent(len(tracked.events), kind, payload, self.runtime.state.now_ms()))

    def _release(self, tracked: Tracked) -> None:
        self.runtime.state.reserved_nonces.discard(tracked.order.spends)

    def _fail(self, tracked: Tracked, code: str, message: str) -> None:
        self._release(tracked)
        self._record(tracked, "Error", tracked.error(code, message))

    async def _execute(self, tracked: Tracked) -> None:
        await self.runtime.pace()
        if tracked.told("enqueue-failed-no-id"):
            self._release(tracked)
            tracked.unrecorded = tracked.error("ENQUEUE_FAILED", "the request never reached the queue")
        elif await self._attempt(tracked):
            await self._settle(tracked)

    async def _attempt(self, tracked: Tracked) -> bool:
        """Go through the attempts that fail; return whether one is left to succeed."""
        for attempt in range(1, min(tracked.faults.failing_attempts, MAX_ATTEMPTS) + 1):
            left = attempt < MAX_ATTEMPTS
            payload = {"attempt": attempt, "code": "NO_PRICE", "message": "no fresh price", "willRetry": left}
            self._record(tracked, "AttemptFailed", payload)
            await self.runtime.pace()
            if not left:
                self._fail(tracked, "ATTEMPTS_EXHAUSTED", f"all {MAX_ATTEMPTS} attempts failed")
                return False
        if code := tracked.faults.value("error", "batched"):
            self._fail(tracked, code, "the rehearsal was told to fail")
            return False
        if tracked.told("unknown-event"):
            self._record(
                tracked, "MarketPriceRefreshed", {"note": "an informational event that the client cannot know"}
            )
            await self.runtime.pace()
        return True

    async def _settle(self, tracked: Tracked) -> None:
        state = self.runtime.state
        try:
            outcome = submitted(state, tracked.order)
            stored = order_in(outcome).arguments
            self._release(tracked)
            self._record(tracked, *told(outcome))
            await self.runtime.pace()
            if tracked.told("fail-terminal"):
                self._fail(tracked, "TX_NOT_EXECUTED", "the fill was not executed")
                return
            declined = tracked.told("cancel-fill")
            outcome = fulfilled(state, stored["orderId"], stored["pairIndex"], declined=declined)
        except Reverted as error:
            self._fail(tracked, code_of(error), f"the contract reverted: {error.name}")
            return
        self._record(tracked, *told(outcome))
        if tracked.told("second-terminal"):
            self._record(tracked, "Error", tracked.error("TX_NOT_EXECUTED", "told after the end"))
