"""``make bench``: measure ``airlock-offline verify`` against the naive script, for docs/reference/benchmarks.md.

Each measurement is a fresh process: its CPU time (user and system) and its peak memory, as the kernel counts them. Linux
counts the peak of the process that starts another into that other's, so this one imports nothing large and makes the
batches in a process of their own. A plain script, never a timed test: nothing fails here when the machine is slow.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.page import machine, write_section

PYTHON = sys.executable
VERIFY = str(Path(PYTHON).with_name("airlock-offline"))
NAIVE = str(Path(__file__).with_name("naive_verify.py"))
MAKE_BATCH = str(Path(__file__).with_name("make_batch.py"))
LIBRARIES = ("eth-account", "eth-abi", "eth-keys", "coincurve", "click", "safe-pysha3")

COUNTS = (1_000, 10_000)
RUNS = {1_000: 7, 10_000: 3}
START_RUNS = 30
SLOW_COUNT = 200  # intents for the pure-Python recovery, which takes milliseconds each; scaled up
PURE_PYTHON = {"ECC_BACKEND_CLASS": "eth_keys.backends.NativeECCBackend"}

PARSE_PLAN = "import sys; from airlock_shared.plan.reader import parse_plan; parse_plan(open(sys.argv[1], 'rb').read())"
RECOVER = """
import json, sys
from airlock_shared.ethereum.recovery import recover
for item in json.load(open(sys.argv[1]))["signatures"]:
    recover(bytes.fromhex(item["digest"][2:]), bytes.fromhex(item["signature"][2:]))
"""


class Batch(NamedTuple):
    """The four files of a batch."""

    plan: Path
    deployment: Path
    requests: Path
    signatures: Path


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
    """Return the median of CPU times and of peaks."""
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


def batch_in(folder: Path, name: str) -> Batch:
    """Return the files of a batch that has been made."""
    return Batch(*(folder / f"{kind}-{name}" for kind in Batch._fields))


def verify(batch: Batch, *, signatures: bool = True) -> list[str]:
    """Return the command that verifies a batch."""
    files = ["--plan", str(batch.plan), "--deployment", str(batch.deployment)]
    return [VERIFY, "verify", str(batch.requests), *files] + signatures * ["--signatures", str(batch.signatures)]


def naive(batch: Batch, *limit: str) -> list[str]:
    """Return the command of the naive script."""
    return [PYTHON, NAIVE, str(batch.requests), str(batch.signatures), *limit]


def throughput(batches: dict[int, Batch], home: Path) -> tuple[list[str], list[str]]:
    """Return the table of the batches, and what it means in sentences."""
    rows, reading = [], []
    slow, one = (
        median([run(naive(batches[1_000], str(n)), home, PURE_PYTHON) for _ in range(3)]) for n in (SLOW_COUNT, 1)
    )
    slow_each_s = (slow.cpu_s - one.cpu_s) / (SLOW_COUNT - 1)
    for count in COUNTS:
        batch = batches[count]
        plan = [PYTHON, "-c", PARSE_PLAN]
        programs = {
            "Airlock": verify(batch),
            "naive": naive(batch),
            "plan": [*plan, str(batch.plan)],
            "short plan": [*plan, str(batches[1].plan)],
            "recovery": [PYTHON, "-c", RECOVER, str(batch.signatures)],
            "one recovery": [PYTHON, "-c", RECOVER, str(batches[1].signatures)],
        }
        found = in_turn(programs, RUNS[count], home)
        ours, theirs = found["Airlock"], found["naive"]
        plan_s = found["plan"].cpu_s - found["short plan"].cpu_s
        recovery_s = found["recovery"].cpu_s - found["one recovery"].cpu_s
        default_s = one.cpu_s + slow_each_s * (count - 1)
        rows += [
            _line("Airlock: every check, plan and recovery", ours.cpu_s, count, "1", ours, f"{count:,}"),
            _line("of it, reading the plan", plan_s, count),
            _line("of it, recovering the signers", recovery_s, count),
            _line(
                "naive script, recovery in C (coincurve)",
                theirs.cpu_s,
                count,
                f"{theirs.cpu_s / ours.cpu_s:.1f}",
                theirs,
            ),
            _line("naive script, recovery in Python (scaled)", default_s, count, f"{default_s / ours.cpu_s:.1f}"),
        ]
        default, in_c = default_s / ours.cpu_s, theirs.cpu_s / ours.cpu_s
        reading.append(
            f"- {count:,} intents, aim at least 9 times the naive throughput with recovery: {default:.1f} times against "
            f"what `pip install eth-account eth-abi` gives ({_met(default >= 9)}), and {in_c:.1f} times against the same "
            f"script where coincurve is installed too ({_met(in_c >= 9)}: a ninth of its time is "
            f"{theirs.cpu_s / 9 / count * 1e6:.0f} µs an intent, and recovery alone takes {recovery_s / count * 1e6:.0f})."
        )
    return rows, reading


def _line(name: str, cpu_s: float, count: int, ratio: str = "", cost: Cost | None = None, first: str = "") -> str:
    peak = f"{cost.peak_mib:.0f} MiB" if cost else ""
    return f"| {first} | {name} | {cpu_s:.2f} s | {cpu_s / count * 1e6:,.0f} µs | {peak} | {ratio} |"


def _met(met: bool) -> str:
    return "aim met" if met else "aim not met"


def memory(batches: dict[int, Batch], short: Batch, home: Path) -> tuple[list[str], list[str]]:
    """Return the table of peak memory by batch and by plan, and what it means."""
    largest = batches[10_000]
    peaks = {
        name: median([run(command, home, expect=code) for _ in range(3)]).peak_mib
        for name, command, code in (
            ("1 intent, plan of 1 step", verify(batches[1]), 0),
            ("1,000 intents, plan of 1,000 steps", verify(batches[1_000]), 0),
            ("1,000 intents, plan of 10,000 steps (refused: steps are missing)", verify(short), 3),
            ("10,000 intents, plan of 10,000 steps", verify(largest), 0),
            ("reading that plan alone, without a batch", [PYTHON, "-c", PARSE_PLAN, str(largest.plan)], 0),
        )
    }
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if own >= min(peaks.values()):
        raise RuntimeError("this process is larger than what it measures, so that the peaks are its own")
    few, many = list(peaks.values())[2:4]
    size = largest.requests.stat().st_size / 2**20
    reading = (
        f"- Memory, aim no growth with the batch: ten times the intents under the same plan take {many - few:+.1f} MiB, "
        f"with a file of {size:.0f} MiB ({_met(many - few < 2)}; the list of step ids is what is kept). What grows is the "
        "plan: it is read whole, because every intent is looked up in it, and the TOML reader needs the most."
    )
    return [f"| {name} | {peak:.1f} MiB |" for name, peak in peaks.items()], [reading]


def start(batch: Batch, home: Path) -> tuple[list[str], list[str]]:
    """Return the table of start-up times, and what it means."""
    programs = {
        "`python -I -c pass`": [PYTHON, "-I", "-c", "pass"],
        '`python -I -c "import click"`': [PYTHON, "-I", "-c", "import click"],
        "`airlock-offline verify`, one item": verify(batch, signatures=False),
        "`airlock-offline verify`, one item and its signature": verify(batch),
    }
    found = in_turn(programs, START_RUNS, home)
    bare = next(iter(found.values())).cpu_s
    rows = [f"| {name} | {cost.cpu_s * 1e3:.1f} ms | {cost.cpu_s / bare:.1f} |" for name, cost in found.items()]
    ratios = [cost.cpu_s / bare for cost in found.values()]
    reading = (
        f"- Start of `verify`, aim at most 7 times bare Python: {ratios[2]:.1f} times ({_met(ratios[2] <= 7)}), and "
        f"{ratios[3]:.1f} times with a signature to recover ({_met(ratios[3] <= 7)}); click alone is {ratios[1]:.1f}."
    )
    return rows, [reading]


def main() -> None:
    """Measure, and write the page."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "home"
        for count in (1, *COUNTS):
            run([PYTHON, MAKE_BATCH, name, str(count)], home)
        batches = {count: batch_in(folder, str(count)) for count in (1, *COUNTS)}
        short = batches[10_000]._replace(requests=folder / "requests-cut", signatures=folder / "signatures-cut")
        rows, reading = throughput(batches, home)
        memory_rows, memory_reading = memory(batches, short, home)
        start_rows, start_reading = start(batches[1], home)
    page = PAGE.format(
        machine="\n".join(machine("of which one is used", *LIBRARIES)),
        rows="\n".join(rows),
        memory="\n".join(memory_rows),
        start="\n".join(start_rows),
        reading="\n".join(reading + memory_reading + start_reading),
    )
    write_section("verify", page)
    print(page)


