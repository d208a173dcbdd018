"""A long text in a led ceremony, a screen at a time: no line scrolls away before somebody pressed Enter below it."""

from __future__ import annotations

import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from airlock_shared.cli import keyboard
from airlock_shared.cli.console import led, paint, say
from airlock_shared.errors import Declined

_BELOW_ROWS = 3
"""Left free on each screen: the last line of what stood there before, the line with the key, and the cursor's."""


def show_by_screens(lines: Sequence[str], tell: Callable[[str], None] = say) -> None:
    """Show lines that are no wider than the screen; where a ceremony is led at a terminal, a screen at a time.

    Raises ``Declined`` when the input ends below a screen that nobody has read.
    """
    rows_there = keyboard.screen_rows() if led() else None
    size = len(lines) if rows_there is None else max(rows_there - _BELOW_ROWS, 1)
    screens = [lines[at : at + size] for at in range(0, len(lines), size or 1)]
    for number, screen in enumerate(screens, 1):
        for line in screen:
            tell(line)
        if rows_there is not None:
            _await_enter(f"-- {number} of {len(screens)} -- Enter: on --")


def _await_enter(text: str) -> None:
    with _without_echo():
        keyboard.forget_typed()
        paint(text, err=True, end="")
        line = keyboard.typed_line()
    if not line:
        say()
        raise Declined("not read: the input has ended", do="run the command again where somebody can answer")
    paint(f"\r{' ' * len(text)}\r", err=True, end="")


@contextmanager
def _without_echo() -> Iterator[None]:
    """Show nothing of what is typed inside, as below a screen that is read; nothing where stdin is no terminal."""
    if not keyboard.at_a_terminal():
        yield
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    silent = [*before]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
