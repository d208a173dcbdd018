"""Snapshots and clocks through the installed commands: a machine set back, and a clock that was set, are noticed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.clock import now_ms, uptime
from airlock_offline.home import OfflineHome
from airlock_shared.checks.times import STATED
from commands import FinishedCommand
from e2e.conftest import BothMachines, Ledger

FIRST, SECOND = "delegate-key", "referral-code"


def snapshot(desk: BothMachines, home: str) -> Callable[[], None]:
    """Copy a machine's folder, and return what sets the machine back to it."""
    kept = Path(shutil.copytree(desk.path(home), desk.path(f"{home}-kept")))

    def restore() -> None:
        shutil.rmtree(desk.path(home))
        shutil.copytree(kept, desk.path(home))

    return restore


def sign(desk: BothMachines, ledger: Ledger, plan: Path, requests: Path, name: str) -> FinishedCommand:
    words = ("sign", requests, "--plan", plan, "-o", desk.path(f"{name}.json"), "--emulator", ledger.port)
    return desk.offline(*words, typed="Yes\n" * 4)


def signed(desk: BothMachines, ledger: Ledger, ceremony: str) -> Path:
    """Prepare and sign a ceremony; return its signatures."""
    plan, requests = desk.prepare(ceremony)
    ended = sign(desk, ledger, plan, requests, ceremony)
    assert ended.code == 0, ended.err
    return desk.path(f"{ceremony}.json")


def submitted(desk: BothMachines, ledger: Ledger, ceremony: str) -> Path:
    signatures = signed(desk, ledger, ceremony)
    assert desk.online("submit", signatures).code == 0
    return signatures


def entries(desk: BothMachines) -> list[dict[str, Any]]:
    lines = (desk.path("offline-home") / "transcript.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def require_refused(desk: BothMachines, ended: FinishedCommand, name: str) -> None:
    assert (ended.code, "PIN-HEAD" in ended.err) == (3, True), ended.err
    assert not desk.path(f"{name}.json").exists()
    assert "Traceback" not in ended.err


def test_a_head_that_was_seen_goes_into_the_next_requests_and_is_known(desk: BothMachines, ledger: Ledger) -> None:
    signatures = submitted(desk, ledger, FIRST)
    header = json.loads(signatures.read_text())["header"]
    assert header["machine"] == entries(desk)[0]["hash"]
    plan, requests = desk.prepare(SECOND)
    assert json.loads(requests.read_text())["header"]["signing_heads"] == {header["machine"]: header["transcript_head"]}
    assert desk.offline("verify", requests, "--plan", plan).code == 0
    assert sign(desk, ledger, plan, requests, SECOND).code == 0


def test_a_signing_machine_that_was_set_back_is_refused_until_it_is_as_it_was(
    desk: BothMachines, ledger: Ledger
) -> None:
    set_back = snapshot(desk, "offline-home")
    submitted(desk, ledger, FIRST)
    as_it_was = Path(shutil.copytree(desk.path("offline-home"), desk.path("as-it-was")))
    plan, requests = desk.prepare(SECOND)
    set_back()
    told = desk.offline("verify", requests, "--plan", plan)
    assert (told.code, "PIN-HEAD" in told.out) == (3, True), told.out
    before = len(entries(desk))
    require_refused(desk, sign(desk, ledger, plan, requests, SECOND), SECOND)
    assert "signing" not in [entry["event"] for entry in entries(desk)[before:]]
    shutil.rmtree(desk.path("offline-home"))
    shutil.copytree(as_it_was, desk.path("offline-home"))
    assert sign(desk, ledger, plan, requests, SECOND).code == 0


def test_an_online_machine_that_was_set_back_is_refused_until_it_has_the_signatures_again(
    desk: BothMachines, ledger: Ledger
) -> None:
    set_back = snapshot(desk, "online-home")
    signatures = submitted(desk, ledger, FIRST)
    answered = desk.path(f"{FIRST}.requests.json")
    set_back()
    plan, requests = desk.prepare(SECOND)
    require_refused(desk, sign(desk, ledger, plan, requests, SECOND), SECOND)
    made = desk.online("report", "make", "--plan", desk.path(f"{FIRST}.plan.toml"), "--requests", answered,
                       "--signatures", signatures, "-o", desk.path("evidence"))  # fmt: skip
    assert made.code in (0, 3), made.err  # nothing is sent, and the head is known
    requests.unlink()
    plan, requests = desk.prepare(SECOND)
    assert sign(desk, ledger, plan, requests, SECOND).code == 0


def test_heads_that_were_taken_out_on_the_way_are_missed(desk: BothMachines, ledger: Ledger) -> None:
    submitted(desk, ledger, FIRST)
    plan, requests = desk.prepare(SECOND)
    document = json.loads(requests.read_text())
    del document["header"]["signing_heads"]
    requests.write_text(json.dumps(document))
    require_refused(desk, sign(desk, ledger, plan, requests, SECOND), SECOND)


@pytest.mark.parametrize(("gap_ms", "code"), [(0, 0), (1_000, 0), (5_000, 7), (-5_000, 7)])
def test_a_clock_that_went_another_way_than_the_machine_ran_is_asked_for_again(
    desk: BothMachines, ledger: Ledger, gap_ms: int, code: int
) -> None:
    plan, requests = desk.prepare(SECOND)
    state, ran = OfflineHome(desk.path("offline-home")), uptime()
    assert ran is not None
    at_ms = now_ms()
    stated = {"stated_ms": at_ms, "machine_ms": at_ms, "uncertainty_s": 60, "boot_id": ran.boot_id}
    state.transcript.record(STATED, stated | {"boot_ms": ran.boot_ms + gap_ms}, at_ms)
    ended = sign(desk, ledger, plan, requests, SECOND)
    assert ended.code == code, ended.err
    if code:
        assert "TIME-CLOCK" in ended.err
        assert "airlock-offline preflight --time" in ended.err
        desk.state_time()
        assert sign(desk, ledger, plan, requests, "after").code == 0