PAGE = """## `airlock-offline verify` against its aims

Written by `tests/bench/bench_verify.py`.

{reading}

The naive script compares nothing with a plan or a pinned deployment, refuses no second spelling of a value, and makes no
fingerprint of the document; Airlock does all of that, reading the plan included, in the time given here. Against the script
with coincurve, nine times is out of reach for a program in Python: what is left to both (recovery in C, reading JSON) and
what only Airlock does (reading the plan's TOML) take longer than a ninth of the script's time before a single check has run.
The ratio is larger for the smaller file because the script's imports take half a second, whatever the file.

### Machine and method

{machine}
- A batch is made in the same run: a plan, a deployment, and intents of eight kinds in turn (close, open, increase, increase
  in coins, trigger, delegate, referral code, TWAP cancel), encoded with eth-account and eth-abi, signed with coincurve.
- Airlock: `airlock-offline verify FILE --plan PLAN --signatures FILE --deployment FILE`, every check, exit code 0.
- Naive: `tests/bench/naive_verify.py` loads the file, and for each intent recomputes the digest (eth-account) and the
  encoding (eth-abi), compares both, and recovers the signer (eth-account). eth-keys uses coincurve where it is installed,
  which eth-account does not bring: the other row has the backend that it has by itself, measured on 200 intents and scaled.
- Each run is a fresh process, the programs in turn, after one round to fill the caches. CPU time is user and system time of
  that process, memory its peak resident set. Medians: of 7 runs (1,000), 3 runs (10,000), 30 runs (start).
- Start-up is the CPU time of the whole run, from the first import to the exit, with compiled modules. Where Python may not
  keep compiled modules (`PYTHONDONTWRITEBYTECODE`), every start compiles them again and takes about half as long again.

### Throughput

| intents | program | CPU time | each | peak memory | CPU time over Airlock's |
|---|---|---|---|---|---|
{rows}

### Memory of `verify`

| | peak |
|---|---|
{memory}

### Start-up

| | CPU time | times bare Python |
|---|---|---|
{start}
"""


if __name__ == "__main__":
    main()
