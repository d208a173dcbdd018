"""Both programs led at the same time, each in a terminal of 80 columns and 24 rows, by people who read both screens."""

from __future__ import annotations

import os
import re
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from e2e.conftest import PEOPLE
from e2e.terminal import Terminal

_ASKED = re.compile(r"[^\n]*[:?)] $")
_PLACES = re.compile(r", (\w+)(, YOUR PAPER)?: word (\d+) and word (\d+)")
_PROGRESS = re.compile(
    r"\r\x1b\[K(?:[^\r\n]*(?=\r\x1b)|[Ww]aiting[: ][^\r\n]*)?|\x1b\[\d*m"
    r"|-- (?:\d+ of \d+ -- )?(?:Enter: on|b: back|confirm or) [^\r\n]*--\r\x1b\[K"
)
_WAITS = re.compile(r"\r\x1b\[Kwaiting: [^\r\n]*|-- [^\r\n]*confirm or reject on the Ledger --\r\x1b\[K")
_KEYS = re.compile(r"-- (?:\d+ of \d+ -- )?(?:only )?Enter: on [^\r\n]*--$")
_ENTER_SEALS = "; Enter seals"
_SEALS = re.compile(rf"\r\x1b\[K(waiting: [^\r\n]*{_ENTER_SEALS})$")
_PATIENCE_S = 300


class Asked(NamedTuple):
    """A question that was answered: on which machine, the line, and what was typed."""

    machine: str
    question: str
    typed: str


class Read(NamedTuple):
    """What people had before them and did at both machines, from start to end, with nothing left out."""

    commands: int
    typed: int
    enters: int
    rows: int


def count(screens: dict[str, Screen], asked: list[Asked]) -> Read:
    """Count a ceremony by what the terminals showed: every row that stood on a screen, pages drawn anew once more each."""
    typed = sum(bool(each.typed) for each in asked)
    shown = sum(len(rows_of(screen.shown)) for screen in screens.values())
    return Read(len(screens), typed, len(asked) - typed, shown)


def rows_of(shown: str) -> list[str]:
    """Return every row that stood on a terminal of 80 columns; what was written over another text stands in its row."""
    rows: list[str] = []
    row: list[str] = []
    column = 0
    for part in re.findall(r"\x1b\[K|\x1b\[\d*m|[\s\S]", shown):
        if part == "\x1b[K":
            del row[column:]
        elif part == "\r":
            column = 0
        elif part == "\n" or (part[0] != "\x1b" and column >= 80):
            rows.append("".join(row))
            row, column = [], 0
        if part >= " ":
            row[column:] = [*[" "] * (column - len(row)), part, *row[column + 1 :]]
            column += 1
    return [*rows, "".join(row)] if row else rows


class Screen(Terminal):
    """A terminal of 80 by 24, of which is known up to where its questions were answered."""

    ROWS = 24

    def __init__(self, *words: object, **environment: str) -> None:
        super().__init__(*words, **environment)
        self.answered = 0
        self.read_to: list[int] = []
        self.papers: dict[str, str] = {}
        self.code: int | None = None

    def question(self) -> str:
        """Return the question at which it stands, empty when it stands at none."""
        if waits := _SEALS.search(self.shown, self.answered):
            return waits[1]
        rest = _PROGRESS.sub("", self.shown[self.answered :]).replace("\r", "")
        found = _ASKED.search(rest)
        keys = _KEYS.search(rest)
        return found[0] if found else keys[0] if keys else ""

    def plain(self) -> str:
        """Return what was shown, without progress."""
        return _PROGRESS.sub("", self.shown).replace("\r", "")

    def answer(self, typed: str) -> None:
        self.answered = len(self.shown)
        self.read_to.append(self.answered)
        self.press(typed + "\n")

    def lines(self) -> list[str]:
        """Return what was shown, without progress."""
        return self.plain().splitlines()

    def unread(self) -> list[list[str]]:
        """Return what ran through 24 rows at once: from one answer, key or wait to the next, more rows than a screen has.

        A wait is for the other machine, whose people come here and read, or for the Ledger, beside which the list is read.
        Progress is written over and is left out.
        """
        places = [0, *self.read_to, len(self.shown)]
        shown = [part for a, b in pairwise(places) for part in _WAITS.split(self.shown[a:b])]
        parts = [_PROGRESS.sub("", part).replace("\r", "") for part in shown]
        rows = [
            [row for line in part.split("\n") for row in (line[at : at + 80] for at in range(0, len(line) or 1, 80))]
            for part in parts
        ]
        return [part for part in rows if len(part) > 25]  # the first is the rest of the row that was answered


