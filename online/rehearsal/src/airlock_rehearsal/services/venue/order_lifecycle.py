"""An order's life in the batched market: its persisted events, and the task that brings it to an end.

Source: the specification, "States and transitions" and "Events". The task does not depend on any connection. Until the
order is registered its nonce is held, from then on it is spent; an order that ends before gives it back.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_rehearsal.chain.evm import Reverted
from airlock_rehearsal.services.faults import MAX_ATTEMPTS
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.venue.settlement import code_of, fulfilled, order_in, told
from airlock_rehearsal.services.venue.submission import SignedIntent

TERMINAL = frozenset({"MarketOrderExecuted", "PositionSizeIncreased", "MarketOrderCanceled", "Error"})
"""The event types that end an order; an Error with the code STREAM_TIMEOUT is never persisted, so it is not among them."""


class MarketEvent(NamedTuple):
    """A persisted event; ``at`` is in unix milliseconds."""

    seq: int
    type: str
    payload: dict[str, object]
    at: int


class TrackedOrder:
    """An accepted order and what has happened to it, under the faults that were in force when it was accepted."""

    def __init__(self, runtime: Runtime, signed: SignedIntent) -> None:
        """Hold its nonce, persist MarketOrderAccepted, and start to execute it."""
        self._runtime, self._state, self._signed = runtime, runtime.state, signed
        self.faults = runtime.faults
        self.tracking_id = self._state.draw_id("tracking-id")
        self.events: list[MarketEvent] = []
        self.unrecorded: dict[str, object] | None = None  # a last Error that is told and not persisted
        self.status_reads = 0
        self._state.reserved_nonces.add(signed.spends)
        self._record("MarketOrderAccepted", {"trackingId": self.tracking_id})
        runtime.spawn(self._execute())

    def told(self, fault: str) -> bool:
        """Tell whether it is to misbehave so."""
        return self.faults.has(fault, "batched")

    def error(self, code: str, message: str) -> dict[str, object]:
        """Return an Error's payload."""
        return {"status": "failed", "code": code, "message": message, "trackingId": self.tracking_id}

    def _record(self, kind: str, payload: dict[str, object]) -> None:
        self.events.append(MarketEvent(len(self.events), kind, payload, self._state.now_ms()))

    def _release(self) -> None:
        self._state.reserved_nonces.discard(self._signed.spends)

    def _fail(self, code: str, message: str) -> None:
        self._release()
        self._record("Error", self.error(code, message))

    async def _execute(self) -> None:
        await self._runtime.pace()
        if self.told("enqueue-failed-no-id"):
            self._release()
            self.unrecorded = self.error("ENQUEUE_FAILED", "the request never reached the queue")
        elif await self._attempt():
            await self._settle()

    async def _attempt(self) -> bool:
        """Go through the attempts that fail; return whether one is left to succeed."""
        for attempt in range(1, min(self.faults.failing_attempts, MAX_ATTEMPTS) + 1):
            left = attempt < MAX_ATTEMPTS
            payload = {"attempt": attempt, "code": "NO_PRICE", "message": "no fresh price", "willRetry": left}
            self._record("AttemptFailed", payload)
            await self._runtime.pace()
            if not left:
                self._fail("ATTEMPTS_EXHAUSTED", f"all {MAX_ATTEMPTS} attempts failed")
                return False
        if self.told("unknown-event"):
            self._record("MarketPriceRefreshed", {"note": "an informational event that the client cannot know"})
            await self._runtime.pace()
        return True

    async def _settle(self) -> None:
        try:
            outcome = self._state.submit(*self._signed.entry)
            self._release()
            self._record(*told(outcome))
            await self._runtime.pace()
            if self.told("fail-terminal"):
                self._fail("TX_NOT_EXECUTED", "the fill was not executed")
                return
            stored = order_in(outcome).arguments
            outcome = fulfilled(self._state, stored, declined=self.told("cancel-fill"))
        except Reverted as error:
            self._fail(code_of(error), f"the contract reverted: {error.name}")
            return
        self._record(*told(outcome))
