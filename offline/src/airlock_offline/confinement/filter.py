"""The kernel's two filters: which system calls a command may make (seccomp), and which files it may open (Landlock)."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import stat
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

# ---- kernel ---------------------------------------------------------------------------------------------------------
# System calls that Python has no name for, by ctypes: the one place that speaks to the kernel so.


_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38  # linux/prctl.h
_LIBRARY = ctypes.CDLL(None, use_errno=True)
_LIBRARY.syscall.restype = ctypes.c_long


def no_new_privileges() -> None:
    """Let no program that is started gain rights, as by setuid: the condition of both filters. Raises ``OSError``."""
    _checked(_LIBRARY.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def end_with_parent() -> None:
    """Have this process killed when the thread that started it ends, however that comes about. Raises ``OSError``."""
    _checked(_LIBRARY.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def system_call(number: int, *arguments: object) -> int:
    """Make a system call with integers and pointers, and return its result. Raises ``OSError``."""
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(_LIBRARY.syscall(ctypes.c_long(number), *given))


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


# ---- syscalls -------------------------------------------------------------------------------------------------------
# System calls that are refused, their numbers on both machines, and the few whose arguments decide.
# Everything else stays allowed: a list of what is allowed would have to follow every release of the C library, of
# Python and of OpenCV, and would be widened under pressure on the day of a ceremony. What is refused is every socket and
# every way into another process, into the kernel, around this filter, and to the clock. Device files are not refused here.
# Sources of the numbers: Linux ``arch/x86/entry/syscalls/syscall_64.tbl`` and ``include/uapi/asm-generic/unistd.h``
# (arm64).


class Machine(NamedTuple):
    """A kind of processor: its name for ``seccomp_data.arch``, and its column of :data:`NUMBERS`."""

    audit_arch: int
    column: int
    x32_bit: int = 0  # system calls with this bit are of another ABI under the same name


ARCHITECTURES = {
    "x86_64": Machine(0xC000003E, 0, 0x40000000),  # AUDIT_ARCH_X86_64; __X32_SYSCALL_BIT
    "aarch64": Machine(0xC00000B7, 1),  # AUDIT_ARCH_AARCH64
}

ABSENT = -1
NUMBERS = {
    words[0]: (int(words[1]), int(words[2]))
    for words in map(
        str.split,
        """\
# sockets
socket                41   198
socketpair            53   199
connect               42   203
bind                  49   200
listen                50   201
accept                43   202
accept4              288   242
sendto                44   206
sendmsg               46   211
sendmmsg             307   269
recvfrom              45   207
recvmsg               47   212
recvmmsg             299   243
# a second way to call the kernel
io_uring_setup       425   425
io_uring_enter       426   426
io_uring_register    427   427
# other processes
ptrace               101   117
process_vm_readv     310   270
process_vm_writev    311   271
kcmp                 312   272
pidfd_getfd          438   438
process_madvise      440   440
# the kernel itself
bpf                  321   280
perf_event_open      298   241
userfaultfd          323   282
add_key              248   217
request_key          249   218
keyctl               250   219
init_module          175   105
finit_module         313   273
delete_module        176   106
kexec_load           246   104
kexec_file_load      320   294
reboot               169   142
syslog               103   116
modify_ldt           154    -1
iopl                 172    -1
ioperm               173    -1
# another view of the machine
unshare              272    97
setns                308   268
clone3               435   435
clone                 56   220
mount                165    40
umount2              166    39
pivot_root           155    41
chroot               161    51
open_tree            428   428
move_mount           429   429
fsopen               430   430
fsconfig             431   431
fsmount              432   432
fspick               433   433
mount_setattr        442   442
open_by_handle_at    304   265
swapon               167   224
swapoff              168   225
quotactl             179    60
acct                 163    89
# another process, or another program
fork                  57    -1
vfork                 58    -1
execve                59   221
execveat             322   281
# the clock, which a person vouches for
settimeofday         164   170
clock_settime        227   112
clock_adjtime        305   266
adjtimex             159   171
# a terminal
ioctl                 16    29
""".splitlines(),
    )
    if words[0] != "#"
}
"""Their numbers on x86_64 and on arm64, -1 where there is none."""

STARTING = ("fork", "vfork", "execve", "execveat")
"""Kept only by a process that starts others. ``clone`` is kept by all, for threads."""

_LOOPBACK = ("socket", "connect", "sendto", "recvfrom")
"""What a rehearsal's loopback connection takes."""

