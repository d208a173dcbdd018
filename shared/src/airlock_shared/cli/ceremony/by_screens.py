"""A long text, a screen at a time: no line scrolls away before somebody pressed Enter below it.

Enter turns a page and answers nothing.
"""

from __future__ import annotations

import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from airlock_shared.cli import keyboard
from airlock_shared.cli.console import filled, led, paint, say
from airlock_shared.errors import Declined

_BESIDE_ROWS = 4
"""Left free on each screen: for the stop's own lines above, and for the key or the question below."""


def show_by_screens(lines: Sequence[str], tell: Callable[[str], None] = say) -> None:
    """Show lines; where a ceremony is led at a terminal, a screen at a time.

    Raises ``Declined`` when the input ends below a screen that nobody has read.
    """
    screens, keys = _screens(lines, keyboard.screen_rows() if led() else None)
    for number, screen in enumerate(screens, 1):
        _tell_all(screen, tell)
        if keys:
            _await_enter(f"-- {number} of {len(screens)} -- Enter: on --")


def show_above_question(lines: Sequence[str], tell: Callable[[str], None] = say) -> None:
    """Show lines before a question of one or two rows; at a terminal a screen at a time, and the last one stays above it.

    Raises as :func:`show_by_screens`.
    """
    screens, _ = _screens(lines, keyboard.screen_rows())
    for number, screen in enumerate(screens, 1):
        _tell_all(screen, tell)
        if number < len(screens):
            _await_enter(f"-- {number} of {len(screens)} -- Enter: on --")


def turn_page() -> None:
    """At a terminal, wait for Enter below what stands there, which the next stop of a led ceremony would push away."""
    if keyboard.screen_rows() is not None:
        with suppress(Declined):  # nobody reads on; what was done is done
            _await_enter("-- Enter: on --")


def _screens(lines: Sequence[str], rows_there: int | None) -> tuple[list[Sequence[str]], bool]:
    """Return the lines in screens of so many rows, and whether there are screens; without rows, all in one piece."""
    if rows_there is None:
        return [lines], False
    rows = [row for line in lines for row in filled(line).split("\n")]
    size = max(rows_there - _BESIDE_ROWS, 1)
    return [rows[at : at + size] for at in range(0, len(rows), size)], True


def _tell_all(lines: Sequence[str], tell: Callable[[str], None]) -> None:
    for line in lines:
        tell(line)


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
