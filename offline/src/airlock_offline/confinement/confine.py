"""What a command may still do, and the kernel told so: before anything is read that somebody else wrote.

Where the kernel cannot, it is said and never passed over: what is missing is in the :class:`Confinement` that comes back.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from airlock_offline.confinement import bpf, landlock, seccomp
from airlock_offline.confinement.enforced import NOT_ASKED, Confinement
from airlock_offline.confinement.kernel import no_new_privileges
from airlock_offline.confinement.syscalls import MACHINES
from airlock_shared.errors import UsageError

LIBRARIES = ("/usr", "/lib", "/lib64", "/bin", "/sbin")
READ_ONLY = ("/etc", "/sys", "/proc", "/run/udev", "/var/lib/dpkg/status")
DEVICES = ("/dev",)  # as a folder: a Ledger that is plugged in again, or whose app opens, is another file in it


class Needs(NamedTuple):
    """What a command needs: files and folders to read, folders to write, and a rehearsal's loopback port.

    ``files`` says whether Landlock is wanted at all, ``machine`` whether ``/dev``, ``/sys`` and ``/proc`` are looked at, and
    ``devices`` which ones are used where they are not. Without ``starting`` no other process is begun.
    """

    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    connect: int | None = None
    files: bool = True
    machine: bool = True
    devices: tuple[Path, ...] = ()
    starting: bool = True


ALONE = Needs(machine=False, starting=False)
"""What a child needs in which other people's libraries run: packages to read, and no process beside it."""


def confine(needs: Needs) -> Confinement:
    """Have the kernel refuse what the command does not need. Raises ``UsageError`` for a temporary folder not our own."""
    if not sys.platform.startswith("linux"):
        why = f"this system is {os.uname().sysname}, and the filter needs Linux"
        return Confinement(False, why, 0, why)
    try:
        no_new_privileges()
    except OSError as error:
        why = f"the kernel does not lock this program's privileges: {error.strerror}"
        return Confinement(False, why, 0, why)
    seccomp_why = _refuse_calls(needs)
    abi, landlock_why = _restrict_files(needs)
    return Confinement(not seccomp_why, seccomp_why, abi, landlock_why)


def _refuse_calls(needs: Needs) -> str:
    """Install the filter and look whether it holds; return why there is none, or an empty text."""
    machine = MACHINES.get(os.uname().machine)
    if machine is None or sys.maxsize < 2**32:
        return f"no table of system calls for {os.uname().machine}"
    rules = bpf.rules_for(machine, loopback=needs.connect is not None, starting=needs.starting)
    try:
        seccomp.install(machine, bpf.assemble(machine, rules))
    except OSError as error:
        return f"the kernel takes no filter: {error.strerror}"
    return "" if seccomp.is_refused(machine) else "the kernel took the filter, but still allowed a socket"


def _restrict_files(needs: Needs) -> tuple[int, str]:
    """Return the ABI that is enforced and nothing, or 0 and why there is none."""
    try:
        abi = landlock.version()
    except OSError as error:
        return 0, f"the kernel has no Landlock: {error.strerror}"
    if not needs.files:
        return 0, NOT_ASKED
    if (threads := len(os.listdir("/proc/self/task"))) != 1:  # noqa: PTH208 (names alone)
        return 0, f"{threads} threads run already, and it would apply to only one of them"
    runs = (sys.prefix, sys.base_prefix, *sys.path, *LIBRARIES)
    looks, uses = (READ_ONLY, DEVICES) if needs.machine else (("/etc",), ("/dev/null", "/dev/urandom"))
    paths = [
        *((Path(path), landlock.RUN) for path in dict.fromkeys(runs) if path),
        *((Path(path), landlock.READ) for path in (*looks, *needs.reads)),
        *((Path(path), landlock.USE) for path in (*uses, *needs.devices)),
        *((Path(path), landlock.WRITE) for path in needs.writes),
    ]
    try:
        landlock.restrict(abi, paths, connect=needs.connect)
    except OSError as error:
        return 0, f"the kernel takes no Landlock rules: {error.strerror}"
    return abi, ""


def own_temporary_folder() -> Path:
    """Return this account's own folder for temporary files, made when it is not there; Python uses it from now on.

    Raises ``UsageError`` when somebody else made it: what is in it would be theirs to change.
    """
    folder = Path(tempfile.gettempdir()) / f"airlock-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise UsageError(f"{folder} is not this account's own folder", do="find out who made it, and remove it")
    tempfile.tempdir = str(folder)
    return folder
