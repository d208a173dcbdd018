"""``make bench``: measure ``airlock-offline verify`` against the naive script, for docs/reference/benchmarks.md.

Each measurement is a fresh process: its CPU time (user and system) and its peak memory, as the kernel counts them. Linux
counts the peak of the process that starts another into that other's, so this one imports nothing large and makes the
batches in a process of their own. A plain script, never a timed test: nothing fails here when the machine is slow.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.page import machine, write_section

PYTHON = sys.executable
VERIFY, ONLINE = (str(Path(PYTHON).with_name(f"airlock-{half}")) for half in ("offline", "online"))
NAIVE = str(Path(__file__).with_name("naive_verify.py"))
MAKE_BATCH = str(Path(__file__).with_name("make_batch.py"))
TESTS = {"PYTHONPATH": str(Path(__file__).parents[1])}
LIBRARIES = ("eth-account", "eth-abi", "eth-keys", "coincurve", "click", "safe-pysha3")

COUNT, RUNS = 500, 7
START_RUNS = 30
NAIVE_COUNT = 150  # intents that the naive script hashes and recovers with what eth-account brings by itself
PURE_PYTHON = {"ECC_BACKEND_CLASS": "eth_keys.backends.NativeECCBackend"}


class Cost(NamedTuple):
    """What a process took: CPU time in seconds, peak memory in MiB."""

    cpu_s: float
    peak_mib: float


def run(arguments: list[str], home: Path, environment: dict[str, str] | None = None, expect: int = 0) -> Cost:
    """Run a program in a fresh process. Raises ``RuntimeError`` when its exit code is not the expected one."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    silent = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_WRONLY, 0) for descriptor in (1, 2)]
    pid = os.posix_spawn(
        arguments[0],
        arguments,
        inherited | {"AIRLOCK_OFFLINE_HOME": str(home)} | (environment or {}),
        file_actions=silent,
    )
    _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != expect:
        message = f"exit code {code}, not {expect}: {' '.join(arguments)}"
        raise RuntimeError(message)
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def median(costs: list[Cost]) -> Cost:
    middle = len(costs) // 2
    return Cost(sorted(c.cpu_s for c in costs)[middle], sorted(c.peak_mib for c in costs)[middle])


def in_turn(programs: dict[str, list[str]], runs: int, home: Path) -> dict[str, Cost]:
    """Return the median cost of each program, run in turn so that a busy moment hits all of them."""
    costs: dict[str, list[Cost]] = {name: [] for name in programs}
    for number in range(runs + 1):
        for name, arguments in programs.items():
            cost = run(arguments, home)
            if number:  # the first round fills the caches
                costs[name].append(cost)
    return {name: median(found) for name, found in costs.items()}


def verify(folder: Path, count: int, *, signatures: bool = True) -> list[str]:
    options = ["plan", "deployment", *(["signatures"] if signatures else [])]
    files = [word for option in options for word in (f"--{option}", str(folder / f"{option}-{count}"))]
    return [VERIFY, "verify", str(folder / f"requests-{count}"), *files]


def throughput(folder: Path, home: Path) -> tuple[list[str], list[str]]:
    """Return the table of the batch, and what it means in a sentence."""
    ours = in_turn({"Airlock": verify(folder, COUNT)}, RUNS, home)["Airlock"]
    naive = [PYTHON, NAIVE, *(str(folder / f"{kind}-{COUNT}") for kind in ("requests", "signatures")), str(NAIVE_COUNT)]
    theirs = median([run(naive, home, PURE_PYTHON | TESTS) for _ in range(3)])
    rows = [
        _line(f"Airlock: every check, plan and recovery of {COUNT} intents", ours, COUNT),
        _line(f"naive script: hash and recovery of {NAIVE_COUNT} of them", theirs, NAIVE_COUNT),
    ]
    met = _met(ours.cpu_s <= theirs.cpu_s)
    reading = (
        f"- {COUNT} intents with signatures, aim no more CPU time than eth-account as installed needs to hash and recover "
        f"{NAIVE_COUNT}: {ours.cpu_s:.2f} s against {theirs.cpu_s:.2f} s ({met})."
    )
    return rows, [reading]


