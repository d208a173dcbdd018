"""The software Ledger on loopback: one client at a time, framed as Speculos and ``ledgerblue.commTCP`` do.

In: four big-endian length bytes and the APDU. Out: four length bytes, so many bytes of data, and two of status word.
"""

from __future__ import annotations

import json
import signal
import socket
import sys
from types import FrameType

from airlock_offline.ledger.status import DeviceLost
from airlock_shared.errors import UsageError
from airlock_software_ledger.answers import FAULTS, AppSettings
from airlock_software_ledger.app import SoftwareLedger
from airlock_software_ledger.terminal import ask_on_terminal, show_on_terminal, tell

LOOPBACK = "127.0.0.1"
MAX_APDU = 260  # five bytes of header and length, and 255 of data

_BANNER = "SIMULATOR: a software Ledger with a public test seed. It protects nothing."


class _Stopped(Exception):
    """Somebody asked the server to stop."""


def run_emulator(
    *,
    port: int = 0,
    model: str,
    faults: frozenset[str],
    ask: bool,
    settings: AppSettings = AppSettings(),  # noqa: B008  (a frozen value)
) -> None:
    """Serve the software Ledger on 127.0.0.1 until SIGINT or SIGTERM.

    The first line on stdout is ``{"port": …}``; screens and talk go to stderr. ``port`` 0 takes a free one. With ``ask``
    each request is approved by typing the whole word Yes on this terminal, otherwise all are approved.

    Raises ``UsageError`` for a model or a fault that there is not, and for a port that is taken.
    """
    ledger = SoftwareLedger(
        model=model, settings=settings, faults=faults, screens=ask_on_terminal if ask else show_on_terminal
    )
    before = {number: signal.signal(number, _stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with _listening(port) as listener:
            tell(_BANNER)
            for fault in sorted(faults):
                tell(f"It simulates a fault: {FAULTS[fault]}.")
            sys.stdout.write(json.dumps({"port": listener.getsockname()[1], "model": model}) + "\n")
            sys.stdout.flush()
            serve(ledger, listener)
    except _Stopped:
        tell("The software Ledger is switched off.")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        what = f"nothing can listen at port {port}: {error.strerror}"
        raise UsageError(what, do="name another port; without --port a free one is taken") from error


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped


def serve(ledger: SoftwareLedger, listener: socket.socket) -> None:
    """Serve one client after another, for ever; a client that goes away leaves the app as if it was opened again."""
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                _serve_client(ledger, connection)
            except (ConnectionError, DeviceLost):
                tell("The connection is closed.")
        ledger.close()


def _serve_client(ledger: SoftwareLedger, connection: socket.socket) -> None:
    while header := _receive(connection, 4):
        length = int.from_bytes(header, "big")
        if length > MAX_APDU:
            return
        data, sw = ledger.exchange(_receive(connection, length))
        connection.sendall(len(data).to_bytes(4, "big") + data + sw.to_bytes(2, "big"))


def _receive(connection: socket.socket, count: int) -> bytes:
    """Return ``count`` bytes, or none when the client has gone."""
    received = b""
    while len(received) < count and (piece := connection.recv(count - len(received))):
        received += piece
    return received if len(received) == count else b""
