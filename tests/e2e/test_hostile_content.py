"""What a builder, a plan or pictures hold, through the installed commands: no flood, no imitation, no fall, no waiting."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import OFFLINE, BothMachines, Ledger
from e2e.terminal import Terminal
from e2e.test_nonce_and_time import _two_steps
from e2e.transaction_requests import write_transaction

MARK = "builder | "
OURS = ("DECIDED BY THE PLAN", "CHECKS: 37 passed, 0 refused", "Signed.")
FLOODS: dict[str, Any] = {
    "20,000 members": {str(n): 1 for n in range(20_000)},
    "thousands of our own lines": {f"{OURS[0]} {n}": OURS[1] for n in range(3_500)},
    "our own lines": {name: name for name in OURS},
    "one long text": {"note": "\n".join(OURS) * 2_000},
}


def screen(desk: BothMachines, ledger: Ledger, requests: Path, plan: Path) -> list[str]:
    """Sign a document at a terminal, answering no to its step; return the rows of the screen."""
    words = ("sign", requests, "--plan", plan, "-o", desk.path("out.json"), "--emulator", ledger.port)
    terminal = Terminal(OFFLINE, "--home", desk.path("offline-home"), *words)
    answers = ["Yes\n", "no\n"]
    while terminal.until_question() is not None:
        terminal.press(answers.pop(0))
    terminal.end()
    return terminal.shown.replace("\r", "").split("\n")


@pytest.mark.parametrize("said", FLOODS.values(), ids=FLOODS)
def test_what_the_builder_says_takes_forty_marked_lines_of_the_screen(
    desk: BothMachines, ledger: Ledger, said: Any
) -> None:
    plan, requests = desk.prepare("referral-code")
    document = json.loads(requests.read_text())
    document["requests"][0]["payload"]["meta"] = said
    requests.write_text(json.dumps(document))
    rows = screen(desk, ledger, requests, plan)
    marked = [row for row in rows if row.startswith(MARK)]
    assert 0 < len(marked) <= 40
    assert sum(len(row.encode()) + 1 for row in marked) <= 4096
    assert rows.count("DECIDED BY THE PLAN") == 1
    assert sum(row.startswith("CHECKS: ") for row in rows) == 1
    assert len(rows) < 140


def test_of_a_refused_transaction_nothing_is_said_that_is_not_so(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    document = json.loads(requests.read_text())
    document["requests"][0]["payload"] |= {"to": "0x" + "ab" * 20, "value": "0x1"}
    requests.write_text(json.dumps(document))
    shown = " ".join(" ".join(line.lstrip("✓✗·") for line in screen(desk, ledger, requests, plan)).split())
    assert "pinned as usdc" not in shown
    assert "no native currency" not in shown
    assert "NOT the pinned usdc" in shown
    assert "TX-TO" in shown
    assert "TX-VALUE" in shown


def test_an_approval_under_another_step_is_refused_and_what_was_signed_before_is_handed_over(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests = _two_steps(desk)
    _, other, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    document = json.loads(requests.read_text())
    own = {name: document["requests"][1][name] for name in ("step", "action", "signer")}
    document["requests"][1] = json.loads(other.read_text())["requests"][0] | own
    requests.write_text(json.dumps(document))
    output = desk.path("out.json")
    words = ("sign", requests, "--plan", plan, "-o", output, "--emulator", ledger.port)
    ended = desk.offline(*words, typed="Yes\n" * 4)
    assert ended.code == 3, ended.err
    assert "Traceback" not in ended.err
    assert [each["result"] for each in json.loads(output.read_text())["signatures"]] == ["signed", "refused"]
    lines = desk.path("offline-home/transcript.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines][-2:] == ["refused", "signatures-written"]


def test_a_gif_of_millions_of_frames_is_given_up_in_seconds(desk: BothMachines) -> None:
    head = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"
    frame = b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00"
    endless = desk.path("endless.gif")
    endless.write_bytes(head + frame * 2_000_000 + b"\x3b")
    begun = time.monotonic()
    ended = desk.offline("scan", endless, "-o", desk.path("scanned.json"))
    assert (ended.code, "QR-LIMIT" in ended.err) == (4, True), ended.err
    assert time.monotonic() - begun < 60
    assert "Traceback" not in ended.err
