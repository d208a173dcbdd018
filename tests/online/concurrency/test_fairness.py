"""Many orders followed by the installed command: a thread each, nobody starved, none held by those that hang."""

from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from draws import draws
from online.concurrency.followed import Followed, delays_s, follow_planned, order_name

ORDERS = draws(100, 200)
HANGING = ORDERS // 5
THREADS_AT_MOST = ORDERS + 32  # the command's own beside them
MEDIAN_S_AT_MOST = 8  # one held by a service that hangs takes 10; 1 s is usual, 5 s were seen where eight programs ran
MIB_AT_MOST = 200  # for one order it is 53: decision 48
ENDS = 3  # events that come while an order is followed


def follow(
    folder: Path, *, hanging: int, patience_s: int, journal: str = ""
) -> tuple[Followed, dict[str, list[float]]]:
    """Follow the orders, of which the last so many hang. The others end one after another, from 15 s on."""
    moments: dict[str, list[float]] = {}

    def plan(now_s: float) -> dict[str, list[float]]:
        for number in range(1, 1 + ORDERS):
            first = now_s + 15 + 10 * number / ORDERS
            moments[order_name(number)] = [first, first + 1, first + 2]
        return moments

    names = [order_name(number) for number in range(1 + ORDERS - hanging, 1 + ORDERS)]
    found = follow_planned(folder, ORDERS, plan, hanging=names, patience_s=patience_s, journal=journal)
    return found, moments


@pytest.mark.parametrize("database", ["sqlite", "postgresql"][: draws(1, 2)])
def test_a_thread_each_tells_every_order_in_time_on_few_connections(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    journal = request.getfixturevalue("postgres_url") if database == "postgresql" else ""
    found, moments = follow(tmp_path, hanging=0, patience_s=120, journal=journal)
    assert found.code == 0
    assert Counter(line.document["state"] for line in found.lines if "state" in line.document) == {"FILLED": ORDERS}
    delays, _ = delays_s(found, moments)
    assert len(delays) == ENDS * ORDERS
    print(f"{median(delays):.2f} s in the median, {max(delays):.2f} s at most; {found.counted}")
    assert median(delays) < MEDIAN_S_AT_MOST
    assert max(sample.threads for sample in found.samples) < THREADS_AT_MOST
    assert max(sample.mib for sample in found.samples) < MIB_AT_MOST
    assert found.counted.most_open < ORDERS, "one serves several: 52 of 100 were seen at one moment, and 87 of 200"
    assert found.counted.connections < found.counted.answered / 5, "connections are kept"


def test_orders_whose_service_hangs_hold_none_of_the_others(tmp_path: Path) -> None:
    """A fifth is never answered: each is asked again and again, and every other one is told in time."""
    found, moments = follow(tmp_path, hanging=HANGING, patience_s=40)
    outcomes = Counter(line.document["state"] for line in found.lines if "state" in line.document)
    assert outcomes == {"FILLED": ORDERS - HANGING, "ACCEPTED": HANGING}
    delays, _ = delays_s(found, moments)
    assert len(delays) == ENDS * (ORDERS - HANGING)
    print(f"{median(delays):.2f} s in the median, {max(delays):.2f} s at most; {found.counted}")
    assert median(delays) < MEDIAN_S_AT_MOST
    assert max(sample.threads for sample in found.samples) < THREADS_AT_MOST
