"""Several submissions at once: each in a thread of its own, started in order, bounded in number.

The threads are daemons, because one may wait for a silent service when the person interrupts: what it knew is in the
journal, and the program need not wait for the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

MOST_AT_ONCE = 1024
TURN_S = 10.0
"""For how long an answer is waited for before the next one is sent: what waits does not hold the others."""

_Result = TypeVar("_Result")
Job = Callable[[Callable[[], None]], _Result]
"""What runs in a thread. It is given what to call when its POST is answered, so that the next one may begin."""


class _Task(threading.Thread, Generic[_Result]):
    def __init__(self, job: Job[_Result], place: threading.Semaphore) -> None:
        super().__init__(daemon=True)
        self._job, self._place = job, place
        self.answered = threading.Event()
        self.results: list[_Result] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.results.append(self._job(self.answered.set))
        except BaseException as error:  # noqa: BLE001 (not hidden: the thread that waits raises it again)
            self.error = error
        finally:
            self.answered.set()
            self._place.release()


def run_parallel(jobs: Iterable[Job[_Result]], *, in_turn: bool, at_most: int = MOST_AT_ONCE) -> list[_Result]:
    """Run the jobs, at most so many at once, and return their results in order.

    ``in_turn``: each starts when the one before it is answered, has ended, or has waited for ``TURN_S``. What a job raises
    is raised here when all have ended; after ``KeyboardInterrupt`` no job is started and none is waited for.
    """
    place = threading.Semaphore(at_most)
    tasks: list[_Task[_Result]] = []
    for job in jobs:
        place.acquire()
        task = _Task(job, place)
        tasks.append(task)
        task.start()
        if in_turn:
            task.answered.wait(TURN_S)
    for task in tasks:
        task.join()
    for task in tasks:
        if task.error is not None:
            raise task.error
    return [result for task in tasks for result in task.results]
