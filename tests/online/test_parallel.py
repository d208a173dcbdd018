"""Many submissions at once: in turn, a thread each, none held by those that are slow, and left when a person interrupts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from airlock_online.delivery import submit as parallel
from airlock_online.delivery.routes.context import OTHERS, STREAMS, DeliveryContext
from airlock_online.delivery.submit import Job, run_parallel

Answered = Callable[[], None]


def test_the_results_come_in_order() -> None:
    assert run_parallel([lambda _, n=n: n for n in range(500)], in_turn=False) == list(range(500))  # type: ignore[misc]


def test_the_next_one_starts_when_the_one_before_is_answered_and_goes_on() -> None:
    order: list[str] = []
    done = threading.Event()

    def first(answered: Answered) -> str:
        order.append("first sent")
        answered()
        assert done.wait(10)
        return "first"

    def second(answered: Answered) -> str:
        order.append("second sent")
        answered()
        done.set()
        return "second"

    assert run_parallel([first, second], in_turn=True) == ["first", "second"]
    assert order == ["first sent", "second sent"]


def test_one_whose_answer_waits_does_not_hold_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "TURN_S", 0.05)
    done = threading.Event()
    jobs: list[Job[object]] = [lambda _: done.wait(10), lambda _: done.set()]
    assert run_parallel(jobs, in_turn=True) == [True, None]


def test_one_that_is_never_answered_lets_the_next_one_go_when_it_has_ended() -> None:
    seen: list[int] = []
    jobs: list[Job[None]] = [lambda _: seen.append(1), lambda _: seen.append(len(seen))]
    assert run_parallel(jobs, in_turn=True) == [None, None]
    assert seen == [1, 1]


def most_at_once(count: int, *, in_turn: bool) -> int:
    """Return how many of many jobs were at work at once, when each waits until ``count`` are."""
    lock, running, most, full = threading.Lock(), [0], [0], threading.Event()

    def job(answered: Answered) -> None:
        answered()
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        if running[0] >= count:
            full.set()
        full.wait(20)
        time.sleep(0.02)  # for one too many to be seen
        with lock:
            running[0] -= 1

    run_parallel([job] * (2 * count), in_turn=in_turn)
    assert full.is_set(), f"never more than {most[0]} at once"
    return most[0]


@pytest.mark.parametrize("in_turn", [False, True])
def test_no_more_than_so_many_are_at_work_at_once(monkeypatch: pytest.MonkeyPatch, in_turn: bool) -> None:
    monkeypatch.setattr(parallel, "THREADS", 40)
    assert most_at_once(40, in_turn=in_turn) == 40


def test_how_many_streams_are_read_and_how_many_ask_other_services_is_bounded_for_the_whole_command() -> None:
    default = DeliveryContext._field_defaults
    for places, most in ((default["streams"], STREAMS), (default["others"], OTHERS)):
        taken = [places.acquire(blocking=False) for _ in range(most + 1)]
        for _ in range(sum(taken)):
            places.release()
        assert taken == [True] * most + [False]


def test_those_that_hang_hold_none_of_the_others() -> None:
    over = threading.Event()
    late_s: list[float] = []

    def hanging(_: Answered) -> bool:
        return over.wait(20)

    def quick(_: Answered) -> None:
        for _turn in range(20):
            due_s = time.monotonic() + 0.02
            time.sleep(0.02)
            late_s.append(time.monotonic() - due_s)
        over.set()

    run_parallel([*[hanging] * 100, *[quick] * 5], in_turn=False)
    assert sorted(late_s)[len(late_s) // 2] < 0.1, late_s


def test_a_bug_in_one_is_raised_when_all_have_ended() -> None:
    ended: list[int] = []

    def broken(_: Answered) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_parallel([broken, lambda _: ended.append(1)], in_turn=True)
    assert ended == [1]


def test_an_interrupt_starts_nothing_more_and_waits_for_nobody() -> None:
    begun: list[str] = []
    never, closing = threading.Event(), threading.Event()

    def silent(answered: Answered) -> None:
        begun.append("silent")
        answered()
        never.wait(30)
        closing.set()

    def jobs() -> Iterator[Job[None]]:
        yield silent
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_parallel(jobs(), in_turn=True)
    assert (begun, closing.is_set()) == (["silent"], False)
    never.set()
    assert closing.wait(10)
    assert begun == ["silent"]
