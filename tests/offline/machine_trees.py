"""Machines as file trees: what the kernel would show in /sys, /proc and /dev."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from airlock_shared.host.files import MachineProbes

ROUTE_HEADING = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
_DEV_HEADING = "Inter-|   Receive\n face |bytes    packets\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def machine(
    root: Path, *, loopback: tuple[str, str] = ("0x9", "unknown"), routes: str = "", routes_six: str = ""
) -> MachineProbes:
    """Return a machine with loopback alone, no radio and no camera."""
    world = MachineProbes(root)
    write(root / "proc/net/dev", _DEV_HEADING)
    write(root / "proc/net/route", f"{ROUTE_HEADING}\n{routes}")
    write(root / "proc/net/ipv6_route", routes_six)
    (root / "dev").mkdir()
    interface(world, "lo", *loopback, "")
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
