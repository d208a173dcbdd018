"""The filter as a program: a small machine of our own runs it over every system call, for both kinds of processors."""

import re
from pathlib import Path

import pytest

from airlock_offline.confinement import filter as bpf

NAMES = tuple(bpf.ARCHITECTURES)
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
HARMLESS = {"read": (0, 63), "write": (1, 64), "execve": (59, 221), "openat": (257, 56), "mmap": (9, 222)}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def answer(program: list[bpf.Instruction], arch: int, number: int, *arguments: int) -> int:
    """Return what a program answers, run as the kernel would: one register, jumps forward alone."""
    words = {0: number, 4: arch} | {16 + 8 * place: value & 0xFFFFFFFF for place, value in enumerate(arguments)}
    register, at = 0, 0
    while True:
        code, holds, fails, value = program[at]
        at += 1
        if code == bpf.LOAD:
            register = words.get(value, 0)
        elif code == bpf.AND:
            register &= value
        elif code == bpf.EQUAL:
            at += holds if register == value else fails
        elif code == bpf.GREATER_OR_EQUAL:
            at += holds if register >= value else fails
        else:
            assert code == bpf.RETURN
            return value


def ask(machine: str, name: str, *arguments: int, **kind: bool) -> int:
    made = bpf.ARCHITECTURES[machine]
    number = (bpf.NUMBERS | HARMLESS)[name][made.column]
    return answer(bpf.assemble(made, bpf.rules_for(made, **kind)), made.audit_arch, number, *arguments)


@pytest.mark.parametrize("machine", NAMES)
def test_every_listed_call_is_refused(machine: str) -> None:
    for name in set(bpf.NUMBERS) - {"clone", "clone3", "ioctl", *bpf.STARTING}:
        if bpf.NUMBERS[name][bpf.ARCHITECTURES[machine].column] != bpf.ABSENT:
            assert ask(machine, name, AF_INET, 1, 0) == bpf.REFUSE, name
    assert {ask(machine, name) for name in HARMLESS} == {bpf.ALLOW}


@pytest.mark.parametrize("machine", NAMES)
def test_threads_and_children_are_begun_and_namespaces_are_not(machine: str) -> None:
    threads = 0x3D0F00  # what a C library begins a thread with
    assert ask(machine, "clone", threads) == ask(machine, "clone", 17) == bpf.ALLOW
    for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert ask(machine, "clone", 17 | flag) == bpf.REFUSE
    assert ask(machine, "clone3") == bpf.NO_SUCH_CALL  # its flags are behind a pointer: the library then calls clone


@pytest.mark.parametrize("machine", NAMES)
def test_where_others_libraries_run_threads_are_begun_and_processes_and_programs_are_not(machine: str) -> None:
    for flags, said in (
        (0x3D0F00, bpf.ALLOW),
        (17, bpf.REFUSE),
        (0x01200011, bpf.REFUSE),
        (0x4111, bpf.REFUSE),
        (0x3D0F00 | 1 << 29, bpf.REFUSE),
    ):
        assert ask(machine, "clone", flags, starting=False) == said
    assert ask(machine, "clone3", starting=False) == bpf.NO_SUCH_CALL
    for name in bpf.STARTING:
        if bpf.NUMBERS[name][bpf.ARCHITECTURES[machine].column] != bpf.ABSENT:
            assert [ask(machine, name, starting=each) for each in (False, True)] == [bpf.REFUSE, bpf.ALLOW]


@pytest.mark.parametrize("machine", NAMES)
def test_nothing_is_typed_into_a_terminal(machine: str) -> None:
    assert ask(machine, "ioctl", 0, 0x5412) == ask(machine, "ioctl", 0, 0x541C) == bpf.REFUSE
    assert ask(machine, "ioctl", 0, 0x5412 | 1 << 32) == bpf.REFUSE  # the kernel takes the lower half
    assert ask(machine, "ioctl", 0, 0x5401) == bpf.ALLOW


@pytest.mark.parametrize("machine", NAMES)
def test_a_rehearsal_connects_by_tcp_and_does_nothing_else(machine: str) -> None:
    for flags in (0, 0o4000, 0o2000000, 0o2004000):
        assert ask(machine, "socket", AF_INET, 1 | flags, 0, loopback=True) == bpf.ALLOW
    assert ask(machine, "socket", AF_INET, 1, 6, loopback=True) == bpf.ALLOW
    for family, kind, protocol in ((AF_UNIX, 1, 0), (AF_INET6, 1, 0), (AF_NETLINK, 3, 0), (AF_INET, 2, 0), (AF_INET, 3, 1),
                                   (AF_INET, 1, 262), (17, 3, 0)):  # fmt: skip
        assert ask(machine, "socket", family, kind, protocol, loopback=True) == bpf.REFUSE
    assert {ask(machine, name, loopback=True) for name in ("connect", "sendto", "recvfrom")} == {bpf.ALLOW}
    for name in ("bind", "listen", "accept", "accept4", "socketpair", "sendmsg", "recvmsg", "io_uring_setup", "ptrace"):
        assert ask(machine, name, loopback=True) == bpf.REFUSE


@pytest.mark.parametrize("machine", NAMES)
def test_a_call_of_another_machine_ends_the_process(machine: str) -> None:
    made = bpf.ARCHITECTURES[machine]
    program = bpf.assemble(made, bpf.rules_for(made))
    i386, arm = 0x40000003, 0x40000028
    other = next(each.audit_arch for name, each in bpf.ARCHITECTURES.items() if name != machine)
    assert {answer(program, arch, 1) for arch in (i386, arm, other, 0)} == {bpf.KILL}
    if machine == "x86_64":  # the x32 ABI has the machine's name, and other numbers
        for kind in ({}, {"loopback": True}):
            program = bpf.assemble(made, bpf.rules_for(made, **kind))
            assert {answer(program, made.audit_arch, n) for n in (0x40000000, 0x40000000 | 41, 0xFFFFFFFF)} == {
                bpf.KILL
            }


@pytest.mark.parametrize("machine", NAMES)
@pytest.mark.parametrize("kind", [{}, {"loopback": True}, {"starting": False}])
def test_every_way_through_a_program_ends_in_an_answer(machine: str, kind: dict[str, bool]) -> None:
    made = bpf.ARCHITECTURES[machine]
    program = bpf.assemble(made, bpf.rules_for(made, **kind))
    assert {answer(program, made.audit_arch, number) for number in range(600)} <= {
        bpf.ALLOW,
        bpf.REFUSE,
        bpf.NO_SUCH_CALL,
    }
    assert len(bpf.packed(program)) == 8 * len(program) < 8 * 4096  # BPF_MAXINSNS
    assert program[-1][0] == bpf.RETURN


@pytest.mark.parametrize("machine", NAMES)
def test_the_numbers_are_those_of_the_systems_headers(machine: str) -> None:
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip(f"{header} is not installed")
    text, column = header.read_text(), bpf.ARCHITECTURES[machine].column
    for name, numbers in bpf.NUMBERS.items():
        found = re.search(rf"^#define __NR(?:3264)?_{name}\s+([0-9]+)$", text, re.MULTILINE)
        if found or numbers[column] == bpf.ABSENT:
            assert (int(found[1]) if found else bpf.ABSENT) == numbers[column], name
