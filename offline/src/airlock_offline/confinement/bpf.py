"""Classic BPF programs for seccomp, assembled from a list of rules. Pure: numbers in, numbers out.

A program looks at one system call: its machine, its number, and the lower 32 bits of an argument. Source: Linux
``Documentation/userspace-api/seccomp_filter.rst``, ``linux/filter.h``, ``linux/seccomp.h``.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Sequence

from airlock_offline.confinement.syscalls import (
    ABSENT,
    AF_INET,
    CLONE_THREAD,
    IPPROTO_TCP,
    LOOPBACK,
    NAMESPACES,
    NUMBERS,
    SOCK_FLAGS,
    SOCK_STREAM,
    STARTING,
    TIOCLINUX,
    TIOCSTI,
    Machine,
)

LOAD, AND, EQUAL, AT_LEAST, RETURN = (
    0x20,
    0x54,
    0x15,
    0x35,
    0x06,
)  # BPF_LD|W|ABS, ALU|AND|K, JMP|JEQ|K, JMP|JGE|K, RET|K
NUMBER_AT, MACHINE_AT, ARGUMENTS_AT = 0, 4, 16  # of struct seccomp_data; both machines are little-endian
KILL, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000  # SECCOMP_RET_KILL_PROCESS, _ERRNO, _ALLOW
REFUSE = ERRNO | errno.EPERM
UNKNOWN = ERRNO | errno.ENOSYS  # the C library then uses the older call, whose arguments can be looked at


Step = tuple[int, int, int, int]
"""One instruction: its code, how many to jump over when a comparison holds and when not, and its number."""

Test = tuple[int, int, int, bool]
"""An argument's place, a mask, a value, and whether the argument's lower 32 bits under the mask have to equal it."""

Rule = tuple[int, int, tuple[Test, ...]]
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


def rules_for(machine: Machine, *, loopback: bool = False, starting: bool = True) -> list[Rule]:
    """Return the rules of a machine; in a rehearsal (``loopback``) TCP sockets are made, to connect.

    Without ``starting`` no other process and no other program is begun, threads are.
    """
    allowed = LOOPBACK if loopback else ()
    rules: list[Rule] = []
    for name, numbers in NUMBERS.items():
        number = numbers[machine.column]
        if number == ABSENT or (name in allowed and name != "socket") or (name in STARTING and starting):
            continue
        tests = _TCP if name in allowed else _TESTED.get(name, ())
        if name == "clone" and not starting:
            tests += _THREAD
        rules.append((number, UNKNOWN if name == "clone3" else REFUSE, tests))
    return rules


def assemble(machine: Machine, rules: Iterable[Rule]) -> list[Step]:
    """Return the program: a call of another machine or ABI ends the process, a rule refuses, the rest is allowed."""
    steps: list[Step] = [(LOAD, 0, 0, MACHINE_AT), (EQUAL, 1, 0, machine.audit_arch), (RETURN, 0, 0, KILL)]
    steps.append((LOAD, 0, 0, NUMBER_AT))
    if machine.x32_bit:
        steps += [(AT_LEAST, 0, 1, machine.x32_bit), (RETURN, 0, 0, KILL)]
    for number, answer, tests in rules:
        block = _block(answer, tests)
        steps += [(EQUAL, 0, len(block), number), *block]
    return [*steps, (RETURN, 0, 0, ALLOW)]


def _block(answer: int, tests: tuple[Test, ...]) -> list[Step]:
    """Return what follows when the number is the rule's. It always ends in an answer."""
    refuse: Step = (RETURN, 0, 0, answer)
    steps: list[Step] = []
    for argument, mask, value, equal in tests:
        steps += [(LOAD, 0, 0, ARGUMENTS_AT + 8 * argument), (AND, 0, 0, mask)]
        steps += [(EQUAL, int(equal), int(not equal), value), refuse]
    return [*steps, (RETURN, 0, 0, ALLOW)] if tests else [refuse]


def packed(program: Sequence[Step]) -> bytes:
    """Return a program as an array of ``struct sock_filter``."""
    return b"".join(struct.pack("<HBBI", *step) for step in program)
