"""Whether the machine is fit for production: no interface up, no route, no radio, and the kernel's filter.

``preflight``, ``sign``, ``delegate prove`` and the seal ask.

Production is every machine but one: where all that is pinned is worth nothing (a rehearsal or a test network), and the
software Ledger is used. A real Ledger holds a real key: a deployment that calls itself a rehearsal does not excuse it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from airlock_offline.confinement.command import NOT_ASKED, Confinement
from airlock_shared.cli.terminal import say
from airlock_shared.documents.deployment import Deployment, all_worth_nothing
from airlock_shared.errors import Refusal
from airlock_shared.host.files import LOOK, REFUSED, MachineProbes, Observed
from airlock_shared.text.safe import safe

# ---- interfaces -----------------------------------------------------------------------------------------------------
# Network interfaces and routes of the machine: none may be up, and none may lead anywhere.
# Two places name the interfaces: ``/sys/class/net`` those of the namespace in which it was mounted, ``/proc/net/dev``
# those of this process' own. A process in a namespace of its own would be blind to a cable in the machine: both are
# looked at. An interface is up when it is switched on (``IFF_UP``), cable or not: with a cable it would be on the
# network in a moment. Sources: Linux ``Documentation/ABI/testing/sysfs-class-net``, ``linux/if.h``,
# ``linux/route.h``.


IFF_UP = 0x1
RTF_REJECT = 0x0200  # a route that leads to an error, such as the kernel's own for a network that is not there
DOWN = ("down", "notpresent")
SWITCH_OFF = "unplug the cable, and run: nmcli networking off, or: ip link set {name} down"
_UNTOLD = "run this on the Linux of the signing machine itself, where /sys and /proc are mounted"


def interface_lines(world: MachineProbes) -> Iterator[Observed]:
    """Judge every interface but loopback. ``AIRGAP-INTERFACE`` for one that is up, or of which nobody can tell."""
    named, own = _named(world.root / "sys/class/net"), _own(world.root / "proc/net/dev")
    if named is None and own is None:
        found = "unknown: neither /sys/class/net nor /proc/net/dev can be read"
        yield Observed("network", "interfaces", found, REFUSED, _UNTOLD, "AIRGAP-INTERFACE")
        return
    names, off = sorted({*(named or ()), *(own or ())} - {"lo"}), []
    for name in names:
        up, found = _interface_state(world, name, own)
        if up is False:
            off.append(safe(name))
        else:
            do = _UNTOLD if up is None else SWITCH_OFF.format(name=safe(name))
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


def _interface_state(world: MachineProbes, name: str, own: set[str] | None) -> tuple[bool | None, str]:
    """Return whether an interface is up, None when nobody can tell, and what was found."""
    folder = world.root / "sys/class/net" / name
    state, flags = _text(folder / "operstate"), _number(_text(folder / "flags"))
    elsewhere = "" if own is None or name in own else ", seen from another network namespace"
    if flags is None:
        return None, "unknown: /sys does not show it"
    if not flags & IFF_UP and state in (*DOWN, None):
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
        yield Observed("network", "routes", found, REFUSED, _UNTOLD, "AIRGAP-ROUTE")
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


# ---- radios ---------------------------------------------------------------------------------------------------------
# Radios of the machine: Wi-Fi, Bluetooth, NFC, mobile networks. One that is not blocked is a way out of the room.
# A radio is found by its switch (``/sys/class/rfkill``) and by its driver (``ieee80211``, ``bluetooth``, ``nfc``,
# ``wwan``); a driver's radio without a switch of its own cannot be shown to be off. No driver, no switch: the system
# cannot use the radio. Source: Linux ``Documentation/driver-api/rfkill.rst``,
# ``Documentation/ABI/stable/sysfs-class-rfkill``.


_KINDS = {"wlan": "Wi-Fi", "bluetooth": "Bluetooth", "nfc": "NFC", "wwan": "mobile", "uwb": "ultra-wideband",
         "ultrawideband": "ultra-wideband", "wimax": "WiMAX", "gps": "GPS", "fm": "FM"}  # fmt: skip
LISTENING = ("gps", "fm")  # these only receive
DRIVERS = {
    "wlan": ("ieee80211", r"phy[0-9]+"),
    "bluetooth": ("bluetooth", r"hci[0-9]+"),
    "nfc": ("nfc", r"nfc[0-9]+"),
    "wwan": ("wwan", r"wwan[0-9]+"),
}
BLOCK = "run: rfkill block all, or switch it off in the firmware's set-up"
NO_SWITCH = "switch it off in the firmware's set-up, unplug it, or unload its driver"
NO_RADIOS_TOLD = "run this on the Linux of the signing machine itself, where /sys is mounted"


class Switch(NamedTuple):
    """A radio's switch; ``blocked`` is how it is off, empty when it is on, None when nobody can tell."""

    kind: str
    name: str
    blocked: str | None