Answer = Callable[[str, str, dict[str, Screen]], str | None]


def words_on(screen: Screen, document: str) -> list[str]:
    """Return the twenty-four words of a document as a screen shows them to be typed elsewhere; none before it does."""
    found = re.findall(rf"^  {document} +(1 [a-z]{{4}}(?:\s+\d+ [a-z]{{4}}){{23}})$", screen.plain(), re.MULTILINE)
    return found[-1].split()[1::2] if found else []


def careful(machine: str, question: str, screens: dict[str, Screen]) -> str | None:
    """Answer as people do who have their papers and read both screens; None while what they look for is not there yet."""
    here, other = screens[machine], screens["offline" if machine == "online" else "online"]
    if _KEYS.match(question) or question.startswith("Enter begins with these names"):
        return ""
    if question.endswith(_ENTER_SEALS):
        return "" if "[RECORD]" in other.shown else None
    if named := re.search(r"Who is the (\w+)\?", question):
        return PEOPLE[named[1]]
    if "on your watch" in question:
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if places := _PLACES.search(question):
        document, paper, *at = places.groups()
        words = here.papers[document].split() if paper else words_on(other, document)
        return " ".join(words[int(each) - 1] for each in at) if words else None
    return "Yes"


def lead(
    screens: dict[str, Screen],
    answer: Answer = careful,
    until: Callable[[dict[str, Screen], list[Asked]], bool] = lambda _screens, _asked: False,
) -> list[Asked]:
    """Answer both machines until both commands end, or until something is so; return what was asked."""
    asked: list[Asked] = []
    began = time.monotonic()
    while open_ := {name: screen for name, screen in screens.items() if screen.code is None}:
        assert time.monotonic() - began < _PATIENCE_S, {name: screen.shown[-1500:] for name, screen in screens.items()}
        ready, _, _ = select.select([screen.outside for screen in open_.values()], [], [], 0.05)
        for screen in open_.values():
            if screen.outside in ready and not screen.more():
                screen.code = screen.end()
        if until(screens, asked) or any(screen.code for screen in screens.values()):
            return asked
        for name, screen in open_.items():
            time.sleep(0.02)
            if screen.code is None and (question := screen.question()):
                if (typed := answer(name, question, screens)) is None:
                    continue
                before = next((each.question for each in reversed(asked) if each.machine == name), "")
                if before.endswith(_ENTER_SEALS) and question.endswith(_ENTER_SEALS):
                    continue  # the line was written anew before the Enter was read
                asked.append(Asked(name, question, typed))
                screen.answer(typed)
    return asked


def start(program: Path, home: Path, *words: object, **environment: str) -> Screen:
    """Start a program in a terminal of its own."""
    return Screen(program, "--home", home, *words, TERM="xterm", LINES="24", **environment)


def kill(screen: Screen) -> None:
    """End a command and what it started, whatever it does, and close its terminal."""
    with suppress(ProcessLookupError):
        os.killpg(screen.pid, signal.SIGKILL)
    screen.command.wait(20)
    os.close(screen.outside)
    screen.code = -signal.SIGKILL


def interrupt(screen: Screen, how: signal.Signals) -> None:
    """Interrupt a command as a power cut does, all of it at once, or by Ctrl-C; then it has ended."""
    if how == signal.SIGKILL:
        kill(screen)
        return
    screen.press("\x03")
    code = screen.end()
    assert code in (0, 130), screen.shown[-800:]
    screen.code = code
