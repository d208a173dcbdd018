"""Many submissions at once: in turn, by few threads, none held by those that are slow, and left when a person interrupts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from airlock_online.delivery import parallel
from airlock_online.delivery.parallel import POLLERS, SENDERS, STREAMS, WORKERS, Job, JobPlace, places, run_parallel
from airlock_online.delivery.routes.polling import Pause, Steps, at_once
from airlock_online.delivery.turns import Lane

THREADS_AT_MOST = 64


def one_step(act: Callable[[JobPlace], object]) -> Job[object]:
    def job(place: JobPlace) -> Steps[object]:
        yield from ()
        return act(place)

    return job


def test_the_results_come_in_order() -> None:
    assert run_parallel([lambda _, n=n: at_once(n) for n in range(500)], in_turn=False) == list(range(500))  # type: ignore[misc]


def test_the_next_one_starts_when_the_one_before_is_answered_and_goes_on() -> None:
    order: list[str] = []
    done = threading.Event()

    def first(place: JobPlace) -> str:
        order.append("first sent")
        place.answered()
        assert done.wait(10)
        return "first"

    def second(place: JobPlace) -> str:
        order.append("second sent")
        place.answered()
        done.set()
        return "second"

    assert run_parallel([one_step(first), one_step(second)], in_turn=True) == ["first", "second"]
    assert order == ["first sent", "second sent"]


def test_one_whose_answer_waits_does_not_hold_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "TURN_S", 0.05)
    done = threading.Event()
    jobs = [one_step(lambda _: done.wait(10)), one_step(lambda _: done.set())]
    assert run_parallel(jobs, in_turn=True) == [True, None]


def test_one_that_is_never_answered_lets_the_next_one_go_when_it_has_ended() -> None:
    seen: list[int] = []
    jobs = [one_step(lambda _: seen.append(1)), one_step(lambda _: seen.append(len(seen)))]
    assert run_parallel(jobs, in_turn=True) == [None, None]
    assert seen == [1, 1]


def most_at_once(count: int, *, in_turn: bool, aside: bool = False) -> int:
    """Return how many of many jobs were at work at once, when each waits until as many are as may be."""
    lock, running, most, full = threading.Lock(), [0], [0], threading.Event()

    def job(place: JobPlace) -> Steps[None]:
        if aside:
            yield Pause(0, aside=True)
        place.answered()
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        if running[0] >= count:
            full.set()
        full.wait(5)
        time.sleep(0.02)  # for one too many to be seen
        with lock:
            running[0] -= 1
        return
        yield Pause(0)

    run_parallel([job] * 150, in_turn=in_turn)
    assert full.is_set(), f"never more than {most[0]} at once"
    return most[0]


def test_no_more_than_so_many_are_at_work_in_each_lane() -> None:
    assert most_at_once(WORKERS, in_turn=False) == WORKERS
    assert most_at_once(SENDERS, in_turn=True) == SENDERS
    assert most_at_once(WORKERS - POLLERS, in_turn=False, aside=True) == WORKERS - POLLERS


def test_the_threads_are_bounded_and_some_are_always_left_to_poll() -> None:
    tellers = SENDERS  # each sending says on the screen that it waits
    assert (
        WORKERS + tellers + 2 < THREADS_AT_MOST
    )  # with the program's own, and the one that cuts a database's connection
    for in_turn in (False, True):
        most = places(in_turn=in_turn)
        assert most[Lane.POLLING] - most[Lane.SENDING] - most[Lane.ASIDE] == POLLERS
        assert min(POLLERS, most[Lane.ASIDE]) > 0
    assert STREAMS < SENDERS  # an order is sent also while streams are read


def test_two_thousand_in_pauses_need_no_thread_each() -> None:
    seen: list[int] = []

    def job(_: JobPlace) -> Steps[None]:
        for _turn in range(3):
            yield Pause(0.2)
            seen.append(threading.active_count())

    before = threading.active_count()
    run_parallel([job] * 2000, in_turn=False)
    assert len(seen) == 6000
    assert max(seen) - before <= WORKERS


def test_everybody_has_a_turn_before_anybody_has_another() -> None:
    turns: list[int] = []

    def job(number: int) -> Job[None]:
        def steps(_: JobPlace) -> Steps[None]:
            for _turn in range(4):
                turns.append(number)
                yield Pause(0.3)

        return steps

    run_parallel([job(number) for number in range(200)], in_turn=False)
    for turn in range(4):
        assert len(set(turns[200 * turn : 200 * (turn + 1)])) >= 190  # a thread may be late


def test_those_that_hang_hold_none_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """More hang than there are threads: after its first turn each hangs aside, where there are few places."""
    monkeypatch.setattr(parallel, "SLOW_S", 0.1)
    over = threading.Event()
    late_s: list[float] = []

    def hanging(_: JobPlace) -> Steps[None]:
        while not over.is_set():
            over.wait(0.2)
            yield Pause(0.01)

    def quick(_: JobPlace) -> Steps[None]:
        yield Pause(1.0)  # until those have had their first turn
        for _turn in range(20):
            due_s = time.monotonic() + 0.02
            yield Pause(0.02)
            late_s.append(time.monotonic() - due_s)
        over.set()

    run_parallel([hanging] * (2 * WORKERS) + [quick] * 5, in_turn=False)
    assert sorted(late_s)[len(late_s) // 2] < 0.1, late_s


def test_what_is_due_while_others_are_at_work_for_long_is_seen_to_by_a_spare_one() -> None:
    over = threading.Event()

    def long(_: JobPlace) -> Steps[bool]:
        yield Pause(0.05)
        return over.wait(20)

    def quick(_: JobPlace) -> Steps[None]:
        for _turn in range(10):
            yield Pause(0.1)
        over.set()

    began_s = time.monotonic()
    assert run_parallel([*[long] * 10, quick], in_turn=False) == [*[True] * 10, None]
    assert time.monotonic() - began_s < 10


def test_a_stream_beyond_the_bound_is_left_and_one_that_ends_makes_room() -> None:
    stayed: list[bool] = []
    all_asked = threading.Event()

    def job(place: JobPlace) -> Steps[None]:
        stayed.append(place.stay())
        assert place.stay() is stayed[-1] or not stayed[-1]
        if len(stayed) == STREAMS + 2:
            all_asked.set()
        place.answered()
        if stayed[-1]:
            all_asked.wait(10)
        yield Pause(0)  # the stream is over

    run_parallel([job] * (STREAMS + 2), in_turn=True)
    assert stayed == [True] * STREAMS + [False] * 2
    later: list[bool] = []
    run_parallel([one_step(lambda place: later.append(place.stay()))] * (3 * STREAMS), in_turn=True)
    assert later == [True] * (3 * STREAMS)


def test_a_bug_in_one_is_raised_when_all_have_ended() -> None:
    ended: list[int] = []

    def broken(_: JobPlace) -> Steps[None]:
        yield Pause(0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_parallel([broken, one_step(lambda _: ended.append(1))], in_turn=True)
    assert ended == [1]


def test_an_interrupt_starts_nothing_more_and_waits_for_nobody() -> None:
    begun: list[str] = []
    never, closing = threading.Event(), threading.Event()

    def silent(place: JobPlace) -> Steps[None]:
        begun.append("silent")
        place.answered()
        never.wait(30)
        closing.set()
        yield Pause(0)
        begun.append("the next step")

    def jobs() -> Iterator[Job[None]]:
        yield silent
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_parallel(jobs(), in_turn=True)
    assert (begun, closing.is_set()) == (["silent"], False)
    never.set()
    assert closing.wait(10)
    time.sleep(0.1)
    assert begun == ["silent"]