def _line(name: str, cost: Cost, count: int) -> str:
    return f"| {name} | {cost.cpu_s:.2f} s | {cost.cpu_s / count * 1e6:,.0f} µs | {cost.peak_mib:.0f} MiB |"


def _met(met: bool) -> str:
    return "aim met" if met else "aim not met"


def start(folder: Path, home: Path) -> tuple[list[str], list[str]]:
    """Return the table of start-up times, and what it means."""
    programs = {
        "`python -I -c pass`": [PYTHON, "-I", "-c", "pass"],
        '`python -I -c "import click"`': [PYTHON, "-I", "-c", "import click"],
        "`airlock-offline verify`, one item": verify(folder, 1, signatures=False),
        "`airlock-offline verify`, one item and its signature": verify(folder, 1),
        "`airlock-online submit --help`": [ONLINE, "submit", "--help"],
    }
    found = in_turn(programs, START_RUNS, home)
    bare = next(iter(found.values())).cpu_s
    rows = [f"| {name} | {cost.cpu_s * 1e3:.1f} ms | {cost.cpu_s / bare:.1f} |" for name, cost in found.items()]
    ratios = [cost.cpu_s / bare for cost in found.values()]
    reading = (
        f"- Start of a command, aim at most 25 times bare Python: `verify` {ratios[2]:.1f} times, and {ratios[3]:.1f} with "
        f"a signature to recover ({_met(ratios[3] <= 25)}); `submit --help`, which loads the journal's database and httpx, "
        f"{ratios[4]:.1f} times ({_met(ratios[4] <= 25)}); click alone is {ratios[1]:.1f}."
    )
    return rows, [reading]


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "home"
        for count in (1, COUNT):
            run([PYTHON, MAKE_BATCH, name, str(count)], home, TESTS)
        rows, reading = throughput(folder, home)
        start_rows, start_reading = start(folder, home)
    page = PAGE.format(
        machine="\n".join(machine("of which one is used", *LIBRARIES)),
        rows="\n".join(rows),
        start="\n".join(start_rows),
        reading="\n".join(reading + start_reading),
    )
    write_section("verify", page)
    print(page)


PAGE = """## `airlock-offline verify` against its aims

Written by `tests/bench/bench_verify.py`.

{reading}

The naive script compares nothing with a plan or a pinned deployment, refuses no second spelling of a value, and makes no
fingerprint of the document; Airlock does all of that, reading the plan included, in the time given here.

### Machine and method

{machine}
- A batch is made in the same run: a plan, a deployment, and intents of eight kinds in turn (close, open, increase, increase
  in coins, trigger, delegate, referral code, TWAP cancel), encoded with eth-account and eth-abi, signed with eth-account.
- Airlock: `airlock-offline verify FILE --plan PLAN --signatures FILE --deployment FILE`, every check, exit code 0.
- Naive: `tests/bench/naive_verify.py` loads the file, and for each intent recomputes the digest (eth-account) and the
  encoding (eth-abi), compares both, and recovers the signer (eth-account), with the backend that it brings by itself.
- Each run is a fresh process, the programs in turn, after one round to fill the caches. CPU time is user and system time of
  that process, memory its peak resident set. Medians: of 7 runs, 3 of the naive script, 30 of a start.
- Start-up is the CPU time of the whole run, from the first import to the exit, with compiled modules. Where Python may not
  keep compiled modules (`PYTHONDONTWRITEBYTECODE`), every start compiles them again and takes about half as long again.

### Throughput

| program | CPU time | each | peak memory |
|---|---|---|---|
{rows}

### Start-up

| | CPU time | times bare Python |
|---|---|---|
{start}
"""


if __name__ == "__main__":
    main()
