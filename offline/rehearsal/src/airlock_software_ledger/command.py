"""``airlock-software-ledger``: the program that serves the software Ledger on loopback."""

from __future__ import annotations

import sys

import click

from airlock_offline.ledger.models import DEFAULT_MODEL, shown_models
from airlock_shared.cli.program import run
from airlock_software_ledger.answers import FAULTS, AppSettings
from airlock_software_ledger.server import run_emulator


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
    run_emulator(port=port, model=model, faults=frozenset(faults), ask=ask, settings=settings)


def main() -> None:
    """Run the program and leave with its exit code."""
    sys.exit(run(program))
