"""The keyboard: a line that a person types after a question was shown. The edge to the terminal of stdin.

Python's own reading of stdin keeps what it has read ahead; a terminal is therefore read past it, one line at a time.
"""

from __future__ import annotations

import os
import sys
import termios

_MOST_BYTES = 4096
"""Of a line: a terminal itself takes no longer one (Linux, ``N_TTY_BUF_SIZE``)."""


def at_a_terminal() -> bool:
    """Tell whether stdin is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def forget_typed() -> None:
    """Discard what was typed so far: keys pressed before a question was shown answer nothing."""
    if at_a_terminal():
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def typed_line() -> str:
    """Return the next line with its end; without one where the input ended, so an empty text says that nobody answers."""
    if not at_a_terminal():
        return sys.stdin.readline() if sys.stdin is not None else ""
    line = b""
    while not line.endswith(b"\n") and (read := os.read(sys.stdin.fileno(), _MOST_BYTES)):
        line += read
    return line.decode(errors="surrogateescape")


def screen_rows() -> int | None:
    """Return the rows of the screen on which a person reads and answers; None where there is no such person."""
    if not at_a_terminal() or sys.stderr is None or not sys.stderr.isatty():
        return None
    return os.get_terminal_size(sys.stderr.fileno()).lines or None
