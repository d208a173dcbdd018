"""What the routes of one rehearsal share: the venue's state, mempool, faults in force, tasks, the sign that it is over."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING

from airlock_rehearsal.services.faults import Faults

if TYPE_CHECKING:
    from airlock_rehearsal.services.venue.mempool import Mempool
    from airlock_rehearsal.services.venue.venue_state import VenueState


MINUTE_MS = 60_000


class RateLimit:
    """At most ``per_minute`` requests from one address within any minute; ``None`` limits nothing.

    It holds for the builder's trading endpoints (specification, "Limits").
    """

    def __init__(self, per_minute: int | None) -> None:
        self.per_minute = per_minute
        self._seen: dict[str, deque[int]] = defaultdict(deque)

    def wait_s(self, client: str, now_ms: int) -> int:
        """Count a request; return 0 when it may go on, else how many seconds the client has to wait."""
        seen = self._seen[client]
        while seen and seen[0] <= now_ms - MINUTE_MS:
            seen.popleft()
        if self.per_minute is None or len(seen) < self.per_minute:
            seen.append(now_ms)
            return 0
        return -(-(seen[0] + MINUTE_MS - now_ms) // 1000)


class Runtime:
    """The live rehearsal. ``faults`` may be replaced at any time; an order keeps the faults it was accepted under."""

    def __init__(self, state: VenueState, mempool: Mempool, faults: Faults) -> None:
        self.state = state
        self.settings = state.settings
        self.mempool = mempool
        self.rate = RateLimit(state.settings.rate_limit)
        self.faults = faults
        self.stopping = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[None, None, None]) -> None:
        """Run something independently of the connection that asked for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def pace(self) -> None:
        """Wait as long as lies between two events."""
        await asyncio.sleep(self.settings.pacing_s)

    async def close(self) -> None:
        """End what still runs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
