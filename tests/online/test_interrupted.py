"""Ctrl-C: the program leaves at once with 130, and everything goes on from the journal later."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from airlock_rehearsal.services.faults import Faults
from online.comparison import note_compared
from online.online_command import CODE, OPEN, OnlineCommand

ONLINE = Path(sys.executable).parent / "airlock-online"


def start(machine: OnlineCommand, *words: object) -> subprocess.Popen[str]:
    if words[0] == "submit":
        note_compared(machine.home, Path(str(words[1])))
    command = [str(ONLINE), "--home", str(machine.home), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def interrupt(process: subprocess.Popen[str]) -> tuple[int, str]:
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    return process.returncode, err


def first_line(process: subprocess.Popen[str]) -> dict[str, object]:
    assert process.stdout is not None
    line: dict[str, object] = json.loads(process.stdout.readline())
    return line


def test_an_interrupted_submission_is_resumed_and_nothing_is_sent_again(machine: OnlineCommand) -> None:
    signatures = machine.signatures(buy=OPEN)
    machine.services.faults = Faults.of("stream-timeout", "empty-events")
    process = start(machine, "submit", signatures, "--json")
    assert first_line(process)["event"] == "MarketOrderAccepted"
    code, err = interrupt(process)
    assert (code, "Interrupted" in err, "Traceback" in err) == (130, True, False)
    assert machine.states() == {"buy": "ACCEPTED"}
    machine.services.faults = Faults()
    ended = machine("follow", "--json")
    assert (ended.code, machine.states()) == (0, {"buy": "FILLED"})
    assert "MarketOrderAccepted" not in [line.get("event") for line in ended.lines]
    assert machine.services.posts["batched"].total() == 1


def test_an_interrupt_while_a_service_is_silent_leaves_at_once_and_sends_nothing_more(machine: OnlineCommand) -> None:
    signatures = machine.signatures(code=CODE, buy=OPEN)
    machine.services.faults = Faults.of("silent@relayer")
    process = start(machine, "submit", signatures)
    assert process.stderr is not None
    while "to the relayer" not in process.stderr.readline():
        pass
    while not machine.services.posts["relayer"]:  # until the POST is on its way
        assert process.poll() is None
    code, err = interrupt(process)
    assert (code, "Traceback" in err) == (130, False)
    assert machine.states() == {"code": "UNKNOWN"}
    assert machine("status").out.endswith("continue with: airlock-online follow, or airlock-online resolve\n")
    assert machine.services.posts["batched"].total() == 0
    machine.services.faults = Faults()
    assert machine("follow", "--patience", 0).code == 9
    assert machine.states() == {"code": "UNKNOWN"}
    assert machine.services.posts["relayer"].total() == 1
