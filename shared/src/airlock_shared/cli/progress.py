"""A word about a wait: who looks at a silent screen for over a second is told what it is for, and since when.

People at a terminal are told, and nobody else: nothing of this reaches a pipe or a file.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from airlock_shared.cli.terminal import paint, say

FIRST_S = 1.0
AGAIN_S = 10.0


@contextmanager
def working(what: str, *, first_s: float = FIRST_S, again_s: float = AGAIN_S, renewed: bool = False) -> Iterator[None]:
    """Say ``what`` on stderr when the work inside lasts longer than ``first_s`` seconds, and every ``again_s`` after that.

    Plain lines, on a terminal alone; nothing for work that is quick. Where nothing else is said meanwhile, the line may be
    ``renewed`` in its place, and is gone afterwards. ``what`` has been made safe.
    """
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    begun = monotonic()

    def tell() -> None:
        wait_s = first_s
        while not done.wait(wait_s):
            told = f"{what} ... ({monotonic() - begun:.0f} s)"
            if renewed:
                paint(f"\r\x1b[K{told}", err=True, end="")
            else:
                say(told)
            wait_s = again_s

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
        if renewed:
            paint("\r\x1b[K", err=True, end="")
