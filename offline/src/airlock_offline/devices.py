"""Which Ledger a command talks to: one on USB, or the software Ledger, and that in a rehearsal only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from airlock_offline import airgap
from airlock_shared.command import say
from airlock_shared.errors import Refusal

if TYPE_CHECKING:
    from airlock_offline.ledger.ethereum_app import EthereumApp
    from airlock_offline.ledger.transport import Transport

emulator_option = click.option(
    "--emulator",
    "emulator_port",
    type=click.IntRange(1, 65535),
    help="Rehearsal only: use the software Ledger on this loopback port.",
)
ledger_option = click.option("--ledger", "ledger_path", help="Which Ledger, when several are plugged in.")


def require_rehearsal(emulator_port: int | None, rehearsal: bool) -> None:
    """Refuse the software Ledger outside a rehearsal: ``Refusal("PIN-REHEARSAL")``."""
    if emulator_port is not None and not rehearsal:
        raise Refusal(
            "PIN-REHEARSAL",
            "a software Ledger signs in a rehearsal only",
            got="a production deployment",
            expected="a rehearsal deployment",
            do="plug in the Ledger and leave --emulator out",
        )


class Device:
    """A Ledger that is opened when it is first needed, and then kept until the command ends."""

    def __init__(self, emulator_port: int | None, ledger_path: str | None) -> None:
        self._emulator_port = emulator_port
        self._ledger_path = ledger_path
        self._app: EthereumApp | None = None
        self._transport: Transport | None = None

    def app(self) -> EthereumApp:
        """Return the Ethereum app's client, checked for name and version. Raises ``DeviceError``."""
        if self._app is None:
            from airlock_offline.ledger.ethereum_app import open_app
            from airlock_offline.ledger.transport import HidTransport, LoopbackTransport

            if self._emulator_port is not None:
                airgap.allow_loopback(self._emulator_port)
                say("SIMULATOR: this is the software Ledger of a rehearsal, with a public test seed.")
                transport: Transport = LoopbackTransport(self._emulator_port)
            else:
                transport = HidTransport(self._ledger_path)
            self._transport = transport
            self._app = open_app(transport)
        return self._app

    def close(self) -> None:
        """Let go of the device."""
        if self._transport is not None:
            self._transport.close()


@contextmanager
def opened(emulator_port: int | None, ledger_path: str | None) -> Iterator[Device]:
    """Give a device for the length of a command."""
    device = Device(emulator_port, ledger_path)
    try:
        yield device
    finally:
        device.close()
