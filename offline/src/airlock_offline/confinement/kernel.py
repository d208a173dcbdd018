"""System calls that Python has no name for, by ctypes: the one place that speaks to the kernel so."""

from __future__ import annotations

import ctypes
import os
import signal
from functools import cache

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38  # linux/prctl.h


def no_new_privileges() -> None:
    """Let no program that is started gain rights, as by setuid: the condition of both filters. Raises ``OSError``."""
    _checked(_library().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def end_with_parent() -> None:
    """Have this process killed when the thread that started it ends, however that comes about. Raises ``OSError``."""
    _checked(_library().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def call(number: int, *arguments: object) -> int:
    """Make a system call with integers and pointers, and return its result. Raises ``OSError``."""
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(_library().syscall(ctypes.c_long(number), *given))


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
