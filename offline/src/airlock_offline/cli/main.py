"""``airlock-offline``: the program of the air-gapped machine. The network guard is installed before any command is read.

The kernel's is next: when a command's words are read, and before it reads anything else but our own ``config.toml``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import click

from airlock_offline import airgap
from airlock_offline.confinement.command import confine, needs_of
from airlock_offline.device_connection import REVIEW
from airlock_offline.home import OfflineHome, default_home, option_defaults, read_config
from airlock_shared.cli.program import READER, LazyCommands, run
from airlock_shared.cli.terminal import FOLDER_TYPE

# heading -> name -> its line in the list of commands; its module is imported only when it is used
_HEADINGS = {
    "Days before": {
        "plan": "Write, check, show or draft a ceremony plan.",
    },
    "The venue": {
        "trust": "Pin a deployment after comparing its fingerprint.",
    },
    "This machine": {
        "preflight": "Check the machine, its clock and the Ledger before a ceremony.",
        "doctor": "Find out why something does not work; change nothing.",
        "explain": "Explain a check or an exit code.",
        "config": "Show the configuration, and where each value comes from.",
    },
    "The people": {
        "ceremony": "Lead people through a ceremony; record what they confirm.",
    },
    "The account, the delegate": {
        "address": "Show the Ledger's address at a path, and confirm it on its screen.",
        "accounts": "Show an account to a watch-only wallet, as a QR code.",
        "delegate": "Have a delegate key sign a proof before it is registered.",
    },
    "Across the gap": {
        "show": "Show a document as QR codes.",
        "scan": "Read a document from QR codes, and write it.",
    },
    "Check and sign": {
        "verify": "Run every check over a requests document, without a device.",
        "sign": "Review and sign a requests document, step by step.",
        "digest": "Print the hashes of any EIP-712 document.",
    },
    "The evidence": {
        "transcript": "Show or verify this machine's transcript.",
        "report": "Make the report of a ceremony, or verify one.",
        "forget": "Remove kept copies of signatures that can execute no more.",
    },
    "Outside ceremonies": {
        "completion": "Print shell completion for this program's commands.",
    },
}


MODULES = {
    **dict.fromkeys(("config", "completion", "doctor", "explain", "forget"), "machine"),
    **dict.fromkeys(("show", "scan"), "qr"),
    "address": "accounts",
}
"""The module of each command that does not stand in one of its own name."""

LEADS = ["ceremony", "run"]


class OfflineCommands(LazyCommands):
    """The commands of this half."""

    package = "airlock_offline.cli"
    headings: ClassVar = _HEADINGS
    modules: ClassVar = MODULES


def _read_elsewhere(sources: Sequence[str], tell: Callable[[str], None]) -> Iterator[list[str]]:
    """Read pictures in another process, for whichever command is given some."""
    from airlock_offline.scanning import scan_process  # noqa: PLC0415 - for pictures alone: no signing loads it

    return scan_process.texts_by_child(sources, tell)


def confine_command(context: click.Context) -> None:
    """Have the kernel refuse what this command does not need, and keep what it enforces in the state.

    Not the command that leads a ceremony: it reads nothing that others made, and each command that it starts is confined.
    """
    if context.command_path.split()[1:] == LEADS:
        return
    state = context.find_root().obj
    state.confinement = confine(needs_of(context, state.home))


@click.command(cls=OfflineCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.option(
    "--home",
    type=FOLDER_TYPE,
    help="This machine's folder (default: $AIRLOCK_OFFLINE_HOME, or ~/.airlock-offline).",
)
@click.version_option(package_name="airlock-offline")
@click.pass_context
def program(context: click.Context, home: Path | None) -> None:
    """Airlock's air-gapped half: checks, shows and signs on a Ledger. It uses no network."""
    state = context.obj = OfflineHome(home or default_home())
    context.meta[READER] = _read_elsewhere
    if state.settings_file.exists() and context.invoked_subcommand != "doctor":  # it says what is wrong with the file
        settings = read_config(state.settings_file).ledger
        context.default_map = option_defaults(settings)
        context.meta[REVIEW] = 60 * settings.review_minutes


def main() -> None:
    """Run the program and leave with its exit code."""
    airgap.install_airgap()
    program.before = confine_command
    sys.exit(run(program))
