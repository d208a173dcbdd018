"""What the routes of one rehearsal share: the venue's state, mempool, faults in force, tasks, the sign that it is over."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, NamedTuple

from eth_utils.address import is_address, to_checksum_address

from airlock_rehearsal.chain.evm import CONTRACTS, REFERRAL, ROUTER
from airlock_rehearsal.services.faults import Faults
from airlock_shared.errors import UsageError

if TYPE_CHECKING:
    from airlock_rehearsal.chain.mempool import Mempool
    from airlock_rehearsal.services.venue.venue_state import VenueState


MINUTE_MS = 60_000


class Runtime:
    """The live rehearsal. ``faults`` may be replaced at any time; an order keeps the faults it was accepted under."""

    def __init__(self, state: VenueState, mempool: Mempool, faults: Faults) -> None:
        self.state = state
        self.settings = state.settings
        self.mempool = mempool
        self.posts: dict[str, Counter[str]] = defaultdict(Counter)  # place -> nonce or hash -> POSTs and PUTs
        self._limited: deque[int] = deque()  # when the limited requests of the last minute came, in unix milliseconds
        self.faults = faults
        self.stopping = False  # whoever still waits for an answer, or streams one, ends then
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[None, None, None]) -> None:
        """Run something independently of the connection that asked for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def wait_s(self) -> int:
        """Count a request to a trading endpoint; return 0 when it may go on, else how many seconds the client has to wait.

        Everybody is at one address here, which the limit is for (specification, "Limits").
        """
        now_ms, limit, seen = self.state.now_ms(), self.settings.rate_limit, self._limited
        while seen and seen[0] <= now_ms - MINUTE_MS:
            seen.popleft()
        if limit is None or len(seen) < limit:
            seen.append(now_ms)
            return 0
        return -(-(seen[0] + MINUTE_MS - now_ms) // 1000)

    async def pace(self) -> None:
        """Wait as long as lies between two events."""
        await asyncio.sleep(self.settings.pacing_s)

    async def close(self) -> None:
        """End what still runs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


# ---- settings -------------------------------------------------------------------------------------------------------
# How a rehearsal is set up: a chain that is nobody's, contracts at known addresses, and a trader.


REHEARSAL_CHAINS = CHAIN_ID, OTHER_CHAIN = (31337, 1337)
"""As the checks have them (``airlock_shared.documents.deployment``), which nothing here imports. The rehearsal is on the
first; the fault ``wrong-chain`` names the other one. What is signed in a rehearsal is worthless on every real chain."""

DOMAIN_NAME = "ExchangeTrading"
"""Of both signing domains."""

INTENT_DEADLINE_MS = 600_000  # ten minutes: a person has to read and sign

DEFAULT_TRADER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"  # account 0 of "test test test … junk", known to everyone

SPACES = {"trading": ROUTER, "referral": REFERRAL}
"""The contract of each signing domain: it keeps the nonces that are signed under it."""

STRANGER = "0xa86F77d29328eB688072a090478aaaf384aAd435"
"""Whom the fault message-altered makes a delegate: 20 bytes of keccak-256 of ``airlock rehearsal stranger``; no key."""


class RehearsalSettings(NamedTuple):
    """What a rehearsal may vary. Times ending in ``_s`` are seconds of real time, ``_ms`` unix milliseconds."""

    eip7702: bool = False  # whether the batched market wants a pre-signed transaction too
    pacing_s: float = 0.3  # between two events of an order, and before a relayed intent settles
    rate_limit: int | None = None  # requests a minute to the builder's trading endpoints
    slow_s: float = 2.0  # how long the fault "slow" waits

    @property
    def stream_cap(self) -> float:
        """The lifetime cap of an event stream, in seconds (specification, "Limits")."""
        return 180.0 if self.eip7702 else 60.0


def signing_domain(key: str) -> dict[str, object]:
    """Return the EIP-712 domain called ``trading`` or ``referral``."""
    contract = CONTRACTS[SPACES[key]]
    return {"name": DOMAIN_NAME, "version": "1", "chainId": CHAIN_ID, "verifyingContract": contract}


def checked(trader: str) -> str:
    """Return the trader in EIP-55. Raises ``UsageError`` for a wrong address."""
    if not is_address(trader):
        raise UsageError(f"the rehearsal's trader {trader!r} is not an address", do="give 0x and 40 hex digits")
    return str(to_checksum_address(trader))
