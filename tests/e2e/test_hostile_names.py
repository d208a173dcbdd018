"""Every command of both programs with names that would act on the terminal, in a pseudo-terminal: nothing of them does."""

import os
import pty
import re
import select
import shutil
import signal
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from airlock_rehearsal.scenarios import TRADER
from airlock_rehearsal.services.runtime import RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from commands import begin
from draws import ALL
from e2e.conftest import OFFLINE, ONLINE, BothMachines
from e2e.test_help import COMMANDS

LIE = "Pinned. All fingerprints are equal."
HOSTILE = f"a\x1b[2J\x1b[H\r\n{LIE}\n\x1b]0;t\x07\u202e\x9b31m\u2028\x7f\x08"
LONG = "b" * 75 + LIE.replace(" ", "_")  # where the terminal breaks it by itself, it begins a line
NOT_SHOWN = re.compile(r"[^\n\x20-\x7e]")
SHOWN_AGAIN = {"output", "sources", "source", "file", "folder", "plan_file"}
SERVES = {"airlock-online rehearse", "airlock-online rehearse serve"}  # no file is named there
WAITS = re.compile(rb"Ctrl-C stops|waiting: start ceremony run")
OURS = re.compile(rb"\x1b\[38;5;16;48;5;231m|\x1b\[0m|\r\x1b\[K")  # QR codes, and a line that renews itself


def _parameters(command: click.Command) -> list[click.Parameter]:
    return [p for p in command.params if not getattr(p, "is_flag", False) and not isinstance(p.type, click.Choice)]


LINES = [
    (words, parameter.name or "")
    for words, command in COMMANDS.items()
    if words not in SERVES
    for parameter in _parameters(command)
]
"""The words of each command, and which of its parameters is hostile."""
TRIED = LINES if ALL else [*{parameter: (words, parameter) for words, parameter in LINES}.values()]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BothMachines]:
    with RehearsalServices(trader=TRADER, settings=RehearsalSettings(pacing_s=0.0)) as services:
        made = BothMachines(tmp_path_factory.mktemp("desk"), services)
        made.pin()
        made.prepare("market-close")
        yield made


def _content(desk: BothMachines, name: str) -> Path:
    if "plan" in name:
        return desk.path("market-close.plan.toml")
    return desk.path("deployment.json" if "deployment" in name or name == "document" else "market-close.requests.json")


def _value(desk: BothMachines, folder: Path, parameter: click.Parameter, name: str) -> str:
    """Return a value for a parameter: a file or folder of this name where there is a path, else the name itself."""
    place, kind = folder / name, parameter.type
    if not isinstance(kind, click.Path) and parameter.name not in ("sources",):
        return name
    if kind.name == "directory" or parameter.name in ("sources", "folder"):
        place.mkdir(exist_ok=True)
        (place / f"{name[:200]}.png").write_bytes(b"no picture")
    elif parameter.name not in ("output", "apdu_log"):
        shutil.copy(_content(desk, parameter.name or ""), place)
    return str(place)


def _line(desk: BothMachines, folder: Path, words: str, hostile: str, name: str) -> list[str]:
    """Return a whole command line: what the command requires, and its parameter ``hostile`` with this name."""
    program, *given = words.split(" ")
    for parameter in COMMANDS[words].params:
        if parameter.name != hostile and not parameter.required:
            continue
        if isinstance(parameter.type, click.Choice):
            value = parameter.type.choices[0]
        else:
            called = name if parameter.name == hostile else f"good-{parameter.name}"
            value = _value(desk, folder, parameter, called)
        if isinstance(parameter, click.Option):
            given += [parameter.opts[-1], *[value] * parameter.nargs]
        else:
            given += [value]
    home = desk.path(f"{program.removeprefix('airlock-')}-home")
    return [str(ONLINE if program == "airlock-online" else OFFLINE), "--home", str(home), *given]


