"""The one command: six ceremonies through both halves, and a day that people rehearse in two terminals."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from commands import run_command
from draws import ALL
from e2e.conftest import OFFLINE, ONLINE
from e2e.led import Asked, Screen, lead
from rehearsed import require_all_played

if ALL:  # in every run by files, from the kit; in CI by codes as well, by `make rehearse-unattended`

    def test_six_ceremonies_by_codes_end_as_they_should_and_people_saw_what_was_signed(tmp_path: Path) -> None:
        words: list[str | Path] = [ONLINE, "rehearse", "--yes", "--channel", "qr", "--offline-command", OFFLINE]
        words += ["--folder", tmp_path / "r"]
        ended = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL
        )
        screen = f"{ended.stdout}\n{ended.stderr}"
        assert ended.returncode == 0, screen
        require_all_played(screen, by_codes=True)


def test_unattended_nobody_chooses_a_ceremony(tmp_path: Path) -> None:
    words = (ONLINE, "rehearse", "--yes", "--ceremony", "delegate-key", "--folder", tmp_path / "r")
    assert (subprocess.run(words, check=False).returncode, [*tmp_path.iterdir()]) == (2, [])


def test_an_interrupted_rehearsal_leaves_no_process_behind(tmp_path: Path) -> None:
    words = [str(ONLINE), "rehearse", "--yes", "--folder", str(tmp_path / "r"), "--offline-command", str(OFFLINE)]
    null, pipe, same = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT
    process = subprocess.Popen(words, stdin=null, stdout=pipe, stderr=same, text=True, start_new_session=True)
    assert process.stdout is not None
    with process.stdout as out:
        for line in out:
            if "airlock-offline sign" in line:
                break
        os.killpg(process.pid, signal.SIGINT)
        rest = out.read()
    assert process.wait(60) == 130, rest
    assert ("is lost: begin another one" in rest, "run the same command again" in rest) == (True, False), rest
    with pytest.raises(ProcessLookupError):  # the whole group is gone: services, Ledger, commands
        os.killpg(process.pid, 0)


# ---- a ceremony's day rehearsed by people: one terminal for each machine, the questions and pages of the real day -----

_APPROVE = "approve on the software Ledger?"
_GOES_ON = "Enter goes on with the same command"


class RehearsedDay:
    """Both terminals of a rehearsal: the second runs the script that the first one names."""

    def __init__(self, folder: Path, ceremony: str, channel: str = "file") -> None:
        words = (ONLINE, "rehearse", "--folder", folder, "--ceremony", ceremony, "--offline-command", OFFLINE)
        online = Screen(*words, "--channel", channel)
        while "both papers are written: " not in online.shown:
            assert online.more(), online.shown
        online.answer("")
        while "It is the online machine." not in online.shown:
            assert online.more(), online.shown
        named = re.search(r"\n  sh (\S+)", online.shown)
        assert named is not None
        offline = Screen("/bin/sh", named[1])
        online.papers = offline.papers = {name: self._paper(online, name) for name in ("plan", "deployment")}
        self.screens = {"online": online, "offline": offline}
        self.approved = 0
        self.stopped: list[str] = []

    @staticmethod
    def _paper(screen: Screen, name: str) -> str:
        found = re.search(rf"{name} fingerprint\n.*\n.*\n((?: +\d+ [a-z]{{4}}|\n){{24,}})", screen.plain())
        assert found is not None
        return " ".join(found[1].split()[1::2])

    def approve(self, _screens: dict[str, Screen], _asked: list[Asked]) -> bool:
        """Approve what the Ledger shows, on the terminal that shows it."""
        if (count := self.screens["offline"].shown.count(_APPROVE)) > self.approved:
            self.approved = count
            time.sleep(1)  # as people do: it forgot what was typed before it asked, and the list stands below
            for key in ("\n", "Yes", "\n"):
                self.screens["offline"].press(key)
        return False

    def interrupt(self, screens: dict[str, Screen], asked: list[Asked]) -> bool:
        """Stop each machine once, by Ctrl-C at its fourth question, and go on by Enter."""
        for half, screen in screens.items():
            if half not in self.stopped and sum(each.machine == half for each in asked) == 3 and screen.question():
                self.stopped.append(half)
                screen.press("\x03")
                while _GOES_ON not in screen.shown[screen.answered :]:
                    assert screen.more(), screen.shown[-800:]
                screen.answer("")
        return self.approve(screens, asked)


@pytest.mark.parametrize(
    ("ceremony", "channel"),
    [("market-close", "file"), *[("market-close", "qr"), ("delegate-key", "file")][: 2 * ALL]],
)
def test_people_rehearse_the_day_in_two_terminals(tmp_path: Path, ceremony: str, channel: str) -> None:
    day = RehearsedDay(tmp_path / "day", ceremony, channel)
    lead(day.screens, until=day.interrupt if ceremony == "market-close" else day.approve)
    shown = {half: screen.shown[-2000:] for half, screen in day.screens.items()}
    assert {half: screen.code for half, screen in day.screens.items()} == {"online": 0, "offline": 0}, shown
    evidence = tmp_path / "day" / "online" / f"{ceremony}.plan.ceremony" / "evidence"
    report = json.loads((evidence / "report.json").read_text())
    assert report["complete"], report["missing"]
    assert day.approved
    assert ceremony != "market-close" or sorted(day.stopped) == ["offline", "online"]
    rows = re.split("[\r\n]+", re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", day.screens["online"].shown))
    assert [row for row in rows if len(row) > 80 and str(tmp_path) not in row] == []


def test_a_first_terminal_that_is_closed_is_told_on_the_second_and_how_to_begin_again(tmp_path: Path) -> None:
    day = RehearsedDay(tmp_path / "day", "referral-code")
    online, offline = day.screens["online"], day.screens["offline"]
    lead(day.screens, until=lambda _screens, asked: len(asked) > 4)
    assert "this rehearsal is lost" in re.sub(r"\s+", " ", online.plain())
    os.killpg(online.pid, signal.SIGHUP)  # as the kernel does where a window is closed
    online.end()
    stopped = [path.name for path in (tmp_path / "day/stick").glob("*/online-at-*-stopped-*")]
    assert len(stopped) == 1
    offline.press("\x03")
    while _GOES_ON not in offline.shown:
        assert offline.more(), offline.shown[-800:]
    offline.press("\n")
    assert offline.end() != 0
    assert "begin another one there: make rehearse" in offline.shown
    again = Screen(ONLINE, "rehearse", "--folder", tmp_path / "day", "--offline-command", OFFLINE)
    assert again.end() == 2
    assert "cannot be resumed" in re.sub(r"\s+", " ", again.plain())


def test_a_second_terminal_without_the_first_says_so(tmp_path: Path) -> None:
    assert run_command(ONLINE, "rehearse", "air-gapped", tmp_path, "--offline-command", OFFLINE).code == 2
