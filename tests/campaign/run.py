"""The campaign: kills, interrupts, faults on the wire, lost COMMIT answers and full disks, against a venue that counts.

``python -m campaign.run --seed 1`` draws every case from the seed and runs it with the installed program, killed by its
process id. What breaks is printed, and its folder is kept. ``--write`` puts the figures into docs/reference/benchmarks.md.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import count
from math import ceil
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any, NamedTuple

from airlock_online.journal.order_states import FINAL, OrderState
from bench.page import write_section
from campaign.commit_proxy import CommitProxy
from campaign.machine import PROGRAM, Blow, Broken, Machine
from campaign.orders import WAYS, Order, make_orders
from campaign.venue import MOMENTS, ScriptedVenue
from campaign.wire_faults import FAULTS, WAITING
from loaded import loaded_program
from online.postgres import can_run, new_database, running_server
from serving import serving

CATEGORIES = ("kills", "interrupts", "wire", "commits", "disks")
FULL = {"kills": 500, "interrupts": 40, "wire": 300, "commits": 60, "disks": 60}
IN_PARALLEL = 6
ROUND = 36
BROKEN_AT_MOST = 20
PATIENCE_S = 2
_LASTS_S = 1.3  # about what a command takes, on a machine that has other work
_STEADY = tuple(name for name in FAULTS if name not in WAITING)


class Done(NamedTuple):
    """A case that went as it must: how often it was hit, and how it ended."""

    category: str
    way: str
    database: str
    hits: int
    state: OrderState
    posts: int


class Campaign:
    """What every case shares."""

    def __init__(self, folder: Path, orders: dict[str, Order], postgres: str, *, started: int) -> None:
        self._folder, self._orders, self._postgres = folder, orders, postgres
        self._started = started
        if started > 1:
            loaded_program(str(PROGRAM))
        self._numbers = count(1)
        self._lock = Lock()
        self.commands: Counter[str] = Counter()

    def case(self, category: str, number: int, seed: int) -> Done:
        """Run the case of this number: route and database follow from it, the rest is drawn from the seed."""
        drawn = Random(f"{seed}-{category}-{number}")
        way = WAYS[number % len(WAYS)]
        on_postgres = bool(self._postgres) and (category == "commits" or number // len(WAYS) % 2 == 1)
        with self._lock:
            journal = new_database(self._postgres) if on_postgres else ""
            name = f"{category}-{next(self._numbers)}"
        by_itself = self._started == 1 or number // (2 * len(WAYS)) % self._started == 0
        with ScriptedVenue() as venue:
            machine = Machine(self._folder / name, self._orders[way], venue, journal, started=by_itself)
            end = _end(way, drawn)
            hits = _CASES[category](machine, drawn, end)
            script = {"end": end, "pending": drawn.randrange(5) == 0}
            machine.run("submit", machine.file, "--patience", PATIENCE_S, script=script)
            state = machine.check(end)
        posts = machine.seen["posts"]
        self.commands["the installed program" if by_itself else "forked"] += machine.commands
        shutil.rmtree(machine.folder)
        return Done(category, way, "PostgreSQL" if on_postgres else "SQLite", hits, state, posts)


def _end(way: str, drawn: Random) -> str:
    ends = {"batched-market": ("success", "success", "declined", "failed"), "twap": ("success",)}
    return drawn.choice(ends.get(way, ("success",) if way.startswith("core") else ("success", "success", "failed")))


def _blow(name: str, drawn: Random) -> Blow:
    """Return a signal at a mark of the sending, or at a random moment."""
    if drawn.random() < 0.6:
        return Blow(name, moment=drawn.choice(("claimed", "claimed", *MOMENTS)))
    return Blow(name, after_s=drawn.uniform(0.2, _LASTS_S))


def _killed(machine: Machine, drawn: Random, end: str) -> int:
    """Submit and kill; most are killed once more, in `submit` or `follow`."""
    script = {"end": end, "pending": drawn.randrange(2)}
    hits = 0
    for again in range(1 + (drawn.random() < 0.7)):
        words = ["submit", machine.file] if not again or drawn.random() < 0.5 else ["follow"]
        blow = _blow("SIGKILL", drawn) if not again else Blow("SIGKILL", after_s=drawn.uniform(0.2, _LASTS_S))
        hits += machine.run(*words, "--patience", PATIENCE_S, blow=blow, script=script).hit
    return hits


def _interrupted(machine: Machine, drawn: Random, end: str) -> int:
    """Submit and press Ctrl-C: what is left is no sending that nobody ends."""
    ran = machine.run(
        "submit", machine.file, "--patience", PATIENCE_S, blow=_blow("SIGINT", drawn), script={"end": end, "pending": 1}
    )
    if machine.began and machine.state() is OrderState.SENDING and ran.code >= 0:
        raise Broken(f"Ctrl-C left SENDING behind ({machine.folder})")
    return int(ran.hit)


def _miswired(machine: Machine, drawn: Random, end: str) -> int:
    """Submit to a service whose answer to the one POST is broken; it has taken it, or not."""
    number = int(machine.folder.name.rpartition("-")[2])
    waiting = number % 50 == 0
    fault = drawn.choice(WAITING if waiting else _STEADY)
    script = {"end": end, "takes": fault != "refusing" and drawn.random() < 0.7, "fault": fault, "seed": drawn.random()}
    machine.run("submit", machine.file, "--patience", PATIENCE_S, script=script)
    return 1


def _uncommitted(machine: Machine, drawn: Random, end: str) -> int:
    """Submit over a proxy that loses the answer of one COMMIT."""
    server, _, rest = machine.journal.rpartition(":")
    port, _, database = rest.partition("/")
    proxy = CommitProxy(int(port), drawn.randint(1, 12))
    with serving(proxy):
        through = f"{server}:{proxy.server_address[1]}/{database}"
        machine.run("submit", machine.file, "--patience", PATIENCE_S, script={"end": end}, journal=through)
        return proxy.lost


def _full(machine: Machine, drawn: Random, end: str) -> int:
    """Submit with a limit on how long a file may become: a write beyond it fails, as on a disk that is full."""
    if drawn.random() < 0.5:
        machine.run("status")  # the journal is there already, and not its log
    size = drawn.choice((drawn.randint(1, 5_000), drawn.randint(5_000, 250_000), drawn.randint(60_000, 160_000)))
    ran = machine.run("submit", machine.file, "--patience", PATIENCE_S, script={"end": end}, blow=Blow(disk_bytes=size))
    return int(ran.code not in (0, 10, 11))


_CASES: dict[str, Callable[[Machine, Random, str], int]] = {
    "kills": _killed,
    "interrupts": _interrupted,
    "wire": _miswired,
    "commits": _uncommitted,
    "disks": _full,
}


def play(
    counts: dict[str, int], seed: int, folder: Path, *, started: int, talk: bool = False
) -> tuple[list[Done], list[str], dict[str, int]]:
    """Run cases until each category has its number of hits; return those that went well, what broke, and the commands.

    ``started``: of one block of cases in so many the commands are the installed program, of the others they are forked.
    """
    done: list[Done] = []
    broken: list[str] = []
    with ExitStack() as stack:
        postgres = stack.enter_context(running_server()) if can_run() else ""
        campaign = Campaign(folder, make_orders(), postgres, started=started)
        pool = stack.enter_context(ThreadPoolExecutor(IN_PARALLEL))
        if not postgres:
            counts = counts | {"commits": 0}
        numbers = {category: count() for category in CATEGORIES}
        while len(broken) < BROKEN_AT_MOST:
            reached = Counter(dict.fromkeys(CATEGORIES, 0))
            for one in done:
                reached[one.category] += one.hits
            if talk:
                print(f"{time.strftime('%H:%M:%S')} {dict(reached)}, {len(broken)} broken", flush=True)
            jobs = _round({category: counts[category] - reached[category] for category in CATEGORIES})
            if not jobs:
                break
            work = partial(_guarded, campaign, seed, broken)
            done += [one for one in pool.map(work, [(name, next(numbers[name])) for name in jobs]) if one]
        return done, broken, dict(campaign.commands)


def _round(left: dict[str, int]) -> list[str]:
    """Return the categories of the next cases, each for its part of what is left, so that all end at about the same time."""
    whole = sum(max(0, number) for number in left.values())
    share = min(1.0, ROUND / whole) if whole else 0.0
    return [name for name, number in left.items() for _ in range(ceil(number * share))]


def _guarded(campaign: Campaign, seed: int, broken: list[str], job: tuple[str, int]) -> Done | None:
    category, number = job
    try:
        return campaign.case(category, number, seed)
    except Broken as error:
        broken.append(f"{category} {number}: {error}")
        print(f"BROKEN {broken[-1]}", file=sys.stderr, flush=True)
        return None


def figures(done: list[Done], broken: list[str], commands: dict[str, int], seconds: float, seed: int) -> dict[str, Any]:
    rows = {}
    for category in CATEGORIES:
        own = [one for one in done if one.category == category]
        rows[category] = {
            "cases": len(own),
            "hits": sum(one.hits for one in own),
            "databases": dict(Counter(one.database for one in own)),
            "ways": dict(Counter(one.way for one in own)),
            "states": dict(Counter(one.state.value for one in own)),
            "final": sum(one.state in FINAL for one in own),
            "posts": sum(one.posts for one in own),
        }
    return {"seed": seed, "seconds": round(seconds), "commands": commands, "broken": broken, "rows": rows}


def main() -> None:
    """Run the campaign, print its figures, and end with 1 when something broke."""
    parser = argparse.ArgumentParser(description="The campaign against a venue that counts.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--started", type=int, default=1, help="fork all but one case in so many (1: fork none)")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/reference/benchmarks.md")
    for category in CATEGORIES:
        parser.add_argument(f"--{category}", type=int, default=FULL[category])
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="airlock-campaign-"))
    began = time.monotonic()
    counts = {category: getattr(given, category) for category in CATEGORIES}
    done, broken, commands = play(counts, given.seed, folder, started=given.started, talk=True)
    told = figures(done, broken, commands, time.monotonic() - began, given.seed)
    print(json.dumps(told, indent=1))
    if given.write:
        from campaign.section import section

        write_section("campaign", section(told))
    if not broken:
        shutil.rmtree(folder)
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
