"""Giving a filter to the kernel, for this process, all its threads and every child.

Source: seccomp(2). ``SECCOMP_FILTER_FLAG_TSYNC`` (Linux 3.17) reaches the threads that a library may have begun.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Sequence

from airlock_offline.confinement.bpf import Step, packed
from airlock_offline.confinement.kernel import call
from airlock_offline.confinement.syscalls import NUMBERS, Machine

SET_MODE_FILTER, TSYNC = 1, 1  # linux/seccomp.h
SECCOMP = (317, 277)  # the number of seccomp(2): x86_64, arm64
_UNIX, _NETLINK, _STREAM = 1, 16, 1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def install(machine: Machine, program: Sequence[Step]) -> None:
    """Put a filter on every thread of this process. Raises ``OSError`` when it is not on all of them."""
    data = packed(program)
    unequal = call(SECCOMP[machine.column], SET_MODE_FILTER, TSYNC, ctypes.byref(_Program(len(program), data)))
    if unequal:
        raise OSError(errno.ESRCH, f"thread {unequal} has a filter of its own")


def is_refused(machine: Machine) -> bool:
    """Tell whether the kernel refuses sockets now: two are asked for, past Python and its audit hook."""
    for family in (_UNIX, _NETLINK):
        try:
            os.close(call(NUMBERS["socket"][machine.column], family, _STREAM, 0))
        except OSError as error:
            if error.errno == errno.EPERM:
                continue
        return False
    return True
