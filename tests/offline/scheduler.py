"""Several commands in one process, one of which runs at a time: who goes on is drawn from a seed wherever it matters."""

import fcntl
import random
import threading
from collections.abc import Callable


class Actor:
    """A command that is scheduled: its thread, whether it has ended, and with what error."""

    def __init__(self, name: str, play: Callable[[], object]) -> None:
        self.name = name
        self.turn = threading.Semaphore(0)
        self.ended = False
        self.result: object = None
        self.error: BaseException | None = None
        self._play = play

    def run(self, back: threading.Semaphore) -> None:
        self.turn.acquire()
        try:
            self.result = self._play()
        except BaseException as error:  # noqa: BLE001 (told by the test)
            self.error = error
        self.ended = True
        back.release()


class Scheduler:
    """Plays commands to their ends; :meth:`pause` is called wherever another one may go on."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._back = threading.Semaphore(0)
        self._current: Actor | None = None
        self.trace: list[str] = []

    def play(self, commands: dict[str, Callable[[], object]]) -> dict[str, Actor]:
        """Run every command in a thread, one at a time, until all have ended."""
        actors = {name: Actor(name, play) for name, play in commands.items()}
        threads = [threading.Thread(target=actor.run, args=(self._back,), daemon=True) for actor in actors.values()]
        for thread in threads:
            thread.start()
        while going := [actor for actor in actors.values() if not actor.ended]:
            self._current = self._random.choice(going)
            self._current.turn.release()
            assert self._back.acquire(timeout=60), f"{self._current.name} waits for another one: {self.trace[-20:]}"
        for thread in threads:
            thread.join()
        return actors

    def pause(self, place: str) -> None:
        """Let somebody else go on; outside of :meth:`play` nothing happens."""
        actor = self._current
        if actor is None or threading.current_thread() is threading.main_thread():
            return
        self.trace.append(f"{actor.name}: {place}")
        self._back.release()
        actor.turn.acquire()

    def lock(self, descriptor: int) -> None:
        """Wait for a file's lock, with everybody else going on meanwhile."""
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.pause("waits for a lock")
            else:
                return
