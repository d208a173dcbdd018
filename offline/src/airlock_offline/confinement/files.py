"""Which files and ports a process may still use, by Landlock: this process and every child, and never more again.

Rights that a kernel does not know are left out; what an older one does not enforce stands in docs/reference/kernel.md.
Source: Linux ``Documentation/userspace-api/landlock.rst``, ``linux/landlock.h``.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from airlock_offline.confinement.filter import system_call

CREATE, ADD, RESTRICT = 444, 445, 446  # system calls, the same on every machine
ASK_VERSION = 1
BENEATH, _PORT = 1, 2  # kinds of rules

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV  # the others are of folders alone
_FILE_RIGHTS_OF = {1: 13, 2: 14, 3: 15, 4: 15}  # how many are handled, by ABI; then all 16
_SCOPES = 0b11  # abstract UNIX sockets and signals, from ABI 6

MAY_READ = READ_FILE | READ_DIR
MAY_RUN = MAY_READ | EXECUTE
USE = MAY_READ | WRITE_FILE | TRUNCATE | IOCTL_DEV
"""What a device file takes: hidraw and cameras are told everything by ioctl."""
WRITE = MAY_READ | WRITE_FILE | TRUNCATE | MAKE_REG | MAKE_DIR | REMOVE_FILE | REMOVE_DIR | REFER


def version() -> int:
    """Return the kernel's Landlock ABI. Raises ``OSError`` where it has none, or where it was not switched on."""
    return system_call(CREATE, None, 0, ASK_VERSION)


def handled(abi: int) -> tuple[int, int, int]:
    """Return what an ABI is told to refuse unless allowed: rights to files, to the network, and scopes."""
    return (
        (1 << _FILE_RIGHTS_OF.get(abi, 16)) - 1,
        (BIND_TCP | CONNECT_TCP) if abi >= 4 else 0,
        _SCOPES if abi >= 6 else 0,
    )


def attributes(abi: int) -> bytes:
    """Return ``struct landlock_ruleset_attr`` as long as the ABI knows it."""
    return struct.pack("<QQQ", *handled(abi))[: 8 if abi < 4 else 16 if abi < 6 else 24]


def restrict(abi: int, paths: Iterable[tuple[Path, int]], *, connect: int | None = None) -> None:
    """Take every right from this thread and its children but those to these paths and what is beneath them.

    ``connect`` is the one TCP port that is left. Raises ``OSError``.
    """
    shape = attributes(abi)
    ruleset = system_call(CREATE, ctypes.c_char_p(shape), len(shape), 0)
    try:
        for path, rights in paths:
            _allow_beneath(ruleset, path, rights & handled(abi)[0])
        if abi >= 4 and connect is not None:
            system_call(ADD, ruleset, _PORT, ctypes.c_char_p(struct.pack("<QQ", CONNECT_TCP, connect)), 0)
        system_call(RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow_beneath(ruleset: int, path: Path, rights: int) -> None:
    """Allow rights to a file, or to all beneath a folder; what is not there is not allowed either."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        kept = rights if stat.S_ISDIR(os.fstat(place).st_mode) else rights & _FILE_RIGHTS
        system_call(ADD, ruleset, BENEATH, ctypes.c_char_p(struct.pack("<Qi", kept, place)), 0)
    finally:
        os.close(place)
