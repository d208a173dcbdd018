"""A long text, a screen at a time: no line scrolls away before somebody pressed a key below it.

The keys are those of a review's pages; they turn a page and answer nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from airlock_shared.cli import keyboard
from airlock_shared.cli.console import filled, led, say
from airlock_shared.cli.single_keys import ENDED, FORWARD, SingleKeys, key_line
from airlock_shared.errors import Declined

_BESIDE_ROWS = 4
"""Left free on each screen: for the stop's own lines above, and for the key or the question below."""


def show_by_screens(lines: Sequence[str], tell: Callable[[str], None] = say, *, stays: int = 0) -> None:
    """Show lines; where a ceremony is led at a terminal, a screen at a time, of which the last ``stays`` are not turned.

    Raises ``Declined`` when the input ends below a screen that nobody has read.
    """
    _show(lines, tell, keyboard.screen_rows() if led() else None, stays=stays)


def show_above_question(lines: Sequence[str], tell: Callable[[str], None] = say) -> None:
    """Show lines before a question of one or two rows; at a terminal a screen at a time, and the last one stays above it.

    Raises as :func:`show_by_screens`.
    """
    _show(lines, tell, keyboard.screen_rows(), stays=1)


def _show(lines: Sequence[str], tell: Callable[[str], None], rows_there: int | None, *, stays: int) -> None:
    """Tell lines in screens of so many rows, of which the last ``stays`` are not turned; without rows, in one piece."""
    screens = [lines]
    if rows_there is not None:
        rows = [row for line in lines for row in filled(line).split("\n")]
        size = max(rows_there - _BESIDE_ROWS, 1)
        screens = [rows[at : at + size] for at in range(0, len(rows), size)]
    for number, screen in enumerate(screens, 1):
        for line in screen:
            tell(line)
        if rows_there is not None and number <= len(screens) - stays:
            _await_key(f"{number} of {len(screens)}")


def turn_page() -> None:
    """At a terminal, wait for a key below what stands there, which the next stop of a led ceremony would push away."""
    if keyboard.screen_rows() is not None:
        with suppress(Declined):  # nobody reads on; what was done is done
            _await_key()


def _await_key(place: str = "") -> None:
    with SingleKeys() as keys:
        keys.forget()
        with key_line(place):
            while (key := keys.key()) != FORWARD:
                if key == ENDED:
                    raise Declined(
                        "not read: the input has ended", do="run the command again where somebody can answer"
                    )
