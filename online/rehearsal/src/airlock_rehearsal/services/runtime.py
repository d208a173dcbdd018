"""What the routes of one rehearsal share: the venue's state, mempool, faults in force, tasks, the sign that it is over."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING

from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.rate_limit import RateLimit
from airlock_rehearsal.services.settings import RehearsalSettings

if TYPE_CHECKING:
    from airlock_rehearsal.services.venue.mempool import Mempool
    from airlock_rehearsal.services.venue.venue_state import VenueState


class Runtime:
    """The live rehearsal. ``faults`` may be replaced at any time; an order keeps the faults it was accepted under."""

    def __init__(self, state: VenueState, mempool: Mempool, faults: Faults) -> None:
        self.state = state
        self.mempool = mempool
        self.rate = RateLimit(state.settings.rate_limit)
        self.faults = faults
        self.stopping = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def settings(self) -> RehearsalSettings:
        """The settings that the venue was set up with."""
        return self.state.settings

    def spawn(self, work: Coroutine[None, None, None]) -> None:
        """Run something independently of the connection that asked for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def pace(self) -> None:
        """Wait as long as lies between two events."""
        await asyncio.sleep(self.settings.pacing_s)

    def end(self) -> None:
        """Say that the rehearsal is over, to streams and to whoever was left without an answer."""
        self.stopping.set()

    async def close(self) -> None:
        """End what still runs."""
        self.end()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
