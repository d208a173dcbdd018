"""A real Ledger on USB: which ones are plugged in, the choice among them, and APDUs in HID reports.

The reports are hidapi's, the framing ``ledgerblue.ledgerWrapper``'s; nothing else of ledgerblue is loaded, so none of its
environment variables (``LEDGER_PROXY_ADDRESS``, ``MCUPROXY``, ``PCSC`` ...) is ever read. Ledgers are never guessed: when
several are plugged in, one has to be named.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from time import monotonic, sleep
from typing import Any, NamedTuple, Protocol, TypeVar

from airlock_offline.ledger.apdu import CLA_ETHEREUM, INS_OPEN_APP, Apdu
from airlock_offline.ledger.models import model_of_product
from airlock_offline.ledger.status import (
    SW_OK,
    AppClosed,
    DeviceLost,
    DeviceNotFound,
    WrongAnswer,
)
from airlock_offline.ledger.status_words import Busy, error_for
from airlock_offline.ledger.transport import MACHINE_TIMEOUT_S, MAX_REPLY, REPLUG, REVIEW_S, Transport, gone, silent
from airlock_offline.ledger.usb_lock import DeviceLock, HeldByAnother, holders, may_open, port_of
from airlock_shared.errors import DeviceError

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


class NotOnThisSystem(DeviceError):
    """A Ledger on USB is used on Linux alone."""


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

    The one over libusb listens for the kernel's messages on a netlink socket. Raises ``ImportError``, or ``NotOnThisSystem``
    elsewhere than on Linux: what keeps a signing machine isolated, and what tells Ledgers apart, is Linux' own.
    """
    if not sys.platform.startswith("linux"):
        raise NotOnThisSystem(
            f"a Ledger on USB is used on Linux alone, and this system is {sys.platform}",
            do="sign on a machine with Linux; plans and reports can be checked here",
        )
    return import_module("hidraw")


def plugged_ledgers() -> list[PluggedLedger]:
    """Return the Ledgers that are plugged in, by path."""
    found = {
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
    return sorted(found)


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


def _cannot_open(path: str, error: OSError) -> DeviceLost | HeldByAnother | NotPermitted:
    """Return why a device that is plugged in cannot be opened, as far as the operating system tells."""
    port = port_of(path)
    if port is not None and not may_open(port):
        return NotPermitted(
            f"this account may not open the Ledger at {path}",
            do="install Airlock's udev rule (offline/udev/70-airlock-ledger.rules) and plug the Ledger in again",
        )
    held_by = holders(port) if port is not None else []
    if held_by:
        return HeldByAnother(
            f"the Ledger at {path} is held by {', '.join(held_by)}", do="close that program and try again"
        )
    return DeviceLost(
        f"the Ledger at {path} cannot be opened ({error})",
        do="close other programs that use it (Ledger Wallet, a browser); on Linux install Airlock's udev rule",
    )


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
        ``NotPermitted``, ``NotOnThisSystem`` or ``DeviceLost``.
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
            raise _cannot_open(self.ledger.path, error) from error
        finally:
            if self._device is None:
                self._lock.release()
        self._port = port_of(self.ledger.path)

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        """Send one APDU and return its data and its status word (see ``Transport``)."""
        from ledgerblue.commException import (
            CommException,  # all of ledgerblue: after the filter, and for a Ledger alone
        )

        if self._device is None:
            raise gone()
        try:
            self._send(self._device, apdu)
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
            return Unplugged("the Ledger was unplugged; nothing more was signed", do=REPLUG)
        if self.ledger.path not in there or port_of(self.ledger.path) != self._port:
            return Replugged(
                "the Ledger was unplugged and plugged in again, or an app was opened or closed on it",
                do="open the Ethereum app and sign again; what was signed before is kept",
            )
        return DeviceLost("the connection to the Ledger broke, or another program took it", do=REPLUG)

    def _send(self, device: HidDevice, apdu: bytes) -> None:
        from ledgerblue.ledgerWrapper import wrapCommandAPDU

        packets = bytes(wrapCommandAPDU(LEDGER_CHANNEL, apdu, PACKET_SIZE))
        for at in range(0, len(packets), PACKET_SIZE):
            if device.write(b"\x00" + packets[at : at + PACKET_SIZE]) < 0:
                raise self._lost()

    def _receive(self, device: HidDevice, person: bool) -> bytes:
        from ledgerblue.ledgerWrapper import unwrapResponseAPDU

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


def opens_app(transport: Transport, name: str) -> bool:
    """Have the home screen open an app, which a person confirms there; False when it knows no such command.

    Raises ``RefusedOnDevice``, ``AppMissing``, or what else a status word stands for. Source: "open app" of Ledger's
    ``@ledgerhq/device-management-kit``.
    """
    try:
        _, sw = transport.exchange(Apdu(CLA_ETHEREUM, INS_OPEN_APP, 0, 0, name.encode()).encode(), person=True)
    except DeviceLost:  # it has gone to open the app before it answered
        return True
    if sw in _NO_SUCH_COMMAND:
        return False
    if sw != SW_OK:
        raise error_for(sw, doing=f"open the {name} app")
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
