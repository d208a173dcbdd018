"""A word about a wait: who looks at a silent screen for over a second is told what it is for, and since when.

People at a terminal are told, and nobody else: nothing of this reaches a pipe or a file.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from airlock_shared.cli.terminal import paint, say
from airlock_shared.units import span_text

FIRST_S = 1.0
AGAIN_S = 10.0


@contextmanager
def working(what: str, *, first_s: float = FIRST_S, again_s: float = AGAIN_S) -> Iterator[None]:
    """Say ``what`` on stderr when the work inside lasts longer than ``first_s`` seconds, and every ``again_s`` after that.

    Plain lines, on a terminal alone; nothing for work that is quick. ``what`` has been made safe.
    """
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    begun = monotonic()

    def tell() -> None:
        wait_s = first_s
        while not done.wait(wait_s):
            say(f"{what} ... ({monotonic() - begun:.0f} s)")
            wait_s = again_s

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def count_down(seconds: int, why: str) -> None:
    """Wait, and say on a terminal why, and how long it still takes; in a pipe or a file nothing is said of it."""
    if not sys.stderr.isatty():
        sleep(seconds)
        return
    say(why)
    try:
        for left in range(seconds, 0, -1):
            paint(f"\r\x1b[KIt goes on in {span_text(left)}. Ctrl-C loses nothing.", err=True, end="")
            sleep(1)
    finally:
        paint("\r\x1b[K", err=True, end="")
