"""Radios of the machine: Wi-Fi, Bluetooth, NFC, mobile networks. One that is not blocked is a way out of the room.

A radio is found by its switch (``/sys/class/rfkill``) and by its driver (``ieee80211``, ``bluetooth``, ``nfc``, ``wwan``); a
driver's radio without a switch of its own cannot be shown to be off. No driver, no switch: the system cannot use the radio.
Source: Linux ``Documentation/driver-api/rfkill.rst``, ``Documentation/ABI/stable/sysfs-class-rfkill``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from airlock_shared.host.observed import LOOK, REFUSED, MachineProbes, Observed
from airlock_shared.text.safe import safe

KINDS = {"wlan": "Wi-Fi", "bluetooth": "Bluetooth", "nfc": "NFC", "wwan": "mobile", "uwb": "ultra-wideband",
         "ultrawideband": "ultra-wideband", "wimax": "WiMAX", "gps": "GPS", "fm": "FM"}  # fmt: skip
LISTENING = ("gps", "fm")  # these only receive
DRIVERS = {"wlan": ("ieee80211", r"phy[0-9]+"), "bluetooth": ("bluetooth", r"hci[0-9]+"),
           "nfc": ("nfc", r"nfc[0-9]+"), "wwan": ("wwan", r"wwan[0-9]+")}  # fmt: skip
BLOCK = "run: rfkill block all, or switch it off in the firmware's set-up"
NO_SWITCH = "switch it off in the firmware's set-up, unplug it, or unload its driver"
UNTOLD = "run this on the Linux of the signing machine itself, where /sys is mounted"


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
        yield Observed("radios", "radios", "unknown: /sys/class cannot be read", REFUSED, UNTOLD, "AIRGAP-RADIO")
        return
    yield from (_judge(switch) for switch in switches)
    for kind, name in drivers:
        own = [each for each in switches if each.kind == kind and (kind == "wwan" or each.name == name)]
        if not own:  # of a driver's radio; a modem's switches have other names than it
            found = f"{safe(name)} has no switch to block it"
            yield Observed("radios", KINDS[kind], found, REFUSED, NO_SWITCH, "AIRGAP-RADIO")
    if not switches and not drivers:
        yield Observed("radios", "radios", "none with a driver on this system")


def _below(folder: Path, known: set[str], names: str) -> list[Path]:
    """Return the entries of a class of devices; a class that was never registered has none. Raises ``OSError``."""
    return sorted(p for p in folder.iterdir() if re.fullmatch(names, p.name)) if folder.name in known else []


def _switch(folder: Path) -> Switch:
    try:
        kind, name, soft, hard = ((folder / part).read_text(errors="replace").strip()
                                  for part in ("type", "name", "soft", "hard"))  # fmt: skip
    except OSError:
        return Switch("", folder.name, None)
    if {soft, hard} - {"0", "1"}:
        return Switch(kind, name, None)
    return Switch(kind, name, " and ".join(["by software"] * (soft == "1") + ["by hardware"] * (hard == "1")))


def _judge(switch: Switch) -> Observed:
    what, name = KINDS.get(switch.kind, "radio"), safe(switch.name)
    if switch.blocked is None:
        return Observed("radios", what, f"{name}: state unknown", REFUSED, BLOCK, "AIRGAP-RADIO")
    if switch.blocked:
        return Observed("radios", what, f"{name}: blocked {switch.blocked}")
    if switch.kind in LISTENING:
        return Observed("radios", what, f"{name}: on; it only receives", LOOK, BLOCK)
    return Observed("radios", what, f"{name}: ON", REFUSED, BLOCK, "AIRGAP-RADIO")
