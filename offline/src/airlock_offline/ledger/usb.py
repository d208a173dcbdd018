"""A real Ledger on USB: which ones are plugged in, the choice among them, and APDUs in HID reports.

The reports are hidapi's, the framing ``ledgerblue.ledgerWrapper``'s; of ledgerblue nothing else but its errors is loaded,
so none of its environment variables (``LEDGER_PROXY_ADDRESS``, ``MCUPROXY``, ``PCSC`` ...) is ever read. Ledgers are never
guessed: when several are plugged in, one has to be named.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, Protocol, TypeVar

from airlock_offline.ledger.device_errors import (
    SW_OK,
    AppClosed,
    Busy,
    DeviceLost,
    DeviceNotFound,
    WrongAnswer,
    error_for,
)
from airlock_offline.ledger.models import model_of_product
from airlock_offline.ledger.transport import (
    CLA_ETHEREUM,
    INS_OPEN_APP,
    MACHINE_TIMEOUT_S,
    MAX_REPLY,
    REPLUG,
    REVIEW_S,
    Apdu,
    ApduReply,
    Transport,
    gone,
    silent,
)
from airlock_shared.errors import DeviceError, UsageError
from airlock_shared.host.files import locked, open_lock

# ---- usb lock -------------------------------------------------------------------------------------------------------
# Where a Ledger is plugged in, as Linux sees it: its device file, its plug-in number, who holds it, and Airlock's
# lock. hidapi says "open failed" and no more. What the operating system shows in ``/sys`` and ``/proc`` tells apart a
# device that is gone, one that this account may not open, and one that another program holds. Elsewhere than on Linux
# nothing is known and the general message stays. Sources: Linux' sysfs-bus-usb ABI document, proc(5), flock(2).


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


# ---- usb ------------------------------------------------------------------------------------------------------------


LEDGER_VENDOR = 0x2C97
LEDGER_CHANNEL = 0x0101
LEDGER_USAGE_PAGE = 0xFFA0  # of the interface that takes APDUs; the others are U2F and keyboard
PACKET_SIZE = 64  # bytes of one HID report
COMES_BACK_S = 15  # so long a Ledger may be away that opens an app: it leaves the bus and comes again as another device
LOOK_AGAIN_S = 0.5
_NO_SUCH_COMMAND = (0x6D00, 0x6D02, 0x6E00, 0x6E01)  # of a home screen that opens no apps by command
_Opened = TypeVar("_Opened")
SLICE_MS = 1000  # no read of hidapi is longer: Python sees Ctrl-C between two of them


class Unplugged(DeviceLost):
    """The device was there and is not plugged in any more."""


class Replugged(DeviceLost):
    """The device is plugged in, and it is not the connection that we opened: unplugged meanwhile, or another app."""


class NotPermitted(DeviceError):
    """This account may not open the device: the udev rule is missing."""


class HidDevice(Protocol):
    """What is used of ``hid.device``."""

    def open_path(self, path: bytes) -> None:
        """Open the interface at a path of the operating system."""

    def write(self, data: bytes) -> int:
        """Send one report, its id first; below zero on failure."""

    def read(self, size: int, timeout_ms: int) -> list[int]:
        """Return one report, or an empty list after ``timeout_ms``."""

    def close(self) -> None:
        """Let go of the device."""


class PluggedLedger(NamedTuple):
    """A plugged Ledger: the operating system's path of its APDU interface, its product name, and its model or "".

    ``product_id`` and ``release`` are USB's ``idProduct`` and ``bcdDevice``; 0 when nobody told.
    """

    path: str
    product: str
    model: str = ""
    product_id: int = 0
    release: int = 0


def hidapi() -> Any:
    """Return hidapi's module for ``/dev/hidraw*``, which takes neither a socket nor a second thread.

    The one over libusb listens for the kernel's messages on a netlink socket. Raises ``DeviceError``, also elsewhere
    than on Linux: what keeps a signing machine isolated, and what tells Ledgers apart, is Linux' own.
    """
    if not sys.platform.startswith("linux"):
        raise DeviceError(
            f"a Ledger on USB is used on Linux alone, and this system is {sys.platform}",
            do="sign on a machine with Linux; plans and reports can be checked here",
        )
    try:
        return import_module("hidraw")
    except ImportError as error:
        raise DeviceError(
            f"hidapi cannot be loaded: {error}", do="install its system libraries, or install again"
        ) from error


def plugged_ledgers() -> list[PluggedLedger]:
    """Return the Ledgers that are plugged in, by path."""
    return sorted(
        {
            PluggedLedger(
                entry["path"].decode(),
                entry.get("product_string") or "Ledger",
                model_of_product(entry.get("product_id", 0)),
                entry.get("product_id", 0),
                entry.get("release_number", 0),
            )
            for entry in hidapi().enumerate(LEDGER_VENDOR, 0)
            if entry.get("usage_page") == LEDGER_USAGE_PAGE or entry.get("interface_number") == 0
        }
    )


def choose_ledger(plugged: list[PluggedLedger], path: str | None = None) -> PluggedLedger:
    """Return the Ledger at ``path``, or the only one. Raises ``DeviceNotFound``, naming the paths that there are."""
    chosen = [ledger for ledger in plugged if path in (None, ledger.path)]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(f"{ledger.path} ({ledger.product})" for ledger in plugged)
    if chosen:
        raise DeviceNotFound(
            f"more than one Ledger is plugged in: {names}", do="unplug all but one, or name its path with --ledger"
        )
    if plugged:
        raise DeviceNotFound(f"no Ledger at {path}; plugged in: {names}", do="name one of these paths")
    raise DeviceNotFound("no Ledger is plugged in", do="plug it in, unlock it, and open the Ethereum app")


def cannot_open(path: str) -> HeldByAnother | NotPermitted | None:
    """Return why a device that is plugged in cannot be opened, as far as the operating system tells; None where it can."""
    port = port_of(path)
    if port is not None and not may_open(port):
        return NotPermitted(
            f"this account may not open the Ledger at {path}",
            do="install Airlock's udev rule (offline/udev/70-airlock-ledger.rules) and plug the Ledger in again",
        )
    if port is not None and (held_by := holders(port)):
        return HeldByAnother(
            f"the Ledger at {path} is held by {', '.join(held_by)}", do="close that program and try again"
        )
    return None


def _packet(device: HidDevice, wait_s: int) -> bytes:
    """Return the next report, waited for in slices of a second. Raises ``DeviceSilent``."""
    for _ in range(wait_s):
        if packet := device.read(PACKET_SIZE, SLICE_MS):
            return bytes(packet)
    raise silent(wait_s)


class HidTransport:
    """A real Ledger on USB, locked for this process."""

    def __init__(
        self,
        path: str | None = None,
        *,
        review_s: int = REVIEW_S,
        device: Callable[[], HidDevice] | None = None,
        plugged: Callable[[], list[PluggedLedger]] = plugged_ledgers,
    ) -> None:
        """Open the Ledger at ``path``, or the only one; ``device`` and ``plugged`` stand for hidapi.

        ``review_s`` is how long people may read on the device. Raises ``DeviceNotFound``, ``HeldByAnother``,
        ``NotPermitted``, ``DeviceLost`` or ``DeviceError``.
        """
        self._review_s = review_s
        self._plugged = plugged
        self.ledger = choose_ledger(plugged(), path)
        self._lock = DeviceLock(self.ledger.path)
        self._device: HidDevice | None = None
        try:
            opened: HidDevice = (device or hidapi().device)()
            opened.open_path(self.ledger.path.encode())
            self._device = opened
        except OSError as error:
            raise cannot_open(self.ledger.path) or DeviceLost(
                f"the Ledger at {self.ledger.path} cannot be opened ({error})",
                do="close other programs that use it (Ledger Wallet, a browser); on Linux install Airlock's udev rule",
            ) from error
        finally:
            if self._device is None:
                self._lock.release()
        self._port = port_of(self.ledger.path)

    def exchange(self, apdu: bytes, *, person: bool) -> ApduReply:
        """Send one APDU and return its data and its status word (see ``Transport``)."""
        from ledgerblue.commException import CommException  # noqa: PLC0415 - for a Ledger alone, after the filter
        from ledgerblue.ledgerWrapper import wrapCommandAPDU  # noqa: PLC0415 - as above

        if self._device is None:
            raise gone()
        try:
            packets = bytes(wrapCommandAPDU(LEDGER_CHANNEL, apdu, PACKET_SIZE))
            for at in range(0, len(packets), PACKET_SIZE):
                if self._device.write(b"\x00" + packets[at : at + PACKET_SIZE]) < 0:
                    raise self._lost()
            reply = self._receive(self._device, person)
        except BaseException as error:  # also Ctrl-C: a late reply would be taken for the next one's
            self.close()
            if isinstance(error, (OSError, ValueError)):  # hidapi raises either when the device has gone
                raise self._lost() from error
            if isinstance(error, CommException):
                raise WrongAnswer("the Ledger's USB packets are out of order", do=REPLUG) from error
            raise
        return reply[:-2], int.from_bytes(reply[-2:], "big")

    def _lost(self) -> DeviceLost:
        """Return what became of the device: gone, there as another connection, or there and silent to us."""
        there = [ledger.path for ledger in self._plugged()]
        if not there:
            return Unplugged("the Ledger was unplugged", do=REPLUG)
        if self.ledger.path not in there or port_of(self.ledger.path) != self._port:
            return Replugged(
                "the Ledger was unplugged and plugged in again, or an app was opened or closed on it",
                do="open the Ethereum app and sign again; what was signed before is kept",
            )
        return DeviceLost("the connection to the Ledger broke, or another program took it", do=REPLUG)

    def _receive(self, device: HidDevice, person: bool) -> bytes:
        from ledgerblue.ledgerWrapper import unwrapResponseAPDU  # noqa: PLC0415 - as above

        received = bytearray()
        wait_s = self._review_s if person else MACHINE_TIMEOUT_S  # for the first packet; the others follow at once
        while len(received) < MAX_REPLY + PACKET_SIZE:
            received += _packet(device, wait_s)
            reply = unwrapResponseAPDU(LEDGER_CHANNEL, bytes(received), PACKET_SIZE)
            if reply is not None:
                if len(reply) < 2:
                    raise WrongAnswer("the Ledger answered without a status word", do=REPLUG)
                return bytes(reply)
            wait_s = MACHINE_TIMEOUT_S
        raise WrongAnswer(f"the Ledger answered more than {MAX_REPLY} bytes", do=REPLUG)

    def close(self) -> None:
        """Let go of the device and of its lock."""
        if self._device is not None:
            self._device.close()
            self._device = None
        self._lock.release()


# ---- an app that is not open ----------------------------------------------------------------------------------------


def opens_app(transport: Transport) -> bool:
    """Have the home screen open the Ethereum app, which a person confirms there; False when it knows no such command.

    Raises ``RefusedOnDevice``, ``AppMissing``, or what else a status word stands for. Source: "open app" of Ledger's
    ``@ledgerhq/device-management-kit``.
    """
    try:
        _, sw = transport.exchange(Apdu(CLA_ETHEREUM, INS_OPEN_APP, 0, 0, b"Ethereum").encode(), person=True)
    except DeviceLost:  # it has gone to open the app before it answered
        return True
    if sw in _NO_SUCH_COMMAND:
        return False
    if sw != SW_OK:
        raise error_for(sw, doing="open the Ethereum app")
    return True


def come_back(opened: Callable[[], _Opened], let_go: Callable[[], None]) -> _Opened:
    """Return ``opened()`` once the Ledger is there again; what it raises after ``COMES_BACK_S`` seconds is raised."""
    until = monotonic() + COMES_BACK_S
    while True:
        sleep(LOOK_AGAIN_S)
        try:
            return opened()
        except (DeviceNotFound, DeviceLost, NotPermitted, AppClosed, Busy):
            let_go()
            if monotonic() > until:
                raise
