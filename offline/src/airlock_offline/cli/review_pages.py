"""The review on a terminal: one section a screen, forward and back, and the Ledger's pages beside the Ledger's own.

It changes neither what is shown nor what is asked: the sections are those that a pipe gets in one piece, and the question
is ``sign``'s. Nobody comes to the question past a section that was not on the screen. What was pressed before a screen
stood there turns nothing.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep

from airlock_offline.cli.deciding_lines import deciding_lines
from airlock_offline.ledger.transport import Transport
from airlock_offline.signing.held_signals import ENDING
from airlock_offline.signing.review import lines_of
from airlock_offline.signing.row_layout import CHOSEN, KEPT, NOT_KEPT
from airlock_shared.checks.case import Case
from airlock_shared.cli.console import paint, say
from airlock_shared.cli.single_keys import BACK, ENDED, FORWARD, SingleKeys, key_line
from airlock_shared.errors import Declined
from airlock_shared.text.safe import WIDTH, beside, columns, safe

LOOK_S = 0.3
"""For so long a screen stands before a key counts: who holds Enter down sees each."""
WAIT_S = 0.5
"""After so long the Ledger's pages are shown: an answer of the device alone is quicker."""

_LEAST_ROWS = 4  # a heading, two lines and the row for the keys
_COLOURS = {KEPT: "32", NOT_KEPT: "31", CHOSEN: "33"}  # green, red, yellow: beside the mark, never in its place


def screens_of(sections: list[list[str]], rows: int, width: int) -> list[tuple[int, list[str]]]:
    """Return screens of so many rows, each with its section's number; a long section goes on under its heading."""
    screens = []
    for number, section in enumerate(sections):
        heading = next((line for line in section if line.strip("=")), "")
        screen: list[str] = []
        for line in section:
            if screen and _height([*screen, line], width) > max(rows, _LEAST_ROWS) - 1:
                screens.append((number, screen))
                screen = [f"{heading}, continued"]
            screen.append(line)
        screens.append((number, screen))
    return screens


