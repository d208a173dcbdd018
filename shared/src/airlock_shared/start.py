"""The first lines of both programs: Ctrl-C while a program is still loaded ends it with a sentence, as it does later."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

CONTINUE = "What was done is recorded; run the same command again to continue."
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_signals() -> Iterator[None]:
    """Hold back what would end this process; what came meanwhile comes afterwards. Source: pthread_sigmask(3).

    While a signature is between the device's answer and the transcript, and while modules load: C code that imports
    (that of ``ssl`` does) turns Ctrl-C into an ``ImportError``.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_program(module: str) -> None:
    """Load a program's module and run its ``main``. Ctrl-C where the program itself does not handle it ends with 130."""
    told = "Nothing was begun."
    try:
        with held_signals():
            main = import_module(module).main
        told = CONTINUE
        main()
    except KeyboardInterrupt:
        from airlock_shared.errors import ExitCode  # noqa: PLC0415 - little is loaded before Ctrl-C is met

        sys.stderr.write(f"\nInterrupted. {told}\n")
        sys.exit(ExitCode.INTERRUPTED)
