"""Many submissions at once, by a few threads that take turns at them: each is written as steps, with pauses in between.

The threads are daemons, because one may wait for a silent service when the person interrupts: what it knew is in the
journal, and the program need not wait for the rest.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from airlock_online.delivery.routes.polling import Pause, Steps
from airlock_online.delivery.turns import Lane, Turns

WORKERS, SENDERS, POLLERS = 44, 16, 14
"""Threads in all; of them, those that may send or read a stream; and those that are always left to poll.

With the teller that each sending has beside it, and the program's own, there are less than 64."""
STREAMS = 10
"""How many streams of events are read at once: the others are left once the order is named, and its status is asked."""
SLOW_S = 2.0
"""An order whose turn lasted longer has its next one aside, where it holds none of those that are quick."""
TURN_S = 10.0
"""For how long an answer is waited for before the next one is sent: what waits does not hold the others."""

SPARE_S = 0.02
"""How long after it was due a turn is left to a thread that is at work, before another one is woken for it: to wake a thread
costs up to a sixth of a turn, and a turn is over in a millisecond as a rule."""

_Result = TypeVar("_Result")


class JobPlace(NamedTuple):
    """What a submission is given. ``answered`` is called when its POST is answered, so that the next one may begin.

    ``stay`` tells whether its stream may be read on.
    """

    answered: Callable[[], None]
    stay: Callable[[], bool]


Job = Callable[[JobPlace], Steps[_Result]]
"""What is done, in steps."""


class _Task(Generic[_Result]):
    """One job. Its steps are taken one after another, each by whichever thread is free."""

    def __init__(self, job: Job[_Result], streams: threading.Semaphore) -> None:
        self.answered = threading.Event()
        self.results: list[_Result] = []
        self.error: BaseException | None = None
        self._streams, self._streaming = streams, False
        self._steps = job(JobPlace(self.answered.set, self._stay))

    def _stay(self) -> bool:
        self._streaming = self._streaming or self._streams.acquire(blocking=False)
        return self._streaming

    def step(self) -> Pause | None:
        """Take the next step, and return the pause behind it; None when it was the last one."""
        try:
            return next(self._steps)
        except StopIteration as ended:
            self.results.append(ended.value)
        except BaseException as error:  # noqa: BLE001 (not hidden: the thread that waits raises it again)
            self.error = error
        finally:
            if self._streaming:
                self._streaming = False
                self._streams.release()
        self.answered.set()
        return None


class _Crew(Generic[_Result]):
    """The threads. Of those that rest one, which has worked, waits for the next turn, and a spare one for a bit later."""

    def __init__(self, places: Mapping[Lane, int]) -> None:
        self._turns: Turns[_Task[_Result]] = Turns(places)
        lock = threading.Lock()
        self._change, self._done = threading.Condition(lock), threading.Condition(lock)
        self._threads = self._idle = self._unfinished = 0
        self._watched_s = self._spare_s = math.inf  # the moments for which the two wait
        self._over = False

    def start(self, task: _Task[_Result], lane: Lane) -> None:
        """Let a task have its first turn as soon as there is a place."""
        with self._change:
            self._unfinished += 1
            self._turns.wait(task, lane, time.monotonic())
            self._call()

    def wait(self) -> None:
        """Return when every task has ended."""
        with self._change:
            while self._unfinished:
                self._done.wait()

    def end(self) -> None:
        """Take no step any more."""
        with self._change:
            self._over = True
            self._change.notify_all()

    def _call(self) -> None:
        """Wake a thread, or make one."""
        if self._idle:
            self._change.notify()
        elif self._threads < WORKERS:
            self._threads += 1
            threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while (turn := self._next()) is not None:
            task, lane = turn
            began_s = time.monotonic()
            pause = task.step()
            self._after(task, lane, pause, time.monotonic() - began_s)

    def _next(self) -> tuple[_Task[_Result], Lane] | None:
        worked = True
        with self._change:
            while not self._over:
                now_s = time.monotonic()
                if (turn := self._turns.take(now_s)) is not None:
                    due_s = self._turns.next_due_s()
                    if due_s is not None and max(due_s, now_s) + SPARE_S < self._spare_s:
                        self._call()
                    return turn
                if worked:
                    self._watch(now_s)
                else:
                    self._stand_by(now_s)
                worked = False
        return None

    def _watch(self, now_s: float) -> None:
        """Wait for the moment at which somebody is due, unless another thread does."""
        due_s = self._turns.next_due_s()
        until_s = math.inf if due_s is None or due_s >= self._watched_s else due_s
        self._watched_s = min(until_s, self._watched_s)
        self._rest(until_s, now_s)
        if until_s == self._watched_s:
            self._watched_s = math.inf

    def _stand_by(self, now_s: float) -> None:
        """Wait for a moment a little later, unless another thread does."""
        due_s = self._turns.next_due_s()
        until_s = math.inf if due_s is None or due_s + SPARE_S >= self._spare_s else due_s + SPARE_S
        self._spare_s = min(until_s, self._spare_s)
        self._rest(until_s, now_s)
        if until_s == self._spare_s:
            self._spare_s = math.inf

    def _rest(self, until_s: float, now_s: float) -> None:
        self._idle += 1
        self._change.wait(None if until_s == math.inf else max(0.0, until_s - now_s))
        self._idle -= 1

    def _after(self, task: _Task[_Result], lane: Lane, pause: Pause | None, lasted_s: float) -> None:
        with self._change:
            self._turns.give_back(lane)
            if pause is None:
                self._unfinished -= 1
                if not self._unfinished:
                    self._done.notify_all()
                return
            slow = lane is not Lane.SENDING and lasted_s >= SLOW_S
            self._turns.wait(
                task, Lane.ASIDE if pause.aside or slow else Lane.POLLING, time.monotonic() + pause.seconds
            )


def places(*, in_turn: bool) -> dict[Lane, int]:
    """Return how many threads may be at work in each lane."""
    senders = SENDERS if in_turn else 0
    return {Lane.SENDING: senders, Lane.ASIDE: WORKERS - POLLERS - senders, Lane.POLLING: WORKERS}


def run_parallel(jobs: Iterable[Job[_Result]], *, in_turn: bool) -> list[_Result]:
    """Run the jobs, all at once by at most ``WORKERS`` threads, and return their results in order.

    ``in_turn``: they send, and each starts when the one before it is answered, has ended, or has waited for ``TURN_S``. What
    a job raises is raised here when all have ended; after ``KeyboardInterrupt`` no step is taken and none is waited for.
    """
    streams = threading.Semaphore(STREAMS)
    crew: _Crew[_Result] = _Crew(places(in_turn=in_turn))
    tasks: list[_Task[_Result]] = []
    try:
        for job in jobs:
            task = _Task(job, streams)
            tasks.append(task)
            crew.start(task, Lane.SENDING if in_turn else Lane.POLLING)
            if in_turn:
                task.answered.wait(TURN_S)
        crew.wait()
    finally:
        crew.end()
    for task in tasks:
        if task.error is not None:
            raise task.error
    return [result for task in tasks for result in task.results]