def radio_lines(world: MachineProbes) -> Iterator[Observed]:
    """Judge every radio: ``AIRGAP-RADIO`` for one that is not blocked, or of which nobody can tell."""
    classes = world.root / "sys/class"
    try:
        known = {path.name for path in classes.iterdir()}
        switches = [_switch(path) for path in _below(classes / "rfkill", known, r"rfkill[0-9]+")]
        drivers = [
            (kind, path.name)
            for kind, (folder, names) in DRIVERS.items()
            for path in _below(classes / folder, known, names)
        ]
    except OSError:
        yield Observed(
            "radios", "radios", "unknown: /sys/class cannot be read", REFUSED, NO_RADIOS_TOLD, "AIRGAP-RADIO"
        )
        return
    yield from (_judge(switch) for switch in switches)
    for kind, name in drivers:
        own = [each for each in switches if each.kind == kind and (kind == "wwan" or each.name == name)]
        if not own:  # of a driver's radio; a modem's switches have other names than it
            found = f"{safe(name)} has no switch to block it"
            yield Observed("radios", _KINDS[kind], found, REFUSED, NO_SWITCH, "AIRGAP-RADIO")
    if not switches and not drivers:
        yield Observed("radios", "radios", "none with a driver on this system")


def _below(folder: Path, known: set[str], names: str) -> list[Path]:
    """Return the entries of a class of devices; a class that was never registered has none. Raises ``OSError``."""
    return sorted(p for p in folder.iterdir() if re.fullmatch(names, p.name)) if folder.name in known else []


def _switch(folder: Path) -> Switch:
    try:
        kind, name, soft, hard = (
            (folder / part).read_text(errors="replace").strip() for part in ("type", "name", "soft", "hard")
        )
    except OSError:
        return Switch("", folder.name, None)
    if {soft, hard} - {"0", "1"}:
        return Switch(kind, name, None)
    return Switch(kind, name, " and ".join(["by software"] * (soft == "1") + ["by hardware"] * (hard == "1")))


def _judge(switch: Switch) -> Observed:
    what, name = _KINDS.get(switch.kind, "radio"), safe(switch.name)
    if switch.blocked is None:
        return Observed("radios", what, f"{name}: state unknown", REFUSED, BLOCK, "AIRGAP-RADIO")
    if switch.blocked:
        return Observed("radios", what, f"{name}: blocked {switch.blocked}")
    if switch.kind in LISTENING:
        return Observed("radios", what, f"{name}: on; it only receives", LOOK, BLOCK)
    return Observed("radios", what, f"{name}: ON", REFUSED, BLOCK, "AIRGAP-RADIO")


# ---- kernel ---------------------------------------------------------------------------------------------------------
# What the kernel enforces on this program, as ``preflight`` and ``doctor`` show it and as ``sign`` requires it.
# Table of kernels and what each enforces: docs/reference/kernel.md.


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
    elif not found.landlock:
        yield Observed("kernel", "Landlock", f"not enforced: {safe(found.landlock_why)}", LOOK, NEWER)
    else:
        without = ", ".join(what for abi, what in _SINCE.items() if found.landlock < abi)
        what = f"ABI {found.landlock}: files outside the named folders are out of reach"
        yield Observed("kernel", "Landlock", what + (f"; not enforced: {without}" if without else ""))


# ---- isolation ------------------------------------------------------------------------------------------------------


def is_production(pins: Iterable[Deployment], *, software_ledger: bool) -> bool:
    """Tell whether this is production: a real Ledger, a deployment that is worth something, or none pinned."""
    return not (software_ledger and all_worth_nothing(pins))


def airgap_lines(world: MachineProbes) -> list[Observed]:
    """Look at interfaces, routes and radios, and judge them as for production."""
    return [*interface_lines(world), *route_lines(world), *radio_lines(world)]


def require_isolation(lines: Sequence[Observed]) -> None:
    """Raise ``Refusal`` when a line is refused: the first check's id, and every line with its id in ``got``."""
    refused = [line for line in lines if line.verdict == REFUSED]
    if refused:
        got = "; ".join(f"{line.check}: {line.what} {line.found}" for line in refused)
        expected = "every interface and radio off, no route, and a kernel that refuses sockets"
        raise Refusal(
            refused[0].check,
            "this machine is not isolated, and production needs isolation",
            got=got,
            expected=expected,
            do=refused[0].do,
        )


class Isolation:
    """The look at the machine that a command takes before it signs, and again each time it turns to the Ledger."""

    def __init__(
        self,
        pins: Sequence[Deployment],
        emulator_port: int | None,
        kernel: Confinement,
        world: MachineProbes = MachineProbes(),  # noqa: B008 (frozen)
    ) -> None:
        """``pins`` are all deployments that are pinned on this machine."""
        self._pins = pins
        self._kernel = kernel
        self._software = emulator_port is not None
        self._world = world

    def _lines(self) -> list[Observed]:
        return [*airgap_lines(self._world), *kernel_lines(self._kernel)]

    def is_production(self) -> bool:
        """Tell it as :func:`is_production`; where it is not, a pipe may answer in a person's place."""
        return is_production(self._pins, software_ledger=self._software)

    def begin(self, note: Callable[[str], None] = say) -> None:
        """Refuse in production before anything is reviewed; where all is worth nothing, say what production would refuse.

        Where all is worth nothing and the Ledger is real, the refusal comes when the Ledger is opened: without it nothing
        is signed.
        """
        lines = self._lines()
        if not all_worth_nothing(self._pins):
            require_isolation(lines)
        elif ids := ", ".join(sorted({line.check for line in lines if line.verdict == REFUSED})):
            note(f"NOTE: this machine is not isolated ({ids}). Production refuses this.")

    def look_again(self) -> None:
        """Refuse in production, each time before the Ledger's app is handed out."""
        if self.is_production():
            require_isolation(self._lines())
