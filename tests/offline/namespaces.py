"""A network namespace with a /sys of its own, in which a real interface can be brought up without touching the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ENTER = ("unshare", "--map-root-user", "--net", "--mount", "sh", "-euc")
OWN_SYS = "mount -t sysfs sysfs /sys"
NO_SYS = "mount -t tmpfs tmpfs /sys"
PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
INTERFACES = ("ip link add dummy0 type dummy", "ip link add dummy0 type bridge", "ip tuntap add dev dummy0 mode tap")
"""A kernel has at least one of these; which one it is does not matter."""


def inside(script: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a shell script in a fresh namespace, then ``words`` in it."""
    whole = f'{script}\nexec "$@"'
    return subprocess.run(
        [*ENTER, whole, "sh", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": PATH},
    )


def require_namespaces() -> None:
    if shutil.which("unshare") is None or inside(OWN_SYS, "true").returncode:
        pytest.skip("this machine does not let us unshare the network with a /sys of its own")


def with_an_interface(*, up: bool) -> str:
    """Return the script that makes an interface; skips the test when neither the kernel nor ``ip`` can."""
    require_namespaces()
    if shutil.which("ip", path=PATH) is None:
        pytest.skip("iproute2 is not installed: no interface can be made")
    for make in INTERFACES:
        script = f"{OWN_SYS}\n{make} 2>/dev/null"
        if inside(script, "true").returncode == 0:
            return f"{script}\nip link set dummy0 {'up' if up else 'down'}"
    pytest.skip("the kernel makes neither a dummy interface, nor a bridge, nor a tap")


def program(home: Path) -> tuple[str, ...]:
    """Return the words that start the offline half as a program of its own, from the sources that this test imports."""
    script = "from airlock_offline.cli.main import main; main()"
    return (sys.executable, "-c", script, "--home", str(home))
