"""Many submissions at once: each in a thread of its own, by functions that block.

The threads are daemons, because one may wait for a silent service when the person interrupts: what it knew is in the
journal, and the program need not wait for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from threading import Event, Semaphore, Thread
from typing import TypeVar

THREADS = 1_024
TURN_S = 10.0
"""For how long an answer is waited for before the next one is sent: what waits does not hold the others."""

_Result = TypeVar("_Result")

Job = Callable[[Callable[[], None]], _Result]
"""What is done. It calls what it is given when its POST is answered, so that the next one may begin."""


def run_parallel(jobs: Iterable[Job[_Result]], *, in_turn: bool) -> list[_Result]:
    """Run the jobs, at most ``THREADS`` at once, and return their results in order.

    ``in_turn``: they send, and each starts when the one before it is answered, has ended, or has waited for ``TURN_S``. What
    a job raises is raised here when all have ended; after ``KeyboardInterrupt`` none is begun and none is waited for.
    """
    free = Semaphore(THREADS)
    running: list[Future[_Result]] = []

    def run(job: Job[_Result], result: Future[_Result], answered: Event) -> None:
        try:
            result.set_result(job(answered.set))
        except BaseException as error:  # noqa: BLE001 (not hidden: the thread that waits raises it again)
            result.set_exception(error)
        finally:
            answered.set()
            free.release()

    for job in jobs:
        free.acquire()
        running.append(Future())
        answered = Event()
        Thread(target=run, args=(job, running[-1], answered), daemon=True).start()
        if in_turn:
            answered.wait(TURN_S)
    wait(running)
    return [result.result() for result in running]
