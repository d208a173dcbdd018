"""What the kernel enforces on this program, as ``preflight`` and ``doctor`` show it and as ``sign`` requires it.

Table of kernels and what each enforces: docs/reference/kernel.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from airlock_offline.confinement.enforced import NOT_ASKED, Confinement
from airlock_shared.host.observed import LOOK, REFUSED, Observed
from airlock_shared.text.safe import safe

NEWER = "use Linux 5.13 or newer with Landlock switched on (docs/reference/kernel.md)"
_SINCE = {3: "cutting files short", 4: "TCP ports", 5: "ioctl on devices", 6: "signals to other processes"}
"""What an older Landlock does not enforce, by the ABI that began to."""


def kernel_lines(found: Confinement) -> Iterator[Observed]:
    """Judge the filter of system calls, ``AIRGAP-SECCOMP``, and show the one of files."""
    if found.seccomp:
        yield Observed("kernel", "seccomp", "sockets, io_uring, ptrace and foreign ABIs are refused, children included")
    else:
        do = "use a Linux that has seccomp, on x86_64 or arm64 (docs/reference/kernel.md)"
        yield Observed("kernel", "seccomp", f"not enforced: {safe(found.seccomp_why)}", REFUSED, do, "AIRGAP-SECCOMP")
    if found.landlock_why == NOT_ASKED:
        yield Observed("kernel", "Landlock", NOT_ASKED)
        return
    if not found.landlock:
        yield Observed("kernel", "Landlock", f"not enforced: {safe(found.landlock_why)}", LOOK, NEWER)
        return
    without = ", ".join(what for abi, what in _SINCE.items() if found.landlock < abi)
    what = f"ABI {found.landlock}: files outside the named folders are out of reach"
    yield Observed("kernel", "Landlock", what + (f"; not enforced: {without}" if without else ""))
