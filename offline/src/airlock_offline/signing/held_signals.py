"""Ctrl-C and the system's wish to end us wait while a signature is between the device's answer and the transcript."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_signals() -> Iterator[None]:
    """Hold back what would end this process; what came meanwhile comes afterwards. Source: pthread_sigmask(3)."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
