"""Both halves as two installed commands that exchange files, as on two machines."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_account.signers.local import LocalAccount

from airlock_rehearsal.chain.evm import CONTRACTS, STORAGE
from airlock_rehearsal.scenarios import DELEGATE_PATH, TRADER, ceremonies
from airlock_rehearsal.services.runtime import RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.errors import ServiceError
from airlock_software_ledger.keys import TEST_SEED
from commands import FinishedCommand, begin, run_command
from loaded import LoadedCommand

ROOT = Path(__file__).parents[2]
ONLINE = Path(os.environ.get("AIRLOCK_ONLINE_COMMAND", str(Path(sys.executable).parent / "airlock-online")))
BESIDE = Path(sys.executable).parent / "airlock-offline"  # where the offline half has no environment of its own
OWN = ROOT / ".venvs/offline/bin/airlock-offline"
OFFLINE = Path(os.environ.get("AIRLOCK_OFFLINE_COMMAND", str(OWN if OWN.exists() else BESIDE)))
SOFTWARE_LEDGER = OFFLINE.with_name("airlock-software-ledger")
PEOPLE = {"signer": "Ada Lovelace", "facilitator": "Grace Hopper", "witness": "Mary Somerville"}
BY_NAME = tuple(word for role, name in PEOPLE.items() for word in ("--role", f"{role}={name}"))


class Machines:
    """A table with both machines on it, a folder for each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, program: Path, words: tuple[object, ...], typed: str = "", screen: str = "") -> FinishedCommand:
        home = self.folder / ("online-home" if program == ONLINE else "offline-home")
        return run_command(program, "--home", home, *words, typed=typed, screen=screen)

    def online(self, *words: object, typed: str = "", screen: str = "") -> FinishedCommand:
        return self.run(ONLINE, words, typed, screen)

    def offline(self, *words: object, typed: str = "") -> FinishedCommand:
        return self.run(OFFLINE, words, typed)

    def path(self, name: str) -> Path:
        return self.folder / name

    def state_time(self, off_s: int = 0) -> FinishedCommand:
        """State the time from a watch that is ``off_s`` seconds ahead of this machine; no Ledger is plugged in yet."""
        watch = datetime.now(UTC) + timedelta(seconds=off_s)
        words = ("preflight", "--time", watch.strftime("%Y-%m-%dT%H:%M:%SZ"), "--uncertainty", 60)
        return self.offline(*words)


class BothMachines(Machines):
    """Both machines, the rehearsal's services, and the software Ledger when it is asked for."""

    def __init__(self, folder: Path, services: RehearsalServices) -> None:
        super().__init__(folder)
        self.services = services

    def fetch(self, output: Path, *more: object, batched: str = "") -> FinishedCommand:
        """Fetch the deployment; the batched market may be at another address."""
        urls = self.services
        market = batched or urls.batched_url
        words = ("--builder", urls.builder_url, "--batched-market", market, "--relayer", urls.relayer_url, *more)
        return self.online("deployment", "fetch", "--name", "rehearsal", *words, "-o", output)

    def pin(self, batched: str = "") -> None:
        """Fetch the deployment and pin it; the batched market may be at another address."""
        assert self.fetch(self.path("deployment.json"), batched=batched).code == 0
        assert self.offline("trust", self.path("deployment.json"), typed="Yes\n").code == 0
        self.state_time()

    def ask_the_node(self, signatures: Path) -> FinishedCommand:
        """Follow what has ended by a service's word alone: the operator's own node, given only now, proves it."""
        config = self.path("online-home/config.toml")
        config.write_text(f'[rpc]\nurl = "{self.services.rpc_url}"\nconfirmed_by = "depth"\nconfirmations = 1\n')
        try:
            return self.online("follow", json.loads(signatures.read_text())["signatures"][0]["digest"])
        finally:
            config.unlink()

    def write_plan(self, ceremony: str, *roles: str) -> Path:
        """Write one of the rehearsal's plans, perhaps with these roles; it does not say that a witness is required.

        What is required then is tested in ``test_roles.py``, and played by the rehearsal.
        """
        path = self.path(f"{ceremony}.plan.toml")
        known = ceremonies("rehearsal", datetime.now(UTC), trading_storage=CONTRACTS[STORAGE])
        text = next(c.plan for c in known if c.id == ceremony).replace('\nwitness = "required"', "")
        assert text.count("\nroles = ") == 1
        path.write_text(re.sub(r"(?m)^roles = .*$", f"roles = {json.dumps(roles)}", text) if roles else text)
        return path

    def prepare(self, ceremony: str) -> tuple[Path, Path]:
        """Prepare a ceremony, with the proof of its delegate key; return the paths of its plan and its requests."""
        plan, requests = self.write_plan(ceremony), self.path(f"{ceremony}.requests.json")
        if ceremony == "delegate-key":
            self.prove(plan)
        self.online("prepare", plan, "-o", requests).done()
        return plan, requests

    def sign(
        self, ledger: Ledger, plan: Path, requests: Path, output: Path, *more: object, typed: str = "Yes\n" * 4
    ) -> FinishedCommand:
        """Sign what was prepared, on the software Ledger."""
        words = ("sign", requests, "--plan", plan, "-o", output, "--emulator", ledger.port, *more)
        return self.offline(*words, typed=typed)

    def entries(self, half: str = "offline") -> list[dict[str, Any]]:
        """Return what is in a machine's transcript."""
        return [json.loads(line) for line in self.path(f"{half}-home/transcript.jsonl").read_text().splitlines()]

    def events(self, half: str = "offline") -> list[str]:
        return [entry["event"] for entry in self.entries(half)]

    def prove(self, plan: Path, step: str = "", path: str = DELEGATE_PATH) -> None:
        """Sign a step's challenge with the delegate key at a path, as a trading server's own wallet would, and check it."""
        words = ("--plan", plan, *(("--step", step) if step else ()), "--json")
        text = self.offline("delegate", "challenge", *words).json()["challenges"][0]["text"]
        self.offline("delegate", "check", "--signature", signed_by(key_at(path), text), *words).done()


