"""Makes ``tests/vectors/before/desk``: what a desk has on both machines in the middle of its days.

``python make_earlier_state.py AIRLOCK-ONLINE AIRLOCK-OFFLINE FOLDER`` was run once, with the installed commands of the state
before; tests open the folder with today's. The services are at 127.0.0.1:9, the discard port (RFC 863), where nobody listens
when the folder is opened: to serve there takes a machine where the maker may bind it.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"  # the software Ledger's first account, whose seed is public
DISCARD = 9
FAR = "2099-01-01T00:00:00Z"  # a deadline that the plan fixes, so that what was signed can be resumed for as long
PEOPLE = ("--role", "signer=Ada Lovelace", "--role", "facilitator=Grace Hopper", "--role", "witness=Mary Somerville")
EVERYBODY = ("--by", "signer", "--by", "facilitator", "--by", "witness")

_PLAN = """\
format = "airlock/plan@1"

[ceremony]
id = "{id}"
title = "{title}"
deployment = "rehearsal"
roles = {roles}

[limits]
deadline_at_most = "{most}"
slippage_percent_at_most = "1"
remaining_at_least = "1m"

[signers.treasury]
address = "{trader}"
path = "m/44'/60'/0'/0/0"
{steps}"""
_STEP = """
[[steps]]
id = "{id}"
action = "{action}"
signer = "treasury"
[steps.fields]
{fields}
"""
CODE = f'referee = "{TRADER}"\ncode = "TREASURY"'
OPEN = (
    f'trader = "{TRADER}"\npair = "SOL/USD"\nside = "long"\ncollateralUsdc = "100"\nleverage = "5"\n'
    'orderType = "market"\nopenPrice = { at_least = "1", at_most = "1000000" }'
)
LATE = f"\ndeadlineMs = {FAR}"
# ceremony: its step's action and fields, the services' fault, the exit code of submit, and the state in the journal
DELIVERIES = {
    "taken": ("referral-set-code", CODE, "", 0, "CONFIRMED"),
    "filled": ("open", OPEN, "", 0, "FILLED"),
    "declined": ("open", OPEN, "cancel-fill", 10, "MARKET_DECLINED"),
    "failed": ("open", OPEN, "fail-terminal", 11, "FAILED"),
    "rejected-late": ("open", OPEN + LATE, "http-429@batched", 8, "REJECTED"),
    "lost": ("open", OPEN, "drop-before-accepted", 9, "UNKNOWN"),
    "lost-late": ("referral-set-code", CODE + LATE, "drop-before-accepted", 9, "UNKNOWN"),
    "accepted-late": ("open", OPEN + LATE, "drop-after-accepted empty-events", 9, "ACCEPTED"),
}


def plan_text(ceremony: str, title: str, steps: dict[str, tuple[str, str]], roles: tuple[str, ...] = ()) -> str:
    """Return a plan with these steps: an id, its action, its fields."""
    told = "".join(_STEP.format(id=name, action=action, fields=fields) for name, (action, fields) in steps.items())
    most = "30000d" if FAR in told else "5m"
    return _PLAN.format(id=ceremony, title=title, roles=json.dumps(roles), most=most, trader=TRADER, steps=told)


class Maker:
    """Both machines in one folder; every path that a command is given is relative to it."""

    def __init__(self, online: Path, offline: Path, folder: Path) -> None:
        self._programs = {"online": online.absolute(), "offline": offline.absolute()}
        self.folder = folder

    def state_time(self) -> None:
        """State the time; a machine with a network is refused, which the record says too, and the time is stated."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.run("offline", "preflight", "--time", now, "--uncertainty", "60", code=None)

    def run(self, half: str, *words: str, code: int | None = 0, typed: str = "Yes\n" * 8) -> str:
        command = [str(self._programs[half]), "--home", f"{half}-home", *words]
        ended = subprocess.run(
            command, cwd=self.folder, input=typed, capture_output=True, text=True, check=False, timeout=300
        )
        if code is not None and ended.returncode != code:
            raise SystemExit(f"{half} {' '.join(words)}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}")
        return ended.stdout

    @contextmanager
    def serving(self, half: str, *words: str) -> Iterator[dict[str, Any]]:
        """Run a command that serves until it is ended, and yield the JSON line that it begins with."""
        command = [str(self._programs[half]), *words]
        process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()

    def services(self, fault: str = "") -> Any:
        faults = [word for name in fault.split() for word in ("--fault", name)]
        return self.serving("online", "rehearse", "serve", "--port", str(DISCARD), *faults)

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return name

    def sign(self, name: str, port: str, *, code: int = 0, typed: str = "Yes\n" * 4) -> str:
        words = ("--plan", f"{name}.plan.toml", "-o", f"{name}.signatures.json", "--emulator", port)
        self.run("offline", "sign", f"{name}.requests.json", *words, code=code, typed=typed)
        return f"{name}.signatures.json"


