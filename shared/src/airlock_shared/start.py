"""The first lines of both programs: Ctrl-C while Python still loads one ends it with a sentence, as it does later."""

from __future__ import annotations

import sys
from importlib import import_module

CONTINUE = "What was done is recorded; run the same command again to continue."


def run_program(module: str) -> None:
    """Load a program's module and run its ``main``. Ctrl-C before or after its own dealing with it ends with 130."""
    told = "Nothing was begun."
    try:
        main = import_module(module).main
        told = CONTINUE
        main()
    except KeyboardInterrupt:
        from airlock_shared.errors import ExitCode  # noqa: PLC0415 - little is loaded before Ctrl-C is met

        sys.stderr.write(f"\nInterrupted. {told}\n")
        sys.exit(ExitCode.INTERRUPTED)
