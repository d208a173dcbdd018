"""``make bench``: what it costs to follow 2,000 orders, and how late each is told, for docs/reference/benchmarks.md.

A plain script, never a timed test: nothing fails here when the machine is slow.
"""

from __future__ import annotations

import random
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.page import machine, write_section
from online.concurrency.followed import Followed, Sample, follow_planned, order_name

ORDERS = 2_000
QUIET_S = 20.0  # in which nothing happens, once each order has been asked for
SPREAD_S = 40.0  # within which each order's life begins; its second and third event come within half of that each
START_S = 8.0  # until each order has been asked for once
SEED = 5
THREADS, CPU_MS, TOLD_S = 64, 0.5, 1.0  # the aims


class Measured(NamedTuple):
    """What a run came to, and what happened when, by the order's tracking id."""

    found: Followed
    moments: dict[str, list[float]]


def measure(folder: Path) -> Measured:
    """Follow the orders once."""
    moments: dict[str, list[float]] = {}

    def plan(now_s: float) -> dict[str, list[float]]:
        dice = random.Random(SEED)
        for number in range(1, 1 + ORDERS):
            first = now_s + START_S + QUIET_S + dice.random() * SPREAD_S
            second = first + dice.random() * SPREAD_S / 2
            moments[order_name(number)] = [first, second, second + dice.random() * SPREAD_S / 2]
        return moments

    return Measured(follow_planned(folder, ORDERS, plan), moments)


def delays_s(measured: Measured) -> tuple[list[float], list[float]]:
    """Return how long after its moment each event was told, and how long after its last event each outcome."""
    events, outcomes = [], []
    for line in measured.found.lines:
        moments = measured.moments[order_name(int(str(line.document["digest"]), 16))]
        if "state" in line.document:
            outcomes.append(line.told_s - moments[-1])
        else:
            seq = line.document["seq"]
            assert isinstance(seq, int)
            events.append(line.told_s - moments[seq - 1])
    return events, outcomes


def quiet(measured: Measured) -> tuple[Sample, Sample]:
    """Return the first and the last sample of the time in which every order is asked about and nothing happens."""
    begins = min(moments[0] for moments in measured.moments.values())
    within = [s for s in measured.found.samples if s.counted.answered > 2 * ORDERS and s.at_s < begins]
    return within[0], within[-1]


def _row(name: str, delays: list[float]) -> str:
    late = quantiles(delays, n=10)[-1]
    return f"| {name} | {len(delays):,} | {median(delays):.2f} s | {late:.2f} s | {max(delays):.2f} s |"


def _met(reached: float, aim: float) -> str:
    return "aim met" if reached <= aim else "aim not met"


def main() -> None:
    """Measure, and write the section."""
    with TemporaryDirectory() as name:
        measured = measure(Path(name))
    found = measured.found
    events, outcomes = delays_s(measured)
    if found.code or (len(events), len(outcomes)) != (3 * ORDERS, ORDERS):
        raise RuntimeError(f"exit code {found.code}, {len(events)} events and {len(outcomes)} outcomes")
    first, last = quiet(measured)
    polls = last.counted.answered - first.counted.answered
    poll_ms = 1e3 * (last.cpu_s - first.cpu_s) / polls
    whole_ms = 1e3 * found.cpu_s / found.counted.answered
    threads = max(sample.threads for sample in found.samples)
    wall_s = found.samples[-1].at_s - found.samples[0].at_s
    section = SECTION.format(
        orders=f"{ORDERS:,}",
        threads=f"at most {THREADS}: {threads} ({_met(threads, THREADS)})",
        cpu=f"at most {CPU_MS} ms: {whole_ms:.2f} ms with everything ({_met(whole_ms, CPU_MS)}), that is start, journal, "
        f"screen, transcript and outcomes; {poll_ms:.2f} ms while nothing happens",
        told=f"at most {TOLD_S:.0f} s in the median: {median(events):.2f} s ({_met(median(events), TOLD_S)}). An order is "
        "asked about every 1.5 s, so that half of that, 0.75 s, is waiting",
        machine="\n".join(
            machine("of which the command may use both; the venue has its own process", "h11", "sqlalchemy")
        ),
        cores=f"{found.cpu_s / wall_s:.2f}",
        rate=f"{polls / (last.at_s - first.at_s):,.0f}",
        quiet=f"{QUIET_S:.0f}",
        polls=f"{found.counted.answered:,}",
        connections=f"{found.counted.connections:,}",
        most_open=found.counted.most_open,
        rows="\n".join((_row("an event", events), _row("an outcome, after the event that brings it", outcomes))),
    )
    write_section("many-orders", section)
    print(section)


SECTION = """## {orders} followed orders

Written by `tests/bench/bench_many_orders.py`. [Decision 26](../adr/0026-many-orders.md) says how.

- Threads, aim {threads}.
- CPU time a poll, aim {cpu}.
- From an event to its line, aim {told}.

| told | count | median | 9 of 10 | worst |
|---|---|---|---|---|
{rows}

### Machine and method

{machine}
- `airlock-online follow --json` as it is installed, on a journal of SQLite with {orders} accepted orders; the venue is an
  HTTP server on loopback in a process of its own, whose CPU time is not counted. Each order has three events at moments that
  are planned beforehand by the system's monotonic clock, the last one ends it; before the first of them nothing happens for
  {quiet} s. A line's time is taken when it is read from the command's stdout. CPU time is user and system time of its
  process by the kernel, over the questions that the venue answered ({polls}); the threads are the kernel's count, four
  times a second.
- {rate} polls a second while nothing happens; {connections} connections in all, {most_open} at most at once; over the whole
  run the command used {cores} of a core.
"""


if __name__ == "__main__":
    main()
