"""How an APDU reaches a Ledger: over USB, or over loopback to the software Ledger of a rehearsal.

The only module of the offline half, beside the software Ledger's server, that imports ``socket``; it connects to
127.0.0.1 and to nothing else.

``ledgerblue.commTCP`` is not used for loopback: it reads a reply with single ``recv`` calls (a reply that arrives in two
pieces is cut), it has no time-out whatever it is told, and a closed connection ends in ``struct.error``. Its framing, four
length bytes and the APDU, is done here. For USB the framing is ``ledgerblue.ledgerWrapper``'s.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from airlock_offline.ledger.status import DeviceLost, DeviceNotFound, DeviceSilent, WrongAnswer

if TYPE_CHECKING:
    import socket

LOOPBACK = "127.0.0.1"
MACHINE_TIMEOUT_S = 20  # nobody has to press anything
PERSON_TIMEOUT_S = 600  # a person may be reading the device's screen
MAX_REPLY = 512  # bytes; an APDU answer of this app has at most 256

LEDGER_VENDOR = 0x2C97
LEDGER_CHANNEL = 0x0101
LEDGER_USAGE_PAGE = 0xFFA0  # of the interface that takes APDUs; the others are U2F and keyboard
PACKET_SIZE = 64  # bytes of one HID report

_REPLUG = "unplug the Ledger, plug it in again, unlock it, open the Ethereum app and sign again"


class Transport(Protocol):
    """Something that takes one APDU at a time."""

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        """Send one APDU and return its data and its status word.

        ``person`` says that a person may have to read and press first, so that the wait is long.
        Raises ``DeviceLost``, ``DeviceSilent`` or ``WrongAnswer``.
        """

    def close(self) -> None:
        """Let go of the device."""


def _timeout_s(person: bool) -> int:
    return PERSON_TIMEOUT_S if person else MACHINE_TIMEOUT_S


def _silent(person: bool) -> DeviceSilent:
    return DeviceSilent(f"the Ledger did not answer within {_timeout_s(person)} s", do=_REPLUG)


def _gone() -> DeviceLost:
    return DeviceLost("the connection to the Ledger is closed after an earlier failure", do=_REPLUG)


# ---- loopback -----------------------------------------------------------------------------------------------------


class LoopbackTransport:
    """The software Ledger or Speculos on 127.0.0.1. Never a real device."""

    def __init__(self, port: int) -> None:
        """Connect to ``port`` on 127.0.0.1. Raises ``DeviceNotFound``."""
        import socket

        try:
            connection = socket.create_connection((LOOPBACK, port), timeout=MACHINE_TIMEOUT_S)
        except OSError as error:
            raise DeviceNotFound(
                f"no software Ledger answers on {LOOPBACK}:{port}", do="start it with `airlock-offline emulator`"
            ) from error
        self._connection: socket.socket | None = connection

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        """Send one APDU and return its data and its status word (see ``Transport``)."""
        if self._connection is None:
            raise _gone()
        deadline_s = time.monotonic() + _timeout_s(person)
        try:
            self._connection.settimeout(_timeout_s(person))
            self._connection.sendall(len(apdu).to_bytes(4, "big") + apdu)
            length = int.from_bytes(self._receive(4, deadline_s), "big")
            if length > MAX_REPLY:
                raise WrongAnswer(f"a reply of {length} bytes", do="restart the software Ledger")
            reply = self._receive(length + 2, deadline_s)
        except TimeoutError as error:  # a late reply would be taken for the next one's
            self.close()
            raise _silent(person) from error
        except OSError as error:
            self.close()
            raise DeviceLost("the connection to the Ledger broke", do=_REPLUG) from error
        except (DeviceLost, WrongAnswer):
            self.close()
            raise
        return reply[:length], int.from_bytes(reply[length:], "big")

    def _receive(self, count: int, deadline_s: float) -> bytes:
        received = b""
        while len(received) < count:
            if self._connection is None:
                raise _gone()
            self._connection.settimeout(max(0.001, deadline_s - time.monotonic()))
            piece = self._connection.recv(count - len(received))
            if not piece:
                raise DeviceLost("the Ledger closed the connection in the middle", do=_REPLUG)
            received += piece
        return received

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


# ---- USB ----------------------------------------------------------------------------------------------------------


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
    """A Ledger that is plugged in: the operating system's path of its APDU interface, and its product name."""

    path: str
    product: str


