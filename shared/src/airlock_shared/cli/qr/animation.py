"""A transfer in the terminal of stdout: one still code, or an animation that Ctrl-C ends. The edge to screen and clock."""

from __future__ import annotations

import os
import sys
import time

from airlock_shared.cli.console import paint, say
from airlock_shared.qr.symbol import symbols
from airlock_shared.qr.terminal import LARGEST_IN_TERMINAL, draw, hint, version_that_fits
from airlock_shared.qr.transfer import DEFAULT_PAUSE_MS, Transfer, cycle_texts, ideal_count

MOST_PARTS = 100  # twenty seconds a round; what is longer goes faster by a page
NO_TERMINAL = "use a terminal, or show the page instead: --as page"
TOO_MANY = f"it takes more than {MOST_PARTS} codes of the size that fits: show the page instead, with --as page"


def fitting(transfer: Transfer, version: int | None) -> tuple[int | None, str]:
    """Return the version up to ``version`` with which this terminal shows a transfer, or None and what to do."""
    if not sys.stdout.isatty():
        return None, NO_TERMINAL
    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    fits = version_that_fits(rows, columns)
    if fits is None:
        return None, hint(rows, columns)
    fits = min(fits, version or LARGEST_IN_TERMINAL)
    return (fits, "") if ideal_count(transfer, fits) <= MOST_PARTS else (None, TOO_MANY)


def play(transfer: Transfer, version: int) -> None:
    """Draw a transfer: a still code once, a longer one over and over until Ctrl-C, which is its normal end."""
    drawn = [draw(each) for each in symbols(cycle_texts(transfer, version), version)]
    if len(drawn) == 1:
        paint(drawn[0])
        return
    say(f"{ideal_count(transfer, version)} parts, repeated: press Ctrl-C when the other machine has them all")
    back = f"\x1b[{len(drawn[0].splitlines())}A\r"
    try:
        paint(drawn[0])
        while True:
            for each in drawn:
                paint(back + each)
                time.sleep(DEFAULT_PAUSE_MS / 1000)
    except KeyboardInterrupt:
        say()
