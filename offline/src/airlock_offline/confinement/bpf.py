"""Classic BPF programs for seccomp, assembled from a list of rules. Pure: numbers in, numbers out.

A program looks at one system call: its machine, its number, and the lower 32 bits of an argument. Source: Linux
``Documentation/userspace-api/seccomp_filter.rst``, ``linux/filter.h``, ``linux/seccomp.h``.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from airlock_offline.confinement.syscalls import (
    ABSENT,
    AF_INET,
    LISTENING,
    LOOPBACK,
    NAMESPACES,
    NUMBERS,
    SOCK_FLAGS,
    SOCK_STREAM,
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


class Step(NamedTuple):
    """One instruction: its code, how many to jump over when a comparison holds and when not, and its number."""

    code: int
    holds: int
    fails: int
    value: int


class Test(NamedTuple):
    """An argument's lower 32 bits under ``mask`` equal ``value``, or with ``equal`` False do not."""

    argument: int
    mask: int
    value: int
    equal: bool = True


class Rule(NamedTuple):
    """A system call by number gets ``action`` unless there are tests and all of them hold."""

    number: int
    action: int = REFUSE
    unless: tuple[Test, ...] = ()


_TESTED = {
    "clone": (Test(0, NAMESPACES, 0),),
    "ioctl": (Test(1, 0xFFFFFFFF, TIOCSTI, equal=False), Test(1, 0xFFFFFFFF, TIOCLINUX, equal=False)),
}
_TCP = (Test(0, 0xFFFFFFFF, AF_INET), Test(1, 0xFFFFFFFF ^ SOCK_FLAGS, SOCK_STREAM), Test(2, 0xFFFFFFF9, 0))


def rules_for(machine: Machine, *, loopback: bool = False, listening: bool = False) -> list[Rule]:
    """Return the rules of a machine; in a rehearsal TCP sockets are made, to connect or, with ``listening``, to serve."""
    allowed = LISTENING if listening else LOOPBACK if loopback else ()
    rules = []
    for name, numbers in NUMBERS.items():
        number = numbers[machine.column]
        if number == ABSENT or (name in allowed and name != "socket"):
            continue
        tests = _TCP if name in allowed else _TESTED.get(name, ())
        rules.append(Rule(number, UNKNOWN if name == "clone3" else REFUSE, tests))
    return rules


def assemble(machine: Machine, rules: Iterable[Rule]) -> list[Step]:
    """Return the program: a call of another machine or ABI ends the process, a rule refuses, the rest is allowed."""
    steps = [Step(LOAD, 0, 0, MACHINE_AT), Step(EQUAL, 1, 0, machine.audit_arch), Step(RETURN, 0, 0, KILL)]
    steps.append(Step(LOAD, 0, 0, NUMBER_AT))
    if machine.x32_bit:
        steps += [Step(AT_LEAST, 0, 1, machine.x32_bit), Step(RETURN, 0, 0, KILL)]
    for rule in rules:
        block = _block(rule)
        steps += [Step(EQUAL, 0, len(block), rule.number), *block]
    return [*steps, Step(RETURN, 0, 0, ALLOW)]


def _block(rule: Rule) -> list[Step]:
    """Return what follows when the number is the rule's. It always ends in an answer."""
    refuse = Step(RETURN, 0, 0, rule.action)
    if not rule.unless:
        return [refuse]
    steps: list[Step] = []
    for test in rule.unless:
        steps += [Step(LOAD, 0, 0, ARGUMENTS_AT + 8 * test.argument), Step(AND, 0, 0, test.mask)]
        steps += [Step(EQUAL, int(test.equal), int(not test.equal), test.value), refuse]
    return [*steps, Step(RETURN, 0, 0, ALLOW)]


def packed(program: Sequence[Step]) -> bytes:
    """Return a program as an array of ``struct sock_filter``."""
    return b"".join(struct.pack("<HBBI", *step) for step in program)
