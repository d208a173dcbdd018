"""Single keys of a terminal, without Enter: they turn pages and decide nothing. What decides is typed as a whole word.

Two kinds of key are known, forward and back; any other, and several pressed at once, are none. Afterwards the terminal is as
it was before, also after Ctrl-C, which keeps its meaning meanwhile. Source: termios(3).
"""

from __future__ import annotations

import os
import select
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

from airlock_shared.cli.console import paint

FORWARD, BACK, NONE, ENDED = "forward", "back", "none", "ended"
"""What a key means; ``ENDED``: there is no terminal any more, or the wait was ended."""

_KEYS = dict.fromkeys((b"\n", b"\r", b" ", b"n", b"\x1b[C", b"\x1b[B", b"\x1b[6~"), FORWARD)
_KEYS |= dict.fromkeys((b"b", b"p", b"\x7f", b"\x08", b"\x1b[D", b"\x1b[A", b"\x1b[5~"), BACK)
_MOST_BYTES = 64  # of a key; what comes in one go is one


class SingleKeys:
    """The terminal of stdin, read key by key while this is open."""

    def __init__(self) -> None:
        self._terminal = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._terminal)

    def __enter__(self) -> SingleKeys:
        mode = termios.tcgetattr(self._terminal)
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(self._terminal, termios.TCSANOW, mode)
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        with suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(self._terminal, termios.TCSANOW, self._before)
            self.forget()

    def forget(self) -> None:
        """Discard what was pressed so far."""
        termios.tcflush(self._terminal, termios.TCIFLUSH)

    def key(self, until: int | None = None) -> str:
        """Return what the next key means; ``ENDED`` at once when the file ``until`` can be read."""
        waiting = [self._terminal] if until is None else [self._terminal, until]
        ready, _, _ = select.select(waiting, [], [])
        if until in ready:
            return ENDED
        try:
            pressed = os.read(self._terminal, _MOST_BYTES)
        except OSError:  # the terminal was closed
            return ENDED
        return _KEYS.get(pressed, NONE) if pressed else ENDED


@contextmanager
def key_line(place: str = "", back: bool = False, last: str = "", *, on: bool = True) -> Iterator[None]:
    """Say in the last row which keys there are, and leave the row empty afterwards."""
    words = [
        *([place] if place else []),
        *(["Enter: on"] if on else []),
        *(["b: back"] if back else []),
        *([last] if last else []),
    ]
    text = f"-- {' -- '.join(words)} --"
    paint(text, err=True, end="")
    try:
        yield
    finally:
        with suppress(OSError):  # the terminal was closed
            paint("\r" + " " * len(text) + "\r", err=True, end="")
