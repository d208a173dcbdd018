"""``airlock-offline``: the program of the air-gapped machine. The network guard is the first thing that runs."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import ClassVar

import click

from airlock_offline import airgap
from airlock_shared.cli.lazy_commands import LazyCommands
from airlock_shared.cli.program import run

# name -> its line in the list of commands; the module of the same name is imported only when it is used
COMMANDS = {
    "trust": "Pin a deployment after comparing its fingerprint.",
    "trust-struct": "Pin a struct beyond the catalogue.",
    "plan": "Show a ceremony plan, or draft one from a request.",
    "ceremony": "Record who holds which role, and what people confirm.",
    "preflight": "Check the machine, its clock and the Ledger before a ceremony.",
    "address": "Show the Ledger's address at a path, and confirm it on its screen.",
    "accounts": "Show an account to a watch-only wallet, as a QR code.",
    "digest": "Print the hashes of any EIP-712 document.",
    "delegate": "Have a delegate key prove itself before it is registered.",
    "verify": "Run every check over a requests document, without a device.",
    "sign": "Review and sign a requests document, step by step.",
    "show": "Show a document as QR codes.",
    "scan": "Read a document from QR codes, and write it.",
    "transcript": "Show or verify this machine's transcript.",
    "doctor": "Find out why something does not work; change nothing.",
    "report": "Make the report of a ceremony, or verify one.",
    "emulator": "Serve the software Ledger of a rehearsal.",
    "config": "Show the configuration, and where each value comes from.",
    "completion": "Print what makes a shell complete this program's commands.",
}


class OfflineCommands(LazyCommands):
    """The commands of this half."""

    package = "airlock_offline.cli"
    table: ClassVar = COMMANDS


@click.command(cls=OfflineCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    help="This machine's folder (default: $AIRLOCK_OFFLINE_HOME, or ~/.airlock-offline).",
)
@click.version_option(package_name="airlock-offline")
@click.pass_context
def program(context: click.Context, home: Path | None) -> None:
    """Airlock's air-gapped half: checks, shows and signs on a Ledger. It uses no network."""
    from airlock_offline.home import OfflineHome, default_home

    state = context.obj = OfflineHome(home or default_home())
    if (
        state.settings_file.exists() and context.invoked_subcommand != "doctor"
    ):  # which says what is wrong with the file
        from airlock_offline.config import option_defaults

        context.default_map = option_defaults(state.settings_file)


def main() -> None:
    """Run the program and leave with its exit code."""
    airgap.install()
    gc.set_threshold(100_000, 50, 100)  # what a command makes it keeps or drops by itself: a long plan, no cycles
    code = run(program)
    gc.freeze()  # the process ends here: its last collections have nothing to free, and took a tenth of ``verify``'s start
    sys.exit(code)
