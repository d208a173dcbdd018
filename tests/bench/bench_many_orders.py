"""``make bench``: what it costs to follow 500 orders, and how late each is told, for docs/reference/benchmarks.md.

A plain script, never a timed test: nothing fails here when the machine is slow.
"""

import os
import random
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.page import machine, write_section
from online.concurrency.followed import Followed, Sample, delays_s, follow_planned, order_name
from online.postgres import can_run, new_database, running_server

ORDERS = 500
QUIET_S = 20.0  # in which nothing happens, once each order has been asked for
SPREAD_S = 40.0  # within which each order's life begins; its second and third event come within half of that each
START_S = 8.0  # until each order has been asked for once
SEED = 5
THREADS, CPU_MS, TOLD_S = ORDERS + 32, 0.5, 1.0  # the aims


class Measured(NamedTuple):
    """What a run came to, and what happened when, by the order's tracking id."""

    found: Followed
    moments: dict[str, list[float]]


def measure(folder: Path, journal: str = "") -> Measured:
    """Follow the orders once, by a journal of SQLite or at a database address."""
    moments: dict[str, list[float]] = {}

    def plan(now_s: float) -> dict[str, list[float]]:
        dice = random.Random(SEED)
        for number in range(1, 1 + ORDERS):
            first = now_s + START_S + QUIET_S + dice.random() * SPREAD_S
            second = first + dice.random() * SPREAD_S / 2
            moments[order_name(number)] = [first, second, second + dice.random() * SPREAD_S / 2]
        return moments

    return Measured(follow_planned(folder, ORDERS, plan, journal=journal), moments)


def quiet(measured: Measured) -> tuple[Sample, Sample]:
    """Return the first and the last sample of the time in which every order is asked about and nothing happens."""
    begins = min(moments[0] for moments in measured.moments.values())
    within = [s for s in measured.found.samples if s.counted.answered > 2 * ORDERS and s.at_s < begins]
    return within[0], within[-1]


def _row(database: str, measured: Measured) -> str:
    """Return a row of the table. Raises ``RuntimeError`` for a run that told too little."""
    found = measured.found
    events, outcomes = delays_s(*measured)
    if found.code or (len(events), len(outcomes)) != (3 * ORDERS, ORDERS):
        raise RuntimeError(f"exit code {found.code}, {len(events)} events and {len(outcomes)} outcomes")
    first, last = quiet(measured)
    quiet_ms = 1e3 * (last.cpu_s - first.cpu_s) / (last.counted.answered - first.counted.answered)
    whole_ms = 1e3 * found.cpu_s / found.counted.answered
    threads = max(sample.threads for sample in found.samples)
    late = quantiles(events, n=10)[-1]
    return (
        f"| {database} | {threads} | {whole_ms:.2f} ms | {quiet_ms:.2f} ms | {median(events):.2f} s | {late:.2f} s | "
        f"{max(events):.2f} s | {median(outcomes):.2f} s | {max(outcomes):.2f} s |"
    )


def _how(measured: Measured) -> str:
    found = measured.found
    first, last = quiet(measured)
    rate = (last.counted.answered - first.counted.answered) / (last.at_s - first.at_s)
    cores = found.cpu_s / (found.samples[-1].at_s - found.samples[0].at_s)
    return (
        f"{rate:,.0f} polls a second while nothing happens, {found.counted.answered:,} in all;\n"
        f"  {found.counted.connections:,} connections, {found.counted.most_open} at most at once; over the whole run the "
        f"command used {cores:.2f} of a core"
    )


def main() -> None:
    with TemporaryDirectory() as name:
        measured = {"SQLite": measure(Path(name))}
    if can_run():
        with TemporaryDirectory() as name, running_server() as server:
            measured["PostgreSQL"] = measure(Path(name), new_database(server))
    load = f"of which the command may use both, the venue beside it; load average {os.getloadavg()[0]:.0f} at the end"
    section = SECTION.format(
        orders=f"{ORDERS:,}",
        threads=THREADS,
        cpu=CPU_MS,
        told=f"{TOLD_S:.0f}",
        machine="\n".join(machine(load, "httpcore", "sqlalchemy", "psycopg")),
        how=_how(measured["SQLite"]),
        quiet=f"{QUIET_S:.0f}",
        rows="\n".join(_row(database, run) for database, run in measured.items()),
    )
    write_section("many-orders", section)
    print(section)


SECTION = """## {orders} followed orders

Written by `tests/bench/bench_many_orders.py`. [Decision 48](../adr/0048-a-thread-an-order.md) says how.

The aims: at most {threads} threads, at most {cpu} ms of CPU a poll, and at most {told} s in the median from an event to its
line. An order is asked about every 1.5 s, so that half of that, 0.75 s, is waiting.

| journal | threads | CPU a poll | in quiet | event to line, median | 9 of 10 | worst | end to outcome, median | worst |
|---|---|---|---|---|---|---|---|---|
{rows}

CPU a poll is with everything: start, journal, screen, transcript and outcomes; in quiet nothing happens. The last two
columns count from an order's last event to the line of its outcome.

### Machine and method

{machine}
- `airlock-online follow --json` as it is installed, on a journal with {orders} accepted orders; the venue is an
  HTTP server on loopback in a process of its own, whose CPU time is not counted, nor is a database server's. Each order has
  three events at moments that are planned beforehand by the system's monotonic clock, the last one ends it; before the
  first of them nothing happens for {quiet} s. A line's time is taken when it is read from the command's stdout. CPU time is
  user and system time of its process by the kernel, over the questions that the venue answered; the threads are the
  kernel's count, four times a second.
- On SQLite: {how}.
"""


if __name__ == "__main__":
    main()
