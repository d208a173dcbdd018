"""The installed commands beside each other on one home: two `sign`, a `seal`, a `compare`, a `preflight`, and one signature.

Each is started and answered at moments that its number decides. A seal is over the transcript as it is: what was recorded
meanwhile makes it void, and never the transcript.
"""

import json
import random
import re
import shutil
import subprocess
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from airlock_shared.ceremony.seals import SEALED, VOID
from commands import FinishedCommand, run_command
from draws import draws
from e2e.conftest import BY_NAME, OFFLINE, PEOPLE, BothMachines, Ledger, start_ledger, stop_ledger
from e2e.terminal import Terminal
from shared.make_payloads import seal

INTERLEAVINGS = draws(3, 50)
DELAY_S = 2.5  # within which commands are started and answered: about as long as one takes
ASKED = "Type Yes to go on, no to stop"


class Command:
    """A command that is started after a delay and answered Yes after others, as by a person at a terminal."""

    def __init__(self, home: Path, words: tuple[object, ...], delays_s: list[float]) -> None:
        self._words = [str(OFFLINE), "--home", str(home), *map(str, words)]
        self._delays_s = delays_s
        self.done = FinishedCommand(-1, "", "")
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        first, *others = self._delays_s
        time.sleep(first)
        with subprocess.Popen(
            self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            for delay_s in others:
                time.sleep(delay_s)
                try:
                    process.stdin.write("Yes\n")
                    process.stdin.flush()
                except BrokenPipeError:
                    break
            out, err = process.communicate(timeout=120)
        self.done = FinishedCommand(process.returncode, out, err)

    def wait(self) -> FinishedCommand:
        self._thread.join()
        return self.done


@pytest.fixture
def ledgers() -> Any:
    """Return a Ledger for each command that needs one: nothing but Airlock keeps them apart."""
    started = [start_ledger() for _ in range(4)]
    yield started
    for ledger in started:
        stop_ledger(ledger)


def two_documents(desk: BothMachines) -> tuple[Path, Path, Path]:
    """Return a plan with a delegate's registration, and two requests documents for it with different nonces."""
    plan, one = desk.write_plan("delegate-key", *PEOPLE), desk.path("one.json")
    desk.prove(plan)
    prepared = desk.online("prepare", plan, "-o", one)
    assert prepared.code == 0, prepared.err
    document = json.loads(one.read_text())
    payload = document["requests"][0]["payload"]
    payload["message"]["nonce"] = "12345"
    seal(payload)
    two = desk.path("two.json")
    two.write_text(json.dumps(document))
    begun = desk.offline("ceremony", "begin", "--plan", plan, *BY_NAME, typed="Yes\n")
    assert begun.code == 0, begun.err
    return plan, one, two


def beside_each_other(desk: BothMachines, home: Path, plan: Path, documents: tuple[Path, Path], ledgers: list[Ledger],
                      seed: int) -> dict[str, FinishedCommand]:  # fmt: skip
    """Run the five commands, and return how each ended."""
    drawn = random.Random(seed)
    watch = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    signs = [
        ("sign", requests, "--plan", plan, "-o", home / f"{name}.json", "--emulator", ledger.port, "--json")
        for name, requests, ledger in zip(("one", "two"), documents, ledgers, strict=False)
    ]
    words: dict[str, tuple[tuple[object, ...], int]] = {
        "one": (signs[0], 2),
        "two": (signs[1], 2),
        "seal": (("transcript", "seal", "--plan", plan, "--emulator", ledgers[2].port), 6),
        "compare": (("ceremony", "compare", "plan", "--plan", plan, "--by", "witness"), 1),
        "preflight": (("preflight", "--time", watch, "--uncertainty", "60", "--emulator", ledgers[3].port), 0),
    }
    running = {
        name: Command(home, line, [drawn.uniform(0, DELAY_S / (1 + answers)) for _ in range(1 + answers)])
        for name, (line, answers) in words.items()
    }
    return {name: command.wait() for name, command in running.items()}


def test_two_terminals_sign_a_step_once(desk: BothMachines, ledgers: list[Ledger]) -> None:
    plan, one, two = two_documents(desk)
    for seed in range(INTERLEAVINGS):
        home = Path(shutil.copytree(desk.path("offline-home"), desk.path(f"home-{seed}")))
        ended = beside_each_other(desk, home, plan, (one, two), ledgers, seed)
        told = "\n".join(f"{name} {done.code}\n{done.err}" for name, done in ended.items())
        entries = [json.loads(line) for line in (home / "transcript.jsonl").read_text().splitlines()]
        for event in ("signing", "signed"):
            assert len({entry["data"]["digest"] for entry in entries if entry["event"] == event}) == 1, (seed, told)
        results = [ended[name].json()["steps"][0] for name in ("one", "two")]
        assert [(home / f"{name}.json").exists() for name in ("one", "two")] == [
            r["result"] == "signed" for r in results
        ]
        assert sorted(result["result"] for result in results) == ["refused", "signed"], (seed, told)
        assert {result.get("why") for result in results} == {"", "NONCE-PENDING"}
        assert {ended[name].code for name in ("one", "two")} == {0, 3}, (seed, told)
        assert ended["compare"].code == ended["preflight"].code == ended["seal"].code == 0, (seed, told)
        verified = run_command(OFFLINE, "--home", home, "transcript", "verify", "--plan", plan)
        assert verified.code == 0, (seed, verified.err, told)


# ---- a seal, and what is recorded while it is made -----------------------------------------------------------------


def test_a_command_that_records_while_the_seal_is_made_makes_it_void_and_it_is_asked_again(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, home = desk.write_plan("referral-code"), desk.path("offline-home")
    sealing = Terminal(OFFLINE, "--home", home, "transcript", "seal", "--plan", plan, "--emulator", ledger.port)
    assert sealing.until_question() == ASKED
    desk.state_time()  # recorded beside it, without waiting for the seal
    sealing.press("Yes\n")
    assert sealing.until_question() == ASKED
    assert "This seal is void" in sealing.shown
    sealing.press("Yes\n")
    assert sealing.end() == 0, sealing.shown
    assert "Sealed." in sealing.shown
    assert desk.events()[-2:] == [VOID, SEALED]
    verified = desk.offline("transcript", "verify", "--plan", plan, "--json")
    assert verified.code == 0, verified.err
    assert [seal["entries"] for seal in verified.json()["seals"]] == [len(desk.entries()) - 1]
    lines = (home / "transcript.jsonl").read_text().splitlines()
    desk.path("cut.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    cut = desk.offline("transcript", "verify", desk.path("cut.jsonl"), "--plan", plan)
    assert (cut.code, "DOC-SEAL" in cut.err) == (4, True), cut.err


def test_a_seal_for_another_plan_on_the_same_machine_is_not_this_ones(desk: BothMachines, ledger: Ledger) -> None:
    plan, other = desk.write_plan("referral-code"), desk.path("other.toml")
    other.write_text(re.sub('(?m)^id = ".*"', 'id = "another-day"', plan.read_text(), count=1))
    sealed = [
        desk.offline("transcript", "seal", "--plan", each, "--emulator", ledger.port, typed="Yes\n")
        for each in (other, plan, plan)
    ]
    assert [(ended.code, "sealed already" in ended.err) for ended in sealed] == [(0, False), (0, False), (0, True)]
