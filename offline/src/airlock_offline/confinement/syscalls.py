"""System calls that are refused, their numbers on both machines, and the few whose arguments decide.

Everything else stays allowed: a list of what is allowed would have to follow every release of the C library, of Python and
of OpenCV, and would be widened under pressure on the day of a ceremony. What is refused is every way to another machine,
into another process, into the kernel, around this filter, and to the clock.

Sources of the numbers: Linux ``arch/x86/entry/syscalls/syscall_64.tbl`` and ``include/uapi/asm-generic/unistd.h`` (arm64).
"""

from __future__ import annotations

from typing import NamedTuple


class Machine(NamedTuple):
    """A kind of processor: its name for ``seccomp_data.arch``, and its column of :data:`NUMBERS`."""

    audit_arch: int
    column: int
    x32_bit: int = 0  # system calls with this bit are of another ABI under the same name


MACHINES = {
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
"""What only a process that starts others is left; ``clone`` is left to every one for its threads."""

LOOPBACK = ("socket", "connect", "sendto", "recvfrom")
"""What a rehearsal's loopback connection takes."""

AF_INET, SOCK_STREAM, IPPROTO_TCP = 2, 1, 6
SOCK_FLAGS = 0o4000 | 0o2000000  # SOCK_NONBLOCK, SOCK_CLOEXEC: flags that ride on a socket's type
NAMESPACES = 0x7E020000  # CLONE_NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET, of linux/sched.h
CLONE_THREAD = 0x10000  # linux/sched.h: in the same process
TIOCSTI, TIOCLINUX = 0x5412, 0x541C  # type into a terminal; select and paste on a console: asm-generic/ioctls.h