def plugged_ledgers() -> list[PluggedLedger]:
    """Return the Ledgers that are plugged in, by path."""
    import hid

    found = {
        PluggedLedger(entry["path"].decode(), entry.get("product_string") or "Ledger")
        for entry in hid.enumerate(LEDGER_VENDOR, 0)
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
        raise DeviceNotFound(f"more than one Ledger is plugged in: {names}", do="unplug all but one, or name its path")
    if plugged:
        raise DeviceNotFound(f"no Ledger at {path}; plugged in: {names}", do="name one of these paths")
    raise DeviceNotFound(
        "no Ledger is plugged in, or this account may not open it",
        do="plug it in and unlock it; on Linux install Ledger's udev rules",
    )


def open_ledger(path: str | None = None) -> HidDevice:
    """Open the Ledger at ``path``, or the only one plugged in. Raises ``DeviceNotFound`` or ``DeviceLost``."""
    import hid

    chosen = choose_ledger(plugged_ledgers(), path)
    device: HidDevice = hid.device()
    try:
        device.open_path(chosen.path.encode())
    except OSError as error:
        raise DeviceLost(
            f"the Ledger at {chosen.path} cannot be opened",
            do="close other programs that use it (Ledger Wallet, a browser); on Linux install Ledger's udev rules",
        ) from error
    return device


class HidTransport:
    """A real Ledger on USB."""

    def __init__(self, path: str | None = None, *, device: HidDevice | None = None) -> None:
        """Take ``device`` when it is open already, else open the Ledger at ``path``, or the only one.

        Raises ``DeviceNotFound`` or ``DeviceLost``.
        """
        self._device: HidDevice | None = device or open_ledger(path)

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        """Send one APDU and return its data and its status word (see ``Transport``)."""
        from ledgerblue.commException import CommException

        if self._device is None:
            raise _gone()
        try:
            self._send(self._device, apdu)
            reply = self._receive(self._device, person)
        except (OSError, ValueError) as error:  # hidapi raises either when the device has gone
            self.close()
            raise DeviceLost("the Ledger was unplugged, or another program took it", do=_REPLUG) from error
        except CommException as error:
            self.close()
            raise WrongAnswer("the Ledger's USB packets are out of order", do=_REPLUG) from error
        except (DeviceSilent, DeviceLost, WrongAnswer):  # a late reply would be taken for the next one's
            self.close()
            raise
        return reply[:-2], int.from_bytes(reply[-2:], "big")

    def _send(self, device: HidDevice, apdu: bytes) -> None:
        from ledgerblue.ledgerWrapper import wrapCommandAPDU

        packets = bytes(wrapCommandAPDU(LEDGER_CHANNEL, apdu, PACKET_SIZE))
        for at in range(0, len(packets), PACKET_SIZE):
            if device.write(b"\x00" + packets[at : at + PACKET_SIZE]) < 0:
                raise DeviceLost("the Ledger takes no more data", do=_REPLUG)

    def _receive(self, device: HidDevice, person: bool) -> bytes:
        from ledgerblue.ledgerWrapper import unwrapResponseAPDU

        received = bytearray()
        wait_s = _timeout_s(person)  # for the first packet; the others follow at once
        while len(received) < MAX_REPLY + PACKET_SIZE:
            packet = device.read(PACKET_SIZE, wait_s * 1000)
            if not packet:
                raise _silent(person)
            received += bytes(packet)
            reply = unwrapResponseAPDU(LEDGER_CHANNEL, bytes(received), PACKET_SIZE)
            if reply is not None:
                if len(reply) < 2:
                    raise WrongAnswer("the Ledger answered without a status word", do=_REPLUG)
                return bytes(reply)
            wait_s = MACHINE_TIMEOUT_S
        raise WrongAnswer(f"the Ledger answered more than {MAX_REPLY} bytes", do=_REPLUG)

    def close(self) -> None:
        """Let go of the device."""
        if self._device is not None:
            self._device.close()
            self._device = None
