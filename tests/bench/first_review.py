"""How long after its start `sign` shows the first line of the first review: two installed commands, measured in turn.

``python tests/bench/first_review.py BEFORE AFTER [--runs N]``: two `airlock-offline` programs, of two states of the code.
Each gets its own folder, in which it pins one rehearsal deployment and is told the time, and one software Ledger; both get
the same plan and the same document of its intents. A run is a fresh process in a pseudo-terminal. The one question before
the review is answered as soon as it stands there. Measured is the time from exec to the first line of the review, in turn,
first one and then the other first, after one run of each that does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from airlock_offline.home import OfflineHome
from airlock_shared.documents.deployment import parse_deployment
from e2e import test_altered_requests as vectors
from e2e.terminal import Terminal
from offline.signing_world import document, plan_text, rehearsal_text
from shared.make_payloads import NOW_MS, plan_fingerprint, seal

FOLDER = "requests"
FIRST_LINE = "STEP "


def main() -> int:
    """Measure, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--runs", type=int, default=15)
    asked = parser.parse_args()
    commands = {"before": asked.before, "after": asked.after}
    times: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_documents(folder)
        ledgers = {each: start_ledger(command) for each, command in commands.items()}
        try:
            ports = {}
            for each, process in ledgers.items():
                assert process.stdout is not None
                ports[each] = json.loads(process.stdout.readline())["port"]
            for each, command in commands.items():
                set_up(folder, each, command, ports[each])
            for run in range(asked.runs + 1):
                for each in (list(commands), list(commands)[::-1])[run % 2]:
                    taken = first_line(folder, each, commands[each], ports[each])
                    if run:
                        times[each].append(taken)
        finally:
            for process in ledgers.values():
                process.terminate()
                process.wait(20)
    pairs = [after - before for before, after in zip(times["before"], times["after"], strict=True)]
    for each, taken_s in times.items():
        print(f"{each:<7} median {statistics.median(taken_s):.3f} s, {min(taken_s):.3f} to {max(taken_s):.3f}")
    print(f"after - before, of each pair: median {statistics.median(pairs):+.3f} s, {min(pairs):+.3f} to {max(pairs):+.3f}, "
          f"{asked.runs} pairs")  # fmt: skip
    return 0


def start_ledger(command: str) -> subprocess.Popen[str]:
    """Start the software Ledger of a state of the code; its first line names the port."""
    return subprocess.Popen(
        [str(Path(command).with_name("airlock-software-ledger"))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def write_documents(folder: Path) -> None:
    """Write the deployment, the plan and the document, with the software Ledger's accounts and the time of now."""
    now_ms = time.time_ns() // 1_000_000
    plan = vectors._own(plan_text(FOLDER))
    made = vectors._moved(json.loads(vectors._own(json.dumps(document(FOLDER)))), now_ms - NOW_MS)
    made["header"]["plan"] = plan_fingerprint(plan)
    for item in made["requests"]:
        seal(item["payload"])
    (folder / "deployment.json").write_text(rehearsal_text())
    (folder / "plan.toml").write_text(plan)
    (folder / "requests.json").write_text(json.dumps(made))


def set_up(folder: Path, name: str, command: str, port: int) -> None:
    """Have a command pin the deployment and be told the time, in a folder of its own."""
    watch = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    data = (folder / "deployment.json").read_bytes()
    OfflineHome(folder / name).pin(parse_deployment(data), data, time.time_ns() // 1_000_000)
    words = ["preflight", "--time", watch, "--uncertainty", "60", "--emulator", str(port)]
    subprocess.run([command, "--home", str(folder / name), *words], check=True, capture_output=True)


def first_line(folder: Path, name: str, command: str, port: int) -> float:
    """Return the seconds from exec to the first line of the review, in a copy of the folder."""
    home = folder / "run"
    shutil.copytree(folder / name, home)
    words = ("--home", home, "sign", folder / "requests.json", "--plan", folder / "plan.toml", "-o", folder / "out.json",
             "--emulator", port)  # fmt: skip
    begun = time.monotonic()
    terminal = Terminal(command, *words)
    answered = False
    while FIRST_LINE not in terminal.shown:
        assert terminal.more(), terminal.shown
        if not answered and terminal.shown.rstrip().endswith(":") and "?" in terminal.shown:
            answered = True
            terminal.press("Yes\n")
    taken = time.monotonic() - begun
    os.kill(terminal.pid, 9)
    terminal.end()
    shutil.rmtree(home)
    return taken


if __name__ == "__main__":
    sys.exit(main())