AF_INET, SOCK_STREAM, IPPROTO_TCP = 2, 1, 6
SOCK_FLAGS = 0o4000 | 0o2000000  # SOCK_NONBLOCK, SOCK_CLOEXEC: flags that ride on a socket's type
NAMESPACES = 0x7E020000  # CLONE_NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET, of linux/sched.h
CLONE_THREAD = 0x10000  # linux/sched.h: in the same process
TIOCSTI, TIOCLINUX = 0x5412, 0x541C  # type into a terminal; select and paste on a console: asm-generic/ioctls.h

# ---- bpf ------------------------------------------------------------------------------------------------------------
# Classic BPF programs for seccomp, assembled from a list of rules. Pure: numbers in, numbers out.
# A program looks at one system call: its machine, its number, and the lower 32 bits of an argument. Source: Linux
# ``Documentation/userspace-api/seccomp_filter.rst``, ``linux/filter.h``, ``linux/seccomp.h``.


# BPF_LD|W|ABS, ALU|AND|K, JMP|JEQ|K, JMP|JGE|K, RET|K
LOAD, AND, EQUAL, GREATER_OR_EQUAL, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER_AT, MACHINE_AT, ARGUMENTS_AT = 0, 4, 16  # of struct seccomp_data; both machines are little-endian
KILL, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000  # SECCOMP_RET_KILL_PROCESS, _ERRNO, _ALLOW
REFUSE = ERRNO | errno.EPERM
NO_SUCH_CALL = ERRNO | errno.ENOSYS  # the C library then uses the older call, whose arguments can be looked at


Instruction = tuple[int, int, int, int]
"""One instruction: its code, how many to jump over when a comparison holds and when not, and its number."""

Test = tuple[int, int, int, bool]
"""An argument's place, a mask, a value, and whether the argument's lower 32 bits under the mask have to equal it."""

_Rule = tuple[int, int, tuple[Test, ...]]
"""A system call's number, its answer, and tests: without any it always gets that answer, with some unless all hold."""

ALL_BITS = 0xFFFFFFFF
_TESTED: dict[str, tuple[Test, ...]] = {
    "clone": ((0, NAMESPACES, 0, True),),
    "ioctl": ((1, ALL_BITS, TIOCSTI, False), (1, ALL_BITS, TIOCLINUX, False)),
}
_THREAD: tuple[Test, ...] = ((0, CLONE_THREAD, CLONE_THREAD, True),)
_TCP: tuple[Test, ...] = (
    (0, ALL_BITS, AF_INET, True),
    (1, ALL_BITS ^ SOCK_FLAGS, SOCK_STREAM, True),
    (2, ALL_BITS ^ IPPROTO_TCP, 0, True),
)


def rules_for(machine: Machine, *, loopback: bool = False, starting: bool = True) -> list[_Rule]:
    """Return the rules of a machine; in a rehearsal (``loopback``) TCP sockets are made, to connect.

    Without ``starting`` no other process and no other program is begun, threads are.
    """
    allowed = _LOOPBACK if loopback else ()
    rules: list[_Rule] = []
    for name, numbers in NUMBERS.items():
        number = numbers[machine.column]
        if number == ABSENT or (name in allowed and name != "socket") or (name in STARTING and starting):
            continue
        tests = _TCP if name in allowed else _TESTED.get(name, ())
        if name == "clone" and not starting:
            tests += _THREAD
        rules.append((number, NO_SUCH_CALL if name == "clone3" else REFUSE, tests))
    return rules


def assemble(machine: Machine, rules: Iterable[_Rule]) -> list[Instruction]:
    """Return the program: a call of another machine or ABI ends the process, a rule refuses, the rest is allowed."""
    steps: list[Instruction] = [(LOAD, 0, 0, MACHINE_AT), (EQUAL, 1, 0, machine.audit_arch), (RETURN, 0, 0, KILL)]
    steps.append((LOAD, 0, 0, NUMBER_AT))
    if machine.x32_bit:
        steps += [(GREATER_OR_EQUAL, 0, 1, machine.x32_bit), (RETURN, 0, 0, KILL)]
    for number, answer, tests in rules:
        block = _block(answer, tests)
        steps += [(EQUAL, 0, len(block), number), *block]
    return [*steps, (RETURN, 0, 0, ALLOW)]


