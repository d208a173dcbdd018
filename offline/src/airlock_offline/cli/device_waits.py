"""What a person is told while a Ledger is waited for. ``sign`` does without: it shows the pages to wait for."""

from __future__ import annotations

from airlock_offline.ledger.transport import Transport
from airlock_shared.cli.progress import working


class WaitNotices:
    """A ``Transport`` that says what is waited for, and changes nothing else."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        """Exchange one APDU (see ``Transport``), and say what is waited for: the device, or the person who holds it."""
        with working("Waiting for you on the Ledger" if person else "Waiting for the Ledger"):
            return self._transport.exchange(apdu, person=person)

    def close(self) -> None:
        """Let go of the device."""
        self._transport.close()
