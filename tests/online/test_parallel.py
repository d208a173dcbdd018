"""Several submissions at once: in turn, bounded, and left at once when a person interrupts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from airlock_online.delivery import parallel
from airlock_online.delivery.parallel import Job, run_parallel


def test_the_results_come_in_order() -> None:
    assert run_parallel([lambda _, n=n: n for n in range(50)], in_turn=False) == list(range(50))  # type: ignore[misc]


def test_the_next_one_starts_when_the_one_before_is_answered_and_goes_on() -> None:
    order: list[str] = []
    done = threading.Event()

    def first(answered: Callable[[], None]) -> str:
        order.append("first sent")
        answered()
        assert done.wait(10)
        return "first"

    def second(answered: Callable[[], None]) -> str:
        order.append("second sent")
        answered()
        done.set()
        return "second"

    assert run_parallel([first, second], in_turn=True) == ["first", "second"]
    assert order == ["first sent", "second sent"]


def test_one_whose_answer_waits_does_not_hold_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "TURN_S", 0.05)
    done = threading.Event()

    def first(_answered: Callable[[], None]) -> bool:
        return done.wait(10)

    def second(_answered: Callable[[], None]) -> bool:
        done.set()
        return True

    assert run_parallel([first, second], in_turn=True) == [True, True]


def test_one_that_is_never_answered_lets_the_next_one_go_when_it_has_ended() -> None:
    seen: list[int] = []
    assert run_parallel([lambda _: seen.append(1), lambda _: seen.append(len(seen))], in_turn=True) == [None, None]
    assert seen == [1, 1]


@pytest.mark.parametrize("in_turn", [True, False])
def test_no_more_than_so_many_run_at_once(in_turn: bool) -> None:
    lock, running, most = threading.Lock(), [0], [0]
    full = threading.Barrier(4)

    def job(answered: Callable[[], None]) -> None:
        answered()
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        full.wait(10)  # broken unless four run at once
        with lock:
            running[0] -= 1

    run_parallel([job] * 40, in_turn=in_turn, at_most=4)
    assert most[0] == 4


def test_a_bug_in_one_is_raised_when_all_have_ended() -> None:
    ended: list[int] = []

    def broken(_: Callable[[], None]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_parallel([broken, lambda _: ended.append(1)], in_turn=True)
    assert ended == [1]


def test_an_interrupt_starts_nothing_more_and_waits_for_nobody() -> None:
    begun: list[str] = []
    never, closing = threading.Event(), threading.Event()

    def silent(answered: Callable[[], None]) -> None:
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
