"""Who answers: a person at a terminal, after the question. A pipe answers in a rehearsal alone."""

import fcntl
import re
import struct
import termios
import time
from pathlib import Path

import pytest

from e2e.conftest import OFFLINE, BothMachines, Ledger
from e2e.terminal import Terminal
from shared.world import DEPLOYMENT_TEXT

TO_STOP = "Type Yes to go on, no to stop"


def _signing(desk: BothMachines, ledger: Ledger, ceremony: str, rows: int = 0) -> Terminal:
    """Begin to sign at a terminal of so many rows; 0: nobody knows how many."""
    return _signing_of(desk, ledger, *desk.prepare(ceremony), "out.json", rows)


def _signing_of(desk: BothMachines, ledger: Ledger, plan: Path, requests: Path, output: str, rows: int) -> Terminal:
    words = ("sign", requests, "--plan", plan, "-o", desk.path(output), "--emulator", ledger.port)
    terminal = Terminal(OFFLINE, "--home", desk.path("offline-home"), *words)
    fcntl.ioctl(terminal.outside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    return terminal


@pytest.mark.parametrize("ahead", ["Yes\n" * 500, "\nYes"])
def test_one_answer_is_an_answer_to_one_question_and_what_was_typed_before_it_to_none(
    desk: BothMachines, ledger: Ledger, ahead: str
) -> None:
    terminal = _signing(desk, ledger, "delegate-key")
    terminal.press(ahead)
    assert terminal.until_question() == TO_STOP
    terminal.press("Yes\nYes\nYes\n")  # three, in one go: they answer the first question alone
    assert terminal.until_question() == TO_STOP
    time.sleep(0.2)  # long enough for what was typed ahead to be taken for an answer
    assert "signed" not in desk.events()
    terminal.press("no\n")
    assert terminal.end() == 6
    assert ("signed" in desk.events(), desk.path("out.json").exists()) == (False, False)


KEYS = re.compile(r"-- (\d+) of (\d+) -- Enter: on (?:-- b: back )?--$")


def test_the_question_comes_after_every_screen_of_the_page_that_decides(desk: BothMachines, ledger: Ledger) -> None:
    terminal = _signing(desk, ledger, "delegate-key", rows=6)
    numbers: list[tuple[int, int]] = []
    answered = 0
    while terminal.more():
        rest = terminal.shown[answered:]
        if found := KEYS.search(rest):
            numbers.append((int(found[1]), int(found[2])))
            terminal.press("\n")
        elif not rest.endswith(f"{TO_STOP}: "):
            continue
        elif "\nSign step " in rest:
            break
        else:  # what is asked before
            terminal.press("Yes\n")
        answered = len(terminal.shown)
    count = numbers[0][1]
    assert numbers == [(number, count) for number in range(1, count)]  # the last one stays above the question
    five = terminal.shown.replace("\r", "").partition("WHAT IS SIGNED, IN FIVE LINES")[2].partition("To read one")[0]
    for label in ("what", "how much", "for whom", "until when", "as whom"):
        assert five.count(f"\n  {label:<12}") == 1
    start = len(terminal.shown)
    terminal.press("2\n")
    while not terminal.shown[start:].endswith(f"{TO_STOP}: "):
        assert terminal.more()
        if KEYS.search(terminal.shown[start:]):
            terminal.press("\n")
    assert "\nDECIDED BY THE PLAN" in terminal.shown[start:].replace("\r", "")
    terminal.press("Yes\n")
    assert terminal.end() == 0, terminal.shown
    [read] = [entry["data"] for entry in desk.entries() if entry["event"] == "reviewed"]
    assert (read["step"], read["opened"]) == ("delegate-key", ["decided by the plan"])
    assert set(read["decides"]) == {"what", "how much", "for whom", "until when", "as whom"}
    files = desk.path("delegate-key.plan.toml"), desk.path("delegate-key.requests.json")
    again = _signing_of(desk, ledger, *files, "again.json", rows=24)
    assert again.end() == 0, again.shown
    assert "Step delegate-key was signed before; the kept signature is used again." in again.shown
    assert desk.events().count("signed") == 1


def _production(desk: BothMachines) -> Path:
    path: Path = desk.path("production.json")
    path.write_text(DEPLOYMENT_TEXT)
    return path


def test_a_production_deployment_is_pinned_and_replaced_at_a_terminal_alone(
    desk: BothMachines, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = desk.path("offline-home/pins/venue.json")
    ended = desk.offline("trust", _production(desk), typed="Yes\n" * 3)
    assert (ended.code, "answers come from a terminal" in ended.err, pin.exists()) == (6, True, False)
    monkeypatch.setattr(Terminal, "ROWS", 24)
    terminal, turned = Terminal(OFFLINE, "--home", desk.path("offline-home"), "trust", _production(desk)), 0
    while not terminal.shown.endswith(f"{TO_STOP}: "):
        assert terminal.more()
        if KEYS.search(terminal.shown[turned:]):
            assert terminal.shown[turned:].count("\n") < 24, "what was not read yet is not pushed away"
            turned = len(terminal.shown)
            terminal.press("\n")
    assert turned
    assert terminal.shown[turned:].count("\n") < 24
    terminal.press("Yes\n")
    assert (terminal.end(), pin.read_text()) == (0, DEPLOYMENT_TEXT)
    rehearsal = desk.path("other.json")
    rehearsal.write_text(DEPLOYMENT_TEXT.replace('"rehearsal": false', '"rehearsal": true').replace("84532", "31337"))
    assert desk.offline("trust", rehearsal, typed="Yes\n").code == 6
    assert pin.read_text() == DEPLOYMENT_TEXT


def test_a_pipe_signs_nothing_beside_a_production_deployment(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("delegate-key")
    desk.path("offline-home/pins/venue.json").write_text(DEPLOYMENT_TEXT)
    before = desk.events()
    ended = desk.sign(ledger, plan, requests, desk.path("out.json"))
    assert ended.code in (3, 6), ended.err  # 3: a machine that is not cut off, and is of production now
    assert desk.events() == before


def test_an_answer_is_read_past_pythons_own_buffer() -> None:
    """One module reads answers: a second would keep what was typed ahead. A child that prints reads its parent's pipe."""
    root = Path(__file__).parents[2]
    readers = [
        str(path.relative_to(root))
        for folder in ("shared/src", "offline/src", "online/src")
        for path in (root / folder).rglob("*.py")
        if "sys.stdin" in path.read_text() and ".readline" in path.read_text()
    ]
    assert readers == ["shared/src/airlock_shared/cli/terminal.py", "offline/src/airlock_offline/cli/report.py"]
