"""Where a Ledger is plugged in, as Linux sees it: its device file, its plug-in number, who holds it, and Airlock's lock.

hidapi says "open failed" and no more. What the operating system shows in ``/sys`` and ``/proc`` tells apart a device that
is gone, one that this account may not open, and one that another program holds. Elsewhere than on Linux nothing is known
and the general message stays. Sources: Linux' sysfs-bus-usb ABI document, proc(5), flock(2).
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from airlock_shared.errors import DeviceError, UsageError
from airlock_shared.host.files import locked, open_lock

ROOT = Path("/")
_HIDRAW_PATH = re.compile(r"/dev/(hidraw[0-9]+)", re.ASCII)


class HeldByAnother(DeviceError):
    """Another program has the device open, or another Airlock has locked it."""


class UsbPort(NamedTuple):
    """The device file of a plugged Ledger, and the number that the bus gave it: a new one each time it is plugged in."""

    node: Path
    plug_number: str


def port_of(path: str, root: Path = ROOT) -> UsbPort | None:
    """Return where hidapi's ``path``, such as ``/dev/hidraw3``, is plugged in; None when it is gone or not known."""
    match = _HIDRAW_PATH.fullmatch(path)
    if match is None:
        return None
    device = (root / "sys/class/hidraw" / match[1] / "device").resolve().parent.parent
    numbers = [_read(device / name) for name in ("busnum", "devnum")]
    return UsbPort(root / path[1:], "-".join(numbers)) if all(number.isdigit() for number in numbers) else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def may_open(port: UsbPort) -> bool:
    """Return whether this account may read and write the device file."""
    return os.access(port.node, os.R_OK | os.W_OK)


def holders(port: UsbPort, root: Path = ROOT) -> list[str]:
    """Return the names of other programs that have the device file open, as far as this account may see them."""
    names = set()
    for link in (root / "proc").glob("[0-9]*/fd/*"):
        process = link.parents[1]
        try:
            held = process.name != str(os.getpid()) and link.readlink() == port.node
        except OSError:  # another account's, or it ended meanwhile
            continue
        if held:
            names.add(f"{_read(process / 'comm') or 'a program'} (process {process.name})")
    return sorted(names)


class DeviceLock:
    """One Airlock at a time on one Ledger: an advisory lock on a file, let go with the process if not before."""

    def __init__(self, path: str, folder: Path | None = None) -> None:
        """Lock the device at ``path``. Raises ``HeldByAnother`` when another Airlock has it, or nobody can lock it."""
        folder = folder or Path(tempfile.gettempdir())
        file = folder / f"airlock-ledger-{os.getuid()}-{hashlib.sha256(path.encode()).hexdigest()[:16]}.lock"

        def busy(_descriptor: int) -> None:
            raise HeldByAnother(
                f"another airlock-offline is using the Ledger at {path}", do="let it finish, or end it; then try again"
            )

        self._held = ExitStack()
        try:
            self._held.enter_context(locked(open_lock(file), file, busy))
        except UsageError as error:
            raise HeldByAnother(error.what, do=error.do) from error

    def release(self) -> None:
        """Let go; a second call changes nothing."""
        self._held.close()
