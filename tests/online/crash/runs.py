"""Runs of `submit` and `follow` that are killed at a chosen place, and what must hold after the restart."""

import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from airlock_online.journal.order_states import FINAL, OrderState
from commands import LineProcess
from online.crash.orders import order
from online.crash.venue import Venue
from online.delivering_machine import NOW

LATE_MS = 10 * 60_000  # after a deadline, when nothing can be executed any more
WORKERS = 2


class Ran(NamedTuple):
    """What a run came to: ``status`` is 0, or negative for the signal that ended it; what the journal has after it."""

    status: int
    names: list[str] = []  # noqa: RUF012 (never changed)
    state: str = ""
    reason: str = ""
    tracking_id: str = ""
    events: list[list[Any]] = []  # noqa: RUF012
    error: str = ""


class Launcher(LineProcess):
    """A process that forks children for runs; a context manager."""

    def __init__(self) -> None:
        super().__init__(sys.executable, "-m", "online.crash.launcher", cwd=Path(__file__).parents[2])

    def run(self, told: dict[str, Any]) -> Ran:
        return Ran(**json.loads(self.ask(json.dumps(told))))


class Stand:
    """One order's place: its journal, its screen, its venue, and the process that works for it."""

    def __init__(self, way: str, folder: Path, venue: Venue, launcher: Launcher) -> None:
        self.folder, self.venue = folder, venue
        self._launcher = launcher
        self.delivery = order(way, venue.url)

    def run(self, *acts: str, die_at: str = "", full_at: str = "", now_ms: int = NOW) -> Ran:
        """Run one process to its end, and wait until the venue has dealt with all that it sent."""
        self.venue.now_ms = now_ms
        ran = self._launcher.run(
            {
                "acts": acts,
                "delivery": self.delivery._asdict(),
                "folder": str(self.folder),
                "venue": self.venue.url,
                "die_at": die_at,
                "full_at": full_at,
                "now_ms": now_ms,
            }
        )
        self.venue.settle()
        return ran

    @property
    def told(self) -> list[list[Any]]:
        """What the person saw, in order, over all runs."""
        screen = self.folder / "told"
        return [json.loads(line) for line in screen.read_text().splitlines()] if screen.exists() else []


@contextmanager
def stand(way: str, folder: Path, launcher: Launcher, *, die_at: int = 0) -> Iterator[Stand]:
    folder.mkdir()
    with Venue(die_at=die_at) as venue:
        yield Stand(way, folder, venue, launcher)


def at_once(launchers: list[Launcher], names: Iterable[Any], check: Callable[[Launcher, Any], None]) -> None:
    """Call ``check`` for every name, each launcher working on one at a time. Raises the first failure."""
    free = list(launchers)

    def one(name: Any) -> None:
        launcher = free.pop()
        try:
            check(launcher, name)
        except AssertionError as error:
            raise AssertionError(f"killed at {name}: {error}") from error
        finally:
            free.append(launcher)

    with ThreadPoolExecutor(len(launchers)) as pool:
        for done in [pool.submit(one, name) for name in names]:
            done.result()


def recover(stand: Stand, whole: list[list[Any]]) -> OrderState:
    """Restart as a person would after a crash, and check all that must hold. ``whole`` is what an unharmed run tells.

    Follow, submit the same file again, follow: the venue is asked once at most; no event is lost or told twice; the state
    is final or explained, and without the order at the venue it ends with the deadline.
    """
    stand.venue.revive()
    back = stand.run("follow", "submit", "follow")
    assert (back.status, back.error) == (0, ""), back.reason
    assert stand.venue.started <= 1, f"submitted {stand.venue.started} times"
    told = stand.told
    assert len({json.dumps(line) for line in told}) == len(told), f"told twice: {told}"
    assert all(line in back.events for line in told), "told and not written down"
    assert len({json.dumps(line) for line in back.events}) == len(back.events)
    if back.tracking_id:
        assert back.state in FINAL, f"{back.state} in spite of a tracking id"
    if back.tracking_id or back.events:
        # That a transaction was taken is told by the answer alone; where it was lost, the chain tells the rest.
        unanswered = [whole[1:]] if stand.delivery.raw_transaction else []
        proof = [[2, "TransactionConfirmed"]] if stand.delivery.raw_transaction else []  # by the node
        told = back.events[:-1] if back.events[-1:] == proof else back.events
        assert told in [whole, *unanswered], f"an event was lost: {back.events}"
    if back.state in FINAL:
        return OrderState(back.state)
    assert back.state in (OrderState.UNKNOWN, OrderState.PRESUMED_UNKNOWN)
    assert back.reason, "a state that nothing explains"
    deadline_ms = stand.delivery.deadline_ms
    late = stand.run("follow", now_ms=(deadline_ms or NOW) + LATE_MS)
    expires = deadline_ms is not None
    assert (late.state == OrderState.EXPIRED_UNUSED) == (expires and stand.venue.taken == 0), late
    return OrderState(late.state)


def killed(ran: Ran) -> bool:
    return ran.status == -signal.SIGKILL
