"""Machines as file trees, and network namespaces with a /sys of their own: an interface is up, the machine untouched."""

import itertools
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from airlock_shared.host.files import MachineProbes
from commands import FinishedCommand, run_command

ROUTE_HEADING = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
_DEV_HEADING = "Inter-|   Receive\n face |bytes    packets\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def machine(root: Path, *, routes: str = "", routes_six: str = "") -> MachineProbes:
    """Return a machine with loopback alone, no radio and no camera."""
    world = MachineProbes(root)
    write(root / "proc/net/dev", _DEV_HEADING)
    write(root / "proc/net/route", f"{ROUTE_HEADING}\n{routes}")
    write(root / "proc/net/ipv6_route", routes_six)
    (root / "dev").mkdir()
    interface(world, "lo", "0x9", "unknown", "")
    return world


def interface(world: MachineProbes, name: str, flags: str, operstate: str, carrier: str, *, own: bool = True) -> None:
    """Add an interface; an empty value is a file that cannot be read. ``own``: in the namespace of the process too."""
    folder = world.root / "sys/class/net" / name
    folder.mkdir(parents=True)
    for part, text in (("flags", flags), ("operstate", operstate), ("carrier", carrier)):
        if text:
            write(folder / part, f"{text}\n")
    if own:
        with (world.root / "proc/net/dev").open("a") as file:
            file.write(f"{name:>6}: 0 0\n")


def route(name: str, *, destination: str = "000200C0", flags: str = "0001", mask: str = "00FFFFFF") -> str:
    return f"{name}\t{destination}\t00000000\t{flags}\t0\t0\t0\t{mask}\t0\t0\t0\n"


def radio(world: MachineProbes, kind: str, name: str, soft: str = "0", hard: str = "0") -> Path:
    """Add the switch of a radio and return its folder; an empty value is a file that cannot be read."""
    switches = world.root / "sys/class/rfkill"
    folder = next(path for number in itertools.count() if not (path := switches / f"rfkill{number}").exists())
    for part, text in (("type", kind), ("name", name), ("soft", soft), ("hard", hard)):
        if text:
            write(folder / part, f"{text}\n")
    return folder


def zbar_of(*version: int) -> object:
    """Return a library that says it is this version, as zbar's C interface does."""

    class Zbar:
        def zbar_version(self, *numbers: Any) -> None:
            for number, value in zip(numbers, version, strict=True):
                number._obj.value = value

    return Zbar()


ENTER = ("unshare", "--map-root-user", "--net", "--mount", "sh", "-euc")
OWN_SYS = "mount -t sysfs sysfs /sys"
PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
INTERFACES = ("ip link add dummy0 type dummy", "ip link add dummy0 type bridge", "ip tuntap add dev dummy0 mode tap")
"""A kernel has at least one of these; which one it is does not matter."""


def inside(script: str, *words: object) -> FinishedCommand:
    """Run a shell script in a fresh namespace, then ``words`` in it."""
    return run_command(*ENTER, f'{script}\nexec "$@"', "sh", *words, env={**os.environ, "PATH": PATH})


def require_namespaces() -> None:
    if shutil.which("unshare") is None or inside(OWN_SYS, "true").code:
        pytest.skip("this machine does not let us unshare the network with a /sys of its own")


def with_an_interface(*, up: bool) -> str:
    """Return the script that makes an interface; skips the test when neither the kernel nor ``ip`` can."""
    require_namespaces()
    if shutil.which("ip", path=PATH) is None:
        pytest.skip("iproute2 is not installed: no interface can be made")
    for make in INTERFACES:
        script = f"{OWN_SYS}\n{make} 2>/dev/null"
        if inside(script, "true").code == 0:
            return f"{script}\nip link set dummy0 {'up' if up else 'down'}"
    pytest.skip("the kernel makes neither a dummy interface, nor a bridge, nor a tap")


def program(home: Path) -> tuple[str, ...]:
    """Return the words that start the offline half as a program of its own, from the sources that this test imports."""
    script = "from airlock_offline.cli.main import main; main()"
    return (sys.executable, "-c", script, "--home", str(home))
