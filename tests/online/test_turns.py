"""Whose turn is next: the longest due, in a lane that has a place."""

from __future__ import annotations

from airlock_online.delivery.turns import Lane, Turns


def turns(**places: int) -> Turns[str]:
    return Turns({Lane.SENDING: 1, Lane.POLLING: 2, Lane.ASIDE: 1} | {Lane[name]: n for name, n in places.items()})


def test_nobody_has_a_turn_before_it_is_due() -> None:
    waiting = turns()
    waiting.wait("a", Lane.POLLING, 5.0)
    assert waiting.take(4.999) is None
    assert waiting.next_due_s() == 5.0
    assert waiting.take(5.0) == ("a", Lane.POLLING)
    assert (waiting.take(9.0), waiting.next_due_s()) == (None, None)


def test_who_is_due_longest_is_next_whatever_the_lane() -> None:
    waiting = turns()
    for who, lane, due_s in (("late", Lane.POLLING, 3.0), ("aside", Lane.ASIDE, 1.0), ("early", Lane.POLLING, 2.0)):
        waiting.wait(who, lane, due_s)
    assert [waiting.take(10.0) for _ in range(3)] == [
        ("aside", Lane.ASIDE),
        ("early", Lane.POLLING),
        ("late", Lane.POLLING),
    ]


def test_those_due_at_one_moment_come_in_the_order_in_which_they_began_to_wait() -> None:
    waiting = turns(POLLING=100)
    names = [f"order-{n}" for n in range(50)]
    for name in names:
        waiting.wait(name, Lane.POLLING, 1.0)
    assert [found[0] for _ in names if (found := waiting.take(1.0))] == names


def test_who_has_had_a_turn_waits_behind_all_that_were_due_before() -> None:
    """Too much to do for too few: each has as many turns as any other."""
    waiting = turns(POLLING=1)
    had = dict.fromkeys((f"order-{n}" for n in range(7)), 0)
    for who in had:
        waiting.wait(who, Lane.POLLING, 0.0)
    for now in range(70):
        found = waiting.take(float(now))
        assert found is not None
        waiting.give_back(found[1])
        had[found[0]] += 1
        waiting.wait(found[0], Lane.POLLING, now + 1.5)
    assert set(had.values()) == {10}


def test_a_full_lane_holds_none_of_the_others() -> None:
    waiting = turns()
    for who, lane in (("hanging", Lane.ASIDE), ("waiting", Lane.ASIDE), ("quick", Lane.POLLING)):
        waiting.wait(who, lane, 1.0)
    assert waiting.take(1.0) == ("hanging", Lane.ASIDE)
    assert waiting.take(1.0) == ("quick", Lane.POLLING)
    assert (waiting.take(99.0), waiting.next_due_s()) == (None, None)
    waiting.give_back(Lane.POLLING)
    assert waiting.take(99.0) is None
    waiting.give_back(Lane.ASIDE)
    assert waiting.take(99.0) == ("waiting", Lane.ASIDE)
