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

from airlock_shared.host.observed import REFUSED, MachineProbes, Observed
from airlock_shared.text.safe import safe

IFF_UP = 0x1
RTF_REJECT = 0x0200  # a route that leads to an error, such as the kernel's own for a network that is not there
DOWN = ("down", "notpresent")
SWITCH_OFF = "unplug the cable, and run: nmcli networking off, or: ip link set {name} down"
UNTOLD = "run this on the Linux of the signing machine itself, where /sys and /proc are mounted"


def interface_lines(world: MachineProbes) -> Iterator[Observed]:
    """Judge every interface but loopback. ``AIRGAP-INTERFACE`` for one that is up, or of which nobody can tell."""
    named, own = _named(world.root / "sys/class/net"), _own(world.root / "proc/net/dev")
    if named is None and own is None:
        found = "unknown: neither /sys/class/net nor /proc/net/dev can be read"
        yield Observed("network", "interfaces", found, REFUSED, UNTOLD, "AIRGAP-INTERFACE")
        return
    names, off = sorted({*(named or ()), *(own or ())} - {"lo"}), []
    for name in names:
        up, found = _look(world, name, own)
        if up is False:
            off.append(safe(name))
        else:
            do = UNTOLD if up is None else SWITCH_OFF.format(name=safe(name))
            yield Observed("network", name, found, REFUSED, do, "AIRGAP-INTERFACE")
    if off:
        yield Observed("network", "interfaces", f"switched off: {', '.join(off)}")
    elif not names:
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


def _look(world: MachineProbes, name: str, own: set[str] | None) -> tuple[bool | None, str]:
    """Return whether an interface is up, None when nobody can tell, and what was found."""
    folder = world.root / "sys/class/net" / name
    state, flags = _text(folder / "operstate"), _number(_text(folder / "flags"))
    elsewhere = "" if own is None or name in own else ", seen from another network namespace"
    if state is None and flags is None:
        return None, "unknown: /sys does not show it"
    on = flags is not None and bool(flags & IFF_UP)
    if not on and state in (*DOWN, None):
        return False, "switched off"
    cable = {"1": "up, connected", "0": "up, without a connection"}.get(_text(folder / "carrier") or "", "up")
    return True, cable + elsewhere


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
    lines = [("IPv4", line.split(), 3, 0) for line in four.splitlines()[1:]]
    lines += [("IPv6", line.split(), 8, 9) for line in six.splitlines()]
    for family, words, flags_at, name_at in lines:
        old = family == "IPv4"
        flags = _number(f"0x{words[flags_at]}") if (len(words) >= 8 if old else len(words) == 10) else None
        if flags is None:
            ways.setdefault((family, "a line that cannot be read"), []).append(False)
        elif words[name_at] != "lo" and not flags & RTF_REJECT:
            default = set(words[1] + words[7]) == {"0"} if old else words[1] == "00"
            ways.setdefault((family, words[name_at]), []).append(default)
    for (family, name), defaults in sorted(ways.items()):
        found = f"{len(defaults)} through {safe(name)}" + (", one of them to everywhere" if any(defaults) else "")
        do = f"take {safe(name)} down; its routes go with it"
        yield Observed("network", f"{family} routes", found, REFUSED, do, "AIRGAP-ROUTE")
    if not ways:
        yield Observed("network", "routes", "none that leaves this machine")