def _block(answer: int, tests: tuple[Test, ...]) -> list[Instruction]:
    """Return what follows when the number is the rule's. It always ends in an answer."""
    refuse: Instruction = (RETURN, 0, 0, answer)
    steps: list[Instruction] = []
    for argument, mask, value, equal in tests:
        steps += [(LOAD, 0, 0, ARGUMENTS_AT + 8 * argument), (AND, 0, 0, mask)]
        steps += [(EQUAL, int(equal), int(not equal), value), refuse]
    return [*steps, (RETURN, 0, 0, ALLOW)] if tests else [refuse]


def packed(program: Sequence[Instruction]) -> bytes:
    """Return a program as an array of ``struct sock_filter``."""
    return b"".join(struct.pack("<HBBI", *step) for step in program)


# ---- seccomp --------------------------------------------------------------------------------------------------------
# Giving a filter to the kernel, for this process, all its threads and every child.
# Source: seccomp(2). ``SECCOMP_FILTER_FLAG_TSYNC`` (Linux 3.17) reaches the threads that a library may have begun.


SET_MODE_FILTER, TSYNC = 1, 1  # linux/seccomp.h
SECCOMP = (317, 277)  # the number of seccomp(2): x86_64, arm64
_UNIX, _NETLINK, _STREAM = 1, 16, 1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def install_filter(machine: Machine, program: Sequence[Instruction]) -> None:
    """Put a filter on every thread of this process. Raises ``OSError`` when it is not on all of them."""
    data = packed(program)
    unequal = system_call(SECCOMP[machine.column], SET_MODE_FILTER, TSYNC, ctypes.byref(_Program(len(program), data)))
    if unequal:
        raise OSError(errno.ESRCH, f"thread {unequal} has a filter of its own")


def is_refused(machine: Machine) -> bool:
    """Tell whether the kernel refuses sockets now: two are asked for, past Python and its audit hook."""
    for family in (_UNIX, _NETLINK):
        try:
            os.close(system_call(NUMBERS["socket"][machine.column], family, _STREAM, 0))
        except OSError as error:
            if error.errno == errno.EPERM:
                continue
        return False
    return True


# ---- files ----------------------------------------------------------------------------------------------------------
# Which files and ports a process may still use, by Landlock: this process and every child, and never more again.
#
# Rights that a kernel does not know are left out; what an older one does not enforce stands in docs/reference/kernel.md.
# Source: Linux ``Documentation/userspace-api/landlock.rst``, ``linux/landlock.h``.


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
MAY_USE = MAY_READ | WRITE_FILE | TRUNCATE | IOCTL_DEV
"""What a device file takes: hidraw and cameras are told everything by ioctl."""
MAY_WRITE = MAY_READ | WRITE_FILE | TRUNCATE | MAKE_REG | MAKE_DIR | REMOVE_FILE | REMOVE_DIR | REFER


def landlock_version() -> int:
    """Return the kernel's Landlock ABI. Raises ``OSError`` where it has none, or where it was not switched on."""
    return system_call(CREATE, None, 0, ASK_VERSION)


def handled(abi: int) -> tuple[int, int, int]:
    """Return what an ABI is told to refuse unless allowed: rights to files, to the network, and scopes."""
    return (
        (1 << _FILE_RIGHTS_OF.get(abi, 16)) - 1,
        (BIND_TCP | CONNECT_TCP) if abi >= 4 else 0,
        _SCOPES if abi >= 6 else 0,
    )


def restrict_files(abi: int, paths: Iterable[tuple[Path, int]], *, connect: int | None = None) -> None:
    """Take every right from this thread and its children but those to these paths and what is beneath them.

    ``connect`` is the one TCP port that is left. Raises ``OSError``.
    """
    known = 8 if abi < 4 else 16 if abi < 6 else 24  # bytes of ``struct landlock_ruleset_attr``
    shape = struct.pack("<QQQ", *handled(abi))[:known]
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
