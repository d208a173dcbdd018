"""The software Ledger on loopback: one client at a time, framed as Speculos and ``ledgerblue.commTCP`` do.

In: four big-endian length bytes and the APDU. Out: four length bytes, so many bytes of data, and two of status word.
"""

from __future__ import annotations

import json
import signal
import socket
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress

import click

from airlock_offline.ledger.device_errors import DeviceLost
from airlock_offline.ledger.models import DEFAULT_MODEL, shown_models
from airlock_offline.ledger.screens import Page
from airlock_shared.cli.program import run
from airlock_shared.cli.terminal import forget_typed, typed_line
from airlock_shared.errors import UsageError
from airlock_shared.text.safe import WIDTH, harmless
from airlock_software_ledger.answers import FAULTS, AppSettings
from airlock_software_ledger.app import SoftwareLedger

# ---- terminal -------------------------------------------------------------------------------------------------------
# The terminal as the software Ledger's screen: one page a block, at most 80 columns, every line marked as a
# simulator's.


def tell(text: str) -> None:
    """Write to stderr at once."""
    sys.stderr.write(harmless(text) + "\n")
    sys.stderr.flush()


def page_lines(pages: list[Page]) -> Iterator[str]:
    """Yield the pages as blocks: a heading with its number, then the page's lines, indented, and an empty line."""
    for number, page in enumerate(pages, start=1):
        yield f"SIMULATOR screen {number} of {len(pages)}"
        for line in page:
            yield from textwrap.wrap(line.strip(), WIDTH, initial_indent="  | ", subsequent_indent="  | ") or ["  |"]
        yield ""


def show_on_terminal(pages: list[Page]) -> bool:
    """Show the pages and approve."""
    for line in page_lines(pages):
        tell(line)
    return True


def ask_on_terminal(pages: list[Page]) -> bool:
    """Show the pages and approve when the whole word Yes is typed; Enter alone turns the list beside it."""
    show_on_terminal(pages)
    forget_typed()
    tell("SIMULATOR: approve on the software Ledger? Yes approves, anything else rejects:")
    while (typed := typed_line()) == "\n":
        continue
    return typed.rstrip("\n") == "Yes"


# ---- server ---------------------------------------------------------------------------------------------------------


_LOOPBACK = "127.0.0.1"
MAX_APDU = 260  # five bytes of header and length, and 255 of data

_BANNER = "SIMULATOR: a software Ledger with a public test seed. It protects nothing."


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((_LOOPBACK, port))
    except OSError as error:
        what = f"nothing can listen at port {port}: {error.strerror}"
        raise UsageError(what, do="name another port; without --port a free one is taken") from error


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
    with connection.makefile("rb") as received:
        while len(header := received.read(4)) == 4 and (length := int.from_bytes(header, "big")) <= MAX_APDU:
            if len(apdu := received.read(length)) < length:
                return
            data, sw = ledger.exchange(apdu)
            connection.sendall(len(data).to_bytes(4, "big") + data + sw.to_bytes(2, "big"))


# ---- command --------------------------------------------------------------------------------------------------------
# ``airlock-software-ledger``: the program that serves the software Ledger on loopback.


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Loopback port; 0 takes a free one.")
@click.option("--model", type=click.Choice(shown_models()), default=DEFAULT_MODEL, show_default=True)
@click.option(
    "--fault",
    "faults",
    type=click.Choice(sorted(FAULTS)),
    multiple=True,
    metavar="FAULT",
    help=f"Simulate a fault: {', '.join(sorted(FAULTS))}.",
)
@click.option("--ask", is_flag=True, help="Ask on this terminal before approving; otherwise approve everything.")
@click.option("--blind-signing/--no-blind-signing", default=False, show_default=True, help="The app's Blind signing.")
@click.option("--raw-messages/--no-raw-messages", default=True, show_default=True, help="The app's Raw messages.")
@click.option("--smart-accounts/--no-smart-accounts", default=False, show_default=True, help="Its EIP-7702 setting.")
@click.version_option(package_name="airlock-software-ledger")
def program(
    port: int,
    model: str,
    faults: tuple[str, ...],
    ask: bool,
    blind_signing: bool,
    raw_messages: bool,
    smart_accounts: bool,
) -> None:
    """Serve the software Ledger: a SIMULATOR with a public test seed, for rehearsals only.

    It prints its port as one JSON line, then each screen as it is shown. Ctrl-C ends it. To play a person who reads and
    confirms: airlock-software-ledger --ask --port 9999
    """
    settings = AppSettings(raw_messages=raw_messages, blind_signing=blind_signing, smart_accounts=smart_accounts)
    screens = ask_on_terminal if ask else show_on_terminal
    ledger = SoftwareLedger(model=model, settings=settings, faults=frozenset(faults), screens=screens)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with suppress(KeyboardInterrupt), _listening(port) as listener:
        tell(_BANNER)
        for fault in sorted(faults):
            tell(f"It simulates a fault: {FAULTS[fault]}.")
        sys.stdout.write(json.dumps({"port": listener.getsockname()[1], "model": model}) + "\n")
        sys.stdout.flush()
        serve(ledger, listener)


def main() -> None:
    """Run the program and leave with its exit code."""
    sys.exit(run(program))
