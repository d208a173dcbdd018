"""Network interfaces and routes of the machine: none may be up, and none may lead anywhere.

Two places name the interfaces: ``/sys/class/net`` those of the namespace in which it was mounted, ``/proc/net/dev`` those of
this process' own. A process in a namespace of its own would be blind to a cable in the machine: both are looked at.
An interface is up when it is switched on (``IFF_UP``), cable or not: with a cable it would be on the network in a moment.
Sources: Linux ``Documentation/ABI/testing/sysfs-class-net``, ``linux/if.h``, ``linux/route.h``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from airlock_shared.host.observed import REFUSED, MachineProbes, Observed
from airlock_shared.text.safe import safe

IFF_UP = 0x1
RTF_REJECT = 0x0200  # a route that leads to an error, such as the kernel's own for a network that is not there
DOWN = ("down", "notpresent")
SWITCH_OFF = "unplug the cable, and run: nmcli networking off, or: ip link set {name} down"
UNTOLD = "run this on the Linux of the signing machine itself, where /sys and /proc are mounted"


class Interface(NamedTuple):
    """A network interface; ``up`` is None when nobody can tell."""

    name: str
    up: bool | None
    found: str


def interface_lines(world: MachineProbes) -> Iterator[Observed]:
    """Judge every interface but loopback. ``AIRGAP-INTERFACE`` for one that is up, or of which nobody can tell."""
    named, own = _named(world.root / "sys/class/net"), _own(world.root / "proc/net/dev")
    if named is None and own is None:
        found = "unknown: neither /sys/class/net nor /proc/net/dev can be read"
        yield Observed("network", "interfaces", found, REFUSED, UNTOLD, "AIRGAP-INTERFACE")
        return
    found_all = [_look(world, name, own) for name in sorted({*(named or ()), *(own or ())} - {"lo"})]
    for interface in found_all:
        if interface.up is not False:
            do = UNTOLD if interface.up is None else SWITCH_OFF.format(name=safe(interface.name))
            yield Observed("network", interface.name, interface.found, REFUSED, do, "AIRGAP-INTERFACE")
    down = [safe(interface.name) for interface in found_all if interface.up is False]
    if down:
        yield Observed("network", "interfaces", f"switched off: {', '.join(down)}")
    elif not found_all:
        yield Observed("network", "interfaces", "none but loopback")


def _named(folder: Path) -> set[str] | None:
    try:
        return {path.name for path in folder.iterdir() if path.is_dir()}
    except OSError:
        return None


def _own(file: Path) -> set[str] | None:
    """Return the interfaces of ``/proc/net/dev``: a name before the colon of each line after the two headings."""
    text = _text(file)
    return None if text is None else {line.partition(":")[0].strip() for line in text.splitlines()[2:] if ":" in line}


def _look(world: MachineProbes, name: str, own: set[str] | None) -> Interface:
    folder = world.root / "sys/class/net" / name
    state, flags = _text(folder / "operstate"), _number(_text(folder / "flags"))
    elsewhere = "" if own is None or name in own else ", seen from another network namespace"
    if state is None and flags is None:
        return Interface(name, None, "unknown: /sys does not show it")
    on = flags is not None and bool(flags & IFF_UP)
    if not on and state in (*DOWN, None):
        return Interface(name, False, "switched off")
    cable = {"1": "up, connected", "0": "up, without a connection"}.get(_text(folder / "carrier") or "", "up")
    return Interface(name, True, cable + elsewhere)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None


def _number(text: str | None) -> int | None:
    return int(text, 16) if text and re.fullmatch("0x[0-9a-fA-F]{1,8}", text) else None


# ---- routes -----------------------------------------------------------------------------------------------------------


def route_lines(world: MachineProbes) -> Iterator[Observed]:
    """Judge the routes of this process' namespace: ``AIRGAP-ROUTE`` for any that does not end in this machine."""
    four = _text(world.root / "proc/net/route")
    if four is None:
        found = "unknown: /proc/net/route cannot be read"
        yield Observed("network", "routes", found, REFUSED, UNTOLD, "AIRGAP-ROUTE")
        return
    six = _text(world.root / "proc/net/ipv6_route") or ""  # it is not there when the kernel has no IPv6
    ways: dict[tuple[str, str], list[bool]] = {}
    for family, name, default in (*_ipv4(four), *_ipv6(six)):
        ways.setdefault((family, name), []).append(default)
    for (family, name), defaults in sorted(ways.items()):
        found = f"{len(defaults)} through {safe(name)}" + (", one of them to everywhere" if any(defaults) else "")
        do = f"take {safe(name)} down; its routes go with it"
        yield Observed("network", f"{family} routes", found, REFUSED, do, "AIRGAP-ROUTE")
    if not ways:
        yield Observed("network", "routes", "none that leaves this machine")


def _ipv4(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield family, interface and whether it is the default, of each route; a line that cannot be read counts as one."""
    for line in text.splitlines()[1:]:
        words = line.split()
        flags = _number(f"0x{words[3]}") if len(words) >= 8 else None
        if flags is None:
            yield "IPv4", "a line that cannot be read", False
        elif words[0] != "lo" and not flags & RTF_REJECT:
            yield "IPv4", words[0], set(words[1] + words[7]) == {"0"}


def _ipv6(text: str) -> Iterator[tuple[str, str, bool]]:
    for line in text.splitlines():
        words = line.split()
        flags = _number(f"0x{words[8]}") if len(words) == 10 else None
        if flags is None:
            yield "IPv6", "a line that cannot be read", False
        elif words[9] != "lo" and not flags & RTF_REJECT:
            yield "IPv6", words[9], words[1] == "00"
