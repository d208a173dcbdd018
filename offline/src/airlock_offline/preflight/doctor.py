"""What ``doctor`` looks at beside the lines that it shares with ``preflight``: can the program work here at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from airlock_offline.config import read_config
from airlock_offline.home import OfflineHome
from airlock_offline.installation.manifest import Installation
from airlock_offline.ledger.usb import NotOnThisSystem, PluggedLedger, plugged_ledgers
from airlock_offline.ledger.usb_lock import holders, may_open, port_of
from airlock_offline.preflight.installation import installation_lines
from airlock_offline.preflight.kernel import kernel_lines
from airlock_offline.preflight.ledger import RULE, udev_lines
from airlock_offline.preflight.page import TRUST, as_rehearsal
from airlock_shared.cli.doctor import read_deployments, transcript_line
from airlock_shared.errors import ExitCode
from airlock_shared.host import machine
from airlock_shared.host.files import current
from airlock_shared.host.machine import (
    LIBRARIES,
    Library,
    camera_line,
    closure_line,
    disk_line,
    home_line,
    library_lines,
    program_line,
)
from airlock_shared.host.observed import LOOK, MachineProbes, Observed, broken, fault
from airlock_shared.text.safe import safe

config_line = partial(machine.config_line, read=read_config)
REQUIREMENTS = Path(__file__).resolve().parents[3] / "requirements.txt"  # of a source checkout: offline/


def health_lines(
    state: OfflineHome,
    installation: Installation,
    libraries: tuple[Library, ...],
    rule: str | None,
    world: MachineProbes,
) -> Iterator[Observed]:
    """Yield every line of ``doctor``, without changing anything and without talking to a Ledger."""
    yield program_line("airlock-offline")
    if not installation.from_a_kit:  # there every file is compared
        yield closure_line(REQUIREMENTS)
    yield from installation_lines(installation)
    yield home_line(state.home)
    yield disk_line(state.home, world)
    yield from as_rehearsal(kernel_lines(state.confinement))  # nothing is signed here
    yield config_line(state.settings_file)
    yield from read_deployments(current(state.home / "pins"), first=TRUST)[1]
    yield transcript_line(state.transcript)
    yield from library_lines(world, libraries or LIBRARIES)
    yield camera_line(world)
    yield from udev_lines(rule)
    yield from ledger_lines()


def ledger_lines(plugged: Callable[[], list[PluggedLedger]] = plugged_ledgers) -> Iterator[Observed]:
    """Say which Ledgers are plugged in, and whether this account may open them; ``plugged`` stands for hidapi."""
    try:
        found = plugged()
    except ImportError as error:
        yield fault("Ledger", "driver", f"hidapi cannot be loaded: {safe(str(error), limit=200)}",
                    "install its system libraries, or install again")  # fmt: skip
        return
    except NotOnThisSystem as error:
        yield broken("Ledger", "Ledger", error)
        return
    if not found:
        yield Observed("Ledger", "Ledger", "none is plugged in", LOOK, "plug it in, unlock it, open the Ethereum app")
    for ledger in found:
        name, port = safe(f"{ledger.product} at {ledger.path}"), port_of(ledger.path)
        if port is not None and not may_open(port):
            do = f"install the udev rule ({RULE}), and plug the Ledger in again"
            yield fault("Ledger", "Ledger", f"{name}: this account may not open it", do, ExitCode.DEVICE)
        elif port is not None and (held_by := holders(port)):
            found_text = f"{name}: held by {safe(', '.join(held_by))}"
            yield fault("Ledger", "Ledger", found_text, "close that program", ExitCode.DEVICE)
        else:
            yield Observed("Ledger", "Ledger", f"{name}: plugged in")