def make(maker: Maker) -> None:
    """Make the whole folder. One run of the services builds everything, for each begins with the same nonces."""
    with maker.serving("offline", "emulator") as emulator, maker.services() as served:
        port = str(emulator["port"])
        pin(maker, served["services"])
        whole_day(maker, port)
        for name, (action, fields, _, _, _) in DELIVERIES.items():
            plan = maker.write(f"{name}.plan.toml", plan_text(name, "A delivery", {"step": (action, fields)}))
            maker.run("online", "prepare", plan, "-o", f"{name}.requests.json")
            maker.sign(name, port)
        given_away(maker, port)
        half_a_day(maker, port)
    for name, (_, _, fault, code, _) in DELIVERIES.items():
        with maker.services(fault):
            maker.run("online", "submit", f"{name}.signatures.json", "--patience", "2", code=code)
    half_a_scan(maker)


def pin(maker: Maker, urls: dict[str, str]) -> None:
    options = {
        "builder": "builder",
        "batched-market": "batched",
        "relayer": "relayer",
        "twap": "twap",
        "core-api": "core",
    }
    words = [word for option, name in options.items() for word in (f"--{option}", urls[name])]
    maker.run("online", "deployment", "fetch", "--name", "rehearsal", *words, "-o", "deployment.json")
    maker.run("offline", "trust", "deployment.json")
    maker.state_time()


def whole_day(maker: Maker, port: str) -> None:
    """A ceremony from its beginning to its end, complete on both machines, and sealed."""
    plan = maker.write(
        "whole.plan.toml", plan_text("whole", "A whole day", {"code": ("referral-set-code", CODE)}, _ROLES)
    )
    for half in ("online", "offline"):
        maker.run(half, "ceremony", "begin", "--plan", plan, *PEOPLE)
    maker.run("online", "prepare", plan, "-o", "whole.requests.json")
    maker.state_time()
    maker.run("offline", "address", "--plan", plan, "--confirm", "--emulator", port)
    maker.sign("whole", port)
    maker.run("online", "submit", "whole.signatures.json")
    maker.run("offline", "transcript", "seal", "--plan", plan, "--emulator", port)
    for half in ("online", "offline"):
        shown = json.loads(maker.run(half, "ceremony", "show", "--plan", plan, "--json"))
        for row in shown["stations"]:
            maker.run(half, "ceremony", "confirm", row["station"], "--plan", plan, *EVERYBODY)
        maker.run(half, "ceremony", "end", "--plan", plan)


_ROLES = ("signer", "facilitator", "witness")


def given_away(maker: Maker, port: str) -> None:
    """A signature that was exported: another sender has it."""
    plan = maker.write("exported.plan.toml", plan_text("exported", "Given away", {"step": ("open", OPEN + LATE)}))
    maker.run("online", "prepare", plan, "-o", "exported.requests.json")
    maker.run("online", "export", maker.sign("exported", port), "-o", "exported.package.json")


def half_a_day(maker: Maker, port: str) -> None:
    """A ceremony begun on both machines, in which some is confirmed and the first of two steps is signed."""
    steps = {"code": ("referral-set-code", CODE + LATE), "open": ("open", OPEN + LATE)}
    plan = maker.write("half.plan.toml", plan_text("half", "Half a day", steps, _ROLES))
    for half in ("online", "offline"):
        maker.run(half, "ceremony", "begin", "--plan", plan, *PEOPLE)
        for station in ("plan", "deployment"):
            maker.run(half, "ceremony", "confirm", station, "--plan", plan, *EVERYBODY)
    maker.run("online", "prepare", plan, "-o", "half.requests.json")
    maker.run("online", "ceremony", "confirm", "requests", "--plan", plan, *EVERYBODY)
    maker.sign("half", port, code=6, typed="Yes\nYes\nno\n")
    (maker.folder / "half.signatures.json").unlink()  # as if it had been interrupted before it wrote them


def half_a_scan(maker: Maker) -> None:
    """A scan of the open ceremony's requests that has read three of seven parts."""
    maker.run("online", "show", "half.requests.json", "--as", "png", "-o", "codes", "--density", "10")
    pictures = sorted((maker.folder / "codes").glob("*.png"))
    for picture in pictures[3:]:
        picture.unlink()
    maker.run("offline", "scan", "codes", "-o", "scanned.json", code=4)
    shutil.rmtree(maker.folder / "codes")


def settle(folder: Path) -> None:
    """Leave one file of the journal, without its log, and say what the journal must hold."""
    with sqlite3.connect(folder / "online-home/journal.sqlite3") as journal:
        journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        journal.execute("PRAGMA journal_mode=DELETE")
        rows = dict(journal.execute("SELECT ceremony, state FROM submissions WHERE step = 'step'"))
    expected = {name: row[4] for name, row in DELIVERIES.items()} | {"exported": "EXPORTED"}
    assert rows == expected, rows
    for name in (DELIVERIES.keys() - {"rejected-late"}) | {"exported"}:  # the home has the requests
        for end in ("plan.toml", "requests.json", "signatures.json", "package.json"):
            if (name, end) != ("exported", "signatures.json"):
                (folder / f"{name}.{end}").unlink(missing_ok=True)


if __name__ == "__main__":
    os.umask(0o077)
    made = Path(sys.argv[3])
    made.mkdir(parents=True)
    began = time.monotonic()
    make(Maker(Path(sys.argv[1]), Path(sys.argv[2]), made))
    settle(made)
    print(f"made in {time.monotonic() - began:.0f} s")