def _height(lines: list[str], width: int) -> int:
    return sum(max(-(-columns(line) // width), 1) for line in lines)


class ReviewPages:
    """The screen of a person who reviews: what is shown there, and the pages to compare while the Ledger waits."""

    def __init__(self, ask: Callable[[str], None]) -> None:
        self._ask = ask
        self._case: Case | None = None
        self._pages: list[list[str]] = []
        self._page = 0
        self._step = ""

    def show(self, sections: list[list[str]], case: Case | None, pages: list[list[str]]) -> None:
        """Show the sections, screen by screen, until the last one was turned. Raises ``Declined`` without a terminal.

        Of what can be signed, ``case``, the last section stays on the screen, for the question comes below it.
        """
        self._case, self._pages, self._page, self._step = case, pages, 0, ""
        last = sections[-1:] if case is not None else []
        self._turn_all(sections[: len(sections) - len(last)])
        for line in lines_of(last):
            _say(line)

    def show_page(self, lines: list[str], below: int) -> None:
        """Show a page of a group alone on the screen, with so many rows left below it for the question.

        Raises ``Declined`` where the screen cannot hold all of it: nobody is asked about what does not stand there.
        """
        self._case = None
        rows, width = size = _size()
        left = rows - below - _height(lines, width)
        if width < WIDTH or left < 0:
            raise Declined(
                "the terminal is too small for a page and its question",
                do=f"make it {WIDTH} columns wide and 24 rows high, and give the same command again",
            )
        _draw([*lines, *[""] * left], size, alone=False)
        sleep(LOOK_S)

    def show_beside(self, step: str, pages: list[list[str]]) -> None:
        """Have these pages of a step shown while the Ledger waits."""
        self._case, self._pages, self._page, self._step = None, pages, 0, f"{step}: "

    def _turn_all(self, sections: list[list[str]]) -> None:
        size = _size()
        screens, at, seen = screens_of(sections, *size), 0, -1
        with SingleKeys() as keys:
            while at < len(screens):
                _draw(screens[at][1], size, alone=seen >= 0)  # above the first one stands what was said before
                if at > seen:
                    sleep(LOOK_S)
                    seen = at
                keys.forget()
                with key_line(f"{at + 1} of {len(screens)}", at > 0):
                    key = keys.key()
                if key == ENDED:
                    raise Declined(
                        "not answered: the input has ended", do="run the command again where somebody can answer"
                    )
                now = _size()
                if now == size:
                    at = max(at + _step(key), 0)
                    continue
                number, size = screens[at][0], now  # what was drawn may be cut: the section once more
                screens = screens_of(sections, *size)
                at = next(place for place, (section, _) in enumerate(screens) if section == number)
                seen = at - 1

    def ask(self, question: str) -> None:
        """Ask as ``sign`` does, below the five lines that decide. Raises ``Declined``."""
        if self._case is not None:
            for line in deciding_lines(self._case):
                say(line)
        self._ask(question)

    def beside(self, transport: Transport) -> Transport:
        """Return a transport that shows the pages to compare while a person is waited for, and changes nothing else."""
        return _Beside(transport, self)

    @contextmanager
    def turning(self) -> Iterator[None]:
        """Show the Ledger's pages one by one while the work inside lasts, and turn them by keys."""
        if not self._pages:
            yield
            return
        ended, end = os.pipe()
        keys = SingleKeys()
        turner = threading.Thread(target=self._turn, args=(keys, ended), daemon=True)
        turner.start()
        try:
            yield
        finally:
            try:
                os.write(end, b".")
                turner.join(timeout=2)
            finally:
                keys.__exit__()
                if not turner.is_alive():
                    os.close(ended)
                    os.close(end)

    def _turn(self, keys: SingleKeys, ended: int) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # Ctrl-C is for who waits for the device
        if select.select([ended], [], [], WAIT_S)[0]:
            return
        key = ""
        with keys:
            while key != ENDED:
                count = len(self._pages)
                lines = [f"{self._step}THE LEDGER, page {self._page + 1} of {count}: compare it, then turn both", ""]
                for line in self._pages[self._page]:
                    lines += beside("  ", safe(line.strip()))
                _draw(lines, _size())
                keys.forget()
                with key_line(f"{self._page + 1} of {count}", self._page > 0, last="confirm or reject on the Ledger"):
                    key = keys.key(ended)
                self._page = min(max(self._page + _step(key), 0), count - 1)


class _Beside:
    """A ``Transport`` beside which pages are shown while a person is waited for."""

    def __init__(self, transport: Transport, pages: ReviewPages) -> None:
        self._transport, self._review = transport, pages

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        """Exchange one APDU (see ``Transport``)."""
        if not person:
            return self._transport.exchange(apdu, person=False)
        with self._review.turning():
            return self._transport.exchange(apdu, person=True)

    def close(self) -> None:
        """Let go of the device."""
        self._transport.close()


def _size() -> tuple[int, int]:
    """Return the rows and columns of the terminal."""
    size = os.get_terminal_size(sys.stderr.fileno())
    return size.lines or 24, size.columns or 80


def _step(key: str) -> int:
    return 1 if key == FORWARD else -1 if key == BACK else 0


def _draw(lines: list[str], size: tuple[int, int], *, alone: bool = True) -> None:
    """Write a screen; ``alone``: it fills all rows but the last, so that nothing else stands there."""
    rows, width = size
    if width < WIDTH:  # it was made narrow since the command began
        lines = ["This terminal is too narrow.", f"Make it {WIDTH} columns wide,", "then turn the page."]
    for line in lines:
        _say(line)
    for _ in range(rows - 1 - _height(lines, width) if alone else 0):
        say()


def _say(line: str) -> None:
    """Say a line of the review, its mark in colour where the terminal has any."""
    colour = _COLOURS.get(line[:1]) if _coloured() else None
    if colour is not None:
        paint(f"\x1b[{colour}m{line[0]}\x1b[0m", err=True, end="")
    say(line[1:] if colour is not None else line)


def _coloured() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