def screen_of(words: list[str], folder: Path) -> bytes:
    """Return everything that a command writes to the terminal that it runs in, answered by nobody."""
    ours, theirs = pty.openpty()
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.OPOST  # bytes as they were written
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    command = begin(words, (theirs, theirs, theirs), cwd=folder)
    os.close(theirs)
    seen, until = b"", time.monotonic() + 60
    while time.monotonic() < until:
        if not select.select([ours], [], [], 0.2)[0]:
            if command.poll() is not None:
                break
            os.write(ours, b"\x04")  # the input has ended; what was typed before a question counts for nothing
            continue
        try:
            data = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        seen += data
        if WAITS.search(data):  # for the other machine, which nobody brings here
            command.send_signal(signal.SIGINT)
    command.send_signal(signal.SIGKILL)
    command.wait(20)
    os.close(ours)
    return seen


def _acts(seen: bytes) -> list[str]:
    text = OURS.sub(b"", seen).decode("utf-8", "backslashreplace")
    lies = [line for line in text.split("\n") if line.startswith((LIE, LIE.replace(" ", "_")))]
    wide = [line for line in text.split("\n") if LIE.replace(" ", "_") in line and len(line) > 80]
    harmless = set("…—–·×→▸µ█▀▄ ")
    return lies + wide + sorted({repr(c) for c in NOT_SHOWN.findall(text)} - set(map(repr, harmless)))


@pytest.mark.parametrize(("words", "hostile"), TRIED)
def test_a_hostile_name_does_not_act_on_the_terminal(
    desk: BothMachines, words: str, hostile: str, tmp_path: Path
) -> None:
    for name in (HOSTILE, LONG) if hostile in SHOWN_AGAIN else (HOSTILE,):
        seen = screen_of(_line(desk, tmp_path, words, hostile, name), tmp_path)
        assert seen, "the command said nothing"
        assert b"Traceback" not in seen, seen.decode(errors="replace")
        assert _acts(seen) == [], seen


def test_what_is_written_under_a_hostile_name_is_told_on_one_line(desk: BothMachines, tmp_path: Path) -> None:
    home, output = desk.path("offline-home"), tmp_path / HOSTILE
    words = ("--home", home, "show", desk.path("deployment.json"), "--as", "page", "-o", output)
    seen = screen_of([str(OFFLINE), *map(str, words)], tmp_path)
    assert output.exists()
    assert b"Wrote" in seen
    assert _acts(seen) == []


@pytest.mark.parametrize("half", ["airlock-online", "airlock-offline"])
def test_a_hostile_home_or_option_does_not_act_on_the_terminal(desk: BothMachines, half: str, tmp_path: Path) -> None:
    path = str(ONLINE if half == "airlock-online" else OFFLINE)
    (tmp_path / HOSTILE).mkdir()
    (tmp_path / HOSTILE / "config.toml").write_text(f"[limits]\n{HOSTILE!r} = 1\n")
    (tmp_path / "file").write_text("")
    for words in (
        ["--home", str(tmp_path / HOSTILE), "doctor"],
        ["--home", str(tmp_path / HOSTILE), "config", "show"],
        ["--home", str(tmp_path / HOSTILE), "plan", "show", "x"],
        ["--home", str(tmp_path / "file" / HOSTILE), "ceremony", "status"],
        [HOSTILE],
        ["plan", HOSTILE],
        [f"--{HOSTILE}"],
        ["plan", "show", f"--{HOSTILE}"],
        ["completion", HOSTILE],
    ):
        seen = screen_of([path, *words], tmp_path)
        assert seen
        assert b"Traceback" not in seen, seen.decode(errors="replace")
        assert _acts(seen) == [], seen


def test_the_terminal_sees_what_acts_on_it_where_nothing_is_escaped(tmp_path: Path) -> None:
    seen = screen_of(["printf", "%s\n", HOSTILE], tmp_path)
    assert LIE in _acts(seen)
    assert repr("\x1b") in _acts(seen)
