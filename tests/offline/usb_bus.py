"""A machine's USB in hidapi's place: Ledgers that are plugged in and out, and that speak in HID reports as real ones do.

A report has 64 bytes: the channel 0101, the tag 05, a sequence number of two bytes, and in the first one the length of what
follows. A Ledger has one interface for APDUs and one for FIDO. Source: Ledger's HID framing, hidapi's ``hid.h``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airlock_offline.ledger.screens import Page
from airlock_software_ledger.app import SoftwareLedger

REPORT = 64
HEAD = b"\x01\x01\x05"


def reports(message: bytes) -> list[bytes]:
    """Cut a message into reports."""
    rest = len(message).to_bytes(2, "big") + message
    cut: list[bytes] = []
    while rest:
        cut.append((HEAD + len(cut).to_bytes(2, "big") + rest[: REPORT - 5]).ljust(REPORT, b"\0"))
        rest = rest[REPORT - 5 :]
    return cut


OPEN_ETHEREUM = bytes.fromhex("e0d8000008") + b"Ethereum"


class PluggedIn:
    """A Ledger on the bus; ``during_review`` happens while a person reads, one thing for each second that is waited.

    ``opens`` is what its home screen does when it is told to open the Ethereum app: a status word, and what follows.
    """

    opens: Callable[[], int] | None = None

    def __init__(self, product_id: int, path: str, **ledger: Any) -> None:
        self.product_id, self.path = product_id, path
        self.during_review: list[Callable[[], None]] = []
        self.reads_during_review = 0
        self.apdus: list[bytes] = []
        self._version = str(ledger.pop("version", ""))
        self._app = SoftwareLedger(screens=self._shown, **ledger)
        self._reading = False
        self._received = b""
        self._sequence = 0
        self._replies: list[bytes] = []

    def _shown(self, _pages: list[Page]) -> bool:
        self._reading = True
        return True

    def answer_instead(self, sw: int) -> None:
        """Let go of what is being answered, and answer a status word."""
        self._replies = reports(sw.to_bytes(2, "big"))

    def take(self, report: bytes) -> None:
        assert (len(report), report[:3], int.from_bytes(report[3:5], "big")) == (REPORT, HEAD, self._sequence)
        self._sequence += 1
        self._received += report[5:]
        length = int.from_bytes(self._received[:2], "big")
        if len(self._received) >= 2 + length:
            apdu, self._received, self._sequence = self._received[2 : 2 + length], b"", 0
            self.apdus.append(apdu)
            data, sw = self._app.exchange(apdu)
            if self.opens is not None and apdu == OPEN_ETHEREUM:
                sw = self.opens()
            if self._version and apdu[:2] == b"\xb0\x01":
                data = b"\x01" + b"".join(bytes((len(p),)) + p for p in (b"Ethereum", self._version.encode(), b"\0"))
            self._replies = reports(data + sw.to_bytes(2, "big"))

    def give(self) -> list[int]:
        """Return a report, or none while a person reads."""
        if self._reading and self.during_review:
            self.reads_during_review += 1
            self.during_review.pop(0)()
            return []
        self._reading = False
        return list(self._replies.pop(0)) if self._replies else []


class OpenDevice:
    """What ``hid.device()`` gives: nothing until a path is opened, and ``OSError`` once the Ledger has gone."""

    def __init__(self, bus: UsbBus) -> None:
        self._bus = bus
        self._ledger: PluggedIn | None = None
        self.closed = False

    def open_path(self, path: bytes) -> None:
        self._ledger = self._bus.ledgers.get(path.decode())
        if self._ledger is None:
            raise OSError("open failed")

    def _there(self) -> PluggedIn | None:
        ledger = self._ledger
        return ledger if ledger is not None and self._bus.ledgers.get(ledger.path) is ledger else None

    def write(self, data: bytes) -> int:
        ledger = self._there()
        if ledger is None:
            return -1
        assert data[:1] == b"\0"  # the report's id
        ledger.take(data[1:])
        return len(data)

    def read(self, size: int, timeout_ms: int) -> list[int]:
        assert (size, 0 < timeout_ms <= 1000) == (REPORT, True), "no wait may be longer than Ctrl-C may take"
        ledger = self._there()
        if ledger is None:
            raise OSError("read error")
        return ledger.give()

    def close(self) -> None:
        self.closed = True


class UsbBus:
    """The module hidapi, with the Ledgers that are plugged in."""

    def __init__(self) -> None:
        self.ledgers: dict[str, PluggedIn] = {}
        self.opened: list[OpenDevice] = []
        self._leaving: Callable[[], None] | None = None
        self._coming: Callable[[], object] | None = None
        self._away = 0

    def plug(self, product_id: int = 0x5011, path: str = "/dev/hidraw93", **ledger: Any) -> PluggedIn:
        self.ledgers[path] = PluggedIn(product_id, path, **ledger)
        return self.ledgers[path]

    def at_home(
        self, *, back_after: int = 3, path: str = "/dev/hidraw94", answers: bool = True, **ledger: Any
    ) -> PluggedIn:
        """Plug in a Ledger at its home screen, which leaves the bus to open the app, and comes again after some looks."""
        home = self.plug(seed=ledger.get("seed"), faults=frozenset({"app-closed"}))

        def gone() -> None:
            self.ledgers.clear()
            self._away = back_after
            self._coming = lambda: self.plug(0x5015, path, **ledger)

        def leave() -> int:
            self._leaving = gone
            if not answers:
                gone()
            return 0x9000

        home.opens = leave
        return home

    def unplug(self) -> None:
        self.ledgers.clear()

    def enumerate(self, vendor: int, product: int) -> list[dict[str, Any]]:
        assert (vendor, product) == (0x2C97, 0)
        self._pass_time()
        named = {"product_string": "Ledger", "vendor_id": vendor}
        apdu, fido = {"usage_page": 0xFFA0, "interface_number": 0}, {"usage_page": 0xF1D0, "interface_number": 1}
        return [
            named | interface | {"product_id": ledger.product_id, "path": path}
            for ledger in self.ledgers.values()
            for path, interface in ((ledger.path.encode(), apdu), (ledger.path.encode() + b"-fido", fido))
        ]

    def _pass_time(self) -> None:
        """A Ledger that opens an app leaves, and comes again."""
        if self._leaving:
            leaving, self._leaving = self._leaving, None
            leaving()
        elif self._coming:
            self._away -= 1
            if self._away <= 0:
                coming, self._coming = self._coming, None
                coming()

    def device(self) -> OpenDevice:
        self.opened.append(OpenDevice(self))
        return self.opened[-1]
