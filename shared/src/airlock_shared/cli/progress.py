"""A word about a wait: who looks at a silent screen for over a second is told what it is for, and since when.

People at a terminal are told, and nobody else: nothing of this reaches a pipe or a file.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from airlock_shared.cli.terminal import renew

EVERY_S = 1.0
WHAT_AT_MOST = 66  # letters: how long it has lasted stands in the same row


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say ``what`` on a terminal when the work inside lasts for over a second, and how long it has lasted.

    It is one row, renewed in its place, cut where it has no room, and gone afterwards. ``what`` has been made safe.
    """
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    begun = monotonic()

    def tell() -> None:
        while not done.wait(EVERY_S):
            renew(f"{what[:WHAT_AT_MOST]} ... ({monotonic() - begun:.0f} s)")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
        renew()