def refused(ended: FinishedCommand, code: int, *said: str) -> None:
    """Require that a command was refused with a code, in these words, and said what to do."""
    assert ended.code == code, ended.out + ended.err
    for text in said:
        assert text in ended.err.replace("\n  ", "")  # a long name is broken where the row ends
    assert "do:" in ended.err


def key_at(path: str) -> LocalAccount:
    """Return the software Ledger's key at a path, for what another wallet does with it."""
    Account.enable_unaudited_hdwallet_features()
    account: LocalAccount = Account.from_mnemonic(TEST_SEED, account_path=path)
    return account


def signed_by(key: LocalAccount, text: str) -> str:
    return "0x" + key.sign_message(encode_defunct(text=text)).signature.hex()


class Ledger(NamedTuple):
    """The software Ledger as a process of its own, its port, and what it says."""

    process: LoadedCommand | subprocess.Popen[bytes]
    port: int
    says: IO[str]


def start_ledger(*words: str) -> Ledger:
    """Start a software Ledger."""
    reads, writes = os.pipe()
    with Path(os.devnull).open("r+b") as null:
        process = begin([str(SOFTWARE_LEDGER), *words], (null.fileno(), writes, null.fileno()))
    os.close(writes)
    says = os.fdopen(reads)
    return Ledger(process, int(json.loads(says.readline())["port"]), says)


def stop_ledger(ledger: Ledger) -> None:
    ledger.process.send_signal(signal.SIGTERM)
    ledger.process.wait(20)
    ledger.says.close()


PORTS = range(20_000, 32_000)  # the system gives none of them to a client
PINNED_FOR_S = 300
_PORT = [random.SystemRandom().choice(PORTS)]


def serve_where_before(services: RehearsalServices) -> None:
    """Start services where the ones before them were, so that their deployment is the same; elsewhere if that is taken."""
    while True:
        try:
            services.start(_PORT[0])
        except ServiceError:
            _PORT[0] = random.SystemRandom().choice(PORTS)
        else:
            return


@pytest.fixture
def services() -> Iterator[RehearsalServices]:
    running = RehearsalServices(trader=TRADER, settings=RehearsalSettings(pacing_s=0.0))
    serve_where_before(running)
    yield running
    running.stop()


class Pinned(NamedTuple):
    """A table on which a deployment was fetched and pinned by the installed commands, and when."""

    folder: Path
    at_s: float


@pytest.fixture(scope="session")
def pinned() -> dict[str, Pinned]:
    """What was pinned, by the services' address."""
    return {}


@pytest.fixture
def desk(
    tmp_path: Path, services: RehearsalServices, pinned: dict[str, Pinned], tmp_path_factory: pytest.TempPathFactory
) -> BothMachines:
    """A table where the deployment is pinned: a copy of one on which the commands did it minutes ago."""
    before = pinned.get(services.url)
    if before is None or time.monotonic() - before.at_s > PINNED_FOR_S:
        first = BothMachines(tmp_path_factory.mktemp("pinned"), services)
        first.pin()
        before = pinned[services.url] = Pinned(first.folder, time.monotonic())
    shutil.copytree(before.folder, tmp_path, dirs_exist_ok=True)
    return BothMachines(tmp_path, services)


@pytest.fixture
def unpinned(tmp_path: Path, services: RehearsalServices) -> BothMachines:
    """Return a desk where the deployment was fetched, and the signing machine has nothing."""
    made = BothMachines(tmp_path, services)
    made.fetch(made.path("deployment.json")).done()
    return made


def ledger_fixture(*words: str, scope: Literal["function", "module"] = "module") -> Any:
    """Return a fixture: a software Ledger with these options, one for a whole module where nothing of it is left behind."""

    @pytest.fixture(scope=scope)
    def started() -> Iterator[Ledger]:
        running = start_ledger(*words)
        yield running
        stop_ledger(running)

    return started


ledger = ledger_fixture(scope="function")
blind = ledger_fixture("--blind-signing", scope="function")
